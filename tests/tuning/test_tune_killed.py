"""kill -9 in the middle of tuning, with faults: the same command goes on, pays nothing twice, keeps its cap, and ends alike."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

KILLS = 2
AT_A_TIME = 24
"""Calls that can be on their way at once: only those may be sent again."""
CAP_USD = 0.4
TUNES = """
import asyncio, dataclasses, hashlib, pathlib, sys
import podium
from podium.errors import WorkerUnavailable
from podium.workers.pool import Member
from podium.workers.retried import Retried
from tests.tuning.desk import exact, kind_of, pool, problems
from podium.tuning.run import tune_pool

out, asked = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])

def provider(one):
    failed = set()
    async def worker(call):
        await asyncio.sleep(0.002)
        completion = await one.worker(call)
        name = hashlib.sha256(repr((one.name, call.question, call.subtask, call.visible)).encode()).hexdigest()
        if int(name, 16) % 10 == 0 and name not in failed:
            failed.add(name)
            raise WorkerUnavailable("503 for a moment")
        with asked.open("a") as file:
            file.write(name + "\\n")
        return completion
    return Member(worker=worker, card=one.card)

async def main():
    members = [provider(one) for one in pool()]
    budget = podium.Budget(usd=float(sys.argv[3]))
    async with podium.open_pool(members, budget=budget, journal=out / "calls.db", run="tune") as opened:
        workers = opened.workers.wrapped(lambda m: Retried(m.worker, base_seconds=0.001))
        await tune_pool(workers, problems(80), exact, out, kind_of=kind_of, max_calls=200)
    print("done", flush=True)

asyncio.run(main())
"""


def started(out: Path, asked: Path) -> "subprocess.Popen[str]":
    out.mkdir(exist_ok=True)
    command = [sys.executable, "-c", TUNES, str(out), str(asked), str(CAP_USD)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def calls(asked: Path) -> list[str]:
    return asked.read_text().split() if asked.exists() else []


def test_killed_twice_it_ends_like_a_run_that_was_not(tmp_path: Path) -> None:
    out, asked = tmp_path / "killed", tmp_path / "asked"
    for kill in range(KILLS):
        with started(out, asked) as process:
            while len(calls(asked)) < 50 * (kill + 1) and process.poll() is None:
                time.sleep(0.01)
            os.kill(process.pid, signal.SIGKILL)
        assert process.returncode == -signal.SIGKILL, "it ended before it could be killed"
        assert not (out / "policy.json").exists()
    for folder, heard in ((out, asked), (tmp_path / "whole", tmp_path / "whole_asked")):
        with started(folder, heard) as process:
            assert process.communicate()[0] == "done\n"
    for name in ("policy.json", "questions.jsonl", "report.md"):
        assert (out / name).read_bytes() == (tmp_path / "whole" / name).read_bytes(), name
    once, again = Counter(calls(tmp_path / "whole_asked")), Counter(calls(asked))
    assert max(once.values()) == 1
    assert set(again) == set(once), "the killed run asked for something else"
    assert again.total() - len(again) <= KILLS * AT_A_TIME, "more was sent again than had been on its way"
    assert 0.001 * again.total() <= CAP_USD
