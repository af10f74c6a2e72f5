"""The pool of a run under its budget and its journal: nothing is paid twice, nothing beyond the cap is paid at all."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from podium.workers.budget import Budget
from podium.workers.journal import Journal
from podium.workers.metered import Metered
from podium.workers.pool import Member, WorkerPool

MAX_COMPLETION_TOKENS = 4096
"""Longest reply of a worker in training, for the bound on what a call can cost (paper, appendix: 4,096)."""


@asynccontextmanager
async def budgeted(pool: WorkerPool, budget: Budget, journal: Path, *, run: str) -> AsyncIterator[WorkerPool]:
    """``pool`` with every call of ``run`` metered and journaled in ``journal``.

    What the run paid before it was interrupted counts towards ``budget``. Raises :class:`ConfigError` where the journal can not
    be used, or where a price that a cap needs is unknown.
    """
    with Journal(journal, run=run) as kept:
        for row in await kept.ledger():
            budget.charge(row.usage, uncertain_usd=row.uncertain_usd)
        members = []
        for member in pool:
            metered = Metered(member.worker, member.card, MAX_COMPLETION_TOKENS, [budget])
            worker = kept.worker(metered, f"{run}:{member.name}")
            members.append(Member(worker=worker, card=member.card))
        yield WorkerPool(members)
