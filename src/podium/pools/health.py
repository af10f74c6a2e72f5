"""``check_workers``: does every worker of a pool file answer, how fast, and is its price known?"""

import asyncio
import os
import time
from dataclasses import dataclass, replace
from pathlib import Path

from podium.acting.pool_file import read_pool
from podium.errors import PodiumError
from podium.protocols import Worker
from podium.types import Call, Sampling
from podium.workers.config import build_pool
from podium.workers.connections import Connections
from podium.workers.kinds import BareWorker, worker_kind
from podium.workers.pool import Member
from podium.workers.timed import Timed

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
    caution: str = ""
    """What the operator should know of it: a limit that does not hold on this machine."""


async def check_workers(path: Path | str, *, seconds: float = 60.0) -> list[Health]:
    """Ask every worker of the pool file at ``path`` for one word, side by side, without retries or fallbacks.

    ``seconds`` is how long each may take. Raises :class:`ConfigError` for a pool that can not be built; a worker that does not
    answer says why in ``said``. Example: ``[each.worker for each in await check_workers("pool.toml") if not each.answers]``.
    """
    config = read_pool(path)
    async with Connections() as connections:
        known: dict[str, bool] = {}

        def wrap(bare: BareWorker) -> Worker:
            known[bare.table.name] = bare.most_usd is not None and bare.most_usd(1, 1) is not None
            return Timed(bare.around(bare.worker, lambda tool, identity: tool), seconds)

        pool = build_pool(config, os.environ, wrap, connections)
        kinds = [worker_kind(table.kind) for table in config.workers]
        healths = await asyncio.gather(
            *(_ping(member, kind.probe, price_known=known[member.name]) for member, kind in zip(pool, kinds, strict=True))
        )
        found = zip(healths, kinds, config.workers, strict=True)
        return [replace(health, caution=kind.caution(table)) for health, kind, table in found]


async def _ping(member: Member, probe: str | None, *, price_known: bool) -> Health:
    started = time.perf_counter()
    known = price_known or member.card.prompt_usd is not None
    if probe is None:
        said = f"not asked: {', '.join(member.card.abilities)}"
        return Health(worker=member.name, answers=True, seconds=0.0, cost_usd=0.0, price_known=known, said=said)
    try:
        completion = await member.worker(Call.plain(probe, Sampling(max_tokens=_PING_TOKENS)))
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
