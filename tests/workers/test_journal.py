"""The journal: nothing is paid twice, not by two processes and not after kill -9; the ledger accounts for every payment.

"Paid" is what a real server on the loopback counted, not what the code under test believes.
"""

import asyncio
import contextlib
import os
import random
import signal
import socketserver
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest

from podium.errors import Blame, BudgetExceeded, ConfigError, WorkerRefused, WorkerUnavailable
from podium.types import (
    Call,
    Card,
    Completion,
    Failure,
    Generation,
    Sampling,
    Step,
    StepResult,
    Transcript,
    Usage,
    Workflow,
    ask,
)
from podium.workers.budget import Budget
from podium.workers.call_key import call_key, idempotency_key
from podium.workers.hedged import Hedged
from podium.workers.journal import Journal
from podium.workers.ledger import LedgerRow
from podium.workers.limited import Limit, Limited
from podium.workers.metered import Metered
from podium.workers.retried import Retried
from podium.workers.scripted import Scripted
from podium.workers.timed import Timed

USAGE = Usage(prompt_tokens=9, completion_tokens=1, cost_usd=0.25)


class Counted:
    """A scripted worker that counts its calls."""

    def __init__(self, text: str = "42", *, seconds: float = 0.0, usage: Usage = USAGE) -> None:
        self.calls = 0
        self._worker = Scripted(text, seconds=seconds, usage=usage)

    async def __call__(self, call: Call) -> Completion:
        self.calls += 1
        return await self._worker(call)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "calls.db"


class TestRecordAndReplay:
    async def test_a_reply_is_paid_once_for_ever(self, path: Path) -> None:
        provider = Counted("line one\nline two")
        told: list[str | None] = []
        with Journal(path, run="monday") as journal:
            paid = await journal.worker(provider, "w")(Call.plain("?"))
            assert await journal.worker(provider, "w")(Call.plain("?")) == paid
        with Journal(path, run="tuesday") as journal:
            call = Call(question=ask("?"), on_token=told.append)
            assert await journal.worker(provider, "w")(call) == paid
            assert told == ["line one\nline two"]
            assert provider.calls == 1
            row = LedgerRow(run="monday", worker="w", calls=1, replays=1, cost_usd=0.25, known_usd=0.25)
            assert await journal.ledger() == [
                replace(row, prompt_tokens=9, completion_tokens=1),
                LedgerRow(run="tuesday", worker="w", replays=1),
            ]
        assert (await journal_of(path))[1].replays == 1  # stored at the latest when the journal is closed

    async def test_what_tells_calls_apart(self, path: Path) -> None:
        provider = Counted()
        with Journal(path) as journal:
            for identity in ("a", "b"):
                for sample in ((0,), (1,)):
                    for temperature in (0.0, 1.0):
                        call = Call(subtask="?", sample=sample, sampling=Sampling(temperature=temperature))
                        await journal.worker(provider, identity)(call)
        assert provider.calls == 8

    async def test_any_completion_survives(self, path: Path) -> None:
        step = Step(worker=0, subtask="a")
        failure = Failure(kind="WorkerRefused", blame=Blame.WORLD, message="no", where="step 0")
        transcript = Transcript(
            question=ask("?"),
            generation=Generation(text="x", token_ids=(1, 2), logprobs=(-0.1, float("-inf"))),
            workflow=Workflow(steps=(step, Step(worker=1, subtask="b", access=(0,)))),
            results=(StepResult(step=step, worker="w", failure=failure),),
            failure=failure,
        )
        completion = Completion(
            text="\ud800 lone, \x00 zero, é, \U0001f600",
            finish_reason="length",
            usage=Usage(prompt_tokens=1, cost_usd=None),
            seconds=0.1 + 0.2,
            price_source="pool file",
            transcripts=(transcript,),
        )

        async def provider(call: Call) -> Completion:
            return completion

        for _ in range(2):
            with Journal(path) as journal:
                assert await journal.worker(provider, "w")(Call.plain("?")) == completion

    async def test_the_reply_is_on_disk_before_it_is_used(self, path: Path) -> None:
        with Journal(path) as journal:
            await journal.worker(Counted(), "w")(Call.plain("?"))
            other = sqlite3.connect(path)
            assert other.execute("SELECT COUNT(*) FROM calls WHERE completion IS NOT NULL").fetchone() == (1,)
            other.close()

    async def test_equal_calls_at_once_share_one(self, path: Path) -> None:
        provider = Counted(seconds=0.05)
        with Journal(path) as journal:
            worker = journal.worker(provider, "w")
            await asyncio.gather(*(worker(Call.plain("?")) for _ in range(10)))
            (row,) = await journal.ledger()
        assert (provider.calls, row.calls, row.replays) == (1, 1, 9)

    async def test_the_idempotency_key_is_the_calls(self, path: Path) -> None:
        seen = []

        def answer(call: Call) -> str:
            seen.append(idempotency_key.get())
            if len(seen) == 1:
                raise WorkerUnavailable("cut")
            return "42"

        call = Call.plain("?")
        with Journal(path) as journal:
            worker = journal.worker(Scripted(answer), "w")
            with pytest.raises(WorkerUnavailable):
                await worker(call)
            await worker(call)
        assert seen == [call_key("w", call)] * 2
        assert idempotency_key.get() is None

    async def test_an_unknown_price_stays_unknown(self, path: Path) -> None:
        with Journal(path) as journal:
            await journal.worker(Counted(), "w")(Call.plain("1"))
            await journal.worker(Counted(usage=Usage(prompt_tokens=1, cost_usd=None)), "w")(Call.plain("2"))
            (row,) = await journal.ledger()
        assert (row.calls, row.cost_usd, row.known_usd, row.usage.cost_usd) == (2, None, 0.25, None)

    async def test_a_replay_is_not_charged_again(self, path: Path) -> None:
        card = Card(name="w", prompt_usd=1e-6, completion_usd=1e-6)
        for spent in (0.25, 0.0):
            run = Budget(usd=1)
            with Journal(path) as journal:
                await journal.worker(Metered(Counted(), card, 10, [run]), "w")(Call.plain("?"))
            assert run.spent.cost_usd == spent


