"""Results -> Rows: how good an arm is, how sure that is, and what it costs.

World faults are counted and otherwise left out; a policy that wrote no workflow, or one that can not be carried out, counts as a
wrong answer. The interval
describes the drawing of the problems (and, with repeats, of the answers) from a larger set of their kind; it does not
cover a verifier that errs. Left to a later file: comparing two arms on the same problems.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import NormalDist, fmean, stdev

from podium.evaluation.evaluate import Result


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A confidence interval of a rate, both ends in 0..1. Example: ``Interval(low=0.71, high=0.79)``."""

    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmSummary:
    """One arm on all of its problems or on those of one kind. The means are per counted answer; see :func:`summarise`.

    Example: ``row.accuracy`` 0.75 with ``row.interval`` 0.71 to 0.79, of ``row.n`` 450 answers to ``row.problems`` 450.
    """

    arm: str
    kind: str | None
    """None: all kinds together."""
    problems: int
    """Distinct problems among the counted answers."""
    n: int
    """Counted answers: those with a verdict, and the policy's failures."""
    correct: int
    accuracy: float | None
    """0..1, every problem weighing the same; None where nothing was counted."""
    interval: Interval | None
    """95 %."""
    standard_error: float | None
    """Of ``accuracy``, problems as the independent draws; None for a single problem."""
    correct_given_valid: float | None
    """Right among the answers that came of a valid workflow, so that form and choice are told apart."""
    no_answer: int
    """Wrong because no answer could be read out of the text."""
    invalid: int
    """Wrong because the policy wrote no valid workflow."""
    unworkable: int
    """Wrong because a valid workflow could not be carried out, whatever the world does (a vote that sees nothing, a call larger
    than a worker's context)."""
    world_faults: int
    """Not counted: worker or verifier failed."""
    cost_usd: float | None
    """Mean dollars; None where the price of a single one is unknown."""
    tokens: float | None
    """Mean prompt and completion tokens; None where a single one is unknown."""
    seconds: float | None
    seconds_p95: float | None
    """95 of 100 were at most this slow (nearest rank)."""
    steps: float | None
    """Mean steps; a policy failure has those that were done before it."""


def summarise(results: Iterable[Result]) -> list[ArmSummary]:
    """One row per arm, followed by its rows per kind where ``results`` are of several; arms in the order they first come.

    Answers to one problem (repeats) count as one cluster. Example::

        rows = summarise(await evaluate(arms, problems, verifier))
    """
    arms: dict[str, list[Result]] = {}
    for result in results:
        arms.setdefault(result.arm, []).append(result)
    several = len({result.kind for own in arms.values() for result in own}) > 1
    rows = []
    for arm, own in arms.items():
        rows.append(_row(arm, None, own))
        kinds = sorted({result.kind for result in own}) if several else []
        rows += [_row(arm, kind, [result for result in own if result.kind == kind]) for kind in kinds]
    return rows


