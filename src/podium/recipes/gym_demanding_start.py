"""How a policy starts in the demanding gym: sensible but uninformed workflows, which is what a pretrained LLM brings to the job.

A line that names the kind of question and a plan that fits it, then the three lists: subtasks worded for the plan, most of
them naming the matter, workers drawn uniformly, and access as anybody would give it: everything before, and for who recalls
facts as often the plan alone. Nothing in it says who is good at what, which plan is best, nor what recalling facts needs to see.
"""

import random
from collections.abc import Sequence

from podium.training.warm_start import KEPT, Demonstration
from podium.types import Brief, Problem, Step, Workflow
from podium.workflow.parse import format_workflow
from podium.workflow.syntax import WorkflowSyntax

NAMES = {
    "story": "Story",
    "choice": "Multiple choice",
    "knowledge": "Common knowledge",
    "code": "Programming",
    "bundle": "Units",
    "versus": "Comparison",
}
"""How the first line names a kind."""
_FACTS = (("answer",), ("plan", "answer"), ("recall", "answer"), ("plan", "recall", "compute"))
_TWO_SORTS = (*_FACTS, ("nature", "made", "answer"), ("plan", "nature", "made", "compute"))
PLANS: dict[str, tuple[tuple[str, ...], ...]] = {
    "story": (("answer",), ("plan", "compute"), ("answer", "verify"), ("plan", "answer"), ("plan", "compute", "verify")),
    "choice": (("answer",), ("recall", "answer"), ("answer", "verify"), ("recall", "answer", "verify")),
    "knowledge": _FACTS,
    "code": (("write",), ("write", "review"), ("write", "review", "review")),
    "bundle": _TWO_SORTS,
    "versus": _TWO_SORTS,
}
"""Plans that fit a kind of question."""
_MATTER = {
    "story": "the story",
    "choice": "the options",
    "knowledge": "common knowledge",
    "code": "the program",
    "bundle": "the units",
    "versus": "both",
}
_ASKING = {
    "plan": ("Write a plan for {matter}.", "Set up the expression for {matter}."),
    "recall": ("Recall the facts for {matter}.", "List the facts for {matter}."),
    "nature": ("Recall the facts of nature for {matter}.", "List the facts of nature for {matter}."),
    "made": ("Recall the man-made facts for {matter}.", "List the man-made facts for {matter}."),
    "compute": ("Compute the plan for {matter}.", "Carry out the plan for {matter}."),
    "write": ("Write {matter}.", "Implement {matter}."),
    "review": ("Check {matter}.", "Review {matter} and fix mistakes."),
    "verify": ("Check the answer for {matter}.", "Verify the result for {matter}."),
    "answer": ("Answer the question on {matter}.", "Solve the problem of {matter}."),
}
_PLAINLY = {
    "plan": "Write a plan.",
    "recall": "Recall the facts.",
    "nature": "Recall the facts of nature.",
    "made": "Recall the man-made facts.",
    "compute": "Compute the plan.",
    "write": "Write the program.",
    "review": "Check the program.",
    "verify": "Check the answer.",
    "answer": "Answer the question.",
}
_RECALLING = ("recall", "nature", "made")
_PLAIN = 0.15
"""Share of the subtasks that do not name the matter."""

_PAIRS = tuple(dict.fromkeys((kind, part) for kind, plans in PLANS.items() for plan in plans for part in plan))
TOPICS = tuple((f"{kind}, {part}", part) for kind, part in _PAIRS)
"""What a step can be about: a part of the work, and this part on this kind of question.

Who is best depends on both together, so both together are a feature of their own. With one feature for the kind and one for the
part, a linear choice can not tell four planners and four calculators of four kinds apart (docs/log.md)."""


def written_for(problem: Problem, brief: Brief, rng: random.Random, syntax: WorkflowSyntax) -> Demonstration:
    """A text to imitate for ``problem``; its target is never looked at."""
    return uninformed(problem.kind, brief, rng, syntax)


def uninformed(kind: str, brief: Brief, rng: random.Random, syntax: WorkflowSyntax) -> Demonstration:
    """What somebody sensible might write who knows a question's kind and nothing of the workers."""
    round_number = len(brief.previous_rounds) + 1
    if brief.previous_rounds and rng.random() < 0.5:
        return Demonstration(f"{KEPT}\n{format_workflow(None, syntax, round_number=round_number)}", ())
    plan = rng.choice(PLANS[kind])
    steps = []
    for index, part in enumerate(plan):
        access = _access(index, part, rng, syntax)
        steps.append(
            Step(
                worker=rng.randrange(len(brief.cards)),
                subtask=asked_for(kind, part, rng),
                access=access,
                last_answer=bool(brief.previous_rounds) and access == tuple(range(index)) and rng.random() < 0.5,
            )
        )
    lists = format_workflow(Workflow(steps=tuple(steps)), syntax, round_number=round_number)
    return Demonstration(f"{NAMES[kind]}: {', '.join(plan)}.\n{lists}", tuple(_PAIRS.index((kind, part)) for part in plan))


def asked_for(kind: str, part: str, rng: random.Random) -> str:
    """A wording for ``part`` of a question of ``kind``."""
    if rng.random() < _PLAIN:
        return _PLAINLY[part]
    return rng.choice(_ASKING[part]).format(matter=_MATTER[kind])


def _access(index: int, part: str, rng: random.Random, syntax: WorkflowSyntax) -> tuple[int, ...]:
    """Everything before; who recalls facts sees as often the first step only."""
    everything = tuple(range(index))
    first_only = syntax.access != "binary" and part in _RECALLING and rng.random() < 0.5
    return everything[:1] if first_only else everything


def wordings() -> Sequence[tuple[str, str, str]]:
    """Every (kind, part, wording) that the start may write, for a test of what workers make of them."""
    return [
        (kind, part, text.format(matter=_MATTER[kind]))
        for kind, plans in PLANS.items()
        for part in dict.fromkeys(part for plan in plans for part in plan)
        for text in (*_ASKING[part], _PLAINLY[part])
    ]