async def journal_of(path: Path) -> list[LedgerRow]:
    with Journal(path, mode="replay") as journal:
        return await journal.ledger()


class TestReplayMode:
    async def test_never_calls_out(self, path: Path) -> None:
        provider = Counted()
        with Journal(path) as journal:
            paid = await journal.worker(provider, "w")(Call(subtask="Add the\n numbers."))
        with Journal(path, run="again", mode="replay") as journal:
            worker = journal.worker(provider, "w")
            assert await worker(Call(subtask="Add the\n numbers.")) == paid
            with pytest.raises(ConfigError, match=r"no reply of worker 'w' to 'Subtract the numbers\. .* \.\.\.'"):
                await worker(Call(subtask="Subtract the\n numbers. " + "Mind the signs. " * 20))
            assert [(row.run, row.calls, row.replays) for row in await journal.ledger()] == [("again", 0, 1), ("run", 1, 0)]
        assert provider.calls == 1

    def test_leaves_the_file_as_it_was(self, path: Path) -> None:
        async def once(mode: Literal["record", "replay"]) -> None:
            with Journal(path, mode=mode) as journal:
                await journal.worker(Counted(), "w")(Call.plain("?"))

        asyncio.run(once("record"))
        before = path.read_bytes()
        asyncio.run(once("replay"))
        assert path.read_bytes() == before

    def test_needs_a_journal(self, path: Path) -> None:
        with pytest.raises(ConfigError, match="can not be used"):
            Journal(path, mode="replay")
        assert not path.exists()
        with pytest.raises(ConfigError, match="mode 'reply'"):
            Journal(path, mode="reply")  # type: ignore[arg-type]


