"""``podium pool check``: does every worker answer, how fast, and is its price known? ``podium pool ledger``: what was spent."""

import asyncio
import json
import os
import re
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from rich.table import Table
from rich.text import Text

from podium.cli.screen import Screen
from podium.errors import ConfigError, PodiumError, WorkerUnavailable
from podium.types import Call, Sampling, Usage
from podium.workers.config import build_pool, read_pool
from podium.workers.connections import Connections
from podium.workers.journal import Journal
from podium.workers.ledger import LedgerRow
from podium.workers.pool import Member
from podium.workers.timed import Timed
from podium.workflow.draw import dollars, plain

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


async def check(path: Path, *, seconds: float, as_json: bool) -> None:
    """Ask every worker once, side by side, without retries or fallbacks. Raises where one gives no answer."""
    config = read_pool(path)
    async with Connections() as connections:
        pool = build_pool(config, os.environ, lambda bare: Timed(bare.worker, seconds), connections)
        healths = await asyncio.gather(*(_ping(member) for member in pool))
    if as_json:
        print(json.dumps([asdict(health) for health in healths]))  # noqa: T201 - the command's output
    else:
        Screen().print(_table(healths))
    silent = [health.worker for health in healths if not health.answers]
    if silent:
        raise WorkerUnavailable(f"{len(silent)} of {len(healths)} workers do not answer: {', '.join(silent)}")


async def ledger(path: Path, *, as_json: bool) -> None:
    """Show what the journal at ``path`` has paid, per run and worker."""
    if not path.is_file():
        raise ConfigError(f"there is no journal at {path}")
    with Journal(path, mode="replay") as journal:
        rows = [replace(row, run=_without_password(row.run)) for row in await journal.ledger()]
    if as_json:
        print(json.dumps([asdict(row) for row in rows]))  # noqa: T201 - the command's output
        return
    table = Table("run", "worker", "paid calls", "replays", "unsettled", "tokens", "cost")
    for row in rows:
        cost = dollars(row.usage) if row.cost_usd is not None else f"unknown (known part ${row.known_usd:.6f})"
        counts = (str(row.calls), str(row.replays), f"{row.unsettled}{_uncertain(row)}", str(row.usage.tokens))
        cells = (row.run, _model(row.worker), *counts, cost)
        table.add_row(*(Text(plain(cell, 80)) for cell in cells))
    Screen().print(table)


def _uncertain(row: LedgerRow) -> str:
    """What calls without a reply, or without a cost, may have used at most."""
    if row.uncertain_usd == 0 and row.uncertain_tokens == 0:
        return ""
    tokens = "unknown" if row.uncertain_tokens is None else row.uncertain_tokens
    return f" (at most {dollars(Usage(cost_usd=row.uncertain_usd))}, {tokens} tokens)"


def _without_password(run: str) -> str:
    """A run's name; servers of earlier versions named theirs by the database's whole URL."""
    return re.sub(r"^(serve [\w+]+://)(?:.*@)?([^?]*).*$", r"\1\2", run, flags=re.DOTALL)


def _model(identity: str) -> str:
    """The model in a chat worker's identity, which is JSON; any other identity as it is."""
    try:
        parts = json.loads(identity)
        return f"{parts['provider']}:{parts['model']}"
    except (ValueError, TypeError, KeyError):
        return identity


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


def _table(healths: list[Health]) -> Table:
    table = Table("worker", "answers", "seconds", "price", "says")
    for health in healths:
        style = "green" if health.answers else "red"
        price = "known" if health.price_known else "unknown: set prompt_usd_per_million and completion_usd_per_million"
        cells = (health.worker, "yes" if health.answers else "no", f"{health.seconds:.2f}", price, plain(health.said, 120))
        table.add_row(*(Text(cell, style=style if i == 1 else "") for i, cell in enumerate(cells)))
    return table
