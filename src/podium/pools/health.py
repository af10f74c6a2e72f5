"""``check_workers``: does every worker of a pool file answer, how fast, and is its price known?"""

import asyncio
import os
import time
from dataclasses import dataclass
from pathlib import Path

from podium.errors import PodiumError
from podium.types import Call, Sampling
from podium.workers.config import build_pool, read_pool
from podium.workers.connections import Connections
from podium.workers.pool import Member
from podium.workers.timed import Timed

_PING = "Reply with the one word: ready"
_PING_TOKENS = 1024
"""Room for a model that thinks before it says one word."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """What one worker did when it was asked for one word."""

    worker: str
    answers: bool
    seconds: float
    cost_usd: float | None
    price_known: bool
    said: str
    """Its answer, or why there is none."""


async def check_workers(path: Path | str, *, seconds: float = 60.0) -> list[Health]:
    """Ask every worker of the pool file at ``path`` for one word, side by side, without retries or fallbacks.

    ``seconds`` is how long each may take. Raises :class:`ConfigError` for a pool that can not be built; a worker that does not
    answer says why in ``said``. Example: ``[each.worker for each in await check_workers("pool.toml") if not each.answers]``.
    """
    config = read_pool(path)
    async with Connections() as connections:
        pool = build_pool(config, os.environ, lambda bare: Timed(bare.worker, seconds), connections)
        return await asyncio.gather(*(_ping(member) for member in pool))


async def _ping(member: Member) -> Health:
    started = time.perf_counter()
    known = member.card.prompt_usd is not None
    try:
        completion = await member.worker(Call.plain(_PING, Sampling(max_tokens=_PING_TOKENS)))
    except PodiumError as error:
        seconds = time.perf_counter() - started
        said = f"{type(error).__name__}: {error}"
        return Health(worker=member.name, answers=False, seconds=seconds, cost_usd=None, price_known=known, said=said)
    return Health(
        worker=member.name,
        answers=True,
        seconds=time.perf_counter() - started,
        cost_usd=completion.usage.cost_usd,
        price_known=known,
        said=completion.text,
    )