class TestReader:
    async def test_a_replay_does_not_wait_for_a_limit(self, path: Path) -> None:
        provider = Counted()
        for _ in range(2):
            with Journal(path) as journal:
                limit = Limit(requests_per_minute=10)
                worker = journal.reader(Limited(journal.worker(provider, "w"), limit), "w")
                async with asyncio.timeout(5):
                    await asyncio.gather(*(worker(Call(subtask=f"{n}")) for n in range(10)))
                    for n in range(10):
                        await worker(Call(subtask=f"{n}"))
        assert provider.calls == 10

    async def test_a_call_that_waits_for_a_limit_is_not_claimed(self, path: Path) -> None:
        with Journal(path) as journal:
            paid = journal.worker(Counted(seconds=30), "w")
            worker = journal.reader(Limited(paid, Limit(concurrency=2)), "w")
            tasks = [asyncio.ensure_future(worker(Call(subtask=f"{n}"))) for n in range(10)]
            await asyncio.sleep(0.1)
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
            (row,) = await journal.ledger()
        assert (row.calls, row.unsettled, row.failures) == (0, 2, 0)

    async def test_replay_mode_does_not_even_ask(self, path: Path) -> None:
        Journal(path).close()
        provider = Counted()
        with Journal(path, mode="replay") as journal, pytest.raises(ConfigError, match="'w' to 'Go"):
            await journal.reader(provider, "w")(Call(subtask="Go."))
        assert provider.calls == 0


class TestFailures:
    @pytest.mark.parametrize(
        ("error", "failures", "unsettled"),
        [
            (WorkerRefused("no"), 1, 0),
            (WorkerUnavailable("busy", retry_after=1), 1, 0),
            (BudgetExceeded("spent"), 1, 0),
            (WorkerUnavailable("cut"), 0, 1),
            (ZeroDivisionError("a bug"), 0, 1),
        ],
    )
    async def test_a_failure_is_counted_and_not_kept(self, path: Path, error: Exception, failures: int, unsettled: int) -> None:
        def fail(call: Call) -> str:
            raise error

        with Journal(path) as journal:
            most = Usage(prompt_tokens=7, cost_usd=0.5)
            with pytest.raises(type(error)):
                await journal.worker(Scripted(fail), "w", bound=lambda call: most)(Call.plain("?"))
            (row,) = await journal.ledger()
            assert (row.failures, row.unsettled, row.calls, row.replays, row.known_usd) == (failures, unsettled, 0, 0, 0)
            assert (row.uncertain_usd, row.uncertain_tokens) == (0.5 * unsettled, 7 * unsettled)
            assert (await journal.worker(Counted(), "w")(Call.plain("?"))).text == "42"

    async def test_a_cancelled_call_gives_up_its_claim_and_may_have_been_paid(self, path: Path) -> None:
        with Journal(path) as journal:
            task = asyncio.ensure_future(journal.worker(Counted(seconds=30), "w")(Call.plain("?")))
            await asyncio.sleep(0.05)
            task.cancel()
            await asyncio.wait([task])
            assert task.cancelled()
            (row,) = await journal.ledger()
            assert (row.calls, row.unsettled, row.uncertain_usd) == (0, 1, None)  # its bound is not known here
            assert (await journal.worker(Counted(), "w")(Call.plain("?"))).text == "42"

    async def test_a_hedges_loser_is_settled_when_the_winner_returns(self, path: Path) -> None:
        with Journal(path) as journal:
            slow, quick = journal.worker(Counted(seconds=30), "slow"), journal.worker(Counted("quick"), "quick")
            assert (await Hedged(slow, quick, after_seconds=0.02)(Call.plain("?"))).text == "quick"
            assert [(row.worker, row.calls, row.unsettled) for row in await journal.ledger()] == [
                ("quick", 1, 0),
                ("slow", 0, 1),
            ]

    async def test_cancelled_before_it_was_sent_is_not_paid_and_leaves_no_claim(self, path: Path) -> None:
        provider = Counted()
        with Journal(path) as journal:
            other = sqlite3.connect(path, isolation_level=None)
            other.execute("BEGIN IMMEDIATE")  # another process is writing: the claim has to wait
            task = asyncio.ensure_future(journal.worker(provider, "w")(Call.plain("?")))
            ticks = 0
            for _ in range(20):  # and the event loop does not
                await asyncio.sleep(0.005)
                ticks += 1
            assert (ticks, task.done()) == (20, False)
            task.cancel()
            await asyncio.sleep(0.02)
            other.execute("COMMIT")
            await asyncio.wait([task])
            assert task.cancelled()
            assert other.execute("SELECT COUNT(*) FROM calls").fetchone() == (0,)
            other.close()
            (row,) = await journal.ledger()
        assert (provider.calls, row.failures, row.unsettled) == (0, 1, 0)

    async def test_cancelled_while_its_reply_is_stored_is_stored_all_the_same(self, path: Path) -> None:
        answered = asyncio.Event()

        async def provider(call: Call) -> Completion:
            if call.subtask == "first":
                await answered.wait()
            return Completion(text="paid", usage=USAGE)

        with Journal(path) as journal:
            worker = journal.worker(provider, "w")
            first = asyncio.ensure_future(worker(Call(subtask="first")))
            await asyncio.sleep(0.05)
            other = sqlite3.connect(path, isolation_level=None)
            other.execute("BEGIN IMMEDIATE")
            second = asyncio.ensure_future(worker(Call(subtask="second")))  # keeps the journal's thread waiting
            await asyncio.sleep(0.05)
            answered.set()
            await asyncio.sleep(0.05)
            first.cancel()
            await asyncio.sleep(0.05)
            other.execute("COMMIT")
            other.close()
            await asyncio.wait([first, second])
            assert first.cancelled()
            (row,) = await journal.ledger()
        assert (row.calls, row.unsettled) == (2, 0)

    async def test_a_call_that_hangs_up_slowly_keeps_its_claim_until_it_has_ended(self, path: Path) -> None:
        async def slow_to_hang_up(call: Call) -> Completion:
            try:
                await asyncio.sleep(30)
            finally:
                await asyncio.sleep(0.2)
            return Completion(text="never")

        with Journal(path) as journal:
            worker = journal.worker(slow_to_hang_up, "w")
            first = asyncio.ensure_future(worker(Call.plain("?")))
            await asyncio.sleep(0.05)
            first.cancel()
            await asyncio.sleep(0.05)
            second = asyncio.ensure_future(worker(Call.plain("?")))  # waits for the first one's claim
            await asyncio.sleep(0.05)
            second.cancel()  # and gives up: that is no business of the first one's claim
            await asyncio.wait([first, second])
            (row,) = await journal.ledger()
        assert (row.calls, row.unsettled, row.failures) == (0, 1, 0)


