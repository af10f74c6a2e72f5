"""A time limit for one call. Waiting for limits and retries counts too if they are wrapped inside."""

import asyncio

from podium.errors import ConfigError, WorkerUnavailable
from podium.protocols import Worker
from podium.types import Call, Completion


class Timed:
    """Cancels a call after ``seconds`` and raises :class:`WorkerUnavailable`: the same call may be quicker next time.

    Example: ``Retried(Timed(chat, 120))`` limits each attempt; ``Timed(Retried(chat), 300)`` limits them together.
    """

    def __init__(self, worker: Worker, seconds: float) -> None:
        if not seconds > 0:
            raise ConfigError(f"a time limit of {seconds:g} seconds leaves no time to answer; set a positive number")
        self._worker = worker
        self._seconds = seconds

    async def __call__(self, call: Call) -> Completion:
        """Answer ``call`` within the limit."""
        limit = asyncio.timeout(self._seconds)
        try:
            async with limit:
                return await self._worker(call)
        except TimeoutError as error:
            if not limit.expired():  # the worker's own TimeoutError is a bug of the worker and stays visible as one
                raise
            raise WorkerUnavailable(f"no answer within {self._seconds:g} seconds") from error
