"""Runs: what was stored comes back equal, is found by what it holds, and is nobody else's."""

import asyncio
import threading
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection, delete

from podium.errors import Blame
from podium.serving.store.database import Database
from podium.serving.store.run_filter import Status
from podium.serving.store.runs import Run, Runs, Sums
from podium.serving.store.shares import Share, shares
from podium.serving.store.tables import runs as table
from podium.types import Completion, Failure, Generation, Step, StepResult, Transcript, Usage, Workflow, ask
from tests.serving.conftest import ManualClock

HOSTILE = "NUL \0 half \ud83d escape \x1b[31m 'quote\" % _ \\ \u202e back"
NOON = datetime(2026, 2, 14, 12, tzinfo=UTC)


def transcript(text: str) -> Transcript:
    step = Step(worker=0, subtask=text)
    done = StepResult(step=step, worker="calc", completion=Completion(text=text))
    failed = StepResult(step=step, worker=text, failure=Failure(kind="WorkerRefused", blame=Blame.WORLD, message=text, where=""))
    return Transcript(
        question=ask(text),
        generation=Generation(text=text, logprobs=(-0.5, float("-inf"))),
        workflow=Workflow(steps=(step, step)),
        results=(done, failed),
        answer=text,
    )


def run(number: int, key: str = "", question: str | None = None, usd: float | None = 0.25, created: datetime = NOON) -> Run:
    return Run(
        id=f"run_{number:024x}",
        key=key,
        model="podium",
        created=created + timedelta(seconds=number),
        seconds=1.5,
        usage=Usage(prompt_tokens=7, completion_tokens=2, cost_usd=usd),
        steps=2,
        workers=("calc",),
        question=question,
        answer=None if question is None else "42",
    )


def ids(found: list[Run]) -> list[int]:
    return [int(run.id.removeprefix("run_"), 16) for run in found]


@pytest.mark.parametrize("usd", [None, 0.0, 0.000123])
async def test_a_run_comes_back_as_it_was(database: Database, usd: float | None) -> None:
    runs = Runs(database)
    whole = replace(
        run(1, "key_a", HOSTILE, usd), transcripts=(transcript(HOSTILE), transcript("b")), model=HOSTILE, answer=HOSTILE
    )
    bare = run(2)
    await runs.add(whole)
    await runs.add(bare)
    assert await runs.get(whole.id, key="key_a") == whole
    assert await runs.get(bare.id, key=None) == bare
    assert await runs.search(key="key_a") == [replace(whole, transcripts=())]


async def test_a_run_of_another_key_is_as_if_it_were_not_there(database: Database) -> None:
    runs = Runs(database)
    await runs.add(run(1, "key_a", "what is mine"))
    await runs.add(run(2, "key_b", "what is mine"))
    assert await runs.get(run(1).id, key="key_b") is None
    assert await runs.get(run(9).id, key="key_b") is None
    assert await runs.get("\0", key=None) is None
    assert ids(await runs.search(key="key_b", text="mine")) == [2]
    assert await runs.search(key="") == []
    assert ids(await runs.search(key=None)) == [2, 1]
    assert [usd for _, usd in await Runs(database, now=lambda: NOON).spending(key="key_c", days=1)] == [0.0]
    assert await runs.search(key="key_b", before=run(1)) == []
    assert ids(await runs.search(key="key_b", before=run(9))) == [2]


async def test_runs_are_found_by_what_they_hold(database: Database) -> None:
    runs = Runs(database)
    await runs.add(run(1, question="100% of the ÄPFEL_"))
    await runs.add(replace(run(2, question="Pears"), failure="BudgetExceeded", model="calc", answer=None))
    await runs.add(run(3))
    assert ids(await runs.search(key=None, text="äpfel")) == [1]
    assert ids(await runs.search(key=None, text="0% OF")) == [1]
    assert ids(await runs.search(key=None, text="%")) == [1]
    assert ids(await runs.search(key=None, text="l_")) == [1]
    assert await runs.search(key=None, text="p_a") == []
    assert ids(await runs.search(key=None, text="pe\0ars")) == [2]
    assert ids(await runs.search(key=None, model="calc")) == [2]
    assert ids(await runs.search(key=None, status="unanswered")) == [2]
    assert ids(await runs.search(key=None, status="answered")) == [3, 1]
    assert ids(await runs.search(key=None, since=NOON + timedelta(seconds=2))) == [3, 2]
    assert ids(await runs.search(key=None, until=NOON + timedelta(seconds=2))) == [1]
    await runs.add(replace(run(4), asks_client=True))
    found = {status: ids(await runs.search(key=None, status=status)) for status in ("answered", "asks", "unanswered")}
    assert found == {"answered": [3, 1], "asks": [4], "unanswered": [2]}
    assert [each.asks_client for each in await runs.search(key=None)] == [True, False, False, False]


