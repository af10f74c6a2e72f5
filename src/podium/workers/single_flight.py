"""Equal calls at the same time are one call.

Cancelling one of those who wait does not cancel the call for the others; cancelling the last one does, and waits until
the call has ended. The first one's listener gets the tokens as they come, the others get the text in one piece.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

from podium.types import Call, Completion, TokenListener


class _Flight:
    """One call under way and the number of those who wait for it."""

    def __init__(self, listener: TokenListener | None) -> None:
        self.listener = listener
        self.waiting = 0
        self.task: asyncio.Future[Completion]

    def relay(self, piece: str | None) -> None:
        if self.listener is not None:  # None once the first one has left
            self.listener(piece)


class SingleFlight:
    """The calls under way, by key. ``key in flights`` tells whether the next call would join one.

    Example: ``await flights(key, call, worker)``.
    """

    def __init__(self) -> None:
        self._flights: dict[str, _Flight] = {}

    def __contains__(self, key: str) -> bool:
        return key in self._flights

    async def __call__(self, key: str, call: Call, answer: Callable[[Call], Awaitable[Completion]]) -> Completion:
        """The completion of ``answer(call)``, or of the call under way with the same ``key``; its error likewise."""
        flight = self._flights.get(key)
        if flight is not None:
            completion = await self._wait(key, flight)
            if call.on_token is not None:
                call.on_token(completion.text)
            return completion

        flight = self._flights[key] = _Flight(call.on_token)
        relayed = call if call.on_token is None else replace(call, on_token=flight.relay)
        flight.task = asyncio.ensure_future(answer(relayed))
        flight.task.add_done_callback(lambda _: self._forget(key, flight))
        try:
            return await self._wait(key, flight)
        finally:
            flight.listener = None

    async def _wait(self, key: str, flight: _Flight) -> Completion:
        flight.waiting += 1
        try:
            return await asyncio.shield(flight.task)
        finally:
            flight.waiting -= 1
            if not flight.waiting and not flight.task.done():
                self._forget(key, flight)  # an equal call from now on starts anew
                flight.task.cancel()
                await asyncio.wait([flight.task])

    def _forget(self, key: str, flight: _Flight) -> None:
        if self._flights.get(key) is flight:
            del self._flights[key]
