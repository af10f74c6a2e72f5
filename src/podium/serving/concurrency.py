"""How many requests are worked on at once, over all and of each key, and how many may wait.

Keys take turns: a place that is free goes to the next key that waits and is below its own limit, so a key with many requests
waiting delays its own. What comes on top of a full queue is turned away; where another key has more waiting than the key that
asks, the last one of the longest line is turned away in its stead, so no key can fill the queue for others.

All of this is one process's. The limit of a key that has one of its own is kept over all replicas besides
(:meth:`podium.serving.store.quotas.Quotas.admit`): a request that is refused there steps back, and others go first meanwhile.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from podium.serving.api_errors import overloaded
from podium.workers.taking_turns import Lines

Patience = Callable[[Coroutine[Any, Any, bool]], Awaitable[bool]]
"""Awaits what it is given, or gives it up and raises."""


class ConcurrencyGate:
    """Lets ``concurrency`` in and ``queue`` wait. ``per_key``: how many of a key without a limit of its own come in at once.

    Example: ``place = gate.join("key_1f", 4)``, then ``await place.reached()``, and ``place.leave()`` in the end.
    """

    def __init__(self, concurrency: int, queue: int, per_key: int | None = None) -> None:
        self._concurrency = concurrency
        self._queue = queue
        self._per_key = per_key
        self._lines: Lines[Place] = Lines()
        self._inside: Counter[str] = Counter()
        self._inside_total = 0
        self._limits: dict[str, int] = {}
        self._resting: dict[str, asyncio.TimerHandle] = {}
        """Keys that may not come in before their time is over."""

    @property
    def waiting(self) -> int:
        """How many wait."""
        return len(self._lines)

    @property
    def inside(self) -> int:
        """How many are worked on."""
        return self._inside_total

    def join(self, key: str = "", limit: int | None = None) -> "Place":
        """A place for a request of ``key``, inside or in the queue; ``limit``: how many of the key come in at once.

        Requests without a key are of one key, "", which has no limit but the server's. Raises 429 (:class:`ApiErrorException`)
        where too many wait already.
        """
        if limit is None and key:
            limit = self._per_key
        if limit is None:
            self._limits.pop(key, None)
        else:
            self._limits[key] = limit
        self._let_in()  # the limit may be a new one
        place = Place(self, key)
        if self.inside < self._concurrency and self._may_come_in(key):
            self._enter(place)
        else:
            self._make_room(key)
            self._lines.join(key, place)
        return place

    def _make_room(self, key: str) -> None:
        """Where the queue is full, turn away the last of the longest line, or, where that is no longer than ours, ourselves."""
        if self.waiting < self._queue:
            return
        longest = self._lines.longest()
        if longest is None or self._lines.waiting(longest) < self._lines.waiting(key) + 2:
            self._forget(key)
            raise overloaded(self.waiting)
        self._lines.last(longest).turn_away(self.waiting)

    def _may_come_in(self, key: str) -> bool:
        limit = self._limits.get(key)
        return key not in self._resting and (limit is None or self._inside[key] < limit)

    def _enter(self, place: "Place") -> None:
        self._count(place.key, 1)
        place.enter()

    def _count(self, key: str, change: int) -> None:
        self._inside[key] += change
        self._inside_total += change

    def _let_in(self) -> None:
        while self._lines and self.inside < self._concurrency:
            place = self._lines.take(self._may_come_in)
            if place is None:
                return
            self._enter(place)

    def _left(self, place: "Place") -> None:
        if place.is_inside:
            place.is_inside = False
            self._count(place.key, -1)
            self._rested(place.key)  # there is one less of it
        else:
            self._lines.leave(place.key, place)
        self._forget(place.key)

    def _stepped_back(self, place: "Place", seconds: float) -> None:
        self._count(place.key, -1)
        self._lines.join(place.key, place, first=True)
        if (timer := self._resting.pop(place.key, None)) is not None:
            timer.cancel()
        self._resting[place.key] = asyncio.get_running_loop().call_later(seconds, self._rested, place.key)
        self._let_in()

    def _rested(self, key: str) -> None:
        if (timer := self._resting.pop(key, None)) is not None:
            timer.cancel()
        self._let_in()

    def _forget(self, key: str) -> None:
        """Forget a key that has no request here."""
        if not self._inside[key]:
            del self._inside[key]
            if not self._lines.waiting(key):
                self._limits.pop(key, None)
                if (timer := self._resting.pop(key, None)) is not None:
                    timer.cancel()


class Place:
    """One request's place, which :meth:`ConcurrencyGate.join` makes."""

    def __init__(self, gate: ConcurrencyGate, key: str) -> None:
        self.key = key
        self.is_inside = False
        self._gate = gate
        self._turn: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._waiting = 0

    async def reached(self, patience: Patience | None = None) -> None:
        """Wait until this request may be worked on; ``patience`` waits for it: somebody who has left waits no more.

        Raises 429 (:class:`ApiErrorException`) where it is turned away for others' sake, and what ``patience`` raises.
        """
        if not await (self._decided() if patience is None or self._turn.done() else patience(self._decided())):
            raise overloaded(self._waiting)

    def step_back(self, seconds: float) -> None:
        """Give the place to others, and be the first of the key to come in again, after ``seconds`` or when one of it leaves."""
        self.is_inside = False
        self._turn = asyncio.get_running_loop().create_future()
        self._gate._stepped_back(self, seconds)

    def leave(self) -> None:
        """Wait no more, or make room."""
        self._gate._left(self)

    def enter(self) -> None:
        """The gate lets it in."""
        self.is_inside = True
        if not self._turn.done():  # else it has given up, and is about to leave
            self._turn.set_result(True)

    def turn_away(self, waiting: int) -> None:
        """The gate wants its place in the queue for somebody who has fewer of them."""
        self._waiting = waiting
        if not self._turn.done():
            self._turn.set_result(False)

    async def _decided(self) -> bool:
        return await self._turn
