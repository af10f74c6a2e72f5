"""A study file (TOML): which arms answer which problems, and what is compared with what."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from podium.errors import ConfigError
from podium.pools.problems import ProblemSource
from podium.studies.arms import expanded
from podium.types import Sampling
from podium.workers.toml_file import read_toml

PRESETS = {
    "constrained": Sampling(temperature=0.2, max_tokens=4096, thinking_tokens=0),
    "unconstrained": Sampling(temperature=0.2),
}
"""The two settings of the paper (section 4.1): 4,096 tokens and the least reasoning, or what each worker's table allows."""


class Study(BaseModel):
    """What is measured. Example: ``recipes/gym_table.toml``."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    title: str
    arms: tuple[str, ...] = Field(min_length=1)
    """Names as in ``podium evaluate --arm``; ``*`` stands for every worker, ``oracle`` for the right worker at every problem."""
    compare: str | None = None
    """The arm that is compared with every other one, problem by problem."""
    matched: tuple[str, ...] = ()
    """Arms that also answer as often as they can for what ``compare`` costs, and vote (:mod:`podium.evaluation.matched`)."""
    examples: tuple[str, ...] = ()
    """Arms whose workflows the report shows, on one question of every kind."""
    training: Path | None = None
    """Folder of a run (or of a shipped Conductor's) whose curves the report shows."""
    problems: ProblemSource
    learning: ProblemSource | None = None
    """What routers learn from."""
    pool: Path | None = None
    """Pool file; without it, the built-in offline pool."""
    preset: Literal["constrained", "unconstrained"] | None = None
    repeats: int = Field(default=1, ge=1)
    concurrency: int = Field(default=64, ge=1, le=4096)
    journal: Path | None = None
    out: Path
    """Folder of the results, the table and the report."""

    def for_workers(self, workers: Sequence[str]) -> "Study":
        """The study with every ``*`` replaced by each of ``workers``. Raises :class:`ConfigError` where it names arms in vain."""
        arms = expanded(self.arms, workers)
        found = self.model_copy(
            update={
                "arms": tuple(arms),
                "matched": tuple(expanded(self.matched, workers)),
                "examples": tuple(expanded(self.examples, workers)),
            }
        )
        for name in (*found.matched, *found.examples, *([] if self.compare is None else [self.compare])):
            if name not in arms:
                raise ConfigError(f"{name!r} is none of the arms")
        if self.matched and self.compare is None:
            raise ConfigError("matched needs compare, the arm whose cost is matched")
        return found

    @property
    def workers_from(self) -> Path | None:
        """The pool file, or the folder of recordings that is asked about; None: the built-in pool.

        Raises :class:`ConfigError` where both are named.
        """
        if self.pool is not None and self.problems.replay is not None:
            raise ConfigError("name a pool file or a folder of recordings, not both")
        return self.problems.replay or self.pool

    @property
    def sampling(self) -> Sampling:
        """How workers decode; by default as their own settings say."""
        return Sampling() if self.preset is None else PRESETS[self.preset]


def is_gym_check(path: Path) -> bool:
    """Whether the file at ``path`` names a folder of runs and no arms. Raises :class:`ConfigError` where it is no TOML."""
    table = read_toml(path, "study")
    return "runs" in table and "arms" not in table


def read_study(path: Path) -> Study:
    """The study in the file at ``path``. Raises :class:`ConfigError`, which names the key."""
    try:
        return Study.model_validate(read_toml(path, "study"))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "the study"
        raise ConfigError(f"{path}: {place}: {first['msg']}; see recipes/gym_table.toml") from None
