"""A pool file as a pool: models behind APIs and workers of other kinds, each with its limits, retries, fallback and price."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from podium.acting.pool_file import read_pool
from podium.pools.opened import OpenPool
from podium.protocols import Worker
from podium.types import Card
from podium.workers.budget import Budget
from podium.workers.config import build_pool
from podium.workers.connections import Connections
from podium.workers.journal import Journal
from podium.workers.kinds import BareWorker
from podium.workers.limited import Limit
from podium.workers.prices import MostUsd
from podium.workers.stack import Layers, stacked
from podium.workers.table import DEFAULT_KIND

TOOL = Card(name="tool", prompt_usd=0.0, completion_usd=0.0)
"""What a tool costs: the tool itself nothing, and who calls it pays for its own words."""


@asynccontextmanager
async def file_pool(path: Path, budget: Budget, journal: Journal | None = None) -> AsyncIterator[OpenPool]:
    """The workers of the file at ``path``; their connections are closed with the block. Raises :class:`ConfigError`."""
    config = read_pool(path)
    made: dict[str, Worker] = {}
    most_usd: dict[str, MostUsd] = {}

    def stack_tool(tool: Worker, identity: str) -> Worker:
        return stacked(tool, TOOL, Layers(max_tokens=0), [budget], journal, identity=identity)

    def wrap(bare: BareWorker) -> Worker:
        table = bare.table
        if bare.most_usd is not None:
            most_usd[table.name] = bare.most_usd
        layers = Layers(
            max_tokens=bare.max_tokens,
            most_usd=bare.most_usd,
            limit=Limit(
                concurrency=table.concurrency,
                requests_per_minute=table.requests_per_minute,
                tokens_per_minute=table.tokens_per_minute,
            ),
            hedge_after_seconds=table.hedge_after_seconds,
            retries=table.retries,
            around=lambda worker: bare.around(worker, stack_tool),
            fallback=None if table.fallback is None else made[table.fallback],
            fallback_stays=table.fallback_stays,
        )
        made[table.name] = stacked(bare.worker, bare.card, layers, [budget], journal, identity=bare.identity)
        return made[table.name]

    async with Connections() as connections:
        yield OpenPool(
            workers=build_pool(config, os.environ, wrap, connections),
            conductor=config.conductor,
            chat_workers=tuple(worker.name for worker in config.workers if worker.kind == DEFAULT_KIND),
            max_tokens={worker.name: worker.max_tokens for worker in config.workers},
            most_usd=most_usd,
            journal=journal,
            task_worker=None if config.server is None else config.server.task_worker,
            tools_in_every_step=config.server is not None and config.server.tool_steps == "all",
        )
