"""Trained conductors of the gym beside its optimum, the best constant workflow and the best baselines.

``python -m benchmarks.conducting RUN [RUN ...]``: every run of ``recipes/gym.py`` on the same held-out problems,
half other numbers and combinations, half other templates; 200 of each kind. With ``--draw SEED`` it is the run of
``recipes/gym.py:drawn`` in the world drawn from that seed: its best workflows are searched for first, its opponents are left to
the certificate (``python -m benchmarks.gym --certify --draw SEED``). The last line is one JSON object.
"""

import argparse
import asyncio
import json
import math
import statistics
from pathlib import Path
from typing import Any

from podium.conduct import Conductor
from podium.evaluation.evaluate import Result, evaluate
from podium.gym import GymVerifier
from podium.gym.gauge import Gauge
from podium.gym.kinds import KINDS, UNTRAINED_KINDS
from podium.gym.optimum import find_optimum
from podium.gym.search import chain
from podium.gym.specialists import specialists
from podium.gym.stored import stored
from podium.gym.wordings import PLAIN
from podium.gym.world import World, draw_world
from podium.policies.local import LocalPolicy
from podium.types import Problem
from podium.workers.pool import Member, WorkerPool


def main() -> None:
    """Measure, print, and end with the JSON line."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("runs", nargs="+", type=Path)
    arguments.add_argument("--per-kind", type=int, default=200)
    arguments.add_argument("--seed", type=int, default=900, help="which problems; no setting was ever chosen by those of 900")
    arguments.add_argument("--draw", type=int, metavar="SEED", help="the runs are of the world drawn from this seed")
    options = arguments.parse_args()
    world = World() if options.draw is None else draw_world(options.draw)
    problems = [
        problem
        for kind in (*KINDS, *UNTRAINED_KINDS)
        for split in ("held_out_numbers", "held_out_templates")
        for problem in world.problems(kinds=(kind,), split=split, n=options.per_kind // 2, seed=options.seed)
    ]
    known = _known(world, problems) if options.draw is None else _searched(world, problems)
    for name, right in known.items():
        _print(name, _by_kind(right, problems))
    found = []
    for run in options.runs:
        right, steps = asyncio.run(_conducted(world, run, problems))
        _print(str(run), _by_kind(right, problems))
        found.append({"run": str(run), "steps": steps, **_figures(right, known, problems)})
    print(json.dumps({"seeds": found, "of_optimum": statistics.median(each["of_optimum"] for each in found)}))


def _known(world: World, problems: list[Problem]) -> dict[str, list[bool]]:
    """What is known without learning: the optimum, and the same workflow for every question."""
    workers, kept = specialists(world), stored()
    right: dict[str, list[bool]] = {"optimum": []}
    for kind in dict.fromkeys(problem.kind for problem in problems):
        gauge = Gauge(workers, [problem for problem in problems if problem.kind == kind])
        right["optimum"] += gauge.correct(kept.optima[kind])
        for name, workflow in kept.opponents.items():
            right.setdefault(name, []).extend(gauge.correct(workflow))
    return right


def _searched(world: World, problems: list[Problem]) -> dict[str, list[bool]]:
    """The optimum of a world of which nothing is stored, and its workers alone."""
    workers = specialists(world)
    optima = find_optimum(world, workers)
    right: dict[str, list[bool]] = {}
    for kind in dict.fromkeys(problem.kind for problem in problems):
        gauge = Gauge(workers, [problem for problem in problems if problem.kind == kind])
        right.setdefault("optimum", []).extend(gauge.correct(optima[kind].workflow))
        for index, worker in enumerate(workers):
            right.setdefault(worker.name, []).extend(gauge.correct(chain([(index, PLAIN["answer"])])))
    return right


async def _conducted(world: World, run: Path, problems: list[Problem]) -> tuple[list[bool], dict[str, float]]:
    """Whether the greedy policy of a run is right, and its mean number of steps by kind."""
    pool = WorkerPool([Member(worker=worker, card=worker.card) for worker in specialists(world)])
    policy = LocalPolicy.load(run / "policy", temperature=0.0, seed=0)
    arm = Conductor(policy, pool, syntax=policy.dialect.syntax)
    results: list[Result] = await evaluate({"arm": arm}, problems, GymVerifier())
    by_id = {result.problem: result for result in results}
    ordered = [by_id[problem.id] for problem in problems]
    kinds = dict.fromkeys(problem.kind for problem in problems)
    steps = {kind: round(statistics.fmean(r.steps for r in ordered if r.kind == kind), 2) for kind in kinds}
    return [result.verdict is not None and result.verdict.correct for result in ordered], steps


def _figures(right: list[bool], known: dict[str, list[bool]], problems: list[Problem]) -> dict[str, Any]:
    trained = [index for index, problem in enumerate(problems) if problem.kind in KINDS]
    untrained = [index for index, problem in enumerate(problems) if problem.kind in UNTRAINED_KINDS]

    def share(row: list[bool], at: list[int]) -> float:
        return statistics.fmean(row[index] for index in at)

    best = max((name for name in known if name != "optimum"), key=lambda name: share(known[name], trained))
    gains = [right[index] - known[best][index] for index in trained]
    half = 1.96 * statistics.stdev(gains) / math.sqrt(len(gains))  # paired differences, normal approximation
    return {
        "of_optimum": share(right, trained) / share(known["optimum"], trained),
        "accuracy": {kind: round(value, 3) for kind, value in _by_kind(right, problems).items()},
        "best_constant": best,
        "over_constant": statistics.fmean(gains),
        "over_constant_low": statistics.fmean(gains) - half,
        "untrained_over_constant": share(right, untrained) - max(share(known[n], untrained) for n in known if n != "optimum"),
    }


def _by_kind(right: list[bool], problems: list[Problem]) -> dict[str, float]:
    kinds = dict.fromkeys(problem.kind for problem in problems)
    return {
        kind: statistics.fmean(r for r, problem in zip(right, problems, strict=True) if problem.kind == kind) for kind in kinds
    }


def _print(name: str, accuracy: dict[str, float]) -> None:
    mean = statistics.fmean(accuracy[kind] for kind in KINDS)
    print(f"{name:30}" + "".join(f"{kind} {value:.3f}  " for kind, value in accuracy.items()) + f"mean {mean:.3f}", flush=True)


if __name__ == "__main__":
    main()
