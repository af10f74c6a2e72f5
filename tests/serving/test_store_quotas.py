"""Quotas: exact before the call, under concurrency, over replicas, and after one of them is killed."""

import asyncio
import sys
from datetime import UTC, datetime
from itertools import count
from typing import Any

import pytest

from podium.errors import ConfigError, QuotaExceeded
from podium.serving.store.booking import Spent, book
from podium.serving.store.database import Database
from podium.serving.store.keys import Key, Keys
from podium.serving.store.quotas import Lease, Quotas
from tests.serving.conftest import ManualClock


async def make(database: Database, usd: float | None = None, requests: int | None = None, tokens: int | None = None) -> Key:
    key, _ = await Keys(database).create("web", monthly_usd=usd, requests_per_minute=requests, tokens_per_minute=tokens)
    return key


async def tried(quotas: Quotas, key: Key, usd: float | None, tokens: int = 0) -> Lease | None:
    try:
        return await quotas.admit(key, usd, tokens)
    except QuotaExceeded:
        return None


async def spent(quotas: Quotas, key: Key) -> Spent:
    return (await quotas.spent()).get(key.id, Spent())


async def test_concurrent_runs_on_two_replicas_never_pass_the_month(database: Database, url: str) -> None:
    key = await make(database, usd=1.0)
    async with Database(url) as other:
        replicas = Quotas(database, "a"), Quotas(other, "b")
        leases = await asyncio.gather(*(tried(replicas[n % 2], key, 0.02) for n in range(200)))
        admitted = [(lease, replicas[n % 2]) for n, lease in enumerate(leases) if lease is not None]
        assert len(admitted) == 50
        assert await spent(replicas[0], key) == Spent(open_usd=1.0)
        await asyncio.gather(*(quotas.settle(lease, 0.01, 0.002, 0) for lease, quotas in admitted))
        assert await spent(replicas[1], key) == Spent(spent_usd=0.5, uncertain_usd=0.1)
        again = await asyncio.gather(*(tried(replicas[n % 2], key, 0.02) for n in range(50)))
        assert sum(lease is not None for lease in again) == 20


async def test_concurrent_runs_on_two_replicas_never_pass_the_minute(database: Database, url: str, clock: ManualClock) -> None:
    key = await make(database, requests=30, tokens=2500)
    async with Database(url) as other:
        replicas = Quotas(database, "a", now=clock), Quotas(other, "b", now=clock)
        assert (
            sum(x is not None for x in await asyncio.gather(*(tried(replicas[n % 2], key, None, 100) for n in range(100)))) == 25
        )
        assert sum(x is not None for x in await asyncio.gather(*(tried(replicas[n % 2], key, None, 0) for n in range(100)))) == 5


async def test_tokens_below_zero_would_be_a_gift(database: Database) -> None:
    with pytest.raises(ValueError, match="-1 is no number of tokens"):
        await Quotas(database, "a").admit(await make(database), 0.1, -1)


async def test_a_full_minute_ends_with_the_minute(database: Database, clock: ManualClock) -> None:
    key, quotas = await make(database, requests=1, tokens=100), Quotas(database, "a", now=clock)
    await quotas.admit(key, None, 60)
    with pytest.raises(QuotaExceeded, match="1 of the key's 1 requests per minute") as caught:
        await quotas.admit(key, None, 10)
    assert caught.value.retry_after == 59.0
    clock.forward(59.0)
    await quotas.admit(key, None, 60)
    with pytest.raises(QuotaExceeded, match="101 tokens is more than the key's 100") as caught:
        await quotas.admit(key, None, 101)
    assert caught.value.retry_after is None


async def test_a_clock_behind_opens_no_fresh_window(database: Database, clock: ManualClock) -> None:
    key, slow = await make(database, requests=1), ManualClock()
    clock.forward(60)
    await Quotas(database, "a", now=clock).admit(key, None, 0)
    with pytest.raises(QuotaExceeded):
        await Quotas(database, "b", now=slow).admit(key, None, 0)


