"""Sensible but uninformed workflows: what a pretrained LLM brings to the job before any reward.

A line that names the kind of question and a plan that fits it, then the three lists: subtasks worded for the plan, workers and
access drawn uniformly. Nothing in it says who is good at what. The verbs are those of :mod:`podium.gym.subtasks`; a test holds
every wording to its verb.

Two things are added where a run needs them. *Second rounds*: shown a workflow and its answer, the text keeps the answer or plans
anew, one as often as the other, whether the answer was right or not. *Cards*: after some lessons in
reading them, half of the texts say "by skill" and choose the worker with the highest number for each part of the work, the
others choose uniformly. A pretrained model can read a card; whether going by it pays is left to the reward.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from podium.training.blur import blurred
from podium.types import Brief, Card, Generation, Problem, Step, Transcript, Workflow, ask
from podium.workflow.language import Language
from podium.workflow.parse import format_workflow, parse

KEPT = "Keep the answer."
"""The first line of a second round that changes nothing."""
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


@dataclass(frozen=True, slots=True)
class Uninformed:
    """A text and, for each step, what it is about: an index into :data:`TOPICS`, or nothing at all."""

    text: str
    topics: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class WarmStart:
    """How the start policy is made. Example: ``WarmStart(steps=1200)``."""

    problems: Callable[[], Sequence[Problem]]
    """Whose questions are imitated; their targets are never looked at."""
    written: Callable[[Problem, Brief, random.Random, Language], Uninformed] | None = None
    """What is imitated; None: the plans of the gym's kinds of question (:func:`uninformed`)."""
    size: dict[str, int] = field(default_factory=dict)
    """Sizes that differ from the smallest model (:class:`podium.policies.qwen2.Qwen2Config`)."""
    vocab_size: int = 1024
    steps: int = 1200
    questions: int = 8
    """Different questions per step."""
    texts: int = 4
    """Workflows per question."""
    learning_rate: float = 3e-3
    workers: tuple[int, ...] = (7,)
    """Sizes of the pools that the questions are shown with."""
    lessons: int = 0
    """Steps of learning to read cards before everything else; with them, imaginary workers have skills, half of the texts choose
    by them, and a fifth of the later steps are lessons still, lest they be forgotten."""
    carried_out: Callable[[Problem, Workflow], str] | None = None
    """The answer that comes of a workflow; with it, a share of the texts are second rounds."""
    again: float = 0.25
    """That share."""
    blurred: float = 0.7
    """Share of the questions that are shown with words left out, so that their kind is recognised by many signs."""
    topics: bool = True
    """Ask the states at which workers are chosen what the step is about (:mod:`podium.training.imitation`)."""
    sharpened: float = 1.3
    """What the logits are multiplied by in the end: slips become rare, and what is uniform stays uniform."""
    max_tokens: int = 130
    """Longest text the policy will write."""
    micro_tokens: int = 4096
    seed: int = 0


def brief_for(problem: Problem, config: WarmStart, rng: random.Random, language: Language = Language()) -> Brief:
    """A question with imaginary workers, in most cases with words left out, perhaps with the round before."""
    question = ask(blurred(problem.question, rng) if rng.random() < config.blurred else problem.question)
    size = rng.choice(config.workers)
    skills = imaginary_skills(size, rng) if config.lessons else [()] * size
    cards = tuple(Card(name=f"worker {index}", skills=each) for index, each in enumerate(skills))
    brief = Brief(question=question, cards=cards)
    if config.carried_out is None or rng.random() >= config.again:
        return brief
    text = written_for(problem, brief, config, rng, language).text
    workflow = parse(text, brief, language)
    if workflow is None:
        raise ValueError(f"no workflow to carry out: {text}")
    answer = config.carried_out(problem, workflow)
    written = Generation(text=text)
    return replace(brief, earlier=(Transcript(question=question, generation=written, workflow=workflow, answer=answer),))


def written_for(problem: Problem, brief: Brief, config: WarmStart, rng: random.Random, language: Language) -> Uninformed:
    """A text to imitate."""
    if config.written is not None:
        return config.written(problem, brief, rng, language)
    return uninformed(problem.kind, brief, rng, language)


def uninformed(kind: str, brief: Brief, rng: random.Random, language: Language) -> Uninformed:
    """What somebody sensible might write who knows a question's kind and nothing of the workers but what their cards say.

    The plan in a line, then the three lists.
    """
    round_number = len(brief.earlier) + 1
    if brief.earlier and rng.random() < 0.5:
        return Uninformed(f"{KEPT}\n{format_workflow(None, language, round_number=round_number)}", ())
    plan = rng.choice(PLANS[kind])
    by_skill = bool(brief.cards[0].skills) and rng.random() < 0.5
    steps = []
    for index, verb in enumerate(plan):
        worker = _most_skilled(verb, brief.cards) if by_skill else rng.randrange(len(brief.cards))
        everything = rng.random() < 0.5
        if language.access == "binary" or everything:
            access = tuple(range(index)) if everything else ()
        else:
            access = tuple(seen for seen in range(index) if rng.random() < 0.5)
        sees_answer = everything and bool(brief.earlier)
        steps.append(Step(worker=worker, subtask=rng.choice(WORDINGS[verb]), access=access, last_answer=sees_answer))
    # Going by skill is thought through where the parts of the work are named; the list of workers then only repeats it.
    parts = [f"{verb} {step.worker}" if by_skill else verb for verb, step in zip(plan, steps, strict=True)]
    opening = f"{NAMES[kind]}{BY_SKILL if by_skill else ''}: {', '.join(parts)}."
    lists = format_workflow(Workflow(steps=tuple(steps)), language, round_number=round_number)
    return Uninformed(f"{opening}\n{lists}", tuple(TOPICS.index((kind, verb)) for verb in plan))


Skills = tuple[tuple[str, float], ...]


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
