"""How a policy starts in the gym: sensible but uninformed workflows, which is what a pretrained LLM brings to the job.

A line that names the kind of question and a plan that fits it, then the three lists: subtasks worded for the plan, most of
them naming the matter, workers drawn uniformly, and access as anybody would give it: everything before, and for who recalls
facts as often the plan alone. Nothing in it says who is good at what, which plan is best, nor what recalling facts needs to see.
With cards, half of the texts say "by skill" and choose the worker with the highest number for each part of the work, the
others choose uniformly. In a language with conditions, whoever checks something is asked always, or only if something failed, or
unless two agree; everybody else always.
"""

import random
from collections.abc import Sequence
from dataclasses import replace

from podium.conditions import ALWAYS, IF_FAILED, agree, read_condition
from podium.training.warm_start import KEPT, Demonstration, Skills
from podium.types import Brief, Card, Problem, Step, Workflow, ask
from podium.workflow.parse import format_workflow
from podium.workflow.syntax import WorkflowSyntax

BY_SKILL = " by skill"
"""What the first line says where workers are chosen by their cards."""
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
_CHECKING = ("review", "verify")
_CONDITIONS = (ALWAYS, IF_FAILED, agree(2))
_PLAIN = 0.15
"""Share of the subtasks that do not name the matter."""

PAIRS = tuple(dict.fromkeys((kind, part) for kind, plans in PLANS.items() for plan in plans for part in plan))
TOPICS = tuple((f"{kind}, {part}", part) for kind, part in PAIRS)
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
    by_skill = bool(brief.cards[0].skills) and rng.random() < 0.5
    steps = []
    for index, part in enumerate(plan):
        access = _access(index, part, rng, syntax)
        steps.append(
            Step(
                worker=_most_skilled(skill(kind, part), brief.cards) if by_skill else rng.randrange(len(brief.cards)),
                subtask=asked_for(kind, part, rng),
                access=access,
                condition=_condition(part, access, rng) if syntax.conditions else ALWAYS,
                last_answer=bool(brief.previous_rounds)
                and access == tuple(range(index))
                # Seeing everything is one word in the binary language, the last answer included.
                and ((bool(access) and syntax.access == "binary") or rng.random() < 0.5),
            )
        )
    # Going by skill is thought through where the parts of the work are named; the list of workers then only repeats it.
    parts = [f"{part} {step.worker}" if by_skill else part for part, step in zip(plan, steps, strict=True)]
    opening = f"{NAMES[kind]}{BY_SKILL if by_skill else ''}: {', '.join(parts)}."
    lists = format_workflow(Workflow(steps=tuple(steps)), syntax, round_number=round_number)
    return Demonstration(f"{opening}\n{lists}", tuple(PAIRS.index((kind, part)) for part in plan))


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


def _condition(part: str, access: Sequence[int], rng: random.Random) -> str:
    """When a step is carried out: of one that checks any condition that can come about, else always."""
    fitting = [text for text in _CONDITIONS if not read_condition(text).misfit(len(access))]
    return rng.choice(fitting) if part in _CHECKING else ALWAYS


def wordings() -> Sequence[tuple[str, str, str]]:
    """Every (kind, part, wording) that the start may write, for a test of what workers make of them."""
    return [
        (kind, part, text.format(matter=_MATTER[kind]))
        for kind, plans in PLANS.items()
        for part in dict.fromkeys(part for plan in plans for part in plan)
        for text in (*_ASKING[part], _PLAINLY[part])
    ]


def skill(kind: str, part: str) -> str:
    """What a card calls ``part`` of a question of ``kind``. Example: ``skill("story", "plan") == "story plan"``."""
    return f"{kind} {part}"


def imaginary_skills(workers: int, rng: random.Random) -> list[Skills]:
    """Skills of workers who do not exist: most are good at some parts of the work, drawn at random, some fair at everything."""
    known = [skill(*pair) for pair in PAIRS]
    found: list[Skills] = []
    for _ in range(workers):
        fair = rng.random() < 0.15
        low, spread = (0.45, 0.3) if fair else (0.2, 0.3)
        levels = {each: low + spread * rng.random() for each in known}
        if not fair:
            levels |= {best: 0.84 + 0.15 * rng.random() for best in rng.sample(known, len(known) // 5)}
        found.append(tuple(levels.items()))
    return found


def lesson(brief: Brief, rng: random.Random) -> tuple[Brief, str]:
    """A lesson in reading cards: a question about the workers of ``brief``, and some of the answers, recited three times in other
    orders.

    Looking up what stands beside a word is learned all at once, after a time without any progress; what is repeated in the text
    itself shortens that time (docs/log.md, "Reading cards").
    """
    asked = rng.sample([name for name, _ in brief.cards[0].skills], 7)
    recited = []
    for _ in range(3):
        rng.shuffle(asked)
        recited.append("Best: " + ", ".join(f"{name} {_most_skilled(name, brief.cards)}" for name in asked) + ".")
    return replace(brief, question=ask("Who is best?")), "\n".join(recited)


def _most_skilled(name: str, cards: Sequence[Card]) -> int:
    return max(range(len(cards)), key=lambda index: dict(cards[index].skills)[name])
