"""Sensible but uninformed workflows: what a pretrained LLM brings to the job before any reward.

A line that names the kind of question and a plan that fits it, then the three lists: subtasks worded for the plan, workers and
access drawn uniformly. Nothing in it says who is good at what. The verbs are those of :mod:`podium.gym.subtasks`; a test holds
every wording to its verb.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from podium.types import Brief, Card, Problem, Step, Workflow, ask
from podium.workflow.language import Language
from podium.workflow.parse import format_workflow

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
        ("write", "verify"),
        ("plan", "write"),
        ("plan", "write", "verify"),
        ("write", "verify", "verify"),
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
    "verify": ("Check what was done so far and correct it.", "Review the work and fix any mistakes.", "Verify and correct it."),
    "answer": ("Answer the question.", "Solve the problem.", "Work it out and reply."),
}
"""Ways to ask for each part of the work."""


TOPICS = tuple((kind, verb) for kind in PLANS for verb in WORDINGS)
"""What a step can be about: a part of the work on a kind of question."""

MAX_DROPPED = 0.5
"""Largest share of a question's words that is left out in training, so that its kind is recognised by many signs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WarmStart:
    """How the start policy is made. Example: ``WarmStart(steps=1200)``."""

    problems: Callable[[], Sequence[Problem]]
    """Whose questions are imitated; their targets are never looked at."""
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
    topics: bool = True
    """Ask the states at which workers are chosen what the step is about (:mod:`podium.training.imitation`)."""
    sharpened: float = 1.3
    """What the logits are multiplied by in the end: slips become rare, and what is uniform stays uniform."""
    max_tokens: int = 130
    """Longest text the policy will write."""
    micro_tokens: int = 4096
    seed: int = 0


def brief_for(problem: Problem, config: WarmStart, rng: random.Random) -> Brief:
    """A question with an anonymous pool, in most cases with words left out."""
    words = problem.question.split(" ")
    if rng.random() < 0.7:
        dropped = rng.random() * MAX_DROPPED
        words = [word for word in words if rng.random() >= dropped] or words
    cards = tuple(Card(name=f"worker {index}") for index in range(rng.choice(config.workers)))
    return Brief(question=ask(" ".join(words)), cards=cards)


@dataclass(frozen=True, slots=True)
class Uninformed:
    """A text and, for each step, what it is about: an index into :data:`TOPICS`."""

    text: str
    topics: tuple[int, ...]


def uninformed(kind: str, workers: int, rng: random.Random, language: Language) -> Uninformed:
    """What somebody sensible might write who knows a question's kind and nothing of the ``workers``.

    The plan in a line, then the three lists.
    """
    plan = rng.choice(PLANS[kind])
    steps = []
    for index, verb in enumerate(plan):
        if language.access == "binary":
            access = tuple(range(index)) if rng.random() < 0.5 else ()
        else:
            access = tuple(seen for seen in range(index) if rng.random() < 0.5)
        steps.append(Step(worker=rng.randrange(workers), subtask=rng.choice(WORDINGS[verb]), access=access))
    text = f"{NAMES[kind]}: {', '.join(plan)}.\n{format_workflow(Workflow(steps=tuple(steps)), language)}"
    return Uninformed(text, tuple(TOPICS.index((kind, verb)) for verb in plan))
