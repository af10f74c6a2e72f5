"""Kinds that are searched side by side take their calls of the same rest, and what each may take does not hang on who is faster.

Each has an equal part of what is left. Whoever needs more waits until the others are done or wait as well; then those who wait
go on one after the other, each with all that is left. So a run that is begun anew over its journal decides the same.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping


class Turns:
    """Who may begin a batch of calls. Example: ``await turns.side_by_side({"sum": work, "word": other})``."""

    def __init__(self, room: Callable[[], float]) -> None:
        """``room``: how many calls can be begun."""
        self._room = room
        self._parts: dict[str, float] = {}
        self._waiting: dict[str, asyncio.Future[None]] = {}
        self._order: list[str] = []
        self._going: str | None = None

    def side_by_side(self, work: Mapping[str, Awaitable[None]]) -> list[Awaitable[None]]:
        """``work`` of each kind, to be awaited all together."""
        self._order = [*work]
        self._parts = dict.fromkeys(work, self._room() / max(1, len(work)))
        return [self._one(kind, own) for kind, own in work.items()]

    async def may_begin(self, kind: str, calls: int) -> bool:
        """Whether ``kind`` can pay for so many calls more; where it has to wait for others, this waits."""
        if kind in self._parts:
            if calls <= self._parts[kind]:
                self._parts[kind] -= calls
                return True
            del self._parts[kind]
            self._waiting[kind] = asyncio.get_running_loop().create_future()
            self._next()
            await self._waiting[kind]
        return calls <= self._room()

    async def _one(self, kind: str, work: Awaitable[None]) -> None:
        try:
            await work
        finally:
            self._parts.pop(kind, None)
            self._waiting.pop(kind, None)
            if self._going == kind:
                self._going = None
            self._next()

    def _next(self) -> None:
        """Let the first of those who wait go on, where nobody else does."""
        waiting = [kind for kind, future in self._waiting.items() if not future.done()]  # others were cancelled
        if not self._parts and self._going is None and waiting:
            self._going = min(waiting, key=self._order.index)
            self._waiting[self._going].set_result(None)
