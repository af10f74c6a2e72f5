"""Tables and figures of the paper beside the commands that make our counterparts (``counterparts.toml``), and their price."""

import tomllib
from dataclasses import dataclass
from importlib import resources

from podium.workers.price_list import price_of

PAPER_POOL = (("google", "gemini-2.5-pro"), ("anthropic", "claude-sonnet-4-0"), ("openai", "gpt-5"))
"""The closed models of the paper's pool; the open ones cost little beside them."""
TOKENS = 1820
"""Worker tokens per question of the paper's Conductor (its table of costs)."""
COMPLETION_SHARE = 0.7
"""Of these, what was written and not read: an assumption, said with the estimate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Counterpart:
    """One table or figure. Example: ``COUNTERPARTS[0].commands``."""

    paper: str
    commands: tuple[str, ...]
    same: str
    substituted: str
    live: str
    """The command for a pool of one's own; "" where there is nothing to pay for."""
    questions: int = 0
    """How often a question would be conducted live, training included."""

    @property
    def live_usd(self) -> float | None:
        """Dollars for the workers of the live command at today's list prices, about; None where a price is unknown."""
        each = usd_per_question()
        return None if each is None else each * self.questions


_TABLES = tomllib.loads((resources.files("podium.recipes") / "counterparts.toml").read_text(encoding="utf-8"))["counterpart"]
COUNTERPARTS = tuple(Counterpart(**{**table, "commands": tuple(table["commands"])}) for table in _TABLES)


def usd_per_question() -> float | None:
    """Dollars for the worker tokens of one question in the paper's pool, at today's list prices; None where one is unknown."""
    prices = [price_of(provider, model) for provider, model in PAPER_POOL]
    known = [price for price in prices if price is not None]
    if len(known) < len(prices):
        return None
    each = [(1 - COMPLETION_SHARE) * price.prompt_usd + COMPLETION_SHARE * price.completion_usd for price in known]
    return TOKENS * sum(each) / len(each)