class TestOwners:
    """Two journals on one file are two owners, in one process as in two."""

    async def test_a_living_owners_call_is_waited_for(self, path: Path) -> None:
        provider = Counted(seconds=0.2)
        with Journal(path, run="a") as a, Journal(path, run="b") as b:
            both = await asyncio.gather(*(each.worker(provider, "w")(Call.plain("?")) for each in (a, b)))
            assert both[0] == both[1]
        assert provider.calls == 1
        rows = await journal_of(path)
        assert sorted((row.calls, row.replays) for row in rows) == [(0, 1), (1, 0)]

    async def test_a_living_owners_failure_lets_the_next_one_try(self, path: Path) -> None:
        fails, works = Scripted(refuse, seconds=0), Counted()

        async def slow_failure(call: Call) -> Completion:
            await asyncio.sleep(0.1)
            return await fails(call)

        with Journal(path) as a, Journal(path) as b:
            first = asyncio.ensure_future(a.worker(slow_failure, "w")(Call.plain("?")))
            await asyncio.sleep(0.05)
            assert (await b.worker(works, "w")(Call.plain("?"))).text == "42"
            with pytest.raises(WorkerRefused):
                await first

    async def test_a_dead_owners_call_is_taken_over_and_unsettled(self, path: Path) -> None:
        claim(path, "dead run", "w", call_key("w", Call.plain("?")), bound_usd=0.5)
        (row,) = await journal_of(path)
        assert (row.run, row.unsettled, row.uncertain_usd) == ("dead run", 1, 0.5)  # seen before anybody takes over
        with Journal(path, run="next") as journal:
            assert (await journal.worker(Counted(), "w")(Call.plain("?"))).text == "42"
            dead, following = await journal.ledger()
        assert (dead.run, dead.calls, dead.unsettled, dead.uncertain_usd) == ("dead run", 0, 1, 0.5)
        assert (following.run, following.calls, following.unsettled) == ("next", 1, 0)

    async def test_dead_owners_files_are_swept(self, path: Path) -> None:
        claim(path, "dead run", "w", "key")
        folder = path.with_name("calls.db.owners")
        (folder / "1-leftover").touch()
        with Journal(path):
            names = [file.name for file in folder.iterdir()]
            assert len(names) == 2
            assert "1-leftover" not in names

    def test_many_may_open_a_new_journal_at_once(self, tmp_path: Path) -> None:
        with ThreadPoolExecutor(8) as threads:
            for number in range(5):
                path = tmp_path / f"{number}" / "calls.db"
                journals = list(threads.map(lambda _, path=path: Journal(path), range(8)))
                owners = [file for file in path.with_name("calls.db.owners").iterdir() if file.name != "opening"]
                assert len(owners) == 8
                for journal in journals:
                    journal.close()

    async def test_removing_the_owners_folder_is_reported_not_swallowed(self, path: Path) -> None:
        started = asyncio.Event()

        async def slow(call: Call) -> Completion:
            started.set()
            await asyncio.sleep(0.2)
            return Completion(text="paid")

        with Journal(path) as a, Journal(path) as b:
            first = asyncio.ensure_future(a.worker(slow, "w")(Call.plain("?")))
            await started.wait()
            for file in path.with_name("calls.db.owners").iterdir():
                file.unlink()
            await b.worker(Counted(), "w")(Call.plain("?"))
            with pytest.raises(ConfigError, match="taken over"):
                await first


