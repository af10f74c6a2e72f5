"""Two arms on the same problems: how much better, how sure, and what it would take to be surer.

Pairs remove what problems have in common, so two arms with overlapping intervals can differ for certain. A problem counts once,
its repeats as one mean; a problem that only one of the two has a verdict on is left out and counted. scipy does the arithmetic.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist, fmean, stdev

from scipy import stats

from podium.errors import ConfigError
from podium.evaluation.evaluate import Result
from podium.evaluation.metrics import Interval

CONFIDENCE = 0.95
POWER = 0.8


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """``arm`` against ``other``; differences are of accuracies in 0..1.

    Example: ``difference`` 0.31 with ``interval`` 0.27 to 0.35 over ``problems`` 1600, ``p`` 1e-80.
    """

    arm: str
    other: str
    problems: int
    """Problems that both have a verdict on."""
    left_out: int
    """Problems that only one of them has a verdict on: the world failed the other."""
    difference: float
    interval: Interval
    """95 % (:func:`paired_interval`)."""
    wins: int
    """Problems on which ``arm`` is right more often."""
    losses: int
    p: float
    """McNemar's exact test, two-sided (a sign test where problems were repeated)."""
    p_holm: float
    """The same, corrected for the comparisons that were made along with it (:func:`holm`)."""
    needed: int | None
    """Problems that would show half of this difference in four of five tries at 5 %; None where no problem tells them apart."""


def compare(results: Sequence[Result], arm: str, others: Sequence[str]) -> list[Comparison]:
    """``arm`` against each of ``others``, on the problems that both answered.

    Raises :class:`ConfigError` for an arm without results and for two arms without a common problem. Example::

        [found] = compare(results, "conductor", ["worker:brook"])
        found.interval.low > 0
    """
    by_arm = scores(results)
    for name in (arm, *others) if others else ():
        if name not in by_arm:
            raise ConfigError(f"there are no results of {name!r}; there are some of {', '.join(sorted(by_arm))}")
    differences = {other: _differences(by_arm[arm], by_arm[other], f"{arm!r} and {other!r}") for other in others}
    wins = {other: sum(d > 0 for d in each) for other, each in differences.items()}
    losses = {other: sum(d < 0 for d in each) for other, each in differences.items()}
    tried = {other: wins[other] + losses[other] for other in others}
    p = {other: float(stats.binomtest(wins[other], n).pvalue) if n else 1.0 for other, n in tried.items()}
    p_holm = holm(p)
    return [
        Comparison(
            arm=arm,
            other=other,
            problems=len(each),
            left_out=len(by_arm[arm].keys() ^ by_arm[other].keys()),
            difference=fmean(each),
            interval=paired_interval(each),
            wins=wins[other],
            losses=losses[other],
            p=p[other],
            p_holm=p_holm[other],
            needed=problems_needed(fmean(each) / 2, each),
        )
        for other, each in differences.items()
    ]


def comparable(results: Iterable[Result], arm: str, others: Iterable[str]) -> list[str]:
    """Those of ``others`` that have a verdict on a problem on which ``arm`` has one, too: nothing can be said of the rest."""
    by_arm = scores(results)
    mine = by_arm.get(arm, {}).keys()
    return [other for other in others if mine & by_arm.get(other, {}).keys()]


def _differences(mine: Mapping[str, float], theirs: Mapping[str, float], names: str) -> list[float]:
    common = sorted(mine.keys() & theirs.keys())
    if not common:
        raise ConfigError(f"{names} have no problem in common")
    return [mine[problem] - theirs[problem] for problem in common]


def scores(results: Iterable[Result]) -> dict[str, dict[str, float]]:
    """Arm -> problem -> share of its repeats that are right; world faults are left out."""
    seen: dict[str, dict[str, list[float]]] = {}
    for result in results:
        if not result.is_world_fault:
            seen.setdefault(result.arm, {}).setdefault(result.problem, []).append(float(result.is_correct))
    return {arm: {problem: fmean(each) for problem, each in problems.items()} for arm, problems in seen.items()}


def paired_interval(differences: Sequence[float], confidence: float = CONFIDENCE) -> Interval:
    """The interval of the mean of paired ``differences``, one per problem, each in -1..1.

    Two more problems are thought of, one won and one lost; then, with n + 2 of them, ``mean +- z sqrt(mean of squares - mean^2) /
    sqrt(n + 2)``. For answers that are right or wrong this is exactly the adjusted Wald interval of D. G. Bonett and R. M. Price,
    "Adjusted Wald confidence interval for a difference of binomial proportions based on paired data", Journal of Educational and
    Behavioral Statistics 37 (2012). It holds its 95 % where few problems differ, where none does, and where all do, which the
    plain normal interval and a bootstrap do not: those end in a point there. In large samples all are the same. An end beyond -1
    or 1 is that bound. Example: ``paired_interval([0.0] * 30)`` is -0.086 to 0.086. Raises ValueError without a difference.
    """
    if not differences:
        raise ValueError("there is no difference to give an interval of")
    n = len(differences) + 2
    mean = sum(differences) / n
    variance = (sum(d * d for d in differences) + 2) / n - mean * mean
    half = NormalDist().inv_cdf(0.5 + confidence / 2) * math.sqrt(variance / n)
    return Interval(low=max(-1.0, mean - half), high=min(1.0, mean + half))


def problems_needed(difference: float, differences: Sequence[float]) -> int | None:
    """How many problems would show a mean of ``difference``, spread as ``differences`` are, with 80 % power at 5 %, two-sided.

    ``((z(0.975) + z(0.8)) * sd / difference)^2``; None where there is no difference or no spread to go by.
    """
    spread = stdev(differences) if len(differences) > 1 else 0.0
    if difference == 0 or spread == 0:
        return None
    z = NormalDist().inv_cdf(0.5 + CONFIDENCE / 2) + NormalDist().inv_cdf(POWER)
    return math.ceil((z * spread / difference) ** 2)


def holm(p: Mapping[str, float]) -> dict[str, float]:
    """p values of comparisons that are made together, corrected so that 5 % holds for all of them (Holm 1979).

    Example: ``holm({"a": 0.01, "b": 0.04}) == {"a": 0.02, "b": 0.04}``.
    """
    corrected: dict[str, float] = {}
    least = 0.0
    for rank, name in enumerate(sorted(p, key=lambda name: p[name])):
        least = max(least, min(1.0, p[name] * (len(p) - rank)))
        corrected[name] = least
    return {name: corrected[name] for name in p}
