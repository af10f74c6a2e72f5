"""The warm start: what a small policy imitates before any reward. Stands in for pretraining.

A recipe says what is imitated (:mod:`podium.recipes.gym_start` for the gym): sensible workflows that know nothing of the workers.
Two things are added where a run needs them. *Second rounds*: shown a workflow and its answer, the text keeps the answer or plans
anew, one as often as the other, whether the answer was right or not. *Cards*: lessons in reading what a card says. A pretrained
model can do both; whether it pays is left to the reward.
"""

import random
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace

from podium.training.word_dropout import drop_words
from podium.types import Brief, Card, Generation, Problem, Transcript, Workflow, ask
from podium.workflow.parse import parse
from podium.workflow.syntax import WorkflowSyntax

KEPT = "Keep the answer."
"""The first line of a second round that changes nothing."""

Skills = tuple[tuple[str, float], ...]
"""As on a card: a part of the work, and how often it is done well."""
Topic = tuple[str, str]
"""What a step is about: a kind of question, and a part of the work on it."""


@dataclass(frozen=True, slots=True)
class Demonstration:
    """A text to imitate and, for each step, what it is about: an index into :attr:`WarmStart.topics`, or nothing at all."""

    text: str
    topics: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cards:
    """Lessons in reading cards. Example: ``Cards(lessons=250, imagine=imaginary_skills, lesson=lesson)``."""

    lessons: int
    """Steps of nothing but lessons at the beginning; a few in every later step, lest they be forgotten."""
    imagine: Callable[[int, random.Random], Sequence[Skills]]
    """Skills of so many workers who do not exist."""
    lesson: Callable[[Brief, random.Random], tuple[Brief, str]]
    """A question about the workers of a brief, and its answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WarmStart:
    """How the start policy is made. Example: ``WarmStart(steps=1200)``."""

    problems: Callable[[], Sequence[Problem]]
    """Whose questions are imitated; their targets are never looked at."""
    write: Callable[[Problem, Brief, random.Random, WorkflowSyntax], Demonstration]
    """What is imitated."""
    topics: tuple[Topic, ...] = ()
    """What a step can be about. Where there are any, the states at which workers are chosen are asked for it
    (:mod:`podium.training.imitation`)."""
    cards: Cards | None = None
    """Lessons in reading cards; None: workers have no skills."""
    size: dict[str, int] = field(default_factory=dict)
    """Sizes that differ from the smallest model (:class:`podium.policies.qwen2.Qwen2Config`)."""
    scaled_start: bool = False
    """Whether weights begin larger, by the width of the model (:class:`podium.policies.qwen2.Qwen2`)."""
    vocab_size: int = 1024
    steps: int = 1200
    problems_per_step: int = 8
    """Different questions per step."""
    texts: int = 4
    """Workflows per question."""
    openings: int = 0
    """So many more workflows per question, of which only the first line and the list of workers are imitated. Where cards make
    prompts long, the same prompt teaches more lookups for little."""
    learning_rate: float = 3e-3
    workers: tuple[int, ...] = (7,)
    """Sizes of the pools that the questions are shown with."""
    carried_out: Callable[[Problem, Workflow], str] | None = None
    """The answer that comes of a workflow; with it, a share of the texts are second rounds."""
    again: float = 0.25
    """That share."""
    word_dropout: float = 0.7
    """Share of the questions that are shown with words left out, so that their kind is recognised by many signs."""
    word_dropout_max: float = 0.5
    """Largest share of its words that is left out."""
    reading: int = 0
    """So many more questions per step, of which only the first line is imitated, shown without skills. It says what the question
    is read as, and is one token in eighty of a text: without them a start learns to write well and to read badly."""
    also_read: Callable[[], Sequence[Problem]] = list
    """Other questions among those: texts in other words, so that a kind is known by more than the wordings of its templates."""
    mixed: float = 0.0
    """Share of these that are put together of two questions (:mod:`podium.training.mixed_questions`; needs scikit-learn)."""
    template: Callable[[Problem], Hashable] = lambda problem: problem.id
    """What a question (of ``also_read`` too) was made from; what only those of one template share says nothing of a mixture."""
    sharpened: float = 1.3
    """What the logits are multiplied by in the end: slips become rare, and what is uniform stays uniform."""
    max_tokens: int = 130
    """Longest text the policy will write."""
    micro_tokens: int = 4096
    seed: int = 0


def brief_for(problem: Problem, config: WarmStart, rng: random.Random, syntax: WorkflowSyntax = WorkflowSyntax()) -> Brief:
    """A question with imaginary workers, in most cases with words left out, perhaps with the round before."""
    shown = problem.question
    if rng.random() < config.word_dropout:
        shown = drop_words(shown, rng, config.word_dropout_max)
    question = ask(shown)
    size = rng.choice(config.workers)
    skills = config.cards.imagine(size, rng) if config.cards is not None else [()] * size
    cards = tuple(Card(name=f"worker {index}", skills=each) for index, each in enumerate(skills))
    brief = Brief(question=question, cards=cards)
    if config.carried_out is None or rng.random() >= config.again:
        return brief
    text = config.write(problem, brief, rng, syntax).text
    workflow = parse(text, brief, syntax)
    if workflow is None:
        raise ValueError(f"no workflow to carry out: {text}")
    answer = config.carried_out(problem, workflow)
    written = Generation(text=text)
    return replace(brief, previous_rounds=(Transcript(question=question, generation=written, workflow=workflow, answer=answer),))
