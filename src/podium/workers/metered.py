"""Counts what calls cost and keeps them within budgets, for the question and for the run at once."""

import asyncio
import logging
from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import replace
from functools import partial
from typing import Protocol

from podium.errors import BudgetExceeded, ConfigError, StoreUnavailable
from podium.protocols import Worker
from podium.types import Call, Card, Completion, Usage
from podium.workers.billing import plausible, surely_unpaid
from podium.workers.bound import bound, price
from podium.workers.budget import Budget, Reservation
from podium.workers.prices import MostUsd, how_to_price

log = logging.getLogger(__name__)

_holding: ContextVar[frozenset[int]] = ContextVar("_holding", default=frozenset())
"""Budgets (by ``id``) in which a call around this one holds a reservation."""

question_budgets: ContextVar[tuple[Budget, ...]] = ContextVar("question_budgets", default=())
"""Budgets of the question under way, which every metered worker asked for it keeps besides its own: a server's request."""


class Attempt(Protocol):
    """What a journal is told of a call as it happens: that it was sent, and its reply."""

    def sent(self) -> None:
        """From now on the call may be on the bill."""

    async def answered(self, completion: Completion) -> None:
        """The reply is here and has to be kept, before anything else is done that might fail."""


class Metered:
    """A worker whose calls every one of ``budgets`` has to allow.

    Before a call its upper bound is reserved in all of them: tokens (:mod:`podium.workers.bound`), and what ``most_usd`` says
    that they can cost; without it, what they cost at the prices of ``card``. Where only calls under way stand in the way, it
    waits for them. Afterwards the bound is replaced by what the call used. A call that fails keeps its bound booked as
    *uncertain* unless it was surely unpaid (:mod:`podium.workers.billing`) or was never sent. A call still running when the
    seconds of a budget are over is cut off. ``max_tokens`` is the worker's cap on completion tokens; 0: it uses no tokens.

    Raises :class:`BudgetExceeded` where a budget does not allow the call, and :class:`ConfigError`, when made, for a budget
    in dollars on a worker without a price. Example::

        Metered(chat, card, 4096, [Budget(usd=0.10, name="question"), run_budget], chat.most_usd)
    """

    def __init__(
        self, worker: Worker, card: Card, max_tokens: int, budgets: Sequence[Budget], most_usd: MostUsd | None = None
    ) -> None:
        if max_tokens < 0:
            raise ConfigError(
                f"max_tokens of worker {card.name!r} is {max_tokens}; set 1 or more, or 0 for a worker that uses no tokens"
            )
        self._most_usd = most_usd or partial(price, card)
        if any(budget.usd is not None for budget in budgets) and self._most_usd(1, 1) is None:
            raise ConfigError(f"a budget in dollars can not be kept: {how_to_price(card.name)}")
        self._worker = worker
        self._card = card
        self._max_tokens = max_tokens
        self._budgets = tuple(budgets)

    async def __call__(self, call: Call) -> Completion:
        """Answer ``call`` if it can be afforded."""
        return await self.attempt(call, None)

    async def attempt(self, call: Call, attempt: Attempt | None) -> Completion:
        """Answer ``call`` if it can be afforded, and tell ``attempt`` when it is sent and when the reply is here.

        The reply is kept first and booked afterwards. Books elsewhere that can not be reached then lose nothing: they are told
        the same sums again before the next call and at the end.
        """
        most = self.bound(call)
        budgets = (*self._budgets, *question_budgets.get())
        held = await self._reserve(most, budgets)
        outer = _holding.set(_holding.get() | {id(budget) for budget in budgets})
        sent = False
        try:
            await _announce_call(budgets)
            sent = True
            if attempt is not None:
                attempt.sent()
            completion = await self._bounded(call, budgets)
        except BaseException as error:  # cancellation and bugs too: whatever ends the call, its reservation ends with it
            for budget, reservation in held:
                budget.release(reservation, uncertain=sent and not surely_unpaid(error))
            raise
        finally:
            _holding.reset(outer)
        used = self._priced(completion.usage, most)
        for budget, reservation in held:
            budget.settle(reservation, used)
        if attempt is not None:
            await attempt.answered(completion)
        await _announce_reply(budgets)
        return completion

    def bound(self, call: Call) -> Usage:
        """The most ``call`` can use; its dollars are None where the price is unknown."""
        most = bound(call, self._max_tokens) if self._max_tokens else Usage()
        cost = self._most_usd(most.prompt_tokens, most.completion_tokens)
        return Usage(prompt_tokens=most.prompt_tokens, completion_tokens=most.completion_tokens, cost_usd=cost)

    async def _reserve(self, most: Usage, budgets: Sequence[Budget]) -> list[tuple[Budget, Reservation]]:
        """Reserve; where nothing but the reservations of calls under way forbids it, wait for one of them to end.

        A call inside another call that holds a reservation in the same budget does not wait: it might wait for itself.
        """
        while (blocker := _blocker(most, budgets)) is not None:
            await blocker.freed()
        return [(budget, budget.reserve(most.cost_usd, most.tokens)) for budget in budgets]

    async def _bounded(self, call: Call, budgets: Sequence[Budget]) -> Completion:
        """The call, cut off when the seconds of the first budget are over."""
        clocks = [(left, budget) for budget in budgets if (left := budget.remaining_seconds) is not None]
        if not clocks:
            return await self._worker(call)
        left, tightest = min(clocks, key=lambda clock: clock[0])
        limit = asyncio.timeout(left)
        try:
            async with limit:
                return await self._worker(call)
        except TimeoutError as error:
            if not limit.expired():
                raise
            raise BudgetExceeded(
                f"the {tightest.name} budget of {tightest.seconds:g} seconds was over during a call of worker "
                f"{self._card.name!r}, which was cut off; raise the budget to go on"
            ) from error

    def _priced(self, usage: Usage, most: Usage) -> Usage:
        """``usage`` as the budgets book it. What the provider did not say, or can not mean, is booked at its bound."""
        if not plausible(usage):  # hostile or broken: less than nothing would win back what was spent
            return most
        if usage.cost_usd is not None:
            return usage
        if usage.tokens == 0:  # no call uses nothing: the provider did not say
            return most
        return replace(usage, cost_usd=self._most_usd(usage.prompt_tokens, usage.completion_tokens))


def _blocker(most: Usage, budgets: Sequence[Budget]) -> Budget | None:
    """The budget whose calls under way have to end first; None: the call is allowed now. Raises where waiting can not help."""
    for budget in budgets:
        try:
            budget.check(most.cost_usd, most.tokens)
        except BudgetExceeded:
            if budget.is_reserved and budget.allows_later(most.cost_usd, most.tokens) and id(budget) not in _holding.get():
                return budget
            raise
    return None


async def _announce_call(budgets: Sequence[Budget]) -> None:
    """Have it written down elsewhere (a server's database) where each budget stands, before a call is sent. Where that fails, or
    the budget is closed there, the call is not made."""
    for budget in budgets:
        if budget.on_change is not None:
            await budget.on_change()


async def _announce_reply(budgets: Sequence[Budget]) -> None:
    """As :func:`_announce_call`, after the reply: it is paid and kept, so there is nothing left to forbid."""
    for budget in budgets:
        try:
            if budget.on_change is not None:
                await budget.on_change()
        except (StoreUnavailable, BudgetExceeded) as error:
            log.warning("the books of the %s budget will be told of a paid call later: %s", budget.name, error)
