"""Waiting for a database that is away for a moment: what was paid for must be written down, and must not be lost meanwhile."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import TypeVar

from podium.errors import StoreUnavailable

Result = TypeVar("Result")

AWAY_SECONDS = 20.0
"""For how long a request waits: a restart or a failover, and less than a replica may be silent."""
FIRST_SECONDS = 0.05
LONGEST_SECONDS = 1.0
"""Between two tries."""


async def patiently(work: Callable[[], Awaitable[Result]], seconds: float = AWAY_SECONDS) -> Result:
    """``work()``, tried again for ``seconds`` while the database does not answer; doing it twice has to be harmless.

    Raises :class:`StoreUnavailable` after that. Example: ``await patiently(lambda: quotas.progress(lease, 0.1, 0.0))``.
    """
    loop = asyncio.get_running_loop()
    deadline, wait = loop.time() + seconds, FIRST_SECONDS
    while True:
        try:
            return await work()
        except StoreUnavailable:
            if loop.time() + wait > deadline:
                raise
        await asyncio.sleep(random.uniform(wait / 2, wait))
        wait = min(2 * wait, LONGEST_SECONDS)
