"""``open_pool``: from a file, a folder of recordings, workers of one's own, or nothing, to a pool that is ready."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from podium.errors import ConfigError
from podium.pools.gym import gym_pool
from podium.pools.opened import OpenPool
from podium.pools.recorded import recorded_pool
from podium.protocols import Worker
from podium.workers.budget import Budget
from podium.workers.journal import Journal
from podium.workers.pool import Member, WorkerPool
from podium.workers.stack import Layers, stacked

MAX_TOKENS = 4096
"""Longest reply of a worker made in Python, for the bound on what a call can cost (the paper's workers: 4,096, appendix)."""


@asynccontextmanager
async def open_pool(
    source: Path | str | Sequence[Member] | None = None,
    *,
    budget: Budget | None = None,
    journal: Path | str | None = None,
    run: str = "python",
) -> AsyncIterator[OpenPool]:
    """The pool of the file ``source``, of a folder with recorded outputs, of workers made in Python; None: the built-in one.

    Every call keeps to ``budget``. With ``journal`` (a file), what was paid for is kept there and never paid twice, and what
    ``run`` spent before counts towards the budget. Leaving the block closes what was opened. Raises :class:`ConfigError`.

    Example: ``async with open_pool("pool.toml", budget=Budget(usd=5), journal="calls.db") as pool: ...``.
    """
    budget = Budget() if budget is None else budget
    if source is None:
        yield gym_pool(budget)
    elif isinstance(source, (str, Path)) and Path(source).is_dir():
        if not (Path(source) / "questions.jsonl.gz").exists():
            raise ConfigError(
                f"{source} is a directory without recordings (questions.jsonl.gz); name a pool file, such as pool.toml"
            )
        yield recorded_pool(Path(source))
    else:
        async with _opened_journal(journal, run, budget) as kept:
            if not isinstance(source, (str, Path)):
                yield _of_members(source, budget, kept, run)
                return
            from podium.pools.file import file_pool  # the vendors' libraries, which take a second to load

            async with file_pool(Path(source), budget, kept) as pool:
                yield pool


@asynccontextmanager
async def _opened_journal(path: Path | str | None, run: str, budget: Budget) -> AsyncIterator[Journal | None]:
    """The journal at ``path``; what ``run`` has spent in it counts towards ``budget``."""
    if path is None:
        yield None
        return
    with Journal(path, run=run) as journal:
        for row in await journal.ledger():
            if row.run == run:
                budget.charge(row.usage, uncertain_usd=row.uncertain_usd, uncertain_tokens=row.uncertain_tokens)
        yield journal


def _of_members(members: Sequence[Member], budget: Budget, journal: Journal | None, run: str) -> OpenPool:
    def layered(member: Member) -> Worker:
        layers = Layers(max_tokens=MAX_TOKENS)
        # What stands behind a worker made in Python is not known here, so its replies are kept for this run only.
        return stacked(member.worker, member.card, layers, [budget], journal, identity=f"{run}:{member.name}")

    workers = WorkerPool(members).wrapped(layered)
    return OpenPool(workers=workers, max_tokens=dict.fromkeys(workers.names, MAX_TOKENS), journal=journal)
