"""Learning when to stop, to be named on the command line: podium train recipes/gym_stopping.py."""

from podium.recipes.gym_stopping import config, without

__all__ = ["config", "without"]
