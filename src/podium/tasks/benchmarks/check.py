"""Is a set what it should be: it loads, ids are unique, the verifier accepts gold, train and test are apart."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from podium.errors import ConfigError, VerifierError
from podium.protocols import Verifier
from podium.tasks.benchmarks.benchmark import Benchmark, Solved
from podium.tasks.benchmarks.countdown import gold as countdown_gold
from podium.tasks.benchmarks.hygiene import overlaps
from podium.tasks.benchmarks.registry import benchmark, load_solved
from podium.types import Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejected:
    """A gold answer that was not accepted. Example: ``Rejected(problem=p, gold="\\\\boxed{5}", why="5 is not 5 m")``."""

    problem: Problem
    gold: str
    why: str
    broken: bool = False
    """The verifier could not say; it did not call the answer wrong."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """What was found out about one set. Example: ``Check(...).passed`` is True where nothing is wrong."""

    name: str
    sizes: Mapping[str, int]
    """Split -> problems as printed, those that come twice included; only splits that are at hand."""
    missing: Mapping[str, str]
    """Split -> why it could not be loaded."""
    repeated: Mapping[str, int]
    """Split -> problems that are printed again; ``load`` drops them."""
    tried: int
    """Gold answers that were given to the verifier."""
    rejected: tuple[Rejected, ...]
    shared: tuple[tuple[str, str, int], ...]
    """(split, split, questions in both), where there are any and neither is a part of the other by design."""

    @property
    def passed(self) -> bool:
        """Whether the set is at hand and nothing is wrong with it."""
        return bool(self.sizes) and not self.rejected and not self.shared


async def check(
    name: str, verifier: Verifier | None, *, data_dir: Path | str | None = None, seed: int = 0, sample: int = 50
) -> Check:
    """Check the set ``name``; ``verifier`` None leaves gold answers untried, ``sample`` says how many are tried a split.

    Example: ``await check("gsm8k", verifiers(), data_dir="../shared/data")``. Raises :class:`ConfigError` for an unknown
    set only: a split that can not be loaded is in the result.
    """
    one = benchmark(name)
    found: dict[str, list[Solved]] = {}
    missing: dict[str, str] = {}
    for split in one.splits:
        try:
            found[split] = load_solved(name, split=split, data_dir=data_dir, seed=seed)
        except ConfigError as error:
            missing[split] = str(error)
    rejected: list[Rejected] = []
    tried = 0
    if verifier is not None:
        for solved in found.values():
            for answered in _sample(one, solved, sample):
                tried += 1
                rejected += await _rejected(verifier, answered)
    return Check(
        name=name,
        sizes={split: len(solved) for split, solved in found.items()},
        missing=missing,
        repeated={split: len(solved) - len({each.problem.id for each in solved}) for split, solved in found.items()},
        tried=tried,
        rejected=tuple(rejected),
        shared=tuple(_shared(found)),
    )


def _sample(one: Benchmark, solved: list[Solved], sample: int) -> list[Solved]:
    """Spread over the split; sets are often sorted."""
    step = max(1, len(solved) // max(1, sample))
    chosen = solved[::step][:sample]
    if one.name == "countdown":
        chosen = [Solved(problem=each.problem, gold=countdown_gold(each)) for each in chosen]
    return [each for each in chosen if each.gold]


async def _rejected(verifier: Verifier, solved: Solved) -> list[Rejected]:
    try:
        verdict = await verifier(solved.problem, solved.gold)
    except VerifierError as error:
        return [Rejected(problem=solved.problem, gold=solved.gold, why=str(error), broken=True)]
    return [] if verdict.correct else [Rejected(problem=solved.problem, gold=solved.gold, why=verdict.why)]


def _shared(found: Mapping[str, list[Solved]]) -> list[tuple[str, str, int]]:
    pairs = []
    for one, other in combinations(found, 2):
        if "all" in (one, other) or one.startswith("release") or other.startswith("release"):
            continue  # these hold the others by design
        count = len(overlaps((each.problem for each in found[one]), (each.problem for each in found[other])))
        if count:
            pairs.append((one, other, count))
    return pairs
