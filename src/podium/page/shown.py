"""How much of a text is shown, and that it is fit to be shown: no control characters, no direction tricks, never too long."""

from podium.types import Usage
from podium.workflow.draw import counted, dollars, plain

SHORT = 3_000
"""Characters of a long text that are shown at first."""
LONG = 200_000
"""Characters that are shown at most, on demand."""


def clipped(text: str, most: int = SHORT) -> str:
    """``text`` fit to be shown, at most ``most`` characters of it. Example: ``clipped("a\\x1b[0m", 9) == "a[0m"``."""
    return plain(text[:most])


def tail(text: str, most: int = SHORT) -> str:
    """The end of ``text``, fit to be shown: what a worker is just saying."""
    return plain(text[-most:])


def line(text: str, width: int) -> str:
    """``text`` on one line of at most ``width`` characters; of a huge text only the start is looked at."""
    return plain(text[: 4 * width + 200], width)


def took(seconds: float) -> str:
    """Example: ``took(0.042) == "0.04 s"``, ``took(75) == "75 s"``."""
    return f"{seconds:.2f} s" if seconds < 10 else f"{seconds:.1f} s" if seconds < 60 else f"{seconds:.0f} s"


def figures(seconds: float, usage: Usage) -> str:
    """Time, tokens and dollars on one line. Example: ``"2.10 s · 431 tokens · $0.000512"``."""
    return f"{took(seconds)} · {counted(usage.tokens, 'token')} · {price(usage)}"


def price(usage: Usage) -> str:
    """The cost in words. Example: ``price(Usage(cost_usd=None)) == "price unknown"``."""
    return "price unknown" if usage.cost_usd is None else dollars(usage)
