"""For scripts and notebooks without ``await``.

Everything in Podium that waits for models is a coroutine. What ends in ``_sync`` waits for the result instead, the convention
of pydantic-ai and its neighbours. All of it runs in one event loop in a thread of its own, because connections belong to the loop
that opened them; so it works in a notebook too, where a loop is running already.
"""

import asyncio
import threading
from collections.abc import Coroutine
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from podium.pools.conducting import AUTO, conductor
from podium.pools.open import open_pool
from podium.types import Completion
from podium.workers.budget import Budget

Result = TypeVar("Result")


def run_sync(coroutine: Coroutine[Any, Any, Result]) -> Result:
    """The result of ``coroutine``, waited for. Example: ``run_sync(podium.run_study("study.toml"))``.

    Raises what it raises; Ctrl-C cancels it.
    """
    future = asyncio.run_coroutine_threadsafe(coroutine, _loop())
    try:
        return future.result()
    except KeyboardInterrupt:
        future.cancel()
        raise


def ask_sync(
    question: str,
    source: Path | str | None = None,
    policy: str = AUTO,
    *,
    rounds: int = 1,
    budget: Budget | None = None,
    journal: Path | str | None = None,
) -> Completion:
    """Conduct one question over the pool of ``source`` (:func:`podium.open_pool`) and close the pool again.

    Example: ``print(podium.ask_sync("Why is the sky blue?", "pool.toml").text)``.
    """

    async def asked() -> Completion:
        async with open_pool(source, budget=budget, journal=journal) as pool:
            return await conductor(pool, policy, rounds=rounds).ask(question)

    return run_sync(asked())


@cache
def _loop() -> asyncio.AbstractEventLoop:
    """The loop of all synchronous calls of this process."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="podium", daemon=True).start()
    return loop
