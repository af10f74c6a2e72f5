"""The gym's recipe with one thing changed, to be named on the command line (they are explained where they are written)."""

from podium.recipes.gym_ablations import (
    all_or_nothing,
    cost_0,
    cost_30,
    cost_100,
    cost_300,
    cost_1000,
    forgetful_start,
    large,
    no_subtasks,
    one_worker,
    sure_start,
)

__all__ = [
    "all_or_nothing",
    "cost_0",
    "cost_30",
    "cost_100",
    "cost_300",
    "cost_1000",
    "forgetful_start",
    "large",
    "no_subtasks",
    "one_worker",
    "sure_start",
]