def refuse(call: Call) -> str:
    raise WorkerRefused("no")


def claim(path: Path, run: str, worker: str, key: str, bound_usd: float | None = None) -> None:
    """Leave a claim behind whose owner is gone."""
    Journal(path).close()
    database = sqlite3.connect(path)
    database.execute(
        "INSERT INTO calls (key, worker, run, owner, ticket, bound_usd, claimed_at) VALUES (?, ?, ?, 'gone', 0, ?, 0)",
        (key, worker, run, bound_usd),
    )
    database.commit()
    database.close()


async def test_the_whole_stack_of_a_pool_keeps_budget_and_journal(path: Path) -> None:
    """A flaky provider, a budget that ends in the middle, a second process life with the same budget."""
    rng = random.Random(7)
    card = Card(name="w", prompt_usd=1e-4, completion_usd=1e-4)
    paid: Counter[str] = Counter()
    bill = 0.0

    async def flaky(call: Call) -> Completion:
        nonlocal bill
        await asyncio.sleep(0.001)
        what = rng.random()
        if what < 0.2:
            raise WorkerUnavailable("429", retry_after=0.001)
        paid[call.subtask] += 1
        bill += 0.002
        if what < 0.3:
            raise WorkerUnavailable("cut: paid, and no reply")
        return Completion(text=call.subtask, usage=Usage(prompt_tokens=15, completion_tokens=5, cost_usd=0.002))

    cap, replies = 0.1, set[str]()
    for life in range(3):
        run = Budget(usd=cap)
        with Journal(path) as journal:
            for row in await journal.ledger():
                run.charge(row.usage, uncertain_usd=row.uncertain_usd or 0.0)
            already = paid.copy()
            metered = Metered(Timed(flaky, 5), card, 10, [run])
            journaled = journal.worker(metered, "w", metered.bound)
            limited = Limited(journaled, Limit(concurrency=8), max_tokens=10)
            worker = Retried(journal.reader(limited, "w"), attempts=3, base_seconds=0.001)
            results = await asyncio.gather(*(worker(Call(subtask=f"{n}")) for n in range(60)), return_exceptions=True)
            assert all(isinstance(result, Completion | BudgetExceeded | WorkerUnavailable) for result in results)
            assert any(isinstance(result, BudgetExceeded) for result in results)
            assert all(paid[reply] == already[reply] for reply in replies)
            replies |= {result.text for result in results if isinstance(result, Completion)}
            (row,) = await journal.ledger()
            assert row.calls == len(replies)
            assert paid.total() <= row.calls + row.unsettled
            assert bill <= cap, f"life {life}"
            assert row.uncertain_usd is not None
            assert bill <= row.known_usd + row.uncertain_usd + 1e-9
    assert 10 < len(replies) < 60


