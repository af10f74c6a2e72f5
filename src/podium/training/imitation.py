"""The warm start: a small policy that writes valid workflows and knows nothing about the workers.

Stands in for pretraining: tokenizer and weights are learned from scratch on the sensible but uninformed workflows of
:mod:`podium.training.warm_start`. Two things make it a start that can learn (docs/log.md, "What a step is about"):

- Words of a question are dropped at random, so that its kind is recognised by many signs and not by a template's wording.
- Where a worker is chosen, the model must know what the step is about. Imitation of random choices teaches it to forget that: the
  states there all become "any number", and then the only thing reward can teach quickly is one worker for everything. A large
  pretrained model has such features anyway. Therefore the normed state there is also asked for its topic, along fixed directions.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import torch

from podium.errors import ConfigError
from podium.extras import need
from podium.policies.local import Dialect, LocalPolicy
from podium.policies.qwen2 import Qwen2, Qwen2Config
from podium.policies.tokens import Tokens
from podium.training.learner import Learner
from podium.training.learner_config import LearnerConfig
from podium.training.questions import questions_of
from podium.training.rows import TrainingRow, worker_positions
from podium.training.warm_start import Cards, Demonstration, Topic, WarmStart, brief_for
from podium.types import Brief, Problem
from podium.workflow.short_prompt import short_messages
from podium.workflow.syntax import WorkflowSyntax

if TYPE_CHECKING:
    from podium.training.mixed_questions import MixedQuestions

_LESSONS, _LATER_LESSONS = 24, 4
"""Lessons per step while there is nothing else, and later, lest they be forgotten."""


def warm_started(
    config: WarmStart, syntax: WorkflowSyntax, *, on_step: Callable[[int, float], None] | None = None
) -> LocalPolicy:
    """A policy that imitates uninformed workflows.

    ``on_step`` is told the step and the loss in nats per token.
    """
    rng = random.Random(f"imitation {config.seed}")
    problems = list(config.problems())
    texts = []
    for problem in problems:
        brief = brief_for(problem, config, rng, syntax)
        shown = short_messages(brief, syntax)[0].content if brief.previous_rounds or config.cards else problem.question
        texts += [shown, config.write(problem, brief, rng, syntax).text]
    to_read = [*problems, *questions_of("WarmStart.also_read", config.also_read)]
    if len(to_read) > len(problems) and not config.reading:
        raise ConfigError("what WarmStart.also_read makes is read nowhere, for WarmStart.reading is 0: set both or neither")
    texts += [problem.question for problem in to_read[len(problems) :]]
    skills = [name for name, _ in config.cards.imagine(1, rng)[0]] if config.cards is not None else []
    tokens = Tokens.trained(texts, vocab_size=config.vocab_size, workers=max(config.workers), skills=skills)
    model = Qwen2(Qwen2Config(vocab_size=len(tokens), **config.size), seed=config.seed, scaled_start=config.scaled_start)
    policy = LocalPolicy(model, tokens, Dialect(syntax=syntax, max_tokens=config.max_tokens), version="warm start")
    lessons = 0 if config.cards is None else config.cards.lessons
    warmup = 0.05 * config.steps / (lessons + config.steps)
    rates = LearnerConfig(
        learning_rate=config.learning_rate,
        warmup_ratio=warmup,
        micro_tokens=config.micro_tokens,
    )
    learner = Learner(model, rates, tokens.worker_ids(), steps=lessons + config.steps)
    questions = _mixed(config, to_read, rng) if config.mixed else None
    topics = _directions(config.topics, model.config.hidden_size) if config.topics else None
    for step in range(lessons + config.steps):
        rows: list[TrainingRow] = []
        if (cards := config.cards) is not None:
            taught = rng.choices(problems, k=_LESSONS if step < lessons else _LATER_LESSONS)
            rows += [_lesson(cards, policy, brief_for(problem, config, rng, syntax), rng) for problem in taught]
        for _ in range(config.problems_per_step if step >= lessons else 0):
            problem = rng.choice(problems)
            brief = brief_for(problem, config, rng, syntax)
            rows += [_row(policy, brief, config.write(problem, brief, rng, syntax)) for _ in range(config.texts)]
            rows += [_opening(policy, brief, config.write(problem, brief, rng, syntax), 2) for _ in range(config.openings)]
        for problem in rng.choices(to_read, k=config.reading):
            read = problem
            # Without skills: they are most of a prompt, and nothing in the question is about them.
            if questions is not None and rng.random() < config.mixed:
                read = questions.drawn(rng)
                brief = brief_for(read, replace(config, cards=None), rng, syntax)
                read = replace(read, kind=questions.read_as(brief.question[-1].content, rng))
            else:
                brief = brief_for(problem, replace(config, cards=None), rng, syntax)
            rows.append(_opening(policy, brief, config.write(read, brief, rng, syntax), 1))
        loss = learner.imitate(rows, topics)
        if on_step is not None:
            on_step(step, loss)
    with torch.no_grad():
        model.model.norm.weight.mul_(config.sharpened)  # the last factor before the logits
    return policy


def _mixed(config: WarmStart, problems: Sequence[Problem], rng: random.Random) -> "MixedQuestions":
    need("stats")
    from podium.training.mixed_questions import MixedQuestions  # scikit-learn, which a start without them does without

    return MixedQuestions(problems, rng, template=config.template, word_dropout_max=config.word_dropout_max)


def _row(policy: LocalPolicy, brief: Brief, written: Demonstration) -> TrainingRow:
    ids = (*policy.tokens.encode(written.text), policy.tokens.end)
    where = worker_positions([policy.tokens.decode([token]) for token in ids]) if written.topics else ()
    return TrainingRow(
        prompt_ids=tuple(policy.prompt_ids(brief)),
        completion_ids=ids,
        logprobs=(0.0,) * len(ids),
        advantage=0.0,
        choices=where,
        topics=written.topics,
    )


def _opening(policy: LocalPolicy, brief: Brief, written: Demonstration, lines: int) -> TrainingRow:
    """The first ``lines`` of a text alone, left open: the text goes on after them."""
    begun = written.text.split("\n")[:lines]
    ids = tuple(policy.tokens.encode("".join(f"{line}\n" for line in begun)))
    return TrainingRow(prompt_ids=tuple(policy.prompt_ids(brief)), completion_ids=ids, logprobs=(0.0,) * len(ids), advantage=0.0)


def _lesson(cards: Cards, policy: LocalPolicy, brief: Brief, rng: random.Random) -> TrainingRow:
    """Figures alone are learned: in which order the skills are named can not be known."""
    asked, answer = cards.lesson(brief, rng)
    ids = tuple(policy.tokens.encode(answer))
    pieces = [policy.tokens.decode([token]) for token in ids]
    return TrainingRow(
        prompt_ids=tuple(policy.prompt_ids(asked)),
        completion_ids=ids,
        logprobs=(0.0,) * len(ids),
        advantage=0.0,
        unlearned=tuple(at for at, piece in enumerate(pieces) if not any(sign.isdecimal() for sign in piece)),
    )


def _directions(topics: Sequence[Topic], size: int) -> torch.Tensor:
    """(topics, size): a fixed unit vector for each topic, the sum of one for its kind and one for its part of the work."""
    kinds, parts = list(dict.fromkeys(kind for kind, _ in topics)), list(dict.fromkeys(part for _, part in topics))
    generator = torch.Generator().manual_seed(0)
    basis, _ = torch.linalg.qr(torch.randn(size, len(kinds) + len(parts), generator=generator))
    of_kind = {kind: basis[:, index] for index, kind in enumerate(kinds)}
    of_part = {part: basis[:, len(kinds) + index] for index, part in enumerate(parts)}
    return torch.stack([(of_kind[kind] + of_part[part]) / 2**0.5 for kind, part in topics])
