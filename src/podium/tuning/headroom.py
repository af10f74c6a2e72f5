"""Is there anything to conduct? Decided early, from problems that every worker was asked alone.

Conducting gains where another worker is right and the best one is wrong: then there is something to choose, to combine or to
divide. Where that hardly ever happens, the others are copies of the best worker, or weaker at everything, and the best answer is
to use it alone. Left out: what several could do together that none can do a part of; copies that err independently, of which a
vote would gain, are told apart by their answers and so are not stopped.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from types import MappingProxyType

from podium.tuning.catalogue import SOLVE
from podium.tuning.trials import Trial

LITTLE = 0.05
"""Share of the problems that others may have right and the best worker wrong, where there is still nothing to conduct."""
CLEARLY = 0.8
"""A worker is clearly cheaper where it costs less than this share of the best one's dollars."""
NEARLY = 0.1
"""So much less of the share right is nearly as good: it may be the better choice for some kinds."""
MOST_CALLS = 294
"""Calls that the decision may take, where the pool is small enough for ``FEWEST`` problems."""
MOST, FEWEST = 42, 20
"""Problems that are asked of all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Headroom:
    """What the best worker leaves to the others. Example: ``headroom({"p1": {0: True, 1: False}}, [0, 1])``."""

    best: int
    """The best worker's number in the pool."""
    problems: int
    """How many problems all were asked."""
    right: int
    """How many of them the best worker has right."""
    others: int
    """How many it has wrong and another one right."""
    cheaper: int
    """How many others are nearly as often right for clearly less."""

    @property
    def is_little(self) -> bool:
        """Whether there is nothing to conduct, as far as these problems show."""
        return self.problems >= FEWEST and self.others <= LITTLE * self.problems


def headroom(
    right: Mapping[str, Mapping[int, bool]], workers: Sequence[int], usd: Mapping[int, float] = MappingProxyType({})
) -> Headroom:
    """Of problem -> worker -> whether it was right. Problems that were not asked of all ``workers`` do not count.

    Of workers that are as often right the cheapest by ``usd`` is the best; those that are not in it have no known price, and
    come last.
    """
    asked = [one for one in right.values() if all(worker in one for worker in workers)]
    best = max(workers, key=lambda worker: (sum(one[worker] for one in asked), -usd.get(worker, math.inf), -worker))
    return Headroom(
        best=best,
        problems=len(asked),
        right=sum(one[best] for one in asked),
        cheaper=sum(
            usd.get(worker, math.inf) < CLEARLY * usd.get(best, 0.0)
            and sum(one[worker] for one in asked) >= sum(one[best] for one in asked) - NEARLY * len(asked)
            for worker in workers
        ),
        others=sum(not one[best] and any(one[worker] for worker in workers) for one in asked),
    )


def headroom_of(trials: Sequence[Trial], workers: Sequence[int]) -> Headroom:
    """The same of what ``trials`` show of single workers."""
    right: dict[str, dict[int, bool]] = {}
    usd: dict[int, list[float | None]] = {}
    for trial in trials:
        if len(trial.candidate) == 1 and trial.candidate[0].role == SOLVE:
            right.setdefault(trial.problem, {})[trial.candidate[0].worker] = trial.outcome.right
            usd.setdefault(trial.candidate[0].worker, []).append(trial.outcome.usd)
    known = {worker: [one for one in each if one is not None] for worker, each in usd.items()}
    return headroom(right, workers, {worker: fmean(each) for worker, each in known.items() if each == usd[worker]})


def needed(workers: int) -> int:
    """How many problems the decision takes for a pool of ``workers``."""
    return max(FEWEST, min(MOST, MOST_CALLS // workers))
