"""``load("math500", split="test", data_dir=...)``: every set by name, as Problems.

From a local folder where ``data_dir`` is given, else from the public hub at a pinned commit. A problem that a set prints
twice is loaded once, because counted twice it would shrink a confidence interval without adding evidence.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path

import podium.tasks.benchmarks
from podium.errors import ConfigError, VerifierError
from podium.registry import load_all, registered
from podium.tasks.benchmarks.benchmark import Benchmark, Solved, SourceRow
from podium.tasks.benchmarks.hub import hub_rows
from podium.tasks.benchmarks.hygiene import unique
from podium.types import Problem


def all_benchmarks() -> Mapping[str, Benchmark]:
    """Every set by name: those of this package, registered in their family's file, and those of installed packages.

    Raises :class:`ConfigError` where an installed package is broken.
    """
    load_all(podium.tasks.benchmarks)
    return registered("benchmarks", Benchmark)


def benchmark(name: str) -> Benchmark:
    """The set called ``name``. Raises :class:`ConfigError` where there is none."""
    known = all_benchmarks()
    if name not in known:
        raise ConfigError(f"there is no set {name!r}; there are {', '.join(known)}")
    return known[name]


def load(
    name: str,
    *,
    split: str | None = None,
    data_dir: Path | str | None = None,
    seed: int = 0,
    revision: str | None = None,
) -> list[Problem]:
    """The problems of a set, in its own order, each once.

    ``split`` is ``test`` by default, or the only one. ``data_dir`` is a folder with one sub-folder per set (the package says
    how it looks); without it the hub is asked, at ``revision`` or the pinned commit. ``seed`` orders the options of sets with
    position bias and chooses generated problems.

    Example: ``load("mmlu", split="val", data_dir="../shared/data", seed=3)``.

    Raises :class:`ConfigError` for an unknown set or split, a file that is missing or is something else, and where the
    hub can not be used.
    """
    solved = load_solved(name, split=split, data_dir=data_dir, seed=seed, revision=revision)
    return unique(one.problem for one in solved)


def load_solved(
    name: str,
    *,
    split: str | None = None,
    data_dir: Path | str | None = None,
    seed: int = 0,
    revision: str | None = None,
) -> list[Solved]:
    """As :func:`load`, with an answer to each that its verifier must accept, and with what the set prints twice."""
    one = benchmark(name)
    split = split or ("test" if "test" in one.splits else next(iter(one.splits)))
    one.check_split(split)
    if one.generate is not None:
        return list(one.generate(split, seed))
    if data_dir is not None:
        if one.local is None:
            raise ConfigError(f"{name} has no local layout; load it from the hub")
        return parsed(one, one.local(Path(data_dir), split), split, seed, where=f"{name} in {data_dir}")
    if one.hub is None:
        raise ConfigError(f"{name} is not on the hub; name a folder that holds it")
    return parsed(one, hub_rows(one.hub, split, revision), split, seed, where=f"{one.hub.dataset} on the hub")


def parsed(one: Benchmark, rows: Iterable[SourceRow], split: str, seed: int, *, where: str) -> list[Solved]:
    """The problems that ``rows`` are, in the columns of the set. Raises :class:`ConfigError` that names the record."""
    found: list[Solved] = []
    number = 0
    try:
        for row in rows:
            number += 1
            if one.keep(row, split):
                found.append(one.parse(row, split, seed))
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, VerifierError) as error:
        raise ConfigError(f"{where}, record {number}: not a record of {one.name}: {error!r}") from error
    if not found:
        raise ConfigError(f"{where}: there are no problems in the split {split!r}")
    return found