def wilson(rate: float, n: float, confidence: float = 0.95) -> Interval:
    """The score interval of a ``rate`` (0..1) seen in ``n`` independent draws; ``n`` need not be whole.

    ``(rate + z²/2n ± z √(rate (1 - rate)/n + z²/4n²)) / (1 + z²/n)`` with z the normal quantile of ``confidence``.
    Source: E. B. Wilson, "Probable inference, the law of succession, and statistical inference", JASA 22 (1927).
    Unlike ``rate ± z·SE`` it stays inside 0..1 and has a width where every answer was right. Example:
    ``wilson(0.81, 263)`` is 0.758 to 0.853 (to three digits).
    """
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    middle = (rate + z * z / (2 * n)) / (1 + z * z / n)
    half = z * math.sqrt(rate * (1 - rate) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    # Rounding may put an end some 1e-17 past the rate itself when that is 0 or 1.
    return Interval(low=max(0.0, min(middle - half, rate)), high=min(1.0, max(middle + half, rate)))


def clustered(scores: Sequence[Sequence[float]], confidence: float = 0.95) -> tuple[float, Interval]:
    """Mean and interval of ``scores``, 0 or 1 each, one inner sequence per problem and one score per repeat.

    The mean is that of the problem means m, so every problem weighs the same. Its standard error takes the k problems,
    not the answers, as the independent draws: ``SE² = Σ (m - mean)² / (k (k - 1))``; for equally many repeats that is the
    clustered standard error of E. Miller, "Adding error bars to evals" (arXiv 2411.00640, 2024), with the small-sample
    factor k/(k - 1). The SE becomes an effective number of answers ``mean (1 - mean) / SE²`` (L. Kish, "Survey
    sampling", 1965), at most as many as there are, and goes into :func:`wilson`: the normal interval ``mean ± z·SE`` in
    all but small samples and means near 0 and 1, where that one is too narrow. Where all means are 0, or all 1, the
    problems themselves are the effective number, and with one answer per problem it is exactly the plain Wilson interval.

    Example: ``clustered([[1, 1], [0, 0], [1, 0]])``, three problems asked twice, has the mean 0.5 and the interval 0.13 to
    0.87. Raises ValueError where a problem has no score or there is no problem.
    """
    if not scores or not all(scores):
        raise ValueError("every problem needs a score, and there must be one")
    means = [fmean(repeats) for repeats in scores]
    mean, k, n = fmean(means), len(means), sum(len(repeats) for repeats in scores)
    spread = mean * (1 - mean)
    if k == n or k == 1 or spread == 0:
        effective = float(k)
    else:
        squared_error = sum((m - mean) ** 2 for m in means) / (k * (k - 1))
        effective = spread / max(squared_error, spread / n)
    return mean, wilson(mean, effective, confidence)


def standard_error(scores: Sequence[Sequence[float]]) -> float | None:
    """Of the mean in :func:`clustered`, by the same formula. Example: ``standard_error([[1], [0], [1], [0]])`` is 0.289."""
    means = [fmean(repeats) for repeats in scores]
    return stdev(means) / math.sqrt(len(means)) if len(means) > 1 else None


def _row(arm: str, kind: str | None, results: Sequence[Result]) -> ArmSummary:
    counted = [result for result in results if not result.is_world_fault]
    scores: dict[str, list[float]] = {}
    for result in counted:
        scores.setdefault(result.problem, []).append(float(result.is_correct))
    accuracy, interval = clustered(list(scores.values())) if scores else (None, None)
    return ArmSummary(
        arm=arm,
        kind=kind,
        problems=len(scores),
        n=len(counted),
        correct=sum(result.is_correct for result in counted),
        accuracy=accuracy,
        interval=interval,
        standard_error=standard_error(list(scores.values())),
        correct_given_valid=_mean(
            [float(result.is_correct) for result in counted if result.is_unworkable or not result.is_policy_failure]
        ),
        no_answer=sum(result.verdict is not None and result.verdict.extracted is None for result in counted),
        invalid=sum(result.is_policy_failure and not result.is_unworkable for result in counted),
        unworkable=sum(result.is_unworkable for result in counted),
        world_faults=len(results) - len(counted),
        cost_usd=_mean([None if result.usage is None else result.usage.cost_usd for result in counted]),
        tokens=_mean([None if result.usage is None else result.usage.tokens for result in counted]),
        seconds=_mean([result.seconds for result in counted]),
        seconds_p95=_p95([result.seconds for result in counted]),
        steps=_mean([result.steps for result in counted]),
    )


def _mean(values: Sequence[float | None]) -> float | None:
    """None of nothing, and where a single value is unknown: a mean over the rest would flatter an arm that hides its dear
    answers."""
    known = [value for value in values if value is not None]
    return fmean(known) if known and len(known) == len(values) else None


def _p95(values: Sequence[float]) -> float | None:
    return sorted(values)[math.ceil(0.95 * len(values)) - 1] if values else None