async def test_a_new_journal_is_for_its_owner_only_from_the_beginning(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "chmod", None)  # made so, and not changed later, when somebody may have opened it
    before = os.umask(0)
    try:
        with Journal(path) as journal:
            await journal.worker(Counted(), "w")(Call.plain("?"))
            with Journal(path, mode="replay") as reader:
                await reader.worker(Counted(), "w")(Call.plain("?"))
                found = {file.name: file.stat().st_mode & 0o777 for file in (*path.parent.iterdir(), *path.parent.glob("*/*"))}
    finally:
        os.umask(before)
    assert {"calls.db", "calls.db-wal", "calls.db-shm", "calls.db.owners"} < set(found)
    assert found.pop("calls.db.owners") == 0o700
    assert set(found.values()) == {0o600}


class TestUnusableFiles:
    def test_no_journal_at_all(self, path: Path) -> None:
        path.write_bytes(random.Random(0).randbytes(5000))
        with pytest.raises(ConfigError, match="not a journal or is damaged"):
            Journal(path)
        assert not [thread for thread in threading.enumerate() if thread.name.startswith("journal")], "nothing is left running"

    def test_another_programs_database(self, path: Path) -> None:
        database = sqlite3.connect(path)
        database.execute("CREATE TABLE recipes (name TEXT)")
        database.close()
        modes: tuple[Literal["record", "replay"], ...] = ("record", "replay")
        for mode in modes:
            with pytest.raises(ConfigError, match="is not a Podium journal"):
                Journal(path, mode=mode)

    def test_another_version(self, path: Path) -> None:
        Journal(path).close()
        database = sqlite3.connect(path)
        database.execute("PRAGMA user_version = 99")
        database.close()
        with pytest.raises(ConfigError, match=r"version 99.*reads version 2"):
            Journal(path)

    def test_places_where_no_file_can_be(self, tmp_path: Path) -> None:
        (tmp_path / "file").touch()
        for path in (tmp_path / "file" / "calls.db", tmp_path):
            with pytest.raises(ConfigError, match=r"can not be (used|read or written)"):
                Journal(path)
        Journal(tmp_path / "new" / "folder" / "calls.db").close()

    async def test_a_damaged_reply(self, path: Path) -> None:
        with Journal(path) as journal:
            await journal.worker(Counted(), "w")(Call.plain("?"))
        database = sqlite3.connect(path)
        for text in ("{", '{"text": 1}', '{"text": "x", "surprise": 1, "usage": []}'):
            database.execute("UPDATE calls SET completion = ?", (text,))
            database.commit()
            with Journal(path) as journal, pytest.raises(ConfigError, match="unreadable reply"):
                await journal.worker(Counted(), "w")(Call.plain("?"))
        database.close()

    async def test_a_full_disk_is_reported_and_counted(self, path: Path) -> None:
        with Journal(path) as journal:
            await journal.worker(Counted(), "w")(Call.plain("small"))
            # As small as SQLite lets it be, which is as large as it is now.
            journal._thread.submit(lambda: journal._file._database.execute("PRAGMA max_page_count = 1").fetchone()).result()
            with pytest.raises(ConfigError, match="full"):
                await journal.worker(Counted("x" * 100_000), "w")(Call.plain("large"))
            (row,) = await journal.ledger()
        assert (row.calls, row.unsettled) == (1, 1)

    async def test_closing_twice_is_harmless(self, path: Path) -> None:
        journal = Journal(path)
        journal.close()
        journal.close()


class Till(socketserver.ThreadingTCPServer):
    """The provider: takes a line, counts it as paid at once, and answers a little later."""

    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 256

    def __init__(self, seconds: float) -> None:
        super().__init__(("127.0.0.1", 0), Sale)
        self.paid: Counter[str] = Counter()
        self.lock = threading.Lock()  # guards ``paid``, which many server threads add to
        self.seconds = seconds

    @property
    def port(self) -> str:
        return str(self.server_address[1])


