"""The metrics of LLMRouterBench (arXiv 2601.07206): what routing gains, what it saves, and how far it is from the frontier.

All of them compare with the best single model, by accuracy. They say nothing of chance: an interval belongs beside each of them
(:mod:`podium.evaluation.compare`). Distances are measured where accuracy and dollars each run from 0 to 1 over the arms that are
compared, so that neither unit outweighs the other.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from podium.errors import ConfigError


@dataclass(frozen=True, slots=True, kw_only=True)
class PricedArm:
    """One setting of an arm. Example: ``PricedArm(name="cheap", group="tuned", right=0.81, usd=0.002)``."""

    name: str
    group: str
    """The method whose setting it is."""
    right: float
    """Share right, 0..1."""
    usd: float
    """Dollars a question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoutingMetrics:
    """How a method with one setting or several does. Example: ``routing_metrics(ours, models, everything).cost_save``."""

    perf_gain: float
    """PerfGain: how much more its most accurate setting has right than the best model, as a share of what that one has right."""
    cost_save: float | None
    """CostSave: the share of the best model's dollars that is saved by its cheapest setting of those at least as accurate; None
    where no setting is."""
    pareto_dist: float
    """ParetoDist: the mean distance of its settings to the nearest point of the frontier of all arms, 0 for those on it."""


def routing_metrics(
    settings: Sequence[PricedArm], models: Sequence[PricedArm], everything: Sequence[PricedArm]
) -> RoutingMetrics:
    """The metrics of ``settings``, the single ``models`` being what they are compared with, and ``everything`` what the frontier
    is made of.

    Raises :class:`ConfigError` where there is nothing to compare, or the best model has nothing right or costs nothing.
    """
    if not settings or not models:
        raise ConfigError("PerfGain and CostSave compare settings with single models; name one of each at least")
    best = max(models, key=lambda arm: (arm.right, -arm.usd))
    if not best.right or not best.usd:
        raise ConfigError(f"PerfGain and CostSave are shares of what {best.name!r} has right and costs, and one of them is 0")
    enough = [arm.usd for arm in settings if arm.right >= best.right]
    return RoutingMetrics(
        perf_gain=max(arm.right for arm in settings) / best.right - 1,
        cost_save=1 - min(enough) / best.usd if enough else None,
        pareto_dist=_distance(settings, [*everything, *settings, *models]),
    )


def frontier_of(arms: Sequence[PricedArm]) -> list[PricedArm]:
    """Those that no other one beats: none is cheaper and at least as accurate, or as cheap and more accurate; cheapest first."""
    found: list[PricedArm] = []
    for arm in sorted(arms, key=lambda arm: (arm.usd, -arm.right)):
        if not found or arm.right > found[-1].right:
            found.append(arm)
    return found


def _distance(settings: Sequence[PricedArm], everything: Sequence[PricedArm]) -> float:
    low, dear = min(arm.right for arm in everything), min(arm.usd for arm in everything)
    high = max(arm.right for arm in everything) - low or 1.0
    span = max(arm.usd for arm in everything) - dear or 1.0

    def apart(one: PricedArm, other: PricedArm) -> float:
        return math.hypot((one.right - other.right) / high, (one.usd - other.usd) / span)

    best = frontier_of(everything)
    return sum(min(apart(arm, point) for point in best) for arm in settings) / len(settings)
