"""The wordings that every search uses, for the optimum and for its opponents alike: each verb plainly, and for each kind by name.

Any other wording that :mod:`podium.gym.subtasks` and :mod:`podium.gym.matters` understand does as well.
"""

PLAIN = {
    "plan": "Write a plan as one expression. Do not compute it.",
    "recall": "Recall the facts that are needed.",
    "compute": "Compute the result of the plan.",
    "write": "Write the program.",
    "verify": "Check what was done so far and correct it.",
    "answer": "Answer the question.",
    "report": "Give the final answer.",
}
"""One wording per verb that names no matter."""
NAMED = {
    "story": {
        "plan": "Write a plan for the story as one expression. Do not compute it.",
        "compute": "Compute the result of the plan for the story.",
        "answer": "Answer the question that the story asks.",
        "verify": "Check the answer to the story and correct it.",
    },
    "choice": {
        "recall": "Recall the facts that decide between the options.",
        "answer": "Answer with the right option.",
        "verify": "Check the chosen option and correct it.",
    },
    "knowledge": {
        "plan": "Write a plan over well-known things as one expression. Do not compute it.",
        "recall": "Recall the facts of common knowledge that are needed.",
        "compute": "Compute the result of the plan from what is well known.",
        "answer": "Answer the question from common knowledge.",
        "verify": "Check the answer against common knowledge and correct it.",
    },
    "code": {
        "write": "Write the program.",
        "verify": "Check the program and correct it.",
        "answer": "Answer with the program.",
    },
    "bundle": {
        "plan": "Write a plan over the units as one expression. Do not compute it.",
        "nature": "Recall the facts about the animals or atoms in these units.",
        "made": "Recall the man-made facts about the units.",
        "recall": "Recall the facts about what is in a bundle.",
        "compute": "Compute the result of the plan in single units.",
        "answer": "Answer the question about the units.",
        "verify": "Check the answer about the units and correct it.",
    },
    "versus": {
        "plan": "Write a plan that compares both as one expression. Do not compute it.",
        "nature": "Recall the facts about the animals or atoms that are compared.",
        "made": "Recall the facts about the man-made objects that are compared.",
        "recall": "Recall the facts about both.",
        "compute": "Compute the result of the plan that compares both.",
        "answer": "Answer the question that compares both.",
        "verify": "Check the answer that compares both and correct it.",
    },
}
"""Kind -> part of the work -> a wording that names the matter."""


def wordings_for(kind: str | None) -> dict[str, str]:
    """The wordings for a kind, by a short label; for None, which is a search over all kinds, every one of them."""
    found = dict(PLAIN)
    for named, texts in NAMED.items():
        if kind in (None, named):
            found |= {f"{part} ({named})": text for part, text in texts.items()}
    return found
