"""How a policy starts in the gym: sensible but uninformed workflows, which is what a pretrained LLM brings to the job.

A line that names the kind of question and a plan that fits it, then the three lists: subtasks worded for the plan, most of
them naming the matter, workers drawn uniformly, and access as anybody would give it: everything before, and for who recalls
facts as often the plan alone. Nothing in it says who is good at what, which plan is best, nor what recalling facts needs to see.
With cards, four texts in five say "by skill", and behind each part of the work the first line names the worker with the highest
number for it, which the list of workers repeats; the others choose uniformly. In a language with conditions, whoever checks
something is asked always, or only if something failed, or unless two agree; everybody else always.
"""

import random
from collections.abc import Sequence
from dataclasses import replace

from podium.conditions import ALWAYS, IF_FAILED, agree, read_condition
from podium.gym.questions import find_question
from podium.training.warm_start import KEPT, Demonstration, Skills
from podium.types import Brief, Card, Problem, Step, Workflow, ask
from podium.workflow.parse import format_workflow
from podium.workflow.short_prompt import STEP
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
PAIRS = tuple(dict.fromkeys((kind, part) for kind, plans in PLANS.items() for plan in plans for part in plan))
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
_RATES = tuple(percent / 100 for percent in range(0, 101, STEP))
_PLACES = max(len(plan) for plans in PLANS.values() for plan in plans)
_NOBODY = "x"
_BY_SKILL = 0.8
"""Share of the texts that choose workers by their cards, where there are any."""
_PLAIN = 0.15
"""Share of the subtasks that do not name the matter."""

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
    by_skill = bool(brief.cards[0].skills) and rng.random() < _BY_SKILL
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
    named = ", ".join(plan)
    if by_skill:
        # In as many places as the longest plan has parts: so the list of workers, which repeats it, is always equally far behind.
        best = [f"{skill(kind, part)} {step.worker}" for part, step in zip(plan, steps, strict=True)]
        named = ", ".join([*best, *[_NOBODY] * (_PLACES - len(best))])
    opening = f"{NAMES[kind]}{BY_SKILL if by_skill else ''}: {named}."
    lists = format_workflow(Workflow(steps=tuple(steps)), syntax, round_number=round_number)
    return Demonstration(f"{opening}\n{lists}", tuple(PAIRS.index((kind, part)) for part in plan))


def template_of(problem: Problem) -> tuple[str, int]:
    """What a question of the gym was made from. Raises ValueError for other questions."""
    parsed = find_question(problem.question)
    if parsed is None:
        raise ValueError(f"no question of the gym: {problem.question}")
    return parsed.kind, parsed.position


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
    """Skills of workers who do not exist: any rates, no two the same at one part of the work, so that one is best."""
    rates = {skill(*pair): rng.sample(_RATES, workers) for pair in PAIRS}
    return [tuple((name, each[worker]) for name, each in rates.items()) for worker in range(workers)]


def lesson(brief: Brief, rng: random.Random) -> tuple[Brief, str]:
    """A lesson in reading cards: who of the workers of ``brief`` is best at each of some skills, in any order."""
    known = [name for name, _ in brief.cards[0].skills]
    shown = rng.sample(known, rng.randint(2, len(known)))
    cards = tuple(replace(card, skills=tuple(each for each in card.skills if each[0] in shown)) for card in brief.cards)
    best = ", ".join(f"{name} {_most_skilled(name, cards)}" for name in shown)
    return replace(brief, question=ask("Who is best?"), cards=cards), f"Best: {best}."


def _most_skilled(name: str, cards: Sequence[Card]) -> int:
    return max(range(len(cards)), key=lambda index: dict(cards[index].skills)[name])
