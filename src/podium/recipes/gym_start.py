"""How a policy starts in the gym: sensible but uninformed workflows, which is what a pretrained LLM brings to the job.

A line that names the kind of question and a plan that fits it, then the three lists: subtasks worded for the plan, workers and
access drawn uniformly. Nothing in it says who is good at what. The verbs are those of :mod:`podium.gym.subtasks`; a test holds
every wording to its verb. With cards, half of the texts say "by skill" and choose the worker with the highest number for each
part of the work, the others choose uniformly.
"""

import random
from collections.abc import Sequence
from dataclasses import replace

from podium.training.warm_start import KEPT, Demonstration, Skills
from podium.types import Brief, Card, Problem, Step, Workflow, ask
from podium.workflow.parse import format_workflow
from podium.workflow.syntax import WorkflowSyntax

BY_SKILL = " by skill"
"""What the first line says where workers are chosen by their cards."""
NAMES = {"word": "Word problem", "choice": "Multiple choice", "fact": "Facts and arithmetic", "code": "Programming"}
"""How the first line names a kind."""

PLANS: dict[str, tuple[tuple[str, ...], ...]] = {
    "word": (("answer",), ("plan", "compute"), ("answer", "verify"), ("plan", "compute", "verify"), ("plan", "answer", "verify")),
    "choice": (("answer",), ("recall", "answer"), ("answer", "verify"), ("recall", "answer", "verify")),
    "fact": (
        ("answer",),
        ("recall", "answer"),
        ("plan", "compute"),
        ("answer", "verify"),
        ("recall", "plan", "compute"),
        ("plan", "recall", "compute"),
        ("recall", "answer", "verify"),
    ),
    "code": (
        ("write",),
        ("write", "review"),
        ("plan", "write"),
        ("plan", "write", "review"),
        ("write", "review", "review"),
    ),
}
"""Plans that fit a kind of question."""

WORDINGS = {
    "plan": (
        "Write a plan as one expression. Do not compute it.",
        "Set up the expression, without computing it.",
        "Turn the question into one formula.",
    ),
    "recall": ("Recall the facts that are needed.", "List the facts this relies on.", "Look up the facts."),
    "compute": ("Compute the result of the plan.", "Carry out the plan.", "Evaluate the expression."),
    "write": ("Write the program.", "Write the function.", "Implement the function."),
    "review": ("Review the program and fix any mistakes.", "Test the function and correct it.", "Check the code and repair it."),
    "verify": ("Check what was done so far and correct it.", "Verify the result and correct it.", "Check the calculation."),
    "answer": ("Answer the question.", "Solve the problem.", "Work it out and reply."),
}
"""Ways to ask for each part of the work."""


TOPICS = tuple((kind, verb) for kind in PLANS for verb in WORDINGS)
"""What a step can be about: a part of the work on a kind of question."""


def written_for(problem: Problem, brief: Brief, rng: random.Random, syntax: WorkflowSyntax) -> Demonstration:
    """A text to imitate for ``problem``; its target is never looked at."""
    return uninformed(problem.kind, brief, rng, syntax)


def uninformed(kind: str, brief: Brief, rng: random.Random, syntax: WorkflowSyntax) -> Demonstration:
    """What somebody sensible might write who knows a question's kind and nothing of the workers but what their cards say.

    The plan in a line, then the three lists.
    """
    round_number = len(brief.previous_rounds) + 1
    if brief.previous_rounds and rng.random() < 0.5:
        return Demonstration(f"{KEPT}\n{format_workflow(None, syntax, round_number=round_number)}", ())
    plan = rng.choice(PLANS[kind])
    by_skill = bool(brief.cards[0].skills) and rng.random() < 0.5
    steps = []
    for index, verb in enumerate(plan):
        worker = _most_skilled(verb, brief.cards) if by_skill else rng.randrange(len(brief.cards))
        everything = rng.random() < 0.5
        if syntax.access == "binary" or everything:
            access = tuple(range(index)) if everything else ()
        else:
            access = tuple(seen for seen in range(index) if rng.random() < 0.5)
        sees_answer = everything and bool(brief.previous_rounds)
        steps.append(Step(worker=worker, subtask=rng.choice(WORDINGS[verb]), access=access, last_answer=sees_answer))
    # Going by skill is thought through where the parts of the work are named; the list of workers then only repeats it.
    parts = [f"{verb} {step.worker}" if by_skill else verb for verb, step in zip(plan, steps, strict=True)]
    opening = f"{NAMES[kind]}{BY_SKILL if by_skill else ''}: {', '.join(parts)}."
    lists = format_workflow(Workflow(steps=tuple(steps)), syntax, round_number=round_number)
    return Demonstration(f"{opening}\n{lists}", tuple(TOPICS.index((kind, verb)) for verb in plan))


def imaginary_skills(workers: int, rng: random.Random) -> list[Skills]:
    """Skills of workers who do not exist: most are good at one part of the work, drawn at random, some fair at everything."""
    parts = list(WORDINGS)
    different = rng.random() < 0.8
    good_at = rng.sample(parts, workers) if different else [rng.choice(parts) for _ in range(workers)]
    found: list[Skills] = []
    for best in good_at:
        fair = rng.random() < 0.15
        low, spread = (0.45, 0.3) if fair else (0.2, 0.3)
        levels = {part: low + spread * rng.random() for part in parts}
        if not fair:
            levels[best] = 0.84 + 0.15 * rng.random()
        found.append(tuple(levels.items()))
    return found


def lesson(brief: Brief, rng: random.Random) -> tuple[Brief, str]:
    """A lesson in reading cards: a question about the workers of ``brief``, and the answer, recited three times in other orders.

    Looking up what stands beside a word is learned all at once, after a time without any progress; what is repeated in the text
    itself shortens that time (docs/log.md, "Reading cards").
    """
    parts = [part for part, _ in brief.cards[0].skills]
    recited = []
    for _ in range(3):
        rng.shuffle(parts)
        recited.append("Best: " + ", ".join(f"{part} {_most_skilled(part, brief.cards)}" for part in parts) + ".")
    return replace(brief, question=ask("Who is best?")), "\n".join(recited)


def _most_skilled(verb: str, cards: Sequence[Card]) -> int:
    return max(range(len(cards)), key=lambda index: dict(cards[index].skills)[verb])
