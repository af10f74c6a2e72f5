"""Who is admitted: no revoked key; and whoever leaves while a lease is lent gives it back, and is forgotten."""

import asyncio
import gc
from collections.abc import Callable

import pytest
from sqlalchemy import Connection

from podium.errors import AccessDenied, QuotaExceeded, StoreUnavailable
from podium.serving.store.database import Database
from podium.serving.store.keys import Keys
from podium.serving.store.quotas import Quotas
from tests.serving.conftest import ManualClock


def settling() -> int:
    """How many leases are being given back, or are remembered to have been."""
    gc.collect()
    tasks = [found for found in gc.get_objects() if issubclass(type(found), asyncio.Task)]
    return sum(getattr(task.get_coro(), "__qualname__", "") == "Quotas.settle" for task in tasks)


async def test_nothing_is_kept_of_admissions_that_were_cancelled(database: Database) -> None:
    quotas = Quotas(database, "a")
    key, _ = await Keys(database).create("web", monthly_usd=1.0)
    before = settling()
    for _ in range(5):
        waiting = asyncio.create_task(quotas.admit(key, 1.0, 0))
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
    for _ in range(100):  # until they are lent and given back
        await asyncio.sleep(0.1)
        if settling() == before:
            break
    assert settling() == before


async def test_a_revoked_key_is_neither_counted_nor_admitted(database: Database) -> None:
    quotas, keys = Quotas(database, "a"), Keys(database)
    key, _ = await keys.create("web", monthly_usd=1.0)
    await keys.revoke("web")
    with pytest.raises(AccessDenied, match="the key web was revoked"):
        await quotas.count(key, 10)
    with pytest.raises(AccessDenied, match="the key web was revoked"):
        await quotas.admit(key, 0.5, 10)
    assert await quotas.spent() == {}


async def test_a_counted_request_says_what_was_counted(database: Database) -> None:
    quotas = Quotas(database, "a")
    key, _ = await Keys(database).create("web", tokens_per_minute=100)
    counted = await quotas.count(key, 90)
    assert counted.tokens == 90
    await quotas.uncount(key, counted)
    await quotas.admit(key, None, 90)  # they are free again


async def test_a_reaped_lease_can_be_corrected_for_a_whole_day(database: Database, clock: ManualClock) -> None:
    quotas = Quotas(database, "a", now=clock)
    key, _ = await Keys(database).create("web", monthly_usd=1.0)
    first, second = await quotas.admit(key, 0.25, 0), await quotas.admit(key, 0.25, 0)
    clock.forward(60)
    assert await quotas.reap(30.0) == 2
    clock.forward(86_400)
    await quotas.reap(30.0)
    await quotas.settle(first, 0.125, 0.0, 0)
    clock.forward(0.001)
    await quotas.reap(30.0)
    await quotas.settle(second, 0.125, 0.0, 0)  # forgotten
    assert (await quotas.spent())[key.id].spent_usd == 0.125


async def test_one_token_more_than_was_counted_is_charged_to_this_minute(database: Database, clock: ManualClock) -> None:
    quotas = Quotas(database, "a", now=clock)
    key, _ = await Keys(database).create("web", tokens_per_minute=100)
    lease = await quotas.admit(key, None, 10)
    clock.forward(60)
    await quotas.settle(lease, 0.0, 0.0, 11)
    with pytest.raises(QuotaExceeded):
        await quotas.admit(key, None, 100)
    await quotas.admit(key, None, 99)


async def test_reaping_stops_where_the_database_is_away(
    database: Database, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    quotas = Quotas(database, "a", now=clock)
    key, _ = await Keys(database).create("web", monthly_usd=1.0)
    for _ in range(2):
        await quotas.admit(key, 0.25, 0)
    clock.forward(60)
    run, asked = database.run, []

    async def away_once(work: Callable[[Connection], object]) -> object:
        asked.append(work)
        if len(asked) == 1:
            raise StoreUnavailable("away")
        return await run(work)

    with monkeypatch.context() as patched:
        patched.setattr(database, "run", away_once)
        with pytest.raises(StoreUnavailable):
            await quotas.reap(30.0)
    assert len(asked) == 1, "nothing more is asked of it"
    assert await quotas.reap(30.0) == 2
