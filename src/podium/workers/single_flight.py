"""Equal calls at the same time are one call.

The request that began it makes it: in its context, held to its budgets, at its expense. The others wait for its result and get
the text in one piece. They share what the worker did, its failures included, and nothing else: where the one who began is not
allowed the call (:class:`podium.errors.BudgetExceeded`, or any other failure that is not the worker's), only it is told so, and
the next in line makes the call for itself.

Cancelling one of those who wait does not cancel the call for the others, not even where it began the call. Cancelling the last
one does, and waits until the call has ended.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import replace

from podium.errors import PodiumError, WorkerError
from podium.types import Call, Completion, TokenListener


class _Flight:
    """One call under way, and those who wait for it besides the one who makes it."""

    def __init__(self) -> None:
        self.waiting: deque[asyncio.Future[Completion | None]] = deque()
        """Each gets the completion, or None when the turn to make the call is its own."""
        self.is_led = True
        """Whether somebody makes the call, or is about to, who has not left."""
        self.listener: TokenListener | None = None
        self.task: asyncio.Future[Completion] | None = None

    def relay(self, piece: str | None) -> None:
        if self.listener is not None:  # None once the one who began has left
            self.listener(piece)

    def next_leads(self) -> bool:
        """Give the turn to the request that has waited longest; False where none waits."""
        while self.waiting:
            turn = self.waiting.popleft()
            if not turn.done():
                self.is_led = True
                turn.set_result(None)
                return True
        return False


class SingleFlight:
    """The calls under way, by key. Example: ``await flights(key, call, worker)``."""

    def __init__(self) -> None:
        self._flights: dict[str, _Flight] = {}

    async def __call__(self, key: str, call: Call, answer: Callable[[Call], Awaitable[Completion]]) -> Completion:
        """The completion of ``answer(call)``, or of the call under way with the same ``key``."""
        flight = self._flights.get(key)
        if flight is None:
            flight = self._flights[key] = _Flight()
            return await self._lead(key, flight, call, answer)
        completion = await self._follow(key, flight)
        if completion is None:
            return await self._lead(key, flight, call, answer)
        if call.on_token is not None:
            call.on_token(completion.text)
        return completion

    async def _lead(self, key: str, flight: _Flight, call: Call, answer: Callable[[Call], Awaitable[Completion]]) -> Completion:
        flight.listener = call.on_token
        relayed = call if call.on_token is None else replace(call, on_token=flight.relay)
        task = flight.task = asyncio.ensure_future(answer(relayed))
        task.add_done_callback(lambda _: self._landed(key, flight, task))
        try:
            return await asyncio.shield(task)
        finally:
            if not task.done():  # this one leaves
                flight.listener, flight.is_led = None, False
                await self._ended_if_alone(key, flight)

    async def _follow(self, key: str, flight: _Flight) -> Completion | None:
        turn: asyncio.Future[Completion | None] = asyncio.get_running_loop().create_future()
        flight.waiting.append(turn)
        try:
            return await turn
        except asyncio.CancelledError:
            if turn in flight.waiting:
                flight.waiting.remove(turn)
                await self._ended_if_alone(key, flight)
            elif not turn.cancelled() and turn.exception() is None and turn.result() is None and not flight.next_leads():
                self._forget(key, flight)  # it was this one's turn, and no other waits to take it
            raise

    async def _ended_if_alone(self, key: str, flight: _Flight) -> None:
        """End the call that no request waits for any more."""
        task = flight.task
        if flight.is_led or flight.waiting or task is None or task.done():
            return
        self._forget(key, flight)  # an equal call from now on starts anew
        task.cancel()
        await asyncio.wait([task])

    def _landed(self, key: str, flight: _Flight, task: asyncio.Future[Completion]) -> None:
        error = asyncio.CancelledError() if task.cancelled() else task.exception()
        is_its_own = isinstance(error, asyncio.CancelledError | PodiumError) and not isinstance(error, WorkerError)
        if is_its_own and flight.next_leads():
            return
        self._forget(key, flight)
        for turn in flight.waiting:
            if turn.done():
                continue
            if error is None:
                turn.set_result(task.result())
            else:
                turn.set_exception(error)
        flight.waiting.clear()

    def _forget(self, key: str, flight: _Flight) -> None:
        if self._flights.get(key) is flight:
            del self._flights[key]