async def test_tokens_are_corrected_when_the_run_ends(database: Database, clock: ManualClock) -> None:
    key, quotas = await make(database, tokens=100), Quotas(database, "a", now=clock)
    few = await quotas.admit(key, None, 90)
    assert await tried(quotas, key, None, 90) is None
    await quotas.settle(few, 0.0, 0.0, 10)  # 80 are given back
    many = await quotas.admit(key, None, 90)
    clock.forward(60)
    await quotas.settle(many, 0.0, 0.0, 250)  # 160 more, in the minute that is now
    assert await tried(quotas, key, None, 1) is None
    clock.forward(60)
    late = await quotas.admit(key, None, 50)
    clock.forward(60)
    await quotas.admit(key, None, 90)
    await quotas.settle(late, 0.0, 0.0, 0)  # its minute is past, so nothing is given back
    assert await tried(quotas, key, None, 11) is None


async def test_a_quota_in_dollars_needs_a_cap(database: Database) -> None:
    key, quotas = await make(database, usd=1.0), Quotas(database, "a")
    with pytest.raises(ConfigError, match="needs a cap"):
        await quotas.admit(key, None, 10)
    for bad in (-1.0, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="no amount"):
            await quotas.admit(key, bad, 10)
    assert await quotas.spent() == {}


async def test_a_refusal_says_what_is_left_and_when_to_come_back(database: Database, clock: ManualClock) -> None:
    key, quotas = await make(database, usd=10.0, requests=9), Quotas(database, "a", now=clock)
    first = await quotas.admit(key, 4.0, 0)
    second = await quotas.admit(key, 3.5, 0)
    with pytest.raises(QuotaExceeded, match=r"may cost \$5, .* \$10 per month \(UTC\) \$2.5 is left; \$7.5 .* 2 runs") as caught:
        await quotas.admit(key, 5.0, 0)
    assert caught.value.retry_after == 5.0  # a lease may end soon
    await quotas.settle(first, 4.0, 0.0, 0)
    await quotas.settle(second, 3.0, 0.5, 0)
    with pytest.raises(QuotaExceeded) as caught:
        await quotas.admit(key, 5.0, 0)
    march = datetime(2026, 3, 1, tzinfo=UTC)
    assert caught.value.retry_after == (march - clock()).total_seconds()
    with pytest.raises(QuotaExceeded) as caught:
        await quotas.admit(key, 10.01, 0)
    assert caught.value.retry_after is None  # never
    assert sum([await tried(quotas, key, 2.5, 0) is not None for _ in range(2)]) == 1
    clock.time = march
    assert await tried(quotas, key, 10.0, 0) is not None


async def test_a_run_is_booked_on_the_month_of_its_admission(database: Database, clock: ManualClock) -> None:
    key, quotas = await make(database, usd=1.0), Quotas(database, "a", now=clock)
    lease = await quotas.admit(key, 1.0, 0)
    february, clock.time = clock.time, datetime(2026, 3, 1, tzinfo=UTC)
    await quotas.admit(key, 1.0, 0)
    await quotas.settle(lease, 0.75, 0.0, 0)
    assert await spent(quotas, key) == Spent(open_usd=1.0)
    clock.time = february
    assert await spent(quotas, key) == Spent(spent_usd=0.75)


async def test_steps_that_report_side_by_side_do_not_overtake_each_other(database: Database, clock: ManualClock) -> None:
    key, quotas = await make(database, usd=1.0), Quotas(database, "a", now=clock)
    for _ in range(5):
        lease = await quotas.admit(key, 0.0, 0)
        await asyncio.gather(*(quotas.progress(lease, n / 1024, (40 - n) / 1024) for n in range(1, 33)))
        clock.forward(60)
        before = await spent(quotas, key)
        assert await quotas.reap(30.0) == 1
        after = await spent(quotas, key)
        assert (after.spent_usd - before.spent_usd, after.uncertain_usd - before.uncertain_usd) == (32 / 1024, 8 / 1024)


