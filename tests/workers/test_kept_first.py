"""A paid reply is kept first and booked afterwards: whatever happens to the books, it is there and is not paid again."""

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from podium.errors import BudgetExceeded, ConfigError, StoreUnavailable, WorkerUnavailable
from podium.protocols import Worker
from podium.types import Call, Card, Completion, Usage
from podium.workers import journal_file
from podium.workers.budget import Budget
from podium.workers.call_key import idempotency_key
from podium.workers.hedged import Hedged
from podium.workers.journal import Journal
from podium.workers.ledger import LedgerRow
from podium.workers.metered import Metered
from podium.workers.retried import Retried

CARD = Card(name="w", prompt_usd=1e-6, completion_usd=2e-6)
USAGE = Usage(prompt_tokens=9, completion_tokens=1, cost_usd=1e-5)
PAID = LedgerRow(run="run", worker="w", calls=1, prompt_tokens=9, completion_tokens=1, cost_usd=1e-5, known_usd=1e-5)


class Shop:
    """A provider that counts what it sold."""

    def __init__(self, text: str = "42", seconds: float = 0.0, after: "Shop | None" = None) -> None:
        self.sold = 0
        self.asked = asyncio.Event()
        self._text = text
        self._seconds = seconds
        self._after = after

    async def __call__(self, call: Call) -> Completion:
        self.sold += 1
        self.asked.set()
        if self._after is not None:
            await self._after.asked.wait()
        await asyncio.sleep(self._seconds)
        return Completion(text=self._text, usage=USAGE)


def after_the_call(shop: Shop, what: Callable[[], Awaitable[None]]) -> Callable[[], Awaitable[None]]:
    """Books that do ``what`` once something was sold, and nothing before."""

    async def note() -> None:
        if shop.sold:
            await what()

    return note


async def ledger(path: Path) -> LedgerRow:
    with Journal(path, mode="replay") as journal:
        (row,) = await journal.ledger()
    return row


@pytest.mark.parametrize("error", [StoreUnavailable("away"), BudgetExceeded("the lease was closed by another replica")])
async def test_books_that_fail_after_the_call_lose_nothing(tmp_path: Path, error: Exception) -> None:
    shop, budget = Shop(), Budget(usd=1)

    async def fail() -> None:
        raise error

    budget.on_change = after_the_call(shop, fail)
    with Journal(tmp_path / "calls.db") as journal:
        worker = journal.worker(Metered(shop, CARD, 50, [budget]), "w")
        assert (await worker(Call.plain("?"))).text == "42"
        assert (await worker(Call.plain("?"))).text == "42"
    assert shop.sold == 1
    assert (budget.spent, budget.uncertain_usd, budget.reserved_usd) == (USAGE, 0, 0)
    row = await ledger(tmp_path / "calls.db")
    assert (row.calls, row.replays, row.unsettled, row.failures, row.cost_usd) == (1, 1, 0, 0, 1e-5)


@pytest.mark.parametrize("error", [StoreUnavailable("away"), BudgetExceeded("closed"), ZeroDivisionError("a bug")])
async def test_books_that_fail_before_the_call_leave_it_unsent_and_free(tmp_path: Path, error: Exception) -> None:
    shop, budget = Shop(), Budget(usd=1)

    async def fail() -> None:
        raise error

    budget.on_change = fail
    with Journal(tmp_path / "calls.db") as journal, pytest.raises(type(error)):
        await journal.worker(Metered(shop, CARD, 50, [budget]), "w")(Call.plain("?"))
    assert shop.sold == 0
    assert (budget.remaining_usd, budget.uncertain_usd) == (1, 0)
    row = await ledger(tmp_path / "calls.db")
    assert (row.unsettled, row.failures) == (0, 1)


async def test_whoever_leaves_while_the_books_are_told_leaves_the_reply_behind(tmp_path: Path) -> None:
    shop, budget, told = Shop(), Budget(usd=1), asyncio.Event()

    async def slowly() -> None:
        told.set()
        await asyncio.sleep(30)

    budget.on_change = after_the_call(shop, slowly)
    with Journal(tmp_path / "calls.db") as journal:
        worker = journal.worker(Metered(shop, CARD, 50, [budget]), "w")
        task = asyncio.ensure_future(worker(Call.plain("?")))
        await told.wait()
        task.cancel()
        await asyncio.wait([task])
        assert (await worker(Call.plain("?"))).text == "42"
        (row,) = await journal.ledger()
    assert (shop.sold, row.calls, row.unsettled) == (1, 1, 0)
    assert (budget.spent, budget.uncertain_usd) == (USAGE, 0)


