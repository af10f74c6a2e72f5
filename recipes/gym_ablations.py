"""The gym's recipe with one thing changed, to be named on the command line (they are explained where they are written)."""

from podium.recipes.gym_ablations import (
    cost_0,
    cost_30,
    cost_100,
    cost_300,
    cost_1000,
    forgetful_start,
    no_subtasks,
    one_worker,
    positions,
    small,
    sure_start,
)

__all__ = [
    "cost_0",
    "cost_30",
    "cost_100",
    "cost_300",
    "cost_1000",
    "forgetful_start",
    "no_subtasks",
    "one_worker",
    "positions",
    "small",
    "sure_start",
]
