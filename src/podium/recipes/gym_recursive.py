"""What a second round brings: the same Conductor with one round and with two, on the same problems."""

import asyncio
import math
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from podium.conduct import Conductor
from podium.errors import WorkflowError
from podium.gym import UNTRAINED_KINDS, GymVerifier
from podium.policies.local import LocalPolicy
from podium.pools.opened import OpenPool
from podium.types import Call, Completion, Problem

_AT_ONCE = 64


async def check_recursive(folder: Path, problems: Sequence[Problem], pool: OpenPool) -> dict[str, Any]:
    """The figures of the policy in ``folder``; the gain is over problems of the untrained kinds, with its 95 % interval."""
    policy = LocalPolicy.load(folder / "policy")
    conductor = Conductor(policy, pool.workers, rounds=2, syntax=policy.dialect.syntax)
    gate = asyncio.Semaphore(_AT_ONCE)

    async def conducted(problem: Problem) -> Completion | None:
        async with gate:
            try:
                return await conductor.conduct(Call.plain(problem.question))
            except WorkflowError:
                return None

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(conducted(problem)) for problem in problems]
    verifier = GymVerifier()
    gains: list[int] = []
    kept: list[bool] = []
    first_calls = calls = 0
    for problem, task in zip(problems, tasks, strict=True):
        completion = task.result()
        if completion is None:
            if problem.kind in UNTRAINED_KINDS:
                gains.append(0)  # no workflow in round 1: wrong with one round and with two
            continue
        rounds = completion.transcripts
        before = await verifier(problem, rounds[0].answer or "")
        after = await verifier(problem, completion.text)
        if problem.kind in UNTRAINED_KINDS:
            gains.append(after.correct - before.correct)
        if before.correct and len(rounds) > 1:
            kept.append(rounds[1].workflow is None)
        first_calls += len(rounds[0].asked)
        calls += sum(len(round_.asked) for round_ in rounds)
    gain = statistics.fmean(gains)
    half = 1.96 * statistics.stdev(gains) / math.sqrt(len(gains))  # paired differences, normal approximation
    return {
        "run": str(folder),
        "recursion_gain": gain,
        "recursion_gain_low": gain - half,
        "recursion_gain_high": gain + half,
        "recursion_calls": calls / first_calls,
        "pass_through": statistics.fmean(kept),
    }
