"""The demanding gym's recipes, to be named on the command line: podium train recipes/gym_demanding.py."""

from podium.recipes.gym_demanding import config, plain

__all__ = ["config", "plain"]
