"""What a level of thinking is worth in tokens, where one side speaks of levels and the other of tokens."""

from typing import Literal

Level = Literal["minimal", "low", "medium", "high", "xhigh"]
EFFORTS: tuple[tuple[int, Level], ...] = ((1024, "minimal"), (2048, "low"), (10_000, "medium"), (16_384, "high"))
"""The adapter library's own table (pydantic_ai.profiles.anthropic, also its Google defaults)."""
XHIGH = 32_768


def effort(tokens: int) -> Level:
    """The smallest named effort that grants ``tokens``. Example: ``effort(4000)  # "medium"``."""
    return next((name for budget, name in EFFORTS if tokens <= budget), "xhigh")
