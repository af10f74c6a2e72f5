"""The paper's run, and the same with an adapter (they are explained where they are written)."""

from podium.recipes.paper import config, lora

__all__ = ["config", "lora"]
