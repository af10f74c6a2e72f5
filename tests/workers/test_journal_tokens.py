"""Calls whose reply was lost count towards a cap after a resume; where nobody knows how much they used, no cap is believed kept.

And journals of schema version 1.
"""

import asyncio
import os
import random
import signal
import sqlite3
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from podium import open_pool
from podium.errors import BudgetExceeded, ConfigError, WorkerUnavailable
from podium.types import Call, Card, Completion, Usage
from podium.workers import journal_schema
from podium.workers.budget import Budget
from podium.workers.call_key import call_key
from podium.workers.journal import Journal
from podium.workers.journal_file import Claim, Entry, JournalFile
from podium.workers.ledger import LedgerRow
from podium.workers.metered import Metered
from podium.workers.pool import Member

CARD = Card(name="w", prompt_usd=1e-6, completion_usd=1e-6)

OLD_SCHEMA = """
    CREATE TABLE calls (
        key TEXT PRIMARY KEY, worker TEXT NOT NULL, run TEXT NOT NULL,
        owner TEXT NOT NULL, ticket INTEGER NOT NULL, bound_usd REAL, claimed_at REAL NOT NULL,
        completion TEXT, prompt_tokens INTEGER, completion_tokens INTEGER, cost_usd REAL);
    CREATE TABLE counts (
        run TEXT NOT NULL, worker TEXT NOT NULL, replays INTEGER NOT NULL, failures INTEGER NOT NULL,
        unsettled INTEGER NOT NULL, unbounded INTEGER NOT NULL, uncertain_usd REAL NOT NULL,
        PRIMARY KEY (run, worker));
    PRAGMA application_id = 1349477425;
    PRAGMA journal_mode = WAL;
    PRAGMA user_version = 1;
"""
OLD_CALLS = """
    SELECT key, worker, run, owner, ticket, bound_usd, claimed_at, completion, prompt_tokens, completion_tokens, cost_usd
    FROM calls
"""
OLD_COUNT = (
    "INSERT INTO counts (run, worker, replays, failures, unsettled, unbounded, uncertain_usd) VALUES (?, ?, 0, 0, 1, 0, 0.5) "
    "ON CONFLICT (run, worker) DO UPDATE SET unsettled = unsettled + excluded.unsettled, "
    "uncertain_usd = uncertain_usd + excluded.uncertain_usd"
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "calls.db"


async def answer(call: Call) -> Completion:
    return Completion(text="42", usage=Usage(prompt_tokens=9, completion_tokens=1, cost_usd=1e-5))


async def cut(call: Call) -> Completion:
    raise WorkerUnavailable("cut: paid, and no reply")


async def paid(path: Path) -> LedgerRow:
    with Journal(path, mode="replay") as journal:
        (row,) = await journal.ledger()
    return row


async def ledger(path: Path) -> list[LedgerRow]:
    with Journal(path, mode="replay") as journal:
        return await journal.ledger()


async def ask(path: Path, budget: Budget, question: str = "6 times 7?", worker=answer, run: str = "run") -> Completion:  # type: ignore[no-untyped-def]
    async with open_pool([Member(worker=worker, card=CARD)], budget=budget, journal=path, run=run) as pool:
        return await pool.workers[0].worker(Call.plain(question))


async def test_a_call_without_a_reply_counts_its_tokens_after_a_resume_and_after_a_resume_of_that(path: Path) -> None:
    live = Budget(tokens=100_000)
    with pytest.raises(WorkerUnavailable):
        await ask(path, live, worker=cut)
    most = live.uncertain_tokens
    assert most > 4096
    assert (await paid(path)).uncertain_tokens == most
    for life in (1, 2):
        resumed = Budget(tokens=100_000)
        with pytest.raises(WorkerUnavailable):
            await ask(path, resumed, worker=cut)
        assert resumed.uncertain_tokens == (life + 1) * most
    with pytest.raises(BudgetExceeded, match=f"{3 * most} uncertain"):
        await ask(path, Budget(tokens=4 * most - 1))
    assert (await ask(path, Budget(tokens=4 * most))).text == "42"
    assert (await paid(path)).calls == 1


async def test_a_provider_that_does_not_say_what_it_used_used_its_bound_after_a_resume_too(path: Path) -> None:
    async def silent(call: Call) -> Completion:
        return Completion(text="42", usage=Usage(cost_usd=None))

    async def lying(call: Call) -> Completion:
        return Completion(text="42", usage=Usage(prompt_tokens=-(10**30), completion_tokens=1, cost_usd=-5.0))

    for number, worker in enumerate((silent, lying)):
        live, resumed = Budget(tokens=100_000, usd=1), Budget(tokens=100_000, usd=1)
        run = f"run {number}"
        await ask(path, live, run, worker=worker, run=run)
        await ask(path, resumed, run, worker=worker, run=run)
        assert live.spent.tokens == resumed.uncertain_tokens > 4096
        assert live.remaining_usd == resumed.remaining_usd


async def test_what_a_lost_call_without_a_price_cost_is_never_nothing_to_a_cap_in_dollars(path: Path) -> None:
    """The ways in which a call without a known bound can end: killed, killed and taken over, cut."""
    sent = list[str]()

    async def counts(call: Call) -> Completion:
        sent.append(call.subtask)
        return await answer(call)

    for end in ("killed", "taken over", "cut"):
        run, unpriced = end, Card(name="w")
        if end == "cut":
            with pytest.raises(WorkerUnavailable):
                async with open_pool([Member(worker=cut, card=unpriced)], journal=path, run=run) as pool:
                    await pool.workers[0].worker(Call.plain(end))
        else:
            dead = JournalFile(path, run, read_only=False)
            entry = Entry(key=call_key(f"{run}:w", Call.plain(end)), beside="", worker=f"{run}:w", ticket=1, bound=None)
            assert dead.claim(entry) is Claim.MINE
            dead.close()  # as its process ends
        await ask(path, Budget(), "another", worker=counts, run=run)
        if end == "taken over":
            await ask(path, Budget(), end, worker=counts, run=run)
        before = len(sent)
        with pytest.raises(ConfigError, match="what was spent before has no price; start a new run"):
            await ask(path, Budget(usd=1000), "another", worker=counts, run=run)
        assert (await ask(path, Budget(), "another", worker=counts, run=run)).text == "42"
        assert len(sent) == before, "nothing is paid twice"
        row = next(row for row in await ledger(path) if row.run == run)
        assert (row.unsettled, row.uncertain_usd) == (1, None)


LIFE = textwrap.dedent("""
    import asyncio, random, sys
    from podium.errors import BudgetExceeded, WorkerUnavailable
    from podium.types import Call, Card, Completion, Usage
    from podium.workers.budget import Budget
    from podium.workers.journal import Journal
    from podium.workers.metered import Metered

    folder, cap, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    chance = random.Random(seed)

    async def provider(call):
        with open(f"{folder}/bill", "a") as bill:
            bill.write(f"{call.subtask} 3010\\n")
        print("sent", flush=True)
        await asyncio.sleep(chance.uniform(0, 0.01))
        if chance.random() < 0.1:
            raise WorkerUnavailable("cut")
        return Completion(text="42", usage=Usage(prompt_tokens=10, completion_tokens=3000, cost_usd=1e-5))

    async def main():
        budget = Budget(tokens=cap)
        with Journal(f"{folder}/calls.db") as journal:
            for row in await journal.ledger():
                budget.charge(row.usage, uncertain_usd=row.uncertain_usd, uncertain_tokens=row.uncertain_tokens)
            worker = journal.worker(Metered(provider, Card(name="w"), 4096, [budget]), "w")
            asked = [worker(Call(subtask=str(number))) for number in range(60)]
            for result in await asyncio.gather(*asked, return_exceptions=True):
                assert isinstance(result, Completion | BudgetExceeded | WorkerUnavailable), repr(result)
        print("over", flush=True)

    asyncio.run(main())
""")


def test_a_cap_in_tokens_is_kept_over_kills_and_resumes(tmp_path: Path) -> None:
    """Each life is killed at some moment, calls under way; all lives together keep to the cap, and no reply is paid twice."""
    cap, chance = 100_000, random.Random(14)
    for life in range(3):
        command = [sys.executable, "-c", LIFE, str(tmp_path), str(cap), str(life)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            for _ in range(chance.randint(1, 6)):
                if process.stdout.readline() in ("over\n", ""):
                    break
            os.kill(process.pid, signal.SIGKILL)
        row = asyncio.run(paid(tmp_path / "calls.db"))
        sent = [line.split() for line in (tmp_path / "bill").read_text().splitlines()]
        bill = sum(int(tokens) for _, tokens in sent)
        assert row.uncertain_tokens is not None
        # A call that was claimed when its process died counts as sent, also where the cap was about to refuse it.
        assert bill <= row.prompt_tokens + row.completion_tokens + row.uncertain_tokens
        assert bill <= cap
        assert len(sent) <= row.calls + row.unsettled
    assert row.unsettled > 0


def old_journal(path: Path, *, unsettled: bool) -> None:
    """A journal as Podium wrote it before: one paid call, where wanted one unsettled, and one claim of a dead process."""
    with Journal(path) as now:  # for the reply in its right form, under its right key

        async def pay() -> None:
            await now.worker(Metered(answer, CARD, 50, []), "w")(Call.plain("6 times 7?"))

        asyncio.run(pay())
    database = sqlite3.connect(path)
    rows = database.execute(OLD_CALLS).fetchall()
    database.close()
    for file in path.parent.glob("calls.db*"):
        if file.is_file():
            file.unlink()
    database = sqlite3.connect(path)
    database.executescript(OLD_SCHEMA)
    database.executemany("INSERT INTO calls VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
    if unsettled:
        database.execute(OLD_COUNT, ("run", "w"))
        claim = ("k", "w", "run", "gone", 0, 0.25, 0.0, None, None, None, None)
        database.execute("INSERT INTO calls VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", claim)
    database.commit()
    database.close()


def version_of(path: Path) -> int:
    database = sqlite3.connect(path)
    try:
        return int(database.execute("PRAGMA user_version").fetchone()[0])
    finally:
        database.close()


async def resumed(path: Path, budget: Budget, worker=answer) -> Completion:  # type: ignore[no-untyped-def]
    with Journal(path) as journal:
        for row in await journal.ledger():
            budget.charge(row.usage, uncertain_usd=row.uncertain_usd, uncertain_tokens=row.uncertain_tokens)
        return await journal.worker(Metered(worker, CARD, 50, [budget]), "w")(Call.plain("6 times 7?"))


def test_an_older_journal_is_brought_up_to_date_where_it_lies_and_keeps_what_was_paid(path: Path) -> None:
    old_journal(path, unsettled=False)
    assert version_of(path) == 1
    for _ in range(2):  # the second time it is a journal like any other
        budget = Budget(tokens=60, usd=1)
        assert asyncio.run(resumed(path, budget, worker=cut)).text == "42"
        assert (budget.spent.tokens, budget.uncertain_tokens) == (10, 0)
        assert version_of(path) == journal_schema.SCHEMA_VERSION


def test_what_an_older_journal_does_not_know_is_not_nothing(path: Path) -> None:
    old_journal(path, unsettled=True)
    before = asyncio.run(paid(path))
    assert (before.calls, before.unsettled, before.uncertain_usd, before.uncertain_tokens) == (1, 2, 0.75, None)
    assert version_of(path) == 1, "who only reads changes nothing"
    with pytest.raises(ConfigError, match="budget is in tokens, and nobody knows"):
        asyncio.run(resumed(path, Budget(tokens=10**9)))
    assert asyncio.run(paid(path)) == before
    budget = Budget(usd=1)
    assert asyncio.run(resumed(path, budget, worker=cut)).text == "42"
    assert budget.uncertain_usd == 0.75


def test_what_an_older_podium_adds_to_a_journal_that_is_up_to_date_is_unknown_too(path: Path) -> None:
    old_journal(path, unsettled=False)
    older = sqlite3.connect(path)  # it has the file open all the time
    assert older.execute("SELECT COUNT(*) FROM counts").fetchone() == (0,)
    Journal(path).close()
    older.execute(OLD_COUNT, ("run", "w"))
    older.commit()
    older.close()
    assert asyncio.run(paid(path)).uncertain_tokens is None


def test_a_change_that_breaks_off_leaves_the_older_journal_whole(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old_journal(path, unsettled=True)
    before = asyncio.run(paid(path))
    with monkeypatch.context() as broken:
        broken.setattr(journal_schema, "FROM_1", (*journal_schema.FROM_1, "CREATE TABLE calls (no)"))
        with pytest.raises(ConfigError, match="can not be read or written"):
            Journal(path)
    assert (version_of(path), asyncio.run(paid(path))) == (1, before)
    Journal(path).close()
    assert (version_of(path), asyncio.run(paid(path))) == (2, before)


def test_many_may_bring_one_journal_up_to_date_at_once(path: Path) -> None:
    old_journal(path, unsettled=True)
    with ThreadPoolExecutor(8) as threads:
        for journal in list(threads.map(lambda _: Journal(path), range(8))):
            journal.close()
    row = asyncio.run(paid(path))
    assert (row.calls, row.unsettled, row.uncertain_usd, row.uncertain_tokens) == (1, 2, 0.75, None)
