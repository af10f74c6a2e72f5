"""Caps in dollars, tokens and seconds, held by reserving before a call what it can use at most.

    spent + uncertain + reserved + needed <= cap        before every call

*Spent* is what replies reported, *reserved* the upper bounds of the calls under way, *uncertain* the upper bounds of calls
that ended without a reply and may be on the bill all the same. So the true bill passes a cap only by what a
call under way uses beyond its bound.

Dollars are added as the decimal numbers they are written as, exactly: ten times 0.1 is 1, and what is given back leaves
nothing behind. One event loop calls all this, and only ``freed`` awaits, so there are no locks.
"""

import asyncio
import math
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

from podium.errors import BudgetExceeded, ConfigError
from podium.types import Usage

_NOTHING = Fraction(0)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Reservation:
    """What one call under way may use. Give it back to its budget once: ``settle`` or ``release``."""

    usd: float | None
    tokens: int


class Budget:
    """What may be spent on a question or on a run; None is no cap, and a budget without caps only counts.

    ``name`` appears in messages. The seconds count from now. Raises :class:`ConfigError` for a cap that is not
    positive. Example::

        run = Budget(usd=5.0, seconds=3600, name="run")
        reservation = run.reserve(usd=0.02, tokens=3000)
        run.settle(reservation, Usage(prompt_tokens=900, completion_tokens=80, cost_usd=0.004))
    """

    def __init__(
        self,
        usd: float | None = None,
        tokens: int | None = None,
        seconds: float | None = None,
        *,
        name: str = "run",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        for unit, cap in (("dollars", usd), ("tokens", tokens), ("seconds", seconds)):
            if cap is not None and not (0 < cap < math.inf):
                raise ConfigError(f"a budget of {cap} {unit} allows no call; set a positive number, or leave it out")
        self.name = name
        self.on_change: Callable[[], Awaitable[None]] | None = None
        """Awaited before a call is sent and after it came back, for an account that outlives this process."""
        self.usd = usd
        self.tokens = tokens
        self.seconds = seconds
        self._clock = clock
        self._start = clock()
        self._open: set[Reservation] = set()
        self._freed = asyncio.Event()
        self._reserved_usd = _NOTHING
        self._reserved_tokens = 0
        self._spent_usd = _NOTHING
        self._spent = Usage()
        self._uncertain_usd = _NOTHING
        self._uncertain_tokens = 0
        self._paid_usd = _NOTHING
        self._paid = Usage()

    @property
    def spent(self) -> Usage:
        """What was paid for; ``cost_usd`` is None where one price was unknown (never so under a cap in dollars)."""
        return replace(self._spent, cost_usd=None if self._spent.cost_usd is None else float(self._spent_usd))

    @property
    def paid(self) -> Usage:
        """The part of ``spent`` that calls made under this budget were paid for, without what was charged from before.

        A reply from the journal is in neither: its cost was paid by an earlier run.
        """
        return replace(self._paid, cost_usd=self.paid_usd)

    @property
    def paid_usd(self) -> float | None:
        """The dollars of ``paid``; None where one price was unknown."""
        return None if self._paid.cost_usd is None else float(self._paid_usd)

    @property
    def uncertain_usd(self) -> float:
        """Upper bound, in dollars, of what calls without a reply may have cost."""
        return float(self._uncertain_usd)

    @property
    def uncertain_tokens(self) -> int:
        """Upper bound of the tokens that calls without a reply may have used."""
        return self._uncertain_tokens

    @property
    def reserved_usd(self) -> float:
        """Upper bound, in dollars, of the calls under way."""
        return float(self._reserved_usd)

    @property
    def remaining_usd(self) -> float | None:
        """Dollars not spent, reserved or uncertain; None without a cap in dollars."""
        return None if self.usd is None else float(_decimal(self.usd) - self._booked_usd)

    @property
    def remaining_seconds(self) -> float | None:
        """Seconds left, negative when they are over; None without a cap in seconds."""
        return None if self.seconds is None else self.seconds - (self._clock() - self._start)

    def reserve(self, usd: float | None, tokens: int) -> Reservation:
        """Set aside the most a call can use, before it is sent; ``usd`` None is an unknown price. Raises as :meth:`check`."""
        self.check(usd, tokens)
        reservation = Reservation(usd=usd, tokens=tokens)
        self._reserved_usd = self._reserved_usd + _decimal(usd) if self._open else _decimal(usd)
        self._open.add(reservation)
        self._reserved_tokens += tokens
        return reservation

    def check(self, usd: float | None, tokens: int) -> None:
        """Raise :class:`BudgetExceeded` where a call of this size could pass a cap.

        Raises :class:`ConfigError` for an unknown price under a cap in dollars.
        """
        if usd is None and self.usd is not None:
            raise ConfigError(
                f"the {self.name} budget is in dollars, and the price of this call is unknown; set it in the pool file"
            )
        if (usd is not None and not 0 <= usd < math.inf) or tokens < 0:
            raise ConfigError(f"a call can not need {usd} dollars and {tokens} tokens; check the prices in the pool file")
        needed = _decimal(usd)
        if self.usd is not None and self._booked_usd + needed > _decimal(self.usd):
            raise BudgetExceeded(
                f"the {self.name} budget is ${self.usd:g}: ${float(self._spent_usd):.6g} spent, "
                f"${float(self._reserved_usd):.6g} reserved for calls under way, ${self.uncertain_usd:.6g} uncertain, "
                f"and the next call may need ${usd:.6g}; raise the budget or lower max_tokens"
            )
        if self.tokens is not None and self._spent.tokens + self._uncertain_tokens + self._reserved_tokens + tokens > self.tokens:
            raise BudgetExceeded(
                f"the {self.name} budget is {self.tokens} tokens: {self._spent.tokens} spent, {self._reserved_tokens} reserved "
                f"for calls under way, {self._uncertain_tokens} uncertain, and the next call may need {tokens}; "
                "raise the budget or lower max_tokens"
            )
        left = self.remaining_seconds
        if left is not None and left <= 0:
            raise BudgetExceeded(f"the {self.name} budget of {self.seconds:g} seconds is over; raise it to go on")

    def allows_later(self, usd: float | None, tokens: int) -> bool:
        """Whether a call of this size would be allowed if the calls under way used nothing."""
        if self.usd is not None and self._spent_usd + self._uncertain_usd + _decimal(usd) > _decimal(self.usd):
            return False
        if self.tokens is not None and self._spent.tokens + self._uncertain_tokens + tokens > self.tokens:
            return False
        left = self.remaining_seconds
        return left is None or left > 0

    @property
    def is_reserved(self) -> bool:
        """Whether a call is under way whose end may free a part of the budget."""
        return bool(self._open)

    async def freed(self) -> None:
        """Wait until a call under way has ended, or the seconds are over."""
        try:
            async with asyncio.timeout(self.remaining_seconds):
                await self._freed.wait()
        except TimeoutError:
            return  # the next reservation says that the time is over

    async def idle(self) -> None:
        """Wait until no call is under way."""
        while self._open:
            await self._freed.wait()

    def settle(self, reservation: Reservation, usage: Usage) -> None:
        """The call came back: book what it used. A price that did not come back is booked at its upper bound."""
        if not self._close(reservation):
            return
        cost = usage.cost_usd
        if cost is None or not 0 <= cost < math.inf:
            cost = reservation.usd
        paid = replace(usage, cost_usd=cost)
        self.charge(paid)
        self._paid = self._paid + paid
        self._paid_usd += _decimal(cost)

    def release(self, reservation: Reservation, *, uncertain: bool = False) -> None:
        """The call failed: give its share back, or keep it booked where the provider may have billed it."""
        if self._close(reservation) and uncertain:
            self._uncertain_usd += _decimal(reservation.usd)
            self._uncertain_tokens += reservation.tokens

    def charge(self, usage: Usage, *, uncertain_usd: float | None = 0.0, uncertain_tokens: int | None = 0) -> None:
        """Book what was used before, e.g. by the same run before it was killed (from the journal's ledger).

        Raises :class:`ConfigError` for an unknown cost, sure or uncertain, under a cap in dollars, and for an unknown number of
        tokens under a cap in tokens.
        """
        if (usage.cost_usd is None or uncertain_usd is None) and self.usd is not None:
            raise ConfigError(
                f"the {self.name} budget is in dollars, and what was spent before has no price; start a new "
                "run, in which the replies that are on disk cost nothing"
            )
        if uncertain_tokens is None and self.tokens is not None:
            raise ConfigError(
                f"the {self.name} budget is in tokens, and nobody knows how many a call of before used; start a new "
                "run, in which the replies that are on disk cost nothing"
            )
        self._spent = self._spent + usage
        self._spent_usd += _decimal(usage.cost_usd)
        if uncertain_usd:  # mostly there is none, and exact numbers are added slowly
            self._uncertain_usd += _decimal(uncertain_usd)
        self._uncertain_tokens += uncertain_tokens or 0

    @property
    def _booked_usd(self) -> Fraction:
        return self._spent_usd + self._uncertain_usd + self._reserved_usd

    def _close(self, reservation: Reservation) -> bool:
        """Take ``reservation`` back; False where that was done before, so that twice is harmless."""
        if reservation not in self._open:
            return False
        self._open.remove(reservation)
        self._freed.set()
        self._freed = asyncio.Event()  # a call that waits from now on waits for the next end
        self._reserved_usd = self._reserved_usd - _decimal(reservation.usd) if self._open else _NOTHING
        self._reserved_tokens -= reservation.tokens
        return True


@lru_cache(maxsize=4096)  # reading a number is slow beside adding it, and each one is needed several times
def _decimal(usd: float | None) -> Fraction:
    """The number as it is written: 0.1 is one tenth, not the binary fraction next to it."""
    return Fraction(repr(float(usd))) if usd else _NOTHING