async def test_a_text_is_found_wherever_it_stands_and_no_other(database: Database) -> None:
    runs = Runs(database)
    texts = ['say "hello" AND NOT (x*)', "naïve café", "日本語のテキスト", "aaaa", "😀😀😀", "tail\nanswer"]
    for number, question in enumerate(texts):
        await runs.add(run(number, question=question))
    for number, question in enumerate(texts):
        for start in range(len(question)):
            for end in range(start + 1, len(question) + 1):
                wanted = question[start:end]
                expected = [n for n, each in enumerate(texts) if wanted.casefold() in f"{each}\n42".casefold()]
                assert ids(await runs.search(key=None, text=wanted.upper()))[::-1] == expected, wanted
        assert number in ids(await runs.search(key=None, text=question))
    await runs.delete_older(NOON + timedelta(seconds=1), key=None)
    assert await runs.search(key=None, text="hello") == []
    assert ids(await runs.search(key=None, text="café")) == [1]


async def test_the_database_has_an_index_of_the_texts(database: Database, url: str) -> None:
    """SQLite as Python brings it and PostgreSQL with its own extensions have one; without it all texts would be looked at."""
    sqlite = "SELECT count(*) FROM sqlite_master WHERE name = 'run_words'"
    asked = sqlite if url.startswith("sqlite") else "SELECT count(*) FROM pg_indexes WHERE indexname = 'run_texts_words'"
    assert await database.read(lambda connection: connection.exec_driver_sql(asked).scalar()) == 1


async def test_runs_are_sorted_and_paged(database: Database) -> None:
    runs = Runs(database)
    prices = [0.5, None, 0.1, 0.5, 0.9]
    for number, usd in enumerate(prices):
        usage = Usage(prompt_tokens=100 - number, cost_usd=usd)
        await runs.add(replace(run(number), usage=usage, seconds=float(number % 3), steps=number))
    assert ids(await runs.search(key=None, sort="cost")) == [4, 3, 0, 2, 1]
    assert ids(await runs.search(key=None, sort="cost", ascending=True)) == [2, 0, 3, 4, 1]
    assert ids(await runs.search(key=None, sort="tokens")) == [0, 1, 2, 3, 4]
    assert ids(await runs.search(key=None, sort="seconds", ascending=True)) == [0, 3, 1, 4, 2]
    assert ids(await runs.search(key=None, sort="steps")) == [4, 3, 2, 1, 0]
    assert ids(await runs.search(key=None, sort="created", ascending=True)) == [0, 1, 2, 3, 4]
    assert ids(await runs.search(key=None, sort="cost", limit=2, offset=2)) == [0, 2]
    assert await runs.search(key=None, sort="cost", limit=2, offset=9) == []


async def test_sums_are_of_what_fits_and_never_of_another_key(database: Database) -> None:
    runs = Runs(database)
    nobody, atlas = (
        Share(worker="", usage=Usage(prompt_tokens=5, cost_usd=0.125)),
        Share(worker="atlas", usage=Usage(cost_usd=0.25)),
    )
    await runs.add(replace(run(1, "key_a", usd=0.375), workers=("atlas",), shares=(nobody, atlas), policy="all"))
    await runs.add(replace(run(2, "key_a", usd=None), workers=("calc", "odd"), failure="Cancelled"))
    await runs.add(replace(run(3, "key_b", "blue", usd=1.0), model="calc", failure="BudgetExceeded"))
    assert await runs.sums(key=None) == Sums(runs=3, usd=1.375, unpriced=1, tokens=27, seconds=4.5)
    assert await runs.sums(key="key_a") == Sums(runs=2, usd=0.375, unpriced=1, tokens=18, seconds=3.0)
    assert await runs.sums(key="key_a", of="key_b") == Sums(runs=0, usd=0.0, unpriced=0, tokens=0, seconds=0.0)
    statuses: tuple[Status, ...] = ("answered", "stopped", "failed", "unanswered")
    assert [(await runs.sums(key=None, status=status)).runs for status in statuses] == [1, 1, 1, 2]
    assert [(await runs.sums(key=None, worker=worker)).runs for worker in ("atlas", "calc", "odd", "od")] == [1, 2, 1, 0]
    assert (await runs.sums(key=None, policy="all", text="lue")).runs == 0
    assert {name: each.usd for name, each in (await runs.sums_by("worker", key=None)).items()} == {
        "atlas": 0.25,
        "": 0.125,
        "calc": 0.0,
        "odd": 0.0,
    }
    assert {name: each.unpriced for name, each in (await runs.sums_by("worker", key="key_a")).items()} == {
        "atlas": 0,
        "": 0,
        "calc": 1,
        "odd": 1,
    }
    assert [(name, each.usd) for name, each in (await runs.sums_by("key", key=None)).items()] == [
        ("key_b", 1.0),
        ("key_a", 0.375),
    ]
    assert list(await runs.sums_by("model", key=None, worker="atlas")) == ["podium"]
    assert list(await runs.sums_by("policy", key="key_b")) == [""]
    assert list(await runs.sums_by("day", key=None)) == ["2026-02-14"]
    assert await runs.delete_older(NOON + timedelta(days=1), key=None) == 3
    assert await runs.sums_by("worker", key=None) == {}


