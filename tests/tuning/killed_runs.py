"""What ``test_tune_killed`` kills: a pool that is tuned in a process of its own, over workers that fail at times."""

import asyncio
import hashlib
import os
import signal
from pathlib import Path

import podium
from podium.errors import WorkerUnavailable
from podium.tuning.run import tune_pool
from podium.types import Call, Completion
from podium.workers.pool import Member
from podium.workers.retried import Retried
from tests.tuning.desk import boss, exact, kind_of, office, pool, problems

CAP_USD = 5.0


def tune(out: Path, asked: Path, what: str, kill_at: int) -> None:
    """Tune in ``out``, with a line of ``asked`` for each call that was answered; killed with the one of number ``kill_at``."""
    answered = 0

    def provider(one: Member) -> Member:
        failed: set[str] = set()

        async def worker(call: Call) -> Completion:
            nonlocal answered
            await asyncio.sleep(0.002)
            completion = await one.worker(call)
            name = hashlib.sha256(repr((one.name, call.question, call.subtask, call.visible)).encode()).hexdigest()
            if int(name, 16) % 10 == 0 and name not in failed:
                failed.add(name)
                raise WorkerUnavailable("503 for a moment")
            with asked.open("a") as file:
                file.write(name + "\n")
            answered += 1
            if answered == kill_at:
                os.kill(os.getpid(), signal.SIGKILL)
            return completion

        return Member(worker=worker, card=one.card)

    async def tuned() -> None:
        conducted = what == "conducted"
        members = [provider(one) for one in (office(boss()) if conducted else pool())]
        budget = podium.Budget(usd=CAP_USD)
        async with podium.open_pool(members, budget=budget, journal=out / "calls.db", run="tune") as opened:
            workers = opened.workers.wrapped(lambda m: Retried(m.worker, base_seconds=0.001))
            calls, conductor = (800, "boss") if conducted else (200, None)
            await tune_pool(workers, problems(80), exact, out, kind_of=kind_of, max_calls=calls, conductor=conductor)

    asyncio.run(tuned())