async def test_settling_twice_books_once(database: Database) -> None:
    key, quotas = await make(database, usd=1.0), Quotas(database, "a")
    lease = await quotas.admit(key, 0.5, 0)
    await asyncio.gather(*(quotas.settle(lease, 0.25, 0.0, 0) for _ in range(5)))
    assert await quotas.progress(lease, 0.5, 0.0) is False
    assert await spent(quotas, key) == Spent(spent_usd=0.25)


async def test_what_was_spent_above_the_lease_is_booked_too(database: Database) -> None:
    key, quotas = await make(database, usd=1.0), Quotas(database, "a")
    lease = await quotas.admit(key, 0.5, 0)
    assert await quotas.progress(lease, 0.75, 0.125)
    assert await spent(quotas, key) == Spent(open_usd=0.875)
    assert await tried(quotas, key, 0.25) is None
    await quotas.settle(lease, 1.5, 0.0, 0)
    assert await spent(quotas, key) == Spent(spent_usd=1.5)
    assert await tried(quotas, key, 0.0) is None


async def test_an_unknown_price_counts_as_the_whole_lease(database: Database) -> None:
    key, quotas = await make(database, usd=1.0), Quotas(database, "a")
    lease = await quotas.admit(key, 0.5, 0)
    await quotas.progress(lease, 0.125, 0.125)
    await quotas.settle(lease, None, 0.0, 0)
    assert await spent(quotas, key) == Spent(spent_usd=0.125, uncertain_usd=0.375, unpriced=1)


async def test_nothing_drifts(database: Database) -> None:
    key, quotas = await make(database, usd=1.0), Quotas(database, "a")
    for _ in range(100):
        await quotas.settle(await quotas.admit(key, 0.01, 0), 0.01, 0.0, 0)  # a hundred floats of 0.01 are more than 1
    assert await spent(quotas, key) == Spent(spent_usd=1.0)


async def test_a_killed_replica_is_charged_with_what_it_used_and_had_in_flight(database: Database, url: str) -> None:
    key = await make(database, usd=1.0)
    code = """
import asyncio, sys
from podium.serving.store.database import Database
from podium.serving.store.keys import Keys
from podium.serving.store.quotas import Quotas
async def main():
    database = Database(sys.argv[1])
    (key,) = await Keys(database).list()
    quotas = Quotas(database, "killed")
    lease = await quotas.admit(key, 0.75, 10)
    await quotas.progress(lease, 0.25, 0.125)
    print("ready", flush=True)
    while True:
        await asyncio.sleep(0.05)
        await quotas.beat()
asyncio.run(main())
"""
    killed = await asyncio.create_subprocess_exec(sys.executable, "-c", code, url, stdout=asyncio.subprocess.PIPE)
    assert killed.stdout is not None
    assert await killed.stdout.readline() == b"ready\n"
    quotas = Quotas(database, "alive")
    await asyncio.sleep(1.5)
    assert await quotas.reap(60.0) == 0
    assert await spent(quotas, key) == Spent(open_usd=0.75)
    killed.kill()
    await killed.wait()
    await asyncio.sleep(0.1)
    assert sum(await asyncio.gather(*(quotas.reap(0.05) for _ in range(4)))) == 1
    assert await spent(quotas, key) == Spent(spent_usd=0.25, uncertain_usd=0.125)


async def test_a_heartbeat_keeps_the_own_leases_only(database: Database, clock: ManualClock) -> None:
    key, mine, other = await make(database, usd=1.0), Quotas(database, "a", now=clock), Quotas(database, "a", now=clock)
    await mine.admit(key, 0.5, 0)
    await other.admit(key, 0.25, 0)  # of an earlier life of this replica, say
    clock.forward(30)
    await mine.beat()
    clock.forward(30)
    assert await mine.reap(45.0) == 1
    assert await spent(mine, key) == Spent(open_usd=0.5)