async def test_a_reply_that_can_not_be_kept_is_paid_all_the_same(tmp_path: Path) -> None:
    budget = Budget(usd=1)
    journal = Journal(tmp_path / "calls.db")

    async def fills_the_disk(call: Call) -> Completion:
        await journal._in_thread(lambda: journal._file._database.execute("PRAGMA query_only = ON"))  # as good as a full disk
        return Completion(text="42", usage=USAGE)

    with pytest.raises(ConfigError):
        await journal.worker(Metered(fills_the_disk, CARD, 50, [budget]), "w")(Call.plain("?"))
    assert budget.spent == USAGE


@pytest.mark.parametrize("fails", [False, True])
async def test_a_journal_that_can_not_be_written_for_a_while(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, fails: bool
) -> None:
    """Nobody waits for ever for a call that has ended, whose claim could not be dropped; it is in the ledger afterwards."""
    monkeypatch.setattr(journal_file, "BUSY_SECONDS", 0.01)
    other = sqlite3.connect(tmp_path / "calls.db", isolation_level=None)
    sold = 0

    async def shop(call: Call) -> Completion:
        nonlocal sold
        sold += 1
        if sold == 1:
            other.execute("BEGIN IMMEDIATE")
        if fails and sold == 1:
            raise WorkerUnavailable("cut")
        return Completion(text="42", usage=USAGE)

    with Journal(tmp_path / "calls.db") as journal:
        worker = journal.worker(Metered(shop, CARD, 50, [Budget(usd=1)]), "w")
        with pytest.raises(ConfigError, match="can not be read or written"):
            await worker(Call.plain("?"))
        other.execute("ROLLBACK")
        async with asyncio.timeout(5):
            assert (await worker(Call.plain("?"))).text == "42"
    other.close()
    assert sold == 2
    row = await ledger(tmp_path / "calls.db")
    assert (row.calls, row.replays, row.unsettled, row.failures) == (1, 0, 1, 0)


RUN = """
import asyncio, sys
from podium.types import Call, Card, Completion, Usage
from podium.workers.budget import Budget
from podium.workers.journal import Journal
from podium.workers.metered import Metered

async def main(folder):
    budget, sold = Budget(usd=1), []
    async def shop(call):
        with open(f"{folder}/sold", "a") as till:
            till.write("x")
        sold.append(call)
        return Completion(text="42", usage=Usage(prompt_tokens=9, completion_tokens=1, cost_usd=1e-5))
    async def books():
        if sold:
            print("replied", flush=True)
            await asyncio.sleep(60)
    budget.on_change = books
    with Journal(f"{folder}/calls.db") as journal:
        worker = journal.worker(Metered(shop, Card(name="w", prompt_usd=1e-6, completion_usd=2e-6), 50, [budget]), "w")
        print((await worker(Call.plain("?"))).text, flush=True)

asyncio.run(main(sys.argv[1]))
"""