def test_what_each_worker_used_is_what_the_run_used() -> None:
    told = transcript("hello")
    assert [(share.worker, share.usage.cost_usd) for share in shares([told, told])] == [("calc", 0.0), ("hello", None)]
    written = replace(told, generation=replace(told.generation, usage=Usage(completion_tokens=3, cost_usd=0.5)))
    assert shares([written, written])[0] == Share(worker="", usage=Usage(completion_tokens=6, cost_usd=1.0))


async def test_pages_show_every_run_once_also_where_times_are_equal(database: Database) -> None:
    runs = Runs(database)
    for number in range(12):
        await runs.add(replace(run(number), created=NOON + timedelta(seconds=number // 5)))
    seen: list[int] = []
    last = None
    while page := await runs.search(key=None, limit=4, before=last):
        seen += ids(page)
        last = page[-1]
    assert seen == list(range(11, -1, -1))


async def test_pages_go_on_where_the_last_run_seen_was_deleted(database: Database) -> None:
    runs = Runs(database)
    for number in range(4):
        await runs.add(run(number, "key_a" if number == 2 else "key_b"))
    page = await runs.search(key=None, limit=2)
    assert ids(page) == [3, 2]
    assert await runs.delete_older(NOON + timedelta(days=1), key="key_a") == 1
    assert ids(await runs.search(key=None, before=page[-1])) == [1, 0]


async def test_spending_per_day(database: Database, clock: ManualClock) -> None:
    runs = Runs(database, now=clock)
    midnight = datetime(2026, 2, 14, tzinfo=UTC)
    for number in range(10):
        await runs.add(run(number, "key_a", usd=0.1, created=midnight))
    await runs.add(run(20, "key_a", usd=None, created=midnight - timedelta(days=2)))
    await runs.add(run(21, "key_b", usd=1.0, created=midnight - timedelta(days=2)))
    await runs.add(run(22, "key_a", usd=1.0, created=midnight - timedelta(days=3)))
    days = [date(2026, 2, day) for day in (12, 13, 14)]
    assert await runs.spending(key="key_a", days=3) == list(zip(days, [None, 0.0, 1.0], strict=True))
    assert await runs.spending(key="key_b", days=3) == list(zip(days, [1.0, 0.0, 0.0], strict=True))
    assert await runs.spending(key=None, days=3) == list(zip(days, [None, 0.0, 1.0], strict=True))


async def test_old_runs_are_forgotten(database: Database) -> None:
    runs = Runs(database)
    for number in range(6):
        await runs.add(run(number, "key_a" if number % 2 else "key_b"))
    moment = NOON + timedelta(seconds=4)
    assert [await runs.count_older(moment, key=key) for key in ("key_a", "key_b", "key_c", None)] == [2, 2, 0, 4]
    assert await runs.delete_older(moment, key="key_a") == 2
    assert ids(await runs.search(key=None)) == [5, 4, 2, 0]
    assert await runs.delete_older(moment, key="key_c") == 0
    assert await runs.delete_older(moment, key=None) == 2
    assert ids(await runs.search(key=None)) == [5, 4]
    assert await runs.count_older(moment, key=None) == 0


async def test_many_runs_are_forgotten_also_where_another_one_forgets_the_first_of_them(database: Database, url: str) -> None:
    runs, begun, go_on = Runs(database), threading.Event(), threading.Event()
    await asyncio.gather(*(runs.add(run(number)) for number in range(450)))

    def forget_200(connection: Connection) -> None:
        connection.execute(delete(table).where(table.c.id < run(200).id))
        begun.set()
        assert go_on.wait(10)

    async with Database(url) as other:
        first = asyncio.create_task(other.run(forget_200))
        await asyncio.to_thread(begun.wait, 10)
        rest = asyncio.create_task(runs.delete_older(NOON + timedelta(seconds=440), key=None))
        await asyncio.sleep(0.3)  # so that it waits for the rows of the other one
        go_on.set()
        await first
        assert await rest == 240
    assert ids(await runs.search(key=None)) == list(range(449, 439, -1))


def test_a_moment_has_a_time_zone() -> None:
    with pytest.raises(ValueError, match="no time zone"):
        replace(run(1), created=datetime(2026, 2, 14))


def test_any_text_comes_back(url: str) -> None:
    """Whatever a client or a worker wrote; surrogate pairs aside, which ``jsonl`` joins."""
    database, seen = Database(url), iter(range(10**6))
    asyncio.run(database.migrate())

    @settings(max_examples=40, suppress_health_check=list(HealthCheck))
    @given(st.text(st.characters(exclude_categories=["Cs"]) | st.just("\ud800")))
    def law(text: str) -> None:
        async def there_and_back() -> None:
            kept = replace(run(next(seen), question=text), transcripts=(transcript(text),), model=text)
            await Runs(database).add(kept)
            assert await Runs(database).get(kept.id, key=None) == kept
            await Runs(database).search(key=None, text=text, model=text)

        asyncio.run(there_and_back())

    try:
        law()
    finally:
        asyncio.run(database.close())
