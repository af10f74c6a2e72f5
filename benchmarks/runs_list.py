"""How long a list of many kept runs takes: filtered, sorted, summed. The CPU it took is told too, for loaded machines: of this
process and, of a PostgreSQL on this machine, of its processes (in steps of 10 ms, and of all that are connected to it).

``python -m benchmarks.runs_list [--runs 100000] [--db URL]``; the database has to be new. The best of three tries counts: the
others say how busy the machine was.
"""

import argparse
import asyncio
import json
import os
import random
import tempfile
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, text

from podium.serving.store.database import Database
from podium.serving.store.runs import Run, Runs
from podium.serving.store.shares import Share
from podium.types import Completion, Generation, Step, StepResult, Transcript, Usage, Workflow, ask

WORKERS = ("atlas", "brook", "cedar", "delta", "ember", "fjord", "grove")
MODELS = ("podium", "podium-recursive", *WORKERS)
START = datetime(2026, 10, 1, tzinfo=UTC)
TRIES = 3


class Language:
    """6,000 words, some much more frequent than others, and sentences of them: drawing every word anew would take minutes."""

    def __init__(self) -> None:
        self.chance = random.Random(0)
        self.words = ["".join(self.chance.choices("etaoinshrdlucmfwypvbgk", k=self.chance.randint(2, 9))) for _ in range(6000)]
        weights = [1 / (place + 1) for place in range(6000)]
        self._sentences = [" ".join(self.chance.choices(self.words, weights, k=10)) for _ in range(5000)]

    def said(self, sentences: int) -> str:
        """Ten words a sentence."""
        return ". ".join(self.chance.choices(self._sentences, k=sentences))


def a_run(number: int, language: Language) -> Run:
    """A run as a server keeps it: a question, an answer, one to three steps with what they said."""
    chance, said = language.chance, language.said
    question, asked = said(3), chance.sample(WORKERS, chance.randint(1, 3))
    steps = tuple(Step(worker=WORKERS.index(worker), subtask=said(1)) for worker in asked)
    results = tuple(
        StepResult(step=step, worker=worker, completion=Completion(text=said(6)))
        for step, worker in zip(steps, asked, strict=True)
    )
    workflow = Workflow(steps=steps)
    transcript = Transcript(
        question=ask(question), generation=Generation(text=said(4)), workflow=workflow, results=results, answer=said(1)
    )
    price = chance.random() / 100
    return Run(
        id=f"run_{number:024x}",
        key=f"key_{number % 20:016x}",
        model=chance.choice(MODELS),
        created=START + timedelta(seconds=number * 30),
        seconds=chance.expovariate(0.5),
        usage=Usage(prompt_tokens=chance.randint(50, 5000), completion_tokens=chance.randint(5, 900), cost_usd=price),
        failure=chance.choices(["", "WorkerUnavailable", "Cancelled"], [90, 7, 3])[0],
        asks_client=number % 5 == 0,
        steps=len(steps),
        workers=tuple(asked),
        shares=tuple(Share(worker=worker, usage=Usage(prompt_tokens=9, cost_usd=price / len(asked))) for worker in asked),
        question=question,
        answer=said(8),
        transcripts=(transcript,),
    )


class Cpu:
    """Seconds of CPU that this process and a local database's processes have used. Example: ``Cpu(None).seconds()``."""

    def __init__(self, postmaster: int | None) -> None:
        self._postmaster = postmaster

    @staticmethod
    async def of(database: Database) -> "Cpu":
        """Of SQLite's work, which is this process's, or of the PostgreSQL on this machine that ``database`` is connected to."""

        def backend(connection: Connection) -> int | None:
            is_other = connection.dialect.name != "sqlite"
            return connection.execute(text("SELECT pg_backend_pid()")).scalar_one() if is_other else None

        pid = await database.read(backend)
        return Cpu(None if pid is None else int(_stat(pid)[1]))

    def seconds(self) -> float:
        """Until now."""
        mine = time.process_time()
        if self._postmaster is None:
            return mine
        stats = [_stat(int(each.name)) for each in Path("/proc").iterdir() if each.name.isdigit()]
        ticks = sum(int(each[11]) + int(each[12]) for each in stats if each and each[1] == str(self._postmaster))
        ended = sum(int(each) for each in _stat(self._postmaster)[13:15])  # parallel workers are gone by now
        return mine + (ticks + ended) / os.sysconf("SC_CLK_TCK")