def test_kill_9_between_the_reply_and_the_books(tmp_path: Path) -> None:
    process = subprocess.Popen([sys.executable, "-c", RUN, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "replied\n"
    os.kill(process.pid, signal.SIGKILL)
    process.communicate(timeout=10)
    assert asyncio.run(ledger(tmp_path / "calls.db")) == PAID
    resumed, shop = Budget(usd=1), Shop("paid again")

    async def resume() -> Completion:
        with Journal(tmp_path / "calls.db") as journal:
            for row in await journal.ledger():
                resumed.charge(row.usage, uncertain_usd=row.uncertain_usd)
            return await journal.worker(Metered(shop, CARD, 50, [resumed]), "w")(Call.plain("?"))

    assert asyncio.run(resume()).text == "42"
    assert shop.sold == 0
    assert (tmp_path / "sold").read_text() == "x"
    assert (resumed.spent.cost_usd, resumed.uncertain_usd) == (1e-5, 0)


class TestHedges:
    """Both attempts of a hedge may be paid: each has a key and a line of its own."""

    async def test_the_loser_is_in_the_ledger_and_its_bound_stays_booked(self, tmp_path: Path) -> None:
        budget, slow = Budget(usd=1), Shop("slow", 30)
        quick = Shop("quick", after=slow)
        one, two = Metered(slow, CARD, 50, [budget]), Metered(quick, CARD, 50, [budget])
        bound = one.bound(Call.plain("?")).cost_usd
        for _ in range(2):  # the second time from disk
            with Journal(tmp_path / "calls.db") as journal:
                worker = Hedged(journal.worker(one, "w"), journal.worker(two, "w", hedge=True), after_seconds=0.02)
                assert (await worker(Call.plain("?"))).text == "quick"
        assert (slow.sold, quick.sold) == (1, 1)
        row = await ledger(tmp_path / "calls.db")
        assert (row.calls, row.replays, row.unsettled, row.uncertain_usd, row.cost_usd) == (1, 1, 1, bound, 1e-5)
        assert (budget.spent.cost_usd, budget.uncertain_usd) == (1e-5, bound)

    async def test_the_first_reply_answers_the_second_attempt_too(self, tmp_path: Path) -> None:
        first, second = Shop("first"), Shop("second")
        with Journal(tmp_path / "calls.db") as journal:
            await journal.worker(first, "w")(Call.plain("?"))
            assert (await journal.worker(second, "w", hedge=True)(Call.plain("?"))).text == "first"
            assert (await journal.reader(second, "w")(Call.plain("?"))).text == "first"
        assert second.sold == 0

    async def test_an_attempt_that_waits_for_another_process_takes_what_the_attempt_beside_it_got(self, tmp_path: Path) -> None:
        shop, slow = Shop("again"), Shop("slow", 30)
        with Journal(tmp_path / "calls.db") as theirs, Journal(tmp_path / "calls.db") as ours:
            under_way = asyncio.ensure_future(theirs.worker(slow, "w")(Call.plain("?")))
            await slow.asked.wait()
            waiting = asyncio.ensure_future(ours.worker(shop, "w")(Call.plain("?")))
            await theirs.worker(Shop("hedge"), "w", hedge=True)(Call.plain("?"))
            under_way.cancel()
            assert (await waiting).text == "hedge"
        assert shop.sold == 0

    async def test_keys_differ_and_those_of_another_try_do_not(self, tmp_path: Path) -> None:
        seen: list[tuple[str, str | None]] = []

        def cut(name: str) -> Worker:
            async def fail(call: Call) -> Completion:
                seen.append((name, idempotency_key.get()))
                await asyncio.sleep(0.02)
                raise WorkerUnavailable("cut")

            return fail

        with Journal(tmp_path / "calls.db") as journal:
            worker = Hedged(journal.worker(cut("a"), "w"), journal.worker(cut("b"), "w", hedge=True), after_seconds=0)
            with pytest.raises(WorkerUnavailable):
                await Retried(worker, attempts=2, base_seconds=0)(Call.plain("?"))
        keys = {name: {key for who, key in seen if who == name} for name in "ab"}
        assert len(seen) == 4
        assert [len(keys[name]) for name in "ab"] == [1, 1]
        assert keys["a"] != keys["b"]


async def test_a_run_goes_on_although_a_provider_once_did_not_say_what_it_used(tmp_path: Path) -> None:
    async def silent(call: Call) -> Completion:
        return Completion(text="42", usage=Usage(cost_usd=None))

    before, after = Budget(usd=1), Budget(usd=1)
    metered = Metered(silent, CARD, 50, [before])
    with Journal(tmp_path / "calls.db") as journal:
        await journal.worker(metered, "w")(Call.plain("?"))
        (row,) = await journal.ledger()
    assert (row.cost_usd, row.uncertain_usd) == (None, metered.bound(Call.plain("?")).cost_usd)
    after.charge(row.usage, uncertain_usd=row.uncertain_usd)
    assert after.remaining_usd == before.remaining_usd


async def test_what_a_killed_run_may_have_paid_is_never_taken_for_nothing(tmp_path: Path) -> None:
    with Journal(tmp_path / "calls.db") as journal:

        async def cut(call: Call) -> Completion:
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            await journal.worker(cut, "w")(Call.plain("?"))  # nobody knows what this can have cost
        (row,) = await journal.ledger()
    assert row.uncertain_usd is None
    with pytest.raises(ConfigError, match="no price"):
        Budget(usd=1).charge(row.usage, uncertain_usd=row.uncertain_usd)
    Budget(tokens=1000).charge(row.usage, uncertain_usd=row.uncertain_usd)
