"""A second call when the first is slow: cuts the long tail of waiting for a little more money.

The idea is the hedged request of J. Dean and L. A. Barroso, "The Tail at Scale", CACM 56(2), 2013: with
``after_seconds`` at the 95th percentile of the first worker's time, about 5 % of the calls are made twice.

Deliberately left out: a first worker that *fails* in time raises its error; a second try is the business of
:class:`podium.workers.retried.Retried` and :class:`podium.workers.fallback.Fallback`.
"""

import asyncio
from dataclasses import replace
from typing import Any

from podium.errors import ConfigError, PodiumError
from podium.protocols import Worker
from podium.types import Call, Completion


class Hedged:
    """Starts ``other`` when ``worker`` has not answered after ``after_seconds``; the first success wins.

    The loser is cancelled, and has ended, before the winner's completion is returned. Where both fail, the error is the
    first worker's. The first worker's tokens stream; if the other wins, the listener is told to forget them and
    gets the other's text in one piece. Example: ``Hedged(chat, chat, after_seconds=20)``.

    To hedge a worker with itself, do it inside the cache and the journal: they make one call of two equal ones.
    """

    def __init__(self, worker: Worker, other: Worker, *, after_seconds: float) -> None:
        if not after_seconds >= 0:
            raise ConfigError(f"hedging after {after_seconds:g} seconds is not possible; set 0 or more")
        self._worker = worker
        self._other = other
        self._after_seconds = after_seconds

    async def __call__(self, call: Call) -> Completion:
        """Answer ``call`` by whichever worker is first."""
        first = asyncio.ensure_future(self._worker(call))
        tasks = [first]
        try:
            await asyncio.wait([first], timeout=self._after_seconds)
            if first.done():
                return first.result()
            # Silent: two workers talking into one listener would mix their texts.
            second = asyncio.ensure_future(self._other(replace(call, on_token=None)))
            tasks.append(second)
            if await _first_success(first, second) is second:
                await _stop(first)
                completion = second.result()
                if call.on_token is not None:
                    call.on_token(None)
                    call.on_token(completion.text)
                return completion
            return first.result()
        finally:
            await _stop(*tasks)


async def _first_success(first: asyncio.Future[Completion], second: asyncio.Future[Completion]) -> asyncio.Future[Completion]:
    """The first of the two to succeed; where neither does, ``first``. A bug in either is raised at once."""
    pending: set[asyncio.Future[Completion]] = {first, second}
    while pending:
        done, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
        for task in (first, second):
            if task not in done:
                continue
            try:
                task.result()
            except PodiumError:
                continue  # the other one may still answer; if not, the caller raises the first's error
            return task
    return first


async def _stop(*tasks: asyncio.Future[Any]) -> None:
    """Cancel what still runs and wait until it has ended, so that no claim, slot or reservation outlives the call."""
    running = [task for task in tasks if not task.done()]
    for task in running:
        task.cancel()
    if running:
        await asyncio.wait(running)
    for task in tasks:
        if not task.cancelled():
            task.exception()  # looked at: the loser's error is not news
