"""Dollars in the database: whole nano-dollars, so that a million bookings add up to what they are."""

import math
from decimal import ROUND_CEILING, Decimal

_NANO = Decimal(10) ** 9
_LARGEST = 9e8
"""Dollars; ten of the largest sums still fit into 64 bits."""


def to_nano(usd: float) -> int:
    """``usd`` in nano-dollars, a fraction rounded up. Example: ``to_nano(0.1) == 100_000_000``.

    Raises ValueError where it is negative, not finite, or above 900 million dollars.
    """
    if not (math.isfinite(usd) and 0 <= usd <= _LARGEST):
        raise ValueError(f"{usd} is no amount of dollars")
    # repr is the shortest text that means this float: what a person wrote, and not its nearest binary fraction.
    return int((Decimal(repr(float(usd))) * _NANO).to_integral_value(ROUND_CEILING))


def to_usd(nano: int) -> float:
    """The inverse of :func:`to_nano`, correctly rounded."""
    return nano / 1_000_000_000
