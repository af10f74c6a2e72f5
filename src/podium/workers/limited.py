"""At most so many calls at once, and so many calls and tokens per minute.

The law, for every stretch of 60 seconds wherever it begins: no more than ``requests_per_minute`` calls start in it, and
the tokens of the calls that start in it are no more than ``tokens_per_minute``. That is a sliding window rather than
a token bucket, which lets through up to twice its size in the minute after a rest.

Tokens are counted by their upper bound (:mod:`podium.workers.bound`) until the call returns, then by what it used; a
failed call keeps its bound, because the provider may have counted it. Two exceptions to the law, both after the fact: a
call larger than the whole allowance waits for an empty window, and a call that used more than its bound is booked in full.

The tenants of a server (:mod:`podium.workers.tenant`) take turns at the head of the line, so that one who asks much delays
itself and not the others.

Time is the event loop's. Deliberately left out: the provider's own rate-limit headers; a 429 is for ``Retried``.
"""

import asyncio
import math
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from podium.errors import ConfigError
from podium.protocols import Worker
from podium.types import Call, Completion
from podium.workers.bound import bound
from podium.workers.taking_turns import Turns
from podium.workers.tenant import tenant

WINDOW_SECONDS = 60.0


class LimitSlot:
    """One call that was let in: when, and how many tokens it counts for."""

    __slots__ = ("at_seconds", "expired", "tokens")

    def __init__(self, at_seconds: float, tokens: int) -> None:
        self.at_seconds = at_seconds
        self.tokens = tokens
        self.expired = False


class Limit:
    """What one provider account allows; share it between the workers that share the account.

    None is no limit. Who comes first of a tenant is served first: a large call at the head of the line is not overtaken. A
    cancelled wait leaves the line without a trace. Raises :class:`ConfigError` for a limit below 1.

    Example::

        account = Limit(concurrency=8, requests_per_minute=500, tokens_per_minute=200_000)
        small, large = Limited(chat_a, account, max_tokens=4096), Limited(chat_b, account, max_tokens=4096)
    """

    def __init__(
        self,
        *,
        concurrency: int | None = None,
        requests_per_minute: int | None = None,
        tokens_per_minute: int | None = None,
    ) -> None:
        for name, value in (
            ("concurrency", concurrency),
            ("requests_per_minute", requests_per_minute),
            ("tokens_per_minute", tokens_per_minute),
        ):
            if value is not None and value < 1:
                raise ConfigError(f"{name} is {value}, so no call could ever be made; set 1 or more, or leave it out")
        self._concurrency = concurrency
        self._requests = requests_per_minute
        self._tokens = tokens_per_minute
        self._in_flight = 0
        self._window: deque[LimitSlot] = deque()
        self._window_tokens = 0
        # The lock guards no data, the event loop is single: it is the line.
        self._line = Turns()
        self._freed = asyncio.Event()

    @property
    def counts_requests(self) -> bool:
        """Whether calls are counted by the minute."""
        return self._requests is not None

    @property
    def counts_tokens(self) -> bool:
        """Whether a call has to say how many tokens it may use."""
        return self._tokens is not None

    @asynccontextmanager
    async def admitted(self, tokens: int = 0) -> AsyncIterator[LimitSlot]:
        """Wait in line for a place, hold it in the body; ``tokens`` is the most the call can use."""
        loop = asyncio.get_running_loop()
        await self._line.take(tenant.get().name)
        try:
            while (opens := self._opens_seconds(tokens, loop.time())) > loop.time():
                self._freed.clear()
                # Only the head of the line waits here: for the window to slide, or for a call to return.
                try:
                    async with asyncio.timeout_at(None if opens == math.inf else opens):
                        await self._freed.wait()
                except TimeoutError:
                    continue
            admission = LimitSlot(loop.time(), tokens)
            if self.counts_requests or self.counts_tokens:  # else a minute of calls would be remembered for nothing
                self._window.append(admission)
                self._window_tokens += tokens
            self._in_flight += 1
        finally:
            self._line.give()
        try:
            yield admission
        finally:
            self._in_flight -= 1
            self._freed.set()

    def settle(self, admission: LimitSlot, tokens: int) -> None:
        """Count ``admission`` for the ``tokens`` it really used."""
        if not admission.expired:
            self._window_tokens += tokens - admission.tokens
        admission.tokens = tokens

    def _opens_seconds(self, tokens: int, now: float) -> float:
        """When a call of so many tokens may start, as far as is known now; infinity where a call has to return first."""
        while self._window and self._window[0].at_seconds + WINDOW_SECONDS <= now:
            admission = self._window.popleft()
            admission.expired = True
            self._window_tokens -= admission.tokens
        if self._concurrency is not None and self._in_flight >= self._concurrency:
            return math.inf
        opens = now
        if self._requests is not None and len(self._window) >= self._requests:
            opens = self._window[len(self._window) - self._requests].at_seconds + WINDOW_SECONDS
        if self._tokens is not None:
            excess = self._window_tokens + min(tokens, self._tokens) - self._tokens
            for admission in self._window:
                if excess <= 0:
                    break
                excess -= admission.tokens
                opens = max(opens, admission.at_seconds + WINDOW_SECONDS)
        return opens


class Limited:
    """A worker whose calls keep a :class:`Limit`.

    ``max_tokens`` is the worker's cap on completion tokens; a limit on tokens per minute needs it
    (:class:`ConfigError`). Example: ``Limited(chat, Limit(concurrency=8))``.
    """

    def __init__(self, worker: Worker, limit: Limit, *, max_tokens: int | None = None) -> None:
        if limit.counts_tokens and max_tokens is None:
            raise ConfigError("a limit on tokens per minute needs the worker's max_tokens; set it in the pool file")
        self._worker = worker
        self._limit = limit
        self._max_tokens = max_tokens

    async def __call__(self, call: Call) -> Completion:
        """Answer ``call`` when there is room for it."""
        counted = self._limit.counts_tokens and bool(self._max_tokens)
        tokens = bound(call, self._max_tokens).tokens if counted and self._max_tokens else 0
        async with self._limit.admitted(tokens) as admission:
            completion = await self._worker(call)
            if counted and completion.usage.tokens > 0:  # no tokens at all: the provider did not say, so the bound stays
                self._limit.settle(admission, completion.usage.tokens)
        return completion
