"""The few best candidates of a kind, compared in pairs on problems that the search has not seen.

Sequential halving (Z. Karnin, T. Koren, O. Somekh, "Almost optimal exploration in multi-armed bandits", 2013): all are tried on
the same few problems, the worse half goes, the rest are tried on more. A candidate's share right starts with the search's
estimate, which counts as ``PRIOR`` problems.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import fmean

from podium.tuning.candidates import Candidate
from podium.tuning.trials import Bench, Trial
from podium.types import Problem

PRIOR = 6.0
ROUNDS = (6, 8, 12)
"""Problems of each round."""
SHORTEST = 2
"""Problems of a round where calls are few."""


@dataclass(slots=True, kw_only=True)
class Contender:
    """A candidate and how it does."""

    candidate: Candidate
    expected: float
    """Share right by the search's estimate."""
    weight: float = PRIOR
    """Problems that the estimate counts as."""
    trials: list[Trial] = field(default_factory=list)

    @property
    def share(self) -> float:
        """Share right, 0..1, the estimate included."""
        right = sum(trial.outcome.right for trial in self.trials)
        return (right + self.weight * self.expected) / (len(self.trials) + self.weight)

    @property
    def usd(self) -> float | None:
        """Dollars of one question; None: unknown."""
        known = [trial.outcome.usd for trial in self.trials if trial.outcome.usd is not None]
        return fmean(known) if known and len(known) == len(self.trials) else None

    @property
    def seconds(self) -> float | None:
        """Seconds of one question."""
        return fmean(trial.outcome.seconds for trial in self.trials) if self.trials else None


async def halving(
    bench: Bench, contenders: Sequence[Contender], problems: Sequence[Problem], calls: float, *, most: float = 1.0
) -> list[Contender]:
    """All contenders, the best first; those that went early have fewer trials. The rounds are shorter where ``calls`` are few,
    and there is none that the bench can not pay for.

    ``most``: how many times longer the rounds may be where ``calls`` are many.
    """
    left, gone, start = list(contenders), list[Contender](), 0
    counts = [max(1, math.ceil(len(left) / 2**number)) for number in range(len(ROUNDS))]
    steps = sum(len(one.candidate) for one in left) / max(1, len(left))
    scale = min(most, calls / (steps * sum(count * size for count, size in zip(counts, ROUNDS, strict=True))))
    for size in (max(SHORTEST, round(scale * size)) for size in ROUNDS):
        part = list(problems[start : start + size])
        while part and not bench.can_pay([(one.candidate, problem) for one in left for problem in part]):
            part.pop()  # for all of them, who are compared on the same problems
        if not part or len(left) < 2 or bench.is_exhausted:
            break
        start += size
        await bench.all([_more(bench, one, part) for one in left])
        if bench.is_exhausted:
            break  # what was asked of some only is no comparison
        left.sort(key=lambda one: (-one.share, math.inf if one.usd is None else one.usd))
        keep = max(1, (len(left) + 1) // 2)
        gone, left = left[keep:] + gone, left[:keep]
    return left + gone


def affordable(contenders: Sequence[Contender], calls: float) -> int:
    """How many of ``contenders`` can be compared with ``calls``: as many as the shortest rounds allow, and at least two."""
    steps = sum(len(one.candidate) for one in contenders) / max(1, len(contenders))
    number = len(contenders)
    while number > 2 and calls < steps * SHORTEST * sum(
        left for left in (math.ceil(number / 2**past) for past in range(len(ROUNDS))) if left > 1
    ):
        number -= 1
    return number


async def _more(bench: Bench, contender: Contender, problems: Sequence[Problem]) -> None:
    for trials in await bench.all([bench.run(contender.candidate, problem) for problem in problems]):
        contender.trials += (trials or [])[:1]
