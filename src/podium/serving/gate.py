"""How many requests are worked on at once, and how many may wait: what comes on top is turned away, not remembered."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

from podium.serving.problems import overloaded

Patience = Callable[[Coroutine[Any, Any, bool]], Awaitable[bool]]
"""Awaits what it is given, or gives it up and raises."""


class Gate:
    """Lets ``concurrency`` in and ``queue`` wait. Example: ``async with gate.room(): ...``."""

    def __init__(self, concurrency: int, queue: int) -> None:
        self._free = asyncio.Semaphore(concurrency)
        self._queue = queue
        self.waiting = 0
        self.inside = 0

    @asynccontextmanager
    async def room(self, patience: Patience | None = None) -> AsyncIterator[None]:
        """A place inside; where there is none yet, ``patience`` waits for it: somebody who has left waits no more.

        Raises 429 (:class:`Refusal`) where too many wait already, and what ``patience`` raises.
        """
        if not self._free.locked():
            await self._free.acquire()
        elif self.waiting >= self._queue:
            raise overloaded(self.waiting)
        else:
            self.waiting += 1
            try:
                await (self._free.acquire() if patience is None else patience(self._free.acquire()))
            finally:
                self.waiting -= 1
        self.inside += 1
        try:
            yield
        finally:
            self.inside -= 1
            self._free.release()
