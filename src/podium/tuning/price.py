"""How dear a dollar is to a policy: as dear as it can be without losing more than what may be given up."""

from collections.abc import Sequence
from statistics import fmean

import numpy as np

from podium.policies.tuned_record import TunedWorkflow

PREFERENCES = {"accuracy": 0.0, "balanced": 0.01, "cheap": 0.03}
"""How much of the share right may be given up for a lower price."""


def price_of(stored: Sequence[TunedWorkflow], kinds: Sequence[str], may_lose: float) -> float:
    """The highest of a ladder of prices at which the choice by kind loses at most ``may_lose`` of the share right."""
    dollars = [one.kinds[kind].usd for one in stored for kind in kinds]
    if not may_lose or any(usd is None for usd in dollars) or not any(dollars):
        return 0.0
    unit = 1.0 / max(usd for usd in dollars if usd is not None)

    def share(price: float) -> float:
        chosen = [max(stored, key=lambda one: one.kinds[k].worth(price)) for k in kinds]
        return fmean(one.kinds[kind].right for one, kind in zip(chosen, kinds, strict=True))

    best = share(0.0)
    return max((p for p in (0.0, *(unit * s for s in np.geomspace(0.002, 2.0, 25))) if share(p) >= best - may_lose), default=0.0)
