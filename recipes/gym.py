"""The gym's recipes, to be named on the command line: podium train recipes/gym.py (they are explained where they are written)."""

from podium.recipes.gym import adaptive, conditional, config, drawn, faulty, plain, recursive, short

__all__ = ["adaptive", "conditional", "config", "drawn", "faulty", "plain", "recursive", "short"]
