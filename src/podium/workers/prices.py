"""A price and what is told of one: dollars per token, the most that a call can cost, and how to declare what is unknown.

Nothing here knows the price list (:mod:`podium.workers.price_list`), which takes a second to load. Unknown is None and never 0,
so a free local model has to say so.
"""

from collections.abc import Callable
from dataclasses import dataclass

POOL_FILE = "pool file"
PER_MILLION = 1e-6

MostUsd = Callable[[int, int], float | None]
"""(prompt tokens, completion tokens) -> the most that they can cost; None: the price is unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """Dollars per token and where the figures come from.

    The price list has tiers and cached tokens too: these two figures are what a short, uncached call costs per token. What
    a call can cost at most: :func:`podium.workers.price_list.bound_of`.
    Example: ``Price(prompt_usd=2.5e-7, completion_usd=2e-6, source="genai-prices 0.2.3")``.
    """

    prompt_usd: float
    completion_usd: float
    cached_usd: float | None = None
    """Of a prompt token that the provider reads from its cache; None: as any other."""
    source: str = POOL_FILE


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFacts:
    """What is known of a model besides its price. Example: ``ModelFacts(context_tokens=400_000, sees=True)``."""

    context_tokens: int | None = None
    """Tokens that it reads in one call; None = unknown."""
    sees: bool = False
    """Whether it is known to take pictures."""


def how_to_price(worker: str) -> str:
    """What to tell the user of a worker whose price is unknown."""
    return (
        f"the price of worker {worker!r} is unknown; set prompt_usd_per_million and completion_usd_per_million "
        "in its table of the pool file (prompt_usd_per_million = 0 and completion_usd_per_million = 0 where it is free; of a "
        "command, usd_per_call)"
    )
