"""How many requests are worked on at once, and how many may wait: what comes on top is turned away, not remembered."""

import asyncio
from types import TracebackType

from podium.serving.problems import overloaded


class Gate:
    """Lets ``concurrency`` in and ``queue`` wait. Example: ``async with gate: ...``. Raises 429 (:class:`Refusal`)."""

    def __init__(self, concurrency: int, queue: int) -> None:
        self._free = asyncio.Semaphore(concurrency)
        self._queue = queue
        self.waiting = 0
        self.inside = 0

    async def __aenter__(self) -> None:
        if self._free.locked() and self.waiting >= self._queue:
            raise overloaded(self.waiting)
        self.waiting += 1
        try:
            await self._free.acquire()
        finally:
            self.waiting -= 1
        self.inside += 1

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.inside -= 1
        self._free.release()
