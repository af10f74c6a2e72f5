"""Two rounds, one group: how the rewards of a recursive rollout are put on one scale before they are compared.

The paper (section 3.3) scales the first round's reward by a discount of 0.25 and normalises over the rounds together, so
that what the second round reaches counts most and the first is not paid for leaving work undone. The variant credits the first
round with what came of it: r0 <- (1 - d) r0 + d r1.
"""

from collections.abc import Sequence
from typing import Literal

Credit = Literal["discounted", "shared"]


def over_rounds(rewards: Sequence[float | None], *, discount: float, credit: Credit = "discounted") -> list[float | None]:
    """The rewards of one rollout's turns on the common scale; one turn stays as it is.

    Example: ``over_rounds([1.0, 0.5], discount=0.25) == [0.25, 0.5]``.
    """
    if len(rewards) < 2:
        return list(rewards)
    first, *later = rewards
    last = later[-1]
    if first is None:
        return [None, *later]
    if credit == "discounted":
        return [discount * first, *later]
    return [first if last is None else (1 - discount) * first + discount * last, *later]
