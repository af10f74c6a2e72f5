"""Another try after a passing fault, later each time and not in step with the others.

Attempt ``n`` (from 0) is followed by a wait drawn uniformly from ``[0, min(cap, base * 2**n)]`` seconds: exponential
backoff with full jitter (M. Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015). Where the provider
names a Retry-After, the draw is added to it: everybody who was turned away got the same number.
"""

import asyncio
import random

from podium.errors import ConfigError, WorkerUnavailable
from podium.protocols import Worker
from podium.types import Call, Completion


class Retried:
    """Makes up to ``attempts`` attempts; only :class:`WorkerUnavailable` is worth another one.

    A Retry-After above ``cap_seconds`` gives up at once with the provider's error. Before each new attempt the listener
    of the call is told to forget the tokens so far. Pass a seeded ``rng`` to repeat the waits.

    Example: ``Retried(chat, attempts=4, base_seconds=1, cap_seconds=30)``.
    """

    def __init__(
        self,
        worker: Worker,
        *,
        attempts: int = 4,
        base_seconds: float = 1.0,
        cap_seconds: float = 60.0,
        rng: random.Random | None = None,
    ) -> None:
        if attempts < 1:
            raise ConfigError(f"{attempts} attempts are none at all; set at least 1")
        if not 0 <= base_seconds <= cap_seconds:
            raise ConfigError(f"waits of {base_seconds:g} up to {cap_seconds:g} seconds do not grow; set 0 <= base <= cap")
        self._worker = worker
        self._attempts = attempts
        self._base_seconds = base_seconds
        self._cap_seconds = cap_seconds
        self._rng = rng if rng is not None else random.Random()

    async def __call__(self, call: Call) -> Completion:
        """Answer ``call``, or raise the error of the last attempt."""
        for attempt in range(self._attempts - 1):
            try:
                return await self._worker(call)
            except WorkerUnavailable as error:
                asked = error.retry_after if error.retry_after is not None else 0.0
                if not asked <= self._cap_seconds:  # written so that NaN, which no server should send, gives up too
                    raise
                ceiling = min(self._cap_seconds, self._base_seconds * 2.0**attempt)
                wait = max(asked, 0.0) + self._rng.uniform(0.0, ceiling)
            await asyncio.sleep(wait)
            if call.on_token is not None:
                call.on_token(None)
        return await self._worker(call)
