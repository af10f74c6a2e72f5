"""Who the specialists are: skills, prices and speed of the seven in the default world.

One is best at each trade and weak, but never helpless, elsewhere; the generalist is above average everywhere and therefore
the best to ask alone; the apprentice is cheap and fast. Names say nothing about trades: a policy has to find them out.
"""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Skills:
    """How often each part of the work comes out right, in 0..1. Example: ``Skills(arithmetic=0.995)``."""

    reading: float = 0.35
    recall: float = 0.3
    arithmetic: float = 0.35
    writing: float = 0.3
    review: float = 0.25


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """A specialist on paper. Example: ``Profile(name="atlas", trade="calculator", skills=Skills(arithmetic=0.995))``.

    ``trade`` is for tables and tests; it is not on the card, which must not tell the policy what it has to find out.
    """

    name: str
    trade: str
    skills: Skills = field(default_factory=Skills)
    prompt_usd: float = 1e-6
    """Dollars per prompt token."""
    completion_usd: float = 4e-6
    """Dollars per completion token."""
    latency_seconds: float = 0.6
    """Seconds before the first token."""
    tokens_per_second: float = 80.0


PROFILES = (
    Profile(name="atlas", trade="calculator", skills=Skills(arithmetic=0.995), latency_seconds=0.4),
    Profile(
        name="brook",
        trade="generalist",
        skills=Skills(reading=0.7, recall=0.6, arithmetic=0.75, writing=0.55, review=0.5),
        prompt_usd=3e-6,
        completion_usd=15e-6,
        latency_seconds=1.2,
        tokens_per_second=60.0,
    ),
    Profile(name="cedar", trade="scholar", skills=Skills(reading=0.4, recall=0.99, writing=0.25)),
    Profile(name="delta", trade="reviewer", skills=Skills(reading=0.4, writing=0.35, review=0.95), latency_seconds=0.9),
    Profile(name="ember", trade="reader", skills=Skills(reading=0.99, recall=0.35, arithmetic=0.4, writing=0.4, review=0.35)),
    Profile(name="fjord", trade="coder", skills=Skills(reading=0.4, arithmetic=0.4, writing=0.85, review=0.45)),
    Profile(
        name="grove",
        trade="apprentice",
        skills=Skills(reading=0.45, recall=0.4, arithmetic=0.45, writing=0.35, review=0.3),
        prompt_usd=1e-7,
        completion_usd=4e-7,
        latency_seconds=0.2,
        tokens_per_second=200.0,
    ),
)
"""The seven of the default world, in pool order."""

NEEDED = ("generalist", "calculator", "reader", "scholar", "coder", "reviewer", "apprentice")
"""Trades in the order in which a smaller pool keeps them."""