class Sale(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        till = self.server
        assert isinstance(till, Till)
        asked = self.rfile.readline().decode().strip()
        if not asked:
            return
        with till.lock:
            till.paid[asked] += 1
        time.sleep(till.seconds)
        with contextlib.suppress(OSError):  # the caller was killed
            self.wfile.write(f"reply to {asked}\n".encode())


@pytest.fixture
def till() -> Iterator[Till]:
    with Till(seconds=0.01) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


PROGRAM = """
import asyncio, random, sys
from podium.types import Call, Completion, Usage
from podium.workers.journal import Journal
from podium.workers.limited import Limit, Limited

path, run, port, keys, seed = sys.argv[1:]

async def buy(call):
    reader, writer = await asyncio.open_connection("127.0.0.1", int(port))
    writer.write(call.question[0].content.encode() + b"\\n")
    text = (await reader.readline()).decode().strip()
    writer.close()
    await writer.wait_closed()
    assert text == f"reply to {call.question[0].content}"
    return Completion(text=text, usage=Usage(prompt_tokens=1, completion_tokens=1, cost_usd=0.01))

async def main():
    with Journal(path, run=run) as journal:
        paid = journal.worker(buy, "till", bound=lambda call: Usage(cost_usd=0.02))
        worker = journal.reader(Limited(paid, Limit(concurrency=16)), "till")
        wanted = [f"item {n}" for n in range(int(keys))]
        random.Random(int(seed)).shuffle(wanted)
        print("ready", flush=True)
        for done in await asyncio.gather(*(worker(Call.plain(item)) for item in wanted)):
            assert done.text.startswith("reply to")
    print("done", flush=True)

asyncio.run(main())
"""


def start(path: Path, run: str, till: Till, keys: int, seed: int) -> subprocess.Popen[str]:
    arguments = [sys.executable, "-c", PROGRAM, str(path), run, till.port, str(keys), str(seed)]
    return subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finished(process: subprocess.Popen[str]) -> None:
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert out.endswith("done\n")


def test_two_processes_hammering_the_same_keys_pay_each_once(path: Path, till: Till) -> None:
    processes = [start(path, f"process {n}", till, keys=200, seed=n) for n in range(2)]
    for process in processes:
        finished(process)
    assert till.paid.total() == len(till.paid) == 200
    rows = asyncio.run(journal_of(path))
    assert sum(row.calls for row in rows) == 200
    assert sum(row.replays for row in rows) == 200
    assert sum(row.unsettled + row.failures for row in rows) == 0
    assert sum(row.known_usd for row in rows) == pytest.approx(2.0)


def test_kill_9_at_random_moments_never_pays_twice_what_was_stored(path: Path, till: Till) -> None:
    rng = random.Random()
    keys, kills = 300, 0
    while True:
        process = start(path, f"run {kills}", till, keys=keys, seed=kills)
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        stored_before = stored(path)
        paid_before = till.paid.copy()
        if kills == 4:
            finished(process)
        else:
            if kills == 1:  # once for sure while calls are under way: they are paid, and none of the replies comes
                till.seconds, sold = 60.0, till.paid.total()
                while till.paid.total() == sold:
                    time.sleep(0.005)
            else:
                time.sleep(rng.uniform(0, 0.12))
            os.kill(process.pid, signal.SIGKILL)
            process.communicate(timeout=10)
            till.seconds = 0.01
        # What was on disk when this run began, this run did not buy.
        assert not [item for item in stored_before if till.paid[item] != paid_before[item]]
        rows = asyncio.run(journal_of(path))
        calls, unsettled = sum(row.calls for row in rows), sum(row.unsettled for row in rows)
        assert till.paid.total() <= calls + unsettled
        assert calls == len(stored(path))
        assert sum(row.uncertain_usd or 0.0 for row in rows) == pytest.approx(0.02 * unsettled)
        if kills == 4:
            break
        kills += 1
    assert calls == keys == len(till.paid)
    assert 0 < unsettled <= 4 * 16  # at most the calls under way, at each kill
    before = till.paid.total()
    finished(start(path, "all replays", till, keys=keys, seed=99))
    assert till.paid.total() == before


def stored(path: Path) -> list[str]:
    """The items whose reply is in the file."""
    database = sqlite3.connect(path)
    try:
        texts = database.execute("SELECT json_extract(completion, '$.text') FROM calls WHERE completion IS NOT NULL")
        return [text.removeprefix("reply to ") for (text,) in texts]
    finally:
        database.close()
