"""The paper's run with an adapter instead of every weight: podium train recipes/paper_lora.py."""

from podium.recipes.paper import lora as config

__all__ = ["config"]
