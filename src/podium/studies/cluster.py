"""A study on many machines: Ray hands out shares of the work, and the lines that come out are those of one machine.

A share is some problems with every answer that is still missing to them. The process that asked for the study writes all lines; a
share whose process or machine dies is given to another one. What such a share had already asked is asked again, so with workers
that cost money give the study a ``journal`` that all processes can reach. A cap in dollars is lent out: each share may spend its
part of what is left and gives the rest back.
"""

import asyncio
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from podium import jsonl
from podium.errors import BudgetExceeded, ConfigError, PodiumError, WorkerUnavailable
from podium.evaluation.evaluate import Key, Result, evaluate, resumed
from podium.policies.router_data import RouterTrainingData
from podium.pools.open import open_pool
from podium.pools.verifiers import open_verifiers
from podium.studies.arms import make_arm
from podium.studies.spec import Study
from podium.types import Failure, Problem, Usage
from podium.workers.budget import Budget

LOCAL = "local"
PROBLEMS = 16
"""Problems in a share: enough that starting one is cheap beside it, few enough that little is lost with a machine."""
RETRIES = 5
"""How often a share may lose its machine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterJob:
    """What every share needs to know."""

    study: Study
    arms: tuple[str, ...]
    router_data: RouterTrainingData | None
    unsafe_local: bool
    run: str
    setups: Mapping[str, str]
    """What answers behind the arms' names (:mod:`podium.studies.setups`)."""
    judges: Mapping[str, str]
    """What judges problems of each kind here (:mod:`podium.evaluation.verifier_identity`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shard:
    """A part of the work. ``number`` names its calls in the journal's ledger."""

    number: int
    problems: tuple[Problem, ...]
    keys: frozenset[Key]
    lost: int = 0
    """How often its machine died."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardResult:
    """What came of a share: results as lines, what is left of the dollars it was lent, and the failure that ended it early."""

    lines: tuple[str, ...]
    left_usd: float | None
    failure: Failure | None


async def on_cluster(
    job: ClusterJob,
    problems: Sequence[Problem],
    *,
    address: str,
    out: Path,
    budget: Budget,
    on_result: Callable[[Result], None],
) -> list[Result]:
    """As :func:`podium.evaluation.evaluate.evaluate`, on the cluster at ``address``.

    ``local`` starts one on this machine, ``local:2`` with two processes. Raises :class:`ConfigError` where there is no cluster,
    :class:`WorkerUnavailable` where machines keep dying, and what :func:`evaluate` raises. ``budget`` is charged with what the
    shares spent, lost ones with all that they were lent; only its cap in dollars can be kept on other machines.
    """
    if budget.tokens is not None or budget.remaining_seconds is not None:
        raise ConfigError("a cluster keeps a cap in dollars only; leave out --budget-tokens and --budget-seconds")
    import ray
    from ray.exceptions import RayError, RayTaskError

    wanted = [(a, p.id, r) for a in job.arms for p in problems for r in range(job.study.repeats)]
    results: dict[Key, Result] = {}

    def keep(result: Result) -> None:
        results[result.key] = result
        on_result(result)

    for result in resumed(out, set(wanted), job.study.sampling, job.judges, job.setups):
        keep(result)
    waiting = list(_shares(problems, [key for key in wanted if key not in results]))
    try:
        await asyncio.to_thread(_connect, address)
    except (ConnectionError, ValueError, RuntimeError) as error:
        raise ConfigError(f"there is no Ray cluster at {address!r}: {error}") from error
    max_usd = left = budget.remaining_usd
    try:
        # Retries are ours: what a lost share was lent counts as spent, because it can not be known what it had paid for.
        answer = ray.remote(max_retries=0)(answered)
        shared = ray.put(job)
        resources = ray.cluster_resources()  # type: ignore[no-untyped-call]
        processes = max(1, int(resources.get("CPU", 1)))
        running: dict[Any, tuple[Shard, float | None]] = {}
        failure: Failure | None = None
        while running or (waiting and failure is None):
            if waiting and not running and left is not None and left <= 0:
                raise BudgetExceeded(f"the run budget of ${max_usd:g} is used up; {len(waiting)} shares of the work are left")
            while waiting and failure is None and len(running) < processes and (left is None or left > 0):
                lent = None if left is None else left / (processes - len(running))
                left = None if left is None or lent is None else left - lent
                shard = waiting.pop(0)
                running[answer.remote(shared, shard, lent)] = (shard, lent)
            [ready], _ = await asyncio.to_thread(ray.wait, list(running), num_returns=1)
            shard, lent = running.pop(ready)
            try:
                done: ShardResult = await asyncio.to_thread(ray.get, ready)
            except RayTaskError:
                raise  # a bug in the share, with its traceback
            except RayError as error:
                waiting.append(_again(shard, error))
                continue
            left = None if left is None or done.left_usd is None else left + done.left_usd
            for line in done.lines:
                jsonl.append(out, line)
                keep(_judged_alike(jsonl.loads(Result, line), job))
            failure = failure or done.failure
    finally:
        ray.shutdown()
        if max_usd is not None and left is not None:
            budget.charge(Usage(cost_usd=max(0.0, max_usd - left)))
    if failure is not None:
        raise failure.error()
    return [results[key] for key in wanted]


def answered(job: ClusterJob, shard: Shard, max_usd: float | None) -> ShardResult:
    """Answer ``shard``: what runs on the cluster."""
    return asyncio.run(_answered(job, shard, max_usd))


async def _answered(job: ClusterJob, shard: Shard, max_usd: float | None) -> ShardResult:
    study, budget, found = job.study, Budget(max_usd), list[Result]()
    failure: Failure | None = None
    run = f"{job.run}, share {shard.number}"
    kinds = {problem.kind for problem in shard.problems}
    try:
        async with (
            open_verifiers(kinds, unsafe_local=job.unsafe_local) as verifier,
            open_pool(study.workers_from, budget=budget, journal=study.journal, run=run) as pool,
        ):
            arms = {name: make_arm(name, pool, router_data=job.router_data) for name in job.arms}
            await evaluate(
                arms,
                shard.problems,
                verifier,
                repeats=study.repeats,
                concurrency=study.concurrency,
                sampling=study.sampling,
                on_result=found.append,
                only=shard.keys,
                setups=job.setups,
            )
    except PodiumError as error:
        failure = Failure.of(error, run)
    return ShardResult(lines=tuple(map(jsonl.dumps, found)), left_usd=budget.remaining_usd, failure=failure)


def _shares(problems: Sequence[Problem], missing: Sequence[Key]) -> Iterator[Shard]:
    by_problem: dict[str, list[Key]] = {}
    for key in missing:
        by_problem.setdefault(key[1], []).append(key)
    open_ones = [problem for problem in problems if problem.id in by_problem]
    for number, start in enumerate(range(0, len(open_ones), PROBLEMS)):
        chosen = open_ones[start : start + PROBLEMS]
        yield Shard(number=number, problems=tuple(chosen), keys=frozenset(key for p in chosen for key in by_problem[p.id]))


def _again(shard: Shard, error: Exception) -> Shard:
    if shard.lost + 1 > RETRIES:
        raise WorkerUnavailable(f"a share of the work lost its machine {RETRIES + 1} times, the last time: {error}") from error
    return replace(shard, lost=shard.lost + 1)


def _judged_alike(result: Result, job: ClusterJob) -> Result:
    """Raises :class:`ConfigError` where another machine judges otherwise than this one."""
    if result.verdict is not None and result.judged_by != job.judges[result.kind]:
        raise ConfigError(
            f"a machine of the cluster judges problems of the kind {result.kind!r} otherwise than this one: install the same "
            "Podium, Python and libraries on all of them, remove the results, and start again"
        )
    return result


def _connect(address: str) -> None:
    import ray

    name, _, processes = address.partition(":")
    if name == LOCAL:
        count = int(processes) if processes else None
        ray.init(num_cpus=count, include_dashboard=False, logging_level=logging.ERROR, log_to_driver=False)
    else:
        ray.init(address=address, logging_level=logging.ERROR, log_to_driver=False)
