"""The reference engine: one process, one small model, sampling and learning on the same weights.

What the trainer needs of an engine is :class:`podium.training.trainer.Engine`; this is the one that needs no GPU.
"""

from collections.abc import Sequence
from copy import deepcopy
from pathlib import Path

import torch

from podium.errors import CheckpointError
from podium.policies import qwen2
from podium.policies.local import LocalPolicy
from podium.training.learner import Learner
from podium.training.learner_config import LearnerConfig
from podium.training.rows import TrainingRow, steps_of
from podium.types import Brief, Generation


class ReferenceEngine:
    """A local policy and its learner. Example: ``ReferenceEngine(policy, LearnerConfig(), iterations=200)``.

    ``policy`` is the start; it is copied, so that the untrained policy stays at hand.
    """

    def __init__(self, policy: LocalPolicy, config: LearnerConfig, *, iterations: int, temperature: float = 1.0) -> None:
        self._config = config
        self._generator = torch.Generator()
        self.policy = LocalPolicy(
            deepcopy(policy.model), policy.tokens, policy.dialect, temperature=temperature, generator=self._generator
        )
        self._start = policy.model
        self._worker_tokens = policy.tokens.worker_ids()
        self._learner = Learner(self.policy.model, config, self._worker_tokens, steps=iterations * config.steps)
        self._pieces = [policy.tokens.decode([token]) for token in range(len(policy.tokens))]

    def seed(self, number: int) -> None:
        """Make what is written next depend on ``number`` and the weights alone."""
        self._generator.manual_seed(number)

    def write_many(self, briefs: Sequence[Brief], n: int, forced_prefixes: Sequence[str] = ()) -> list[list[Generation]]:
        """``n`` workflows for each brief."""
        return self.policy.write_many(briefs, n, forced_prefixes)

    def prompt_ids(self, brief: Brief, forced_prefix: str = "") -> Sequence[int]:
        """The tokens a completion is conditioned on."""
        return self.policy.prompt_ids(brief, forced_prefix)

    def pieces(self, ids: Sequence[int]) -> list[str]:
        """The text of each token."""
        return [self._pieces[token] for token in ids]

    def worker_tokens(self) -> Sequence[int]:
        """The token of each worker id, as far as it has one of its own."""
        return self._worker_tokens

    def learn(
        self,
        rows: Sequence[TrainingRow],
        *,
        entropy: float,
        drafts: Sequence[TrainingRow],
        draft_sft_weight: float,
        held: Sequence[TrainingRow] = (),
        seed: int,
    ) -> dict[str, float]:
        """Take this iteration's optimiser steps; the report is their mean."""
        totals: dict[str, float] = {}
        minibatches, epochs = self._config.minibatches, self._config.epochs
        # Without rows the drafts alone are learned from, in as many steps.
        steps = steps_of(rows, minibatches=minibatches, epochs=epochs, seed=seed) or [[]] * self._config.steps
        for step in steps:
            for name, value in self._learner.step(
                step, entropy=entropy, drafts=drafts, draft_sft_weight=draft_sft_weight, held=held, teacher=self._start
            ).items():
                totals[name] = totals.get(name, 0.0) + value / len(steps)
        return totals

    def save(self, folder: Path, *, version: str) -> None:
        """Write the policy and the optimiser's state."""
        self.policy.version = version
        self.policy.save(folder)
        torch.save(self._learner.state(), folder / "learner.pt")

    def restore(self, folder: Path) -> None:
        """Take up what :meth:`save` wrote. Raises :class:`CheckpointError` where it can not be read."""
        self.policy.model.load_state_dict(qwen2.load(folder).state_dict())
        try:
            self._learner.restore(torch.load(folder / "learner.pt", weights_only=True))
        except (OSError, RuntimeError, ValueError, KeyError, EOFError) as error:
            raise CheckpointError(f"can not read {folder / 'learner.pt'}: {error}") from error