def _stat(pid: int) -> list[str]:
    """What Linux says of a process, from its state on; [] where it is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


async def timed(work: Callable[[], Awaitable[Any]], cpu: Cpu) -> dict[str, float]:
    """Milliseconds by the clock and of CPU: the best try of each."""
    tries = []
    for _ in range(TRIES):
        clock, before = time.perf_counter(), cpu.seconds()
        await work()
        tries.append((1e3 * (time.perf_counter() - clock), 1e3 * (cpu.seconds() - before)))
    return {"clock_ms": round(min(clock for clock, _ in tries), 1), "cpu_ms": round(min(cpu for _, cpu in tries), 1)}


async def measure(url: str, count: int) -> dict[str, Any]:
    """Fill the database at ``url`` with ``count`` runs and look for some of them."""
    language = Language()
    rare, common = language.words[4000], f"{language.words[0]} {language.words[1]}"
    async with Database(url) as database:
        runs = Runs(database)
        cpu = await Cpu.of(database)
        before = cpu.seconds()
        for start in range(0, count, 200):
            await asyncio.gather(*(runs.add(a_run(start + n, language)) for n in range(min(200, count - start))))
        writing = 1e3 * (cpu.seconds() - before) / count
        a_week = {"since": START + timedelta(days=10), "until": START + timedelta(days=17)}
        page: dict[str, Callable[[], Awaitable[Any]]] = {
            "newest": lambda: runs.search(key=None, limit=30),
            "last page": lambda: runs.search(key=None, limit=30, offset=count - 30),
            "dearest": lambda: runs.search(key=None, limit=30, sort="cost"),
            "slowest of a model that failed": lambda: runs.search(
                key=None, limit=30, sort="seconds", model="podium", status="failed"
            ),
            "newest that ask their client": lambda: runs.search(key=None, limit=30, status="asks"),
            "sums of those answered": lambda: runs.sums(key=None, status="answered"),
            "dearest of a worker": lambda: runs.search(key=None, limit=30, sort="cost", worker="ember"),
            "dearest of a key in a week": lambda: runs.search(key="key_" + 16 * "0", limit=30, sort="cost", **a_week),  # type: ignore[arg-type]
            "rare word, by tokens": lambda: runs.search(key=None, limit=30, sort="tokens", text=rare),
            "frequent words, by tokens": lambda: runs.search(key=None, limit=30, sort="tokens", text=common),
            "sums of all": lambda: runs.sums(key=None),
            "sums of a worker": lambda: runs.sums(key=None, worker="ember"),
            "sums of frequent words": lambda: runs.sums(key=None, text=common),
            "by day": lambda: runs.sums_by("day", key=None),
            "by key": lambda: runs.sums_by("key", key=None),
            "by worker": lambda: runs.sums_by("worker", key=None),
            "by worker, of a model": lambda: runs.sums_by("worker", key=None, model="podium"),
        }
        found = {name: await timed(work, cpu) for name, work in page.items()}
        holding = (await runs.sums(key=None, text=common)).runs
    return {
        "runs": count,
        "database": url.partition(":")[0],
        "cpu_ms_per_run_written": round(writing, 3),
        "runs_with_the_frequent_words": holding,
        "lists": found,
        "slowest_clock_ms": max(each["clock_ms"] for each in found.values()),
        "slowest_cpu_ms": max(each["cpu_ms"] for each in found.values()),
    }


def main() -> None:
    """Measure and print one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100_000)
    parser.add_argument("--db", default="")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(asyncio.run(measure(given.db or f"sqlite:///{folder}/runs.db", given.runs))))


if __name__ == "__main__":
    main()
