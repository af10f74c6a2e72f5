"""Which problems a study or a check asks: of the gym, of a file, of a public benchmark, or of a folder of recordings."""

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from podium.errors import ConfigError
from podium.gym.kinds import KINDS, UNTRAINED_KINDS
from podium.gym.world import Split, World, split_named
from podium.pools.graded import datasets_of, graded_problems, is_graded
from podium.tasks.benchmarks.registry import load
from podium.tasks.datasets import load_replay_problems, read_questions
from podium.tasks.kinds import instructed
from podium.types import Problem

GYM_PROBLEMS = 100
"""How many the gym makes where no number is given."""
GYM_SPLIT = "held_out_numbers"
"""Of which split, where none is named."""


class ProblemSource(BaseModel):
    """Problems by their origin: exactly one of ``gym``, ``file``, ``set`` and ``replay``.

    Example: ``ProblemSource(gym=400, splits=["held_out_numbers"], seed=3).problems()``, 400 of every kind.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    gym: int | None = Field(default=None, ge=1)
    """Problems of each kind, shared out over ``splits``."""
    kinds: tuple[str, ...] = (*KINDS, *UNTRAINED_KINDS)
    splits: tuple[Split, ...] = Field(default=("held_out_numbers", "held_out_templates"), min_length=1)
    seed: int = 0
    """Which gym problems."""
    file: Path | None = None
    """JSON lines, as in ``podium evaluate --file``."""
    set: str | None = None
    """A name of ``podium data list``."""
    split: str | None = None
    data_dir: Path | None = None
    replay: Path | None = None
    """Folder with recorded outputs of real models, which are then the workers."""
    replay_sets: tuple[str, ...] | None = None
    """Data sets of the folder; None: all of them."""
    half: Literal["first", "second"] | None = None
    """Only one half of the problems, as their ids fall: for learning from one and asking the other."""
    skip: int = Field(default=0, ge=0)
    """How many problems of a file or set are left out at its beginning."""
    n: int | None = Field(default=None, ge=1)
    """How many are taken from there on."""

    def problems(self) -> list[Problem]:
        """Raises :class:`ConfigError`."""
        if [self.gym, self.file, self.set, self.replay].count(None) != 3:
            raise ConfigError("name one of gym (problems of each kind), file, set and replay")
        if self.gym is not None:
            return self._of_the_gym(self.gym)
        if self.file is not None:
            found = read_questions(self.file)
            if blank := sum(not problem.target for problem in found):
                raise ConfigError(f"{blank} of {len(found)} problems in {self.file} have no target, so nothing can be judged")
        elif self.replay is not None:
            found = self._recorded(self.replay)
            # A question that was recorded twice is asked once: its answer is found by its text.
            found = list({problem.id: problem for problem in found}.values())
        else:
            found = [instructed(problem) for problem in load(str(self.set), split=self.split, data_dir=self.data_dir)]
        if self.half is not None:
            found = [problem for problem in found if (int(problem.id[:8], 16) % 2 == 0) == (self.half == "first")]
        return found[self.skip :][: self.n]

    def _recorded(self, folder: Path) -> list[Problem]:
        if is_graded(folder):
            return graded_problems(folder, self.replay_sets)
        names = datasets_of(folder) if self.replay_sets is None else self.replay_sets
        return [problem for name in names for problem in load_replay_problems(folder, name)]

    def _of_the_gym(self, per_kind: int) -> list[Problem]:
        if unknown := sorted({*self.kinds} - {*KINDS, *UNTRAINED_KINDS}):
            raise ConfigError(f"the gym has no kind {unknown[0]!r}; there are {', '.join((*KINDS, *UNTRAINED_KINDS))}")
        share, rest = divmod(per_kind, len(self.splits))
        world = World()
        return [
            problem
            for index, split in enumerate(self.splits)
            for problem in world.problems(
                kinds=self.kinds, split=split, n=len(self.kinds) * (share + (index < rest)), seed=self.seed
            )
        ]


def load_problems(source: Path | str, *, split: str | None = None, limit: int | None = None, seed: int = 0) -> list[Problem]:
    """Problems by name: ``"gym"``, a public benchmark (``"gsm8k"``), a JSON-lines file, or a folder of recordings.

    ``split`` is one of the benchmark's or the gym's (there: held_out_numbers by default), ``limit`` how many are taken from the
    beginning; ``seed`` chooses gym problems. Example: ``load_problems("gsm8k", limit=200)``. Raises :class:`ConfigError`.
    """
    path = Path(source)
    if source == "gym":
        return World().problems(split=split_named(split or GYM_SPLIT), n=limit or GYM_PROBLEMS, seed=seed)
    if path.is_dir():
        return ProblemSource(replay=path, n=limit).problems()
    if path.suffix or path.exists():
        return ProblemSource(file=path, n=limit).problems()
    return ProblemSource(set=str(source), split=split, n=limit).problems()


def chosen_problems(
    *, file: Path | None, gym: int | None, set_name: str | None, data_dir: Path | None, n: int | None, split: str | None
) -> list[Problem]:
    """What a command's flags ask for: exactly one of ``file``, ``gym`` and ``set_name``. Raises :class:`ConfigError`."""
    if [file, gym, set_name].count(None) != 2:
        raise ConfigError("name one of: --file problems.jsonl, --gym 100 (gym problems), --set math500 (a benchmark)")
    if gym is not None:
        return load_problems("gym", split=split, limit=gym)
    return ProblemSource(file=file, set=set_name, data_dir=data_dir, n=n, split=split).problems()
