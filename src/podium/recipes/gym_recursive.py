"""What a second round brings: a Conductor with one round and with two, beside one round of the policy that it was made from."""

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
    """The figures of the policy in ``folder``, over problems of the untrained kinds, with 95 % intervals of paired differences.

    ``recursion_gain`` is that of two rounds over its own first one, ``recursion_over_start`` that over one round of the policy
    that the run began with: so a first round that got worse is no gain.
    """
    verifier = GymVerifier()
    completions = await _conducted(folder / "policy", problems, pool, rounds=2)
    untrained = [problem for problem in problems if problem.kind in UNTRAINED_KINDS]
    started = dict(zip(untrained, await _conducted(folder / "start", untrained, pool, rounds=1), strict=True))
    gains: list[int] = []
    over_start: list[int] = []
    kept: list[bool] = []
    first_calls = calls = 0
    for problem, completion in zip(problems, completions, strict=True):
        before = after = False  # no workflow in round 1: wrong with one round and with two
        if completion is not None:
            rounds = completion.transcripts
            before = (await verifier(problem, rounds[0].answer or "")).correct
            after = (await verifier(problem, completion.text)).correct
            if before and len(rounds) > 1:
                kept.append(rounds[1].workflow is None)
            first_calls += len(rounds[0].asked)
            calls += sum(len(round_.asked) for round_ in rounds)
        if problem in started:
            gains.append(after - before)
            once = started[problem]
            over_start.append(after - (once is not None and (await verifier(problem, once.text)).correct))
    return {
        "run": str(folder),
        **_with_interval("recursion_gain", gains),
        **_with_interval("recursion_over_start", over_start),
        "recursion_calls": calls / first_calls,
        "pass_through": statistics.fmean(kept),
    }


async def _conducted(folder: Path, problems: Sequence[Problem], pool: OpenPool, *, rounds: int) -> list[Completion | None]:
    """What came of each problem; None where the policy wrote no workflow."""
    policy = LocalPolicy.load(folder)
    conductor = Conductor(policy, pool.workers, rounds=rounds, syntax=policy.dialect.syntax)
    gate = asyncio.Semaphore(_AT_ONCE)

    async def conducted(problem: Problem) -> Completion | None:
        async with gate:
            try:
                return await conductor.conduct(Call.plain(problem.question))
            except WorkflowError:
                return None

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(conducted(problem)) for problem in problems]
    return [task.result() for task in tasks]


def _with_interval(name: str, differences: Sequence[int]) -> dict[str, float]:
    mean = statistics.fmean(differences)
    half = 1.96 * statistics.stdev(differences) / math.sqrt(len(differences))  # paired differences, normal approximation
    return {name: mean, f"{name}_low": mean - half, f"{name}_high": mean + half}
