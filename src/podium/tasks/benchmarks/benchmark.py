"""What a benchmark is: a name, a kind, where its rows come from, and the function that makes a Problem of a row."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from podium.errors import ConfigError
from podium.types import Problem

SourceRow = Mapping[str, Any]
"""One record of a data set, in the columns that the hub gives it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Solved:
    """A problem and an answer that its verifier must accept.

    Example: ``Solved(problem=six_times_seven, gold="\\\\boxed{42}")``; ``gold`` is "" where the set has no solution.
    """

    problem: Problem
    gold: str


def boxed(kind: str, question: str, target: str, source: str, split: str) -> Solved:
    """The problem of these texts, whose verifier accepts its target in a box. Raises :class:`ValueError` where one is empty."""
    if not question.strip() or not target.strip():
        raise ValueError("the question or the answer is empty")
    problem = Problem(question=question.strip(), target=target.strip(), kind=kind, source=source, split=split)
    return Solved(problem=problem, gold=f"\\boxed{{{problem.target}}}")


@dataclass(frozen=True, slots=True, kw_only=True)
class HubSource:
    """Where on the public hub a set lies, and at which commit.

    A commit was seen, spelled out for its set, in public material: the hub's own pages, or code and manifests of several
    independent projects that pin it (of ``leetcode`` one project, of ``rlpr`` the hub's page only). None was made up.

    Example: ``HubSource(dataset="openai/gsm8k", revision="740312a...", configs=("main",), splits={"test": ("test",)})``.
    """

    dataset: str
    revision: str | None
    """None: nobody was found to name one; the loader asks the user for it instead of following a branch that moves."""
    configs: tuple[str, ...] = ("",)
    """Configurations whose rows are read one after the other; "" is the default one."""
    splits: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Our split -> theirs; {} where they have the same names."""
    files: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Our split -> files of JSON lines, for sets that are published with a loading script, which is not run."""
    gated: bool = False
    """The owner wants to be asked first: accept the terms on the hub and log in."""


def _not_read(row: SourceRow, split: str, seed: int) -> Solved:
    raise ValueError("this set is generated, not read")


@dataclass(frozen=True, slots=True, kw_only=True)
class Benchmark:
    """One set of the registry. Example: ``benchmark("math500").splits`` is ``{"test": 500}``."""

    name: str
    kind: str
    """Of its problems: which verifier judges them."""
    about: str
    licence: str
    url: str
    """The home of the set."""
    splits: Mapping[str, int | None]
    """Split -> number of problems, None where we can not know it without the data."""
    parse: Callable[[SourceRow, str, int], Solved] = _not_read
    """(row, split, seed) -> problem, for a set that is read. Raises KeyError, TypeError or ValueError for other rows."""
    local: Callable[[Path, str], Iterable[SourceRow]] | None = None
    """(data folder, split) -> rows, from files in the layout that the set is published in outside the hub."""
    hub: HubSource | None = None
    keep: Callable[[SourceRow, str], bool] = lambda row, split: True
    """(row, split) -> whether the row belongs to the split."""
    generate: Callable[[str, int], Iterable[Solved]] | None = None
    """(split, seed) -> problems, for a set that is made rather than read."""
    shuffled: bool = False
    """Options are put into an order that depends on the seed: models prefer some positions."""
    note: str = ""
    """What one must know before reporting a number on it."""

    def check_split(self, split: str) -> None:
        """Raise :class:`ConfigError` where the set has no such split."""
        if split not in self.splits:
            raise ConfigError(f"{self.name} has no split {split!r}; it has {', '.join(self.splits)}")
