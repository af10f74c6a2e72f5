"""The heartbeat: whatever goes wrong with one job, leases are renewed, the others go on, and one can see it."""

import asyncio
import logging
from pathlib import Path

import httpx
import pytest
from sqlalchemy import insert, select
from sqlalchemy import text as sql

from podium.errors import StoreUnavailable
from podium.serving import accounts as books
from podium.serving import heartbeat as beats
from podium.serving.heartbeat import Heartbeat
from podium.serving.store.clock import month_of, utc_now
from podium.serving.store.tables import leases
from podium.types import Usage
from tests.serving.live import Live, catalog_of, live, said

CLOSING = "close the leases of dead replicas"
BOOKING = "book requests that are over"


async def fetched(server: Live, path: str) -> httpx.Response:
    async with httpx.AsyncClient() as http:
        return await http.get(f"{server.url}{path}")


async def beaten(server: Live, lease: str) -> int:
    query = select(leases.c.beat_us).where(leases.c.id == lease)
    return int(await server.accounts.database.read(lambda connection: connection.execute(query).scalar_one()))


async def dead_lease(server: Live, key: str, name: str) -> None:
    """The lease of a replica that died long ago, which used a dollar."""
    row = {"id": name, "key": key, "month": month_of(utc_now()), "minute": 1, "replica": "dead", "cap_nano": 5, "tokens": 1}
    statement = insert(leases).values(row | {"used_nano": 10**9, "in_flight_nano": 0, "beat_us": 1})
    await server.accounts.database.run(lambda connection: connection.execute(statement))


async def until(true, seconds: float = 20.0) -> None:  # type: ignore[no-untyped-def]
    async with asyncio.timeout(seconds):
        while not await true():  # noqa: ASYNC110 - nothing announces it
            await asyncio.sleep(0.02)


async def test_a_lease_that_can_not_be_closed_stops_neither_the_heart_nor_the_other_leases(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The database refuses to change one row: every attempt to close that lease fails, and not because it does not answer."""
    refuse = """CREATE TRIGGER refuse BEFORE UPDATE OF reaped_us ON leases WHEN OLD.id = 'lease_a'
        BEGIN SELECT RAISE(ABORT, 'this row is broken'); END"""
    monkeypatch.setattr(books, "BEAT_SECONDS", 0.05)
    async with live(catalog_of(said("?")), tmp_path) as server:
        accounts = server.accounts
        key, _ = await accounts.keys.create("ann", monthly_usd=5.0)
        await accounts.database.run(lambda connection: connection.execute(sql(refuse)))
        await dead_lease(server, key.id, "lease_a")
        await dead_lease(server, key.id, "lease_b")
        admission = await accounts.admit(key, usd=1.0, seconds=None, tokens=1)
        assert admission.lease is not None
        first = await beaten(server, admission.lease.id)

        async def failed_often() -> bool:
            return accounts.heartbeat.states[CLOSING].failures >= 3

        await until(failed_often)
        second = await beaten(server, admission.lease.id)
        assert second > first
        assert (await accounts.quotas.spent())[key.id].spent_usd == 1.0, "the sound lease behind the broken one is closed"
        assert (await fetched(server, "/readyz")).status_code == 200
        shown = (await fetched(server, "/metrics")).text
        assert f'podium_heartbeat_failures{{job="{CLOSING}"}} 0.0' not in shown
        assert 'podium_heartbeat_failures{job="renew its leases"} 0.0' in shown
        assert 'podium_heartbeat_age_seconds{job="renew its leases"}' in shown
        await accounts.close(admission)
    assert "leases could not be closed" in caplog.text


async def test_a_replica_that_can_not_renew_its_leases_says_so_and_goes_on_when_it_can(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(books, "BEAT_SECONDS", 0.02)
    async with live(catalog_of(said("?")), tmp_path) as server:
        real, broken = server.accounts.quotas.beat, True

        async def beat() -> None:
            if broken:
                raise TypeError("a bug")
            await real()

        server.accounts.heartbeat._jobs[books.RENEW] = beat
        monkeypatch.setattr(books, "DEAD_SECONDS", 0.4)

        async def ready() -> bool:
            return (await fetched(server, "/readyz")).status_code == 200

        async def not_ready() -> bool:
            return not await ready()

        await until(not_ready)
        reply = await fetched(server, "/readyz")
        assert (reply.status_code, "could not renew its leases" in reply.text, "a bug" in reply.text) == (503, True, False)
        assert (await fetched(server, "/healthz")).status_code == 200
        broken = False
        monkeypatch.setattr(books, "DEAD_SECONDS", 60.0)
        await until(ready)
    assert [record for record in caplog.records if record.levelno == logging.ERROR and "should be able to" in record.message]


async def test_a_request_that_can_not_be_booked_keeps_no_other_one_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(books, "BEAT_SECONDS", 0.05)
    async with live(catalog_of(said("?")), tmp_path) as server:
        accounts = server.accounts
        key, _ = await accounts.keys.create("ann", monthly_usd=5.0)
        admissions = [await accounts.admit(key, usd=1.0, seconds=None, tokens=1) for _ in range(3)]
        settle, broken = accounts.quotas.settle, admissions[0].lease

        async def failing(lease, *figures) -> None:  # type: ignore[no-untyped-def]
            if lease is broken:
                raise TypeError("a bug")
            await settle(lease, *figures)

        monkeypatch.setattr(accounts.quotas, "settle", failing)
        for admission in admissions:
            admission.budget.charge(Usage(cost_usd=0.25))
        # The first one is booked when a call that it left is over: nobody waits for that task.
        left = admissions[0].budget.reserve(0.01, 1)
        await accounts.close(admissions[0])
        admissions[0].budget.release(left)
        await accounts.settled()
        accounts._owed += admissions[1:]

        async def others_are_booked() -> bool:
            return (await accounts.quotas.spent())[key.id].spent_usd == 0.5 and accounts._owed == [admissions[0]]

        await until(others_are_booked)
        assert accounts.heartbeat.states[BOOKING].failures > 0
        broken = None

        async def booked() -> bool:
            return (await accounts.quotas.spent())[key.id].spent_usd == 0.75

        await until(booked)


async def test_a_job_that_hangs_counts_as_failed_and_the_others_are_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(beats, "MOST_SECONDS", 0.05)
    done = asyncio.Event()

    async def hang() -> None:
        await asyncio.sleep(60)

    async def work() -> None:
        done.set()

    heart = Heartbeat({"hang": hang, "work": work})
    heart.check("hang", 0.0)  # nothing is late before it begins
    async with heart.beating(0.01):
        await asyncio.wait_for(done.wait(), 10)
        while heart.states["hang"].failures < 2:  # noqa: ASYNC110 - nothing announces it
            await asyncio.sleep(0.01)
        with pytest.raises(StoreUnavailable, match="could not hang"):
            heart.check("hang", 0.0)
