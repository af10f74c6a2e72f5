"""How many calls may be paid for, over all: each has its place before it is made.

A call that gets no answer gives its place back, so that what is paid for and what is under way never pass the limit, whoever
answers first. Left out: what a worker does for one answer besides, such as trying again, or a second request where the first is
slow (``hedge_after_seconds``). A budget in dollars counts those.
"""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from podium.errors import BudgetExceeded


@dataclass(frozen=True, slots=True, kw_only=True)
class PaidCall:
    """A call that a worker answered."""

    worker: str
    usd: float | None


class Allowance:
    """The calls of a run. Example: ``with allowance.place(): allowance.paid.append(await ...)``."""

    def __init__(self) -> None:
        self.limit = math.inf
        """Calls that may be paid for, with those that have been."""
        self.paid: list[PaidCall] = []
        """Every call that was answered; equal ones once."""
        self._under_way = 0

    @property
    def room(self) -> float:
        """Calls that can be begun."""
        return self.limit - len(self.paid) - self._under_way

    @contextmanager
    def place(self) -> Iterator[None]:
        """The place of a call under way. Raises :class:`BudgetExceeded` where there is none."""
        if self.room < 1:
            raise BudgetExceeded(f"the {int(self.limit)} calls that may be paid for are used up; allow more")
        self._under_way += 1
        try:
            yield
        finally:
            self._under_way -= 1
