"""``read_pool``, with every kind of worker of this package: those that act are registered when this is imported."""

from podium.acting import command, human, mcp, python
from podium.workers.config import read_pool

__all__ = ["BUILT_IN", "read_pool"]

BUILT_IN = (command, human, mcp, python)
"""The modules that register them."""
