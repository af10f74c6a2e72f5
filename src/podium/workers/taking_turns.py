"""Lines that take turns: one of each name is served before any name is served again, first come, first served within a name.

So a tenant with many calls in line delays its own calls, and those of everybody else by one each round.
"""

import asyncio
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Generic, TypeVar

Item = TypeVar("Item")


class Lines(Generic[Item]):
    """Those who wait, in a line per name. Example: ``lines.join("a", 1); lines.join("b", 2); lines.take() == 1``."""

    def __init__(self) -> None:
        self._lines: OrderedDict[str, deque[Item]] = OrderedDict()
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def waiting(self, name: str) -> int:
        """How many wait in the line of ``name``."""
        return len(self._lines.get(name, ()))

    def join(self, name: str, item: Item, *, first: bool = False) -> None:
        """Wait at the end of the line of ``name``; ``first``: at its head, for a call that had its turn and is not done."""
        line = self._lines.setdefault(name, deque())
        (line.appendleft if first else line.append)(item)
        self._count += 1

    def take(self, may: Callable[[str], bool] = lambda name: True) -> Item | None:
        """Whose turn it is, of the names that ``may`` be served; None where none waits."""
        name = next((name for name in self._lines if may(name)), None)
        if name is None:
            return None
        item = self._lines[name].popleft()
        self._lines.move_to_end(name)
        self._taken(name)
        return item

    def leave(self, name: str, item: Item) -> bool:
        """Wait no more; False where ``item`` does not wait."""
        line = self._lines.get(name)
        if line is None or item not in line:
            return False
        line.remove(item)
        self._taken(name)
        return True

    def longest(self) -> str | None:
        """The name with the most waiting."""
        return max(self._lines, key=lambda name: len(self._lines[name]), default=None)

    def last(self, name: str) -> Item:
        """Take the one who came last in the line of ``name``, which is not empty."""
        item = self._lines[name].pop()
        self._taken(name)
        return item

    def _taken(self, name: str) -> None:
        self._count -= 1
        if not self._lines[name]:
            del self._lines[name]


class Turns:
    """A lock for which names take turns. Example: ``async with turns.of("a"): ...``."""

    def __init__(self) -> None:
        self._lines: Lines[asyncio.Future[None]] = Lines()
        self._is_held = False

    @asynccontextmanager
    async def of(self, name: str) -> AsyncIterator[None]:
        """Hold the lock in the body."""
        await self.take(name)
        try:
            yield
        finally:
            self.give()

    async def take(self, name: str) -> None:
        """Wait for the lock and hold it, until :meth:`give`."""
        if self._is_held:
            turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._lines.join(name, turn)
            try:
                await turn
            except asyncio.CancelledError:
                if not self._lines.leave(name, turn) and not turn.cancelled():
                    self.give()  # it was this one's turn already
                raise
        self._is_held = True

    def give(self) -> None:
        """Hold the lock no more: it is the next one's."""
        while (turn := self._lines.take()) is not None:
            if not turn.done():
                turn.set_result(None)
                return
        self._is_held = False
