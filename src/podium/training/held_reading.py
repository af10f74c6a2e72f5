"""What a question is taken for is held where the run began: reward teaches plans and workers, and reading it makes worse.

The start has read questions in many words, most of them put together of two. A run sees those of its own templates alone, so what
else the start can read is forgotten while plans are learned (docs/log.md, "Reading is held"). Therefore every update draws the
policy to the start's distribution of a text's first token, which names the kind, over other questions. They are never answered.
(Li and Hoiem 2016, arXiv 1606.09282, "Learning without Forgetting".)
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from podium.errors import ConfigError
from podium.training.config import TrainConfig
from podium.training.questions import questions_of
from podium.training.rows import TrainingRow
from podium.training.word_dropout import mix_words
from podium.types import Brief, Problem, ask
from podium.workers.pool import WorkerPool

_EACH = 32
"""Questions per iteration."""
_MIXED = 0.75
"""Share of them that are put together of two, as in the start."""

PromptIds = Callable[[Brief], Sequence[int]]
"""The tokens before the first one that the policy writes. Raises :class:`ConfigError` where they are too many for it."""


@dataclass(frozen=True, slots=True)
class HeldReading:
    """The questions of a run's ``held_reading``, shown as the run shows its own.

    Example: ``HeldReading(config, pool, config.held_reading()).rows(engine.prompt_ids, iteration=3)``.
    """

    config: TrainConfig
    pool: WorkerPool
    questions: Sequence[Problem]

    @classmethod
    def of(cls, config: TrainConfig, pool: WorkerPool, prompt_ids: PromptIds) -> "HeldReading":
        """Those that ``config`` names, each looked at. Raises :class:`ConfigError` where one has no room in a prompt."""
        held = cls(config, pool, questions_of("held_reading", config.held_reading))
        for problem in held.questions:
            for budget in config.budgets_usd or (None,):
                try:
                    prompt_ids(held._brief(problem.question, pool, budget))
                except ConfigError as error:
                    begins = problem.question[:60]
                    raise ConfigError(f"held_reading has {begins!r}..., which can not be read: {error}; leave it out") from error
        return held

    def rows(self, prompt_ids: PromptIds, *, iteration: int) -> list[TrainingRow]:
        """Rows of one token over which the policy is to be held in ``iteration``; none where there are no questions.

        Which token it is does not matter: held is the whole distribution at the end of the prompt.
        """
        which = random.Random(f"held {self.config.seed} {iteration}")
        shown_with = random.Random(f"held pools {self.config.seed} {iteration}")
        rows = []
        for _ in range(_EACH if self.questions else 0):
            one, other = which.choices(self.questions, k=2)
            mixed = mix_words(one.question, other.question, which) if which.random() < _MIXED else one.question
            pool = self.config.pools.draw(self.pool, shown_with)
            budget = shown_with.choice(self.config.budgets_usd) if self.config.budgets_usd else None
            try:
                prompt = tuple(prompt_ids(self._brief(mixed, pool, budget)))
            except ConfigError:  # each has room, but the longer words of two may not
                prompt = tuple(prompt_ids(self._brief(one.question, pool, budget)))
            rows.append(TrainingRow(prompt_ids=prompt, completion_ids=prompt[-1:], logprobs=(0.0,), advantage=0.0))
        return rows

    def _brief(self, question: str, pool: WorkerPool, budget_usd: float | None) -> Brief:
        return Brief(question=ask(question), cards=pool.cards, max_steps=self.config.max_steps, budget_usd=budget_usd)
