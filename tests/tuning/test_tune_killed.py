"""kill -9 in the middle of tuning, with faults: the same command goes on, pays nothing twice, keeps its cap, and ends alike."""

import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

AT_A_TIME = 24
"""Calls that can be on their way at once: only those may be sent again."""
CAP_USD = 5.0
TUNES = """
import asyncio, hashlib, os, pathlib, signal, sys
import podium
from podium.errors import WorkerUnavailable
from podium.workers.pool import Member
from podium.workers.retried import Retried
from podium.tuning.run import tune_pool
from tests.tuning.desk import boss, exact, kind_of, office, pool, problems

out, asked, kill_at = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), int(sys.argv[4])
conducted = sys.argv[5] == "conducted"
answered = 0

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
        global answered
        answered += 1
        if answered == kill_at:
            os.kill(os.getpid(), signal.SIGKILL)
        return completion
    return Member(worker=worker, card=one.card)

async def main():
    members = [provider(one) for one in (office(boss()) if conducted else pool())]
    more = {"max_calls": 800, "conductor": "boss"} if conducted else {"max_calls": 200}
    budget = podium.Budget(usd=float(sys.argv[3]))
    async with podium.open_pool(members, budget=budget, journal=out / "calls.db", run="tune") as opened:
        workers = opened.workers.wrapped(lambda m: Retried(m.worker, base_seconds=0.001))
        await tune_pool(workers, problems(80), exact, out, kind_of=kind_of, **more)
    print("done", flush=True)

asyncio.run(main())
"""


def run(out: Path, asked: Path, what: str, kill_at: int = 0) -> "subprocess.CompletedProcess[str]":
    """The command, killed as soon as so many calls were answered and the last of them is not kept yet; 0: not killed."""
    out.mkdir(exist_ok=True)
    command = [sys.executable, "-c", TUNES, str(out), str(asked), str(CAP_USD), str(kill_at), what]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def calls(asked: Path) -> list[str]:
    return asked.read_text().split()


@pytest.mark.parametrize(("what", "kills"), [("workflows", (20, 20)), ("conducted", (250, 30))])
def test_killed_twice_it_ends_like_a_run_that_was_not(tmp_path: Path, what: str, kills: tuple[int, int]) -> None:
    out, asked = tmp_path / "killed", tmp_path / "asked"
    for kill_at in kills:
        killed = run(out, asked, what, kill_at)
        assert killed.returncode == -signal.SIGKILL, killed.stderr
        assert not (out / "policy.json").exists()
    for folder, heard in ((out, asked), (tmp_path / "whole", tmp_path / "whole_asked")):
        ended = run(folder, heard, what)
        assert ended.stdout == "done\n", ended.stderr
    for name in ("policy.json", "questions.jsonl", "report.md", *(["conductor.json"] if what == "conducted" else [])):
        assert (out / name).read_bytes() == (tmp_path / "whole" / name).read_bytes(), name
    once, again = Counter(calls(tmp_path / "whole_asked")), Counter(calls(asked))
    assert max(once.values()) == 1
    assert set(again) == set(once), "the killed run asked for something else"
    assert again.total() - len(again) <= len(kills) * AT_A_TIME, "more was sent again than had been on its way"
    assert 0.001 * again.total() <= CAP_USD
