"""Paused runs: found by the key that asked, until they have gone on or expire."""

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import func, select

from podium.serving.store.clock import utc_now
from podium.serving.store.database import Database
from podium.serving.store.paused import Paused
from podium.serving.store.tables import paused as table
from tests.serving.conftest import ManualClock
from tests.serving.live import catalog_of, live, said

MINUTE = timedelta(minutes=1)


async def test_every_replica_finds_it_until_it_is_dropped(database: Database, url: str, clock: ManualClock) -> None:
    state = 'NUL \0, half \ud800, "quote"'
    async with Database(url) as other:
        replicas = [Paused(database, now=clock), Paused(other, now=clock)]
        await replicas[0].keep(("call_1", "call_2"), "key_a", state, clock() + MINUTE)
        for _ in range(2):
            assert [await replica.get(["call_2", "call_1"], "key_a") for replica in replicas] == [state, state]
        await replicas[0].drop(("call_1", "call_2"), "key_b")
        assert await replicas[0].get(("call_1", "call_2"), "key_a") == state, "it is another key's"
        for _ in range(2):
            await replicas[1].drop(("call_2", "call_1"), "key_a")
            assert await replicas[0].get(("call_1", "call_2"), "key_a") is None


async def test_only_the_same_calls_of_the_same_key_find_it(database: Database, clock: ManualClock) -> None:
    paused = Paused(database, now=clock)
    await paused.keep(("call_1", "call_2"), "key_a", "state", clock() + MINUTE)
    await paused.keep(("call_1",), "", "without keys", clock() + MINUTE)
    assert await paused.get(("call_1", "call_2"), "key_b") is None
    assert await paused.get(("call_1", "call_2"), "") is None
    assert await paused.get(("call_1",), "key_a") is None
    assert await paused.get(("call_1", "call_2", "call_3"), "key_a") is None
    assert await paused.get(("call_1", "call_2"), "key_a") == "state"
    assert await paused.get(("call_1",), "") == "without keys"


async def test_an_expired_pause_is_gone(database: Database, clock: ManualClock) -> None:
    paused = Paused(database, now=clock)
    for number in range(3):
        await paused.keep((f"call_{number}",), "key_a", "state", clock() + MINUTE)
    clock.forward(60)
    assert await paused.get(("call_0",), "key_a") is None
    await paused.keep(("call_9",), "key_a", "state", clock() + MINUTE)
    await paused.forget()
    assert await database.read(lambda c: c.execute(select(func.count()).select_from(table)).scalar_one()) == 1


async def test_the_latest_state_counts(database: Database, clock: ManualClock) -> None:
    paused = Paused(database, now=clock)
    await paused.keep(("call_1",), "key_a", "old", clock() + MINUTE)
    await paused.keep(("call_1",), "key_a", "new", clock() + MINUTE)
    assert await paused.get(("call_1",), "key_a") == "new"
    with pytest.raises(ValueError, match="at least one"):
        await paused.keep((), "key_a", "state", clock() + MINUTE)


async def test_what_expired_is_removed_also_where_nobody_asks_any_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("podium.serving.accounts.BEAT_SECONDS", 0.02)
    async with live(catalog_of(said("x"), said("42")), tmp_path) as server:
        past = utc_now() - MINUTE
        await server.accounts.paused.keep(("call_1",), "key_a", "a secret", past)
        async with asyncio.timeout(5):
            while await server.accounts.database.read(lambda c: c.execute(select(table)).all()):  # noqa: ASYNC110
                await asyncio.sleep(0.02)


async def test_what_is_kept_for_the_same_calls_at_the_same_time_is_kept_once(database: Database, clock: ManualClock) -> None:
    paused = Paused(database, now=clock)
    states = [f"state {number}" for number in range(24)]
    for _ in range(2):
        await asyncio.gather(*(paused.keep(("call_1",), "", state, clock() + MINUTE) for state in states))
        assert await paused.get(("call_1",), "") in states
