"""What a server does every few seconds while it runs: each job for itself, so that none keeps another one waiting.

A job that fails is done again at the next beat, whatever it failed of: the database is away, or there is a mistake of ours. Which
of the two it was stands in the log; how often and since when, in the metrics. Where leases are not renewed for long, the
server says that it is not ready, before another replica takes it for dead.
"""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

from podium.errors import StoreUnavailable

log = logging.getLogger(__name__)

MOST_SECONDS = 15.0
"""How long a job may take; after that it counts as failed."""


@dataclass(slots=True)
class JobState:
    """How it stands with a job. Example: ``JobState(done=100.0, failures=2)``."""

    done: float
    """When it was done last, or begun first, on the monotonic clock."""
    failures: int = 0

    @property
    def age_seconds(self) -> float:
        """How long that is ago."""
        return time.monotonic() - self.done


class Heartbeat:
    """Jobs by name. Example: ``async with Heartbeat({"renew": quotas.beat}).beating(5.0): ...``."""

    def __init__(self, jobs: Mapping[str, Callable[[], Awaitable[object]]]) -> None:
        self._jobs = dict(jobs)
        self.states: dict[str, JobState] = {}
        """Of each job, while it is done again and again."""

    @asynccontextmanager
    async def beating(self, every_seconds: float) -> AsyncIterator[None]:
        """Do every job, every so many seconds, inside the block."""
        self.states = {name: JobState(done=time.monotonic()) for name in self._jobs}
        tasks = [asyncio.create_task(self._repeat(name, every_seconds)) for name in self._jobs]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)

    def check(self, name: str, most_seconds: float) -> None:
        """Raises :class:`StoreUnavailable` where the job called ``name`` was last done longer ago than that."""
        state = self.states.get(name)
        if state is not None and state.age_seconds > most_seconds:
            raise StoreUnavailable(
                f"this replica could not {name} for {state.age_seconds:.0f} s ({state.failures} tries failed); its log says why"
            )

    async def _repeat(self, name: str, every_seconds: float) -> None:
        state = self.states[name]
        while True:
            await asyncio.sleep(every_seconds)
            try:
                async with asyncio.timeout(MOST_SECONDS):
                    await self._jobs[name]()
            except StoreUnavailable:
                state.failures += 1
                log.exception("the database does not answer, so this replica can not %s; it tries again", name)
            except Exception:  # a bug, or what the database must not hold: the leases are to be kept all the same
                state.failures += 1
                log.exception("this replica could not %s, which it should be able to; it tries again", name)
            else:
                state.done = time.monotonic()