async def test_a_lease_that_can_not_be_closed_is_told_and_keeps_no_other_open(
    database: Database, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    key, quotas = await make(database, usd=1.0), Quotas(database, "a", now=clock)
    for _ in range(3):
        await quotas.admit(key, 0.25, 0)
    clock.forward(60)
    number = count()

    def failing(*args: Any, **more: Any) -> None:
        if next(number) == 1:
            raise ZeroDivisionError("a bug")
        book(*args, **more)

    monkeypatch.setattr("podium.serving.store.quotas.book", failing)
    with pytest.raises(ExceptionGroup, match="1 leases could not be closed") as told:
        await quotas.reap(30.0)
    assert isinstance(told.value.exceptions[0], ZeroDivisionError)
    assert (await spent(quotas, key)).open_usd == 0.25
    assert await quotas.reap(30.0) == 1


async def test_a_replica_that_was_only_slow_corrects_the_books(database: Database, clock: ManualClock) -> None:
    key, quotas = await make(database, usd=1.0), Quotas(database, "a", now=clock)
    leases = [await quotas.admit(key, 0.25, 0) for _ in range(3)]
    for lease in leases:
        assert await quotas.progress(lease, 0.125, 0.0625)
    clock.forward(60)
    assert await quotas.reap(30.0) == 3
    assert await spent(quotas, key) == Spent(spent_usd=0.375, uncertain_usd=0.1875)
    assert await quotas.progress(leases[0], 0.1875, 0.0) is False
    assert await spent(quotas, key) == Spent(spent_usd=0.4375, uncertain_usd=0.125)
    await quotas.settle(leases[0], 0.1875, 0.0, 0)
    await quotas.settle(leases[1], 0.15625, 0.0, 0)
    assert await spent(quotas, key) == Spent(spent_usd=0.46875, uncertain_usd=0.0625)
    clock.forward(2 * 86_400)
    assert await quotas.reap(30.0) == 0
    await quotas.settle(leases[2], 0.25, 0.0, 0)  # forgotten by now
    assert await spent(quotas, key) == Spent(spent_usd=0.46875, uncertain_usd=0.0625)


async def test_a_cancelled_admission_leaves_nothing_behind(database: Database, clock: ManualClock) -> None:
    key, quotas = await make(database, usd=1.0), Quotas(database, "a", now=clock)
    waiting = asyncio.create_task(quotas.admit(key, 1.0, 0))
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    await database.run(lambda connection: None)
    await asyncio.sleep(0.2)
    clock.forward(60)
    await quotas.beat()
    await quotas.reap(30.0)
    assert await spent(quotas, key) == Spent()
    assert await tried(quotas, key, 1.0) is not None


async def test_everything_at_once_neither_waits_for_itself_nor_miscounts(database: Database, url: str) -> None:
    key = await make(database, usd=100.0)
    async with Database(url) as other:
        replicas = Quotas(database, "a"), Quotas(other, "b")
        leases = [await replicas[n % 2].admit(key, 0.25, 10) for n in range(40)]
        work = [replicas[n % 2].progress(lease, 0.125, 0.0625) for n, lease in enumerate(leases)]
        work += [replicas[n % 2].progress(lease, 0.125, 0.0) for n, lease in enumerate(leases)]
        ends = [replicas[n % 2].settle(lease, 0.125, 0.0, 20) for n, lease in enumerate(leases)]
        reaps = [quotas.reap(-60.0) for quotas in replicas * 4]
        beats = [quotas.beat() for quotas in replicas * 4]
        await asyncio.wait_for(asyncio.gather(*reaps[:4], *work, *beats, *reaps[4:], *ends), 60)
        assert await spent(replicas[0], key) == Spent(spent_usd=5.0)
