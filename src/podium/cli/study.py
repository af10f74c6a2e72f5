"""``podium evaluate STUDY.toml``: every arm on the same problems, compared in pairs, kept in one folder.

In the folder: ``results.jsonl`` (a rerun goes on there), ``learning.jsonl`` (what routers learned from), ``study.toml`` (a copy of the
file), ``table.md`` and ``report.html``.
"""

import json
import shutil
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from podium.cli.arms import Lessons, catalogue_arms, expanded, make_arm
from podium.cli.extras import need_stats
from podium.cli.measure import evaluate_with_progress
from podium.cli.screen import Screen
from podium.cli.verifying import open_verifiers
from podium.cli.wiring import Team, open_team
from podium.errors import ConfigError
from podium.evaluation.evaluate import Result
from podium.evaluation.metrics import summarise
from podium.evaluation.report import as_object, markdown_comparisons, markdown_table, terminal_comparisons, terminal_table
from podium.gym.world import KINDS, SPLITS, UNTRAINED_KINDS, World
from podium.protocols import Verifier
from podium.tasks.benchmarks.registry import load
from podium.tasks.datasets import read_questions
from podium.tasks.instructions import instructed
from podium.types import Problem
from podium.workers.budget import Budget


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Which problems: of the gym, of a file, or of a public benchmark.

    Example: ``Asked(gym=400, splits=("held_out_numbers",), seed=3)``, 400 of every kind.
    """

    gym: int | None = None
    """Problems per kind, shared out over ``splits``."""
    kinds: tuple[str, ...] = (*KINDS, *UNTRAINED_KINDS)
    splits: tuple[str, ...] = ("held_out_numbers", "held_out_templates")
    seed: int = 0
    file: Path | None = None
    set: str | None = None
    split: str | None = None
    first: int = 0
    """Of a file or a set: where to begin."""
    n: int | None = None
    """And how many."""

    def problems(self) -> list[Problem]:
        """Raises :class:`ConfigError`."""
        if [self.gym, self.file, self.set].count(None) != 2:
            raise ConfigError("a study names one of gym (problems per kind), file and set")
        if self.gym is not None:
            return _gym_problems(self)
        if self.file is not None:
            found = read_questions(self.file)
        else:
            found = [instructed(problem) for problem in load(str(self.set), split=self.split, data_dir=None)]
        return found[self.first :][: self.n]


def _gym_problems(asked: Asked) -> list[Problem]:
    if unknown := [*({*asked.splits} - {*SPLITS}), *({*asked.kinds} - {*KINDS, *UNTRAINED_KINDS})]:
        raise ConfigError(f"the gym has no {unknown[0]!r}; splits: {', '.join(SPLITS)}; kinds: {', '.join((*KINDS, *UNTRAINED_KINDS))}")
    share, rest = divmod(asked.gym or 0, len(asked.splits))
    world = World()
    return [
        problem
        for index, split in enumerate(asked.splits)
        for problem in world.problems(
            kinds=asked.kinds,
            split=split,  # type: ignore[arg-type]
            n=len(asked.kinds) * (share + (index < rest)),
            seed=asked.seed,
        )
    ]
