"""Learning when to stop: the world of :mod:`podium.gym.stopping` certified, and trained conductors beside its optimum.

``python -m benchmarks.stopping --certify`` searches for the best workflow of each kind with conditions and without, and with at
ten times as many workflows tried for the best constant workflow, conditions included; it ends with 1 where a bound does not hold.
``python -m benchmarks.stopping --with RUN [RUN ...] --without RUN [RUN ...]`` measures runs of ``recipes/gym_stopping.py`` in
pairs on held-out problems. The last line is one JSON object. What is best is a matter of worth: the share of right answers less
the dollars of a question over ``WORTH_USD``.
"""

import argparse
import asyncio
import json
import math
import random
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from benchmarks.conditional_gauge import ConditionalGauge
from podium.conditions import ALWAYS, IF_FAILED, agree
from podium.gym.search import Climber, Target
from podium.gym.stopping.stored import as_json, stored
from podium.gym.stopping.world import KINDS, WORKERS, WORLD, WORTH_USD
from podium.gym.verify import judge
from podium.gym.wordings import PLAIN
from podium.policies.local import LocalPolicy
from podium.types import Brief, Call, Problem, Step, Usage, Workflow, ask
from podium.workers.pool import Member, WorkerPool
from podium.workflow.round import Round

OWN = "Answer the question on your own."
WORDS = (*PLAIN.values(), OWN)
SEARCH, CHOICE, MEASURED = 40, 150, 300
"""Problems per kind to search on, to choose on, and to measure on."""
EFFORT = 10
"""How many times the workflows that were tried for the best of each kind are tried for its opponents, at least. Distinct calls
would be no measure: what was asked once is known, so a search among few workers runs out of them."""
MAX_STEPS = 4
BOUNDS = {
    "optimum": (0.95, 1.0),
    "constant_worth_share": (0.0, 0.95),
    "constant_cheap_share": (0.0, 0.9),
    "constant_price": (1.5, math.inf),
    "without_price": (1.33, math.inf),
}
"""What has to hold: the optimum's share of right answers; of its worth, what the best constant workflow has; of its right
answers, what the best constant workflow at no more dollars has; of its dollars, what the cheapest constant workflow takes that is
at most two points less right; and what the best workflows without conditions take."""
_CLOSE = 0.02


class Worth(Target):
    """Raises worth."""

    def score(self, workflow: Workflow) -> float:
        """Share right less price."""
        return super().score(workflow) - self.cost(workflow) / WORTH_USD


class Saving(Target):
    """Lowers the price of what is right often ``enough``; until it is, raises how often."""

    def __init__(self, gauges: Mapping[str, ConditionalGauge], enough: float) -> None:
        super().__init__(gauges)
        self._enough = enough

    def score(self, workflow: Workflow) -> float:
        """A share in 0..1 less dollars, which are small beside one problem's share."""
        return min(self._enough, super().score(workflow)) - self.cost(workflow)


def main() -> None:
    """Measure, print, and end with the JSON line."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--certify", action="store_true", help="search, and measure what was found")
    arguments.add_argument("--store", action="store_true", help="with --certify: keep in the package what was found")
    arguments.add_argument("--with", nargs="+", type=Path, default=[], dest="conditional", help="runs with conditions")
    arguments.add_argument(
        "--without", nargs="+", type=Path, default=[], help="runs without, of the same seeds in the same order"
    )
    arguments.add_argument("--per-kind", type=int, default=600)
    arguments.add_argument("--seed", type=int, default=900, help="which problems; no setting was ever chosen by those of 900")
    options = arguments.parse_args()
    if options.certify:
        raise SystemExit(certify(store=options.store))
    if len(options.conditional) != len(options.without):
        raise SystemExit("as many runs --with as --without")
    print(json.dumps(asyncio.run(compared(options.conditional, options.without, options.per_kind, options.seed))))


# The certificate ---------------------------------------------------------------------------------------------------------------


def certify(*, store: bool) -> int:
    """Search, measure on held-out problems, print, and return the exit status."""
    started = time.process_time()
    optima, without, calls, workflows = dict[str, Workflow](), dict[str, Workflow](), 0, 0
    for kind in KINDS:
        for found, conditions in ((optima, (agree(2), IF_FAILED)), (without, ())):
            found[kind], spent, tried = best_for(kind, conditions)
            calls += spent if conditions else 0
            workflows += tried if conditions else 0
    print(
        f"optimum: {workflows:,} workflows, {calls:,} calls, {time.process_time() - started:.0f} s of CPU",
        file=sys.stderr,
        flush=True,
    )
    held_out = gauges(held_out_problems(MEASURED, 6000))
    right, cost = measured(held_out, optima)
    constants, spent, tried = best_constants(optima, workflows * EFFORT)
    print(
        f"constants: {tried:,} workflows, {spent:,} calls, {time.process_time() - started:.0f} s of CPU",
        file=sys.stderr,
        flush=True,
    )
    rows = {"best of each kind": optima, "the same without conditions": without}
    rows |= {name: dict.fromkeys(KINDS, workflow) for name, workflow in constants.items()}
    table = {name: measured(held_out, chosen) for name, chosen in rows.items()}
    for name, chosen in rows.items():
        shares = "".join(f"{kind} {held_out[kind].accuracy(chosen[kind]):.3f}  " for kind in KINDS)
        print(f"{name:42}{shares}mean {table[name][0]:.3f}  $/1000 {1000 * table[name][1]:.3f}  worth {worth(*table[name]):.3f}")
        for workflow in dict.fromkeys(chosen.values()):
            print(f"    {shown(workflow)}")
    figures = {
        "optimum": right,
        "optimum_usd": cost,
        "constant_worth_share": max(worth(*table[name]) for name in constants) / worth(right, cost),
        "constant_cheap_share": table["constant, at no more dollars"][0] / right,
        "constant_price": table["constant, as right"][1] / cost,
        "constant_as_right": table["constant, as right"][0] / right,
        "without": table["the same without conditions"][0],
        "without_price": table["the same without conditions"][1] / cost,
        "calls": calls,
        "calls_of_opponents": spent,
        "workflows": workflows,
        "workflows_of_opponents": tried,
    }
    failures = [f"{name} is {figures[name]:.3f}" for name, (low, high) in BOUNDS.items() if not low <= figures[name] <= high]
    for failure in failures:
        print(f"needs no conductor that stops: {failure}")
    if store:
        path = Path(__file__).resolve().parent.parent / "src" / "podium" / "gym" / "stopping" / "found.json"
        path.write_text(as_json(optima, without, constants, figures), encoding="utf-8")
    print(json.dumps({name: round(value, 6) for name, value in figures.items()}))
    return 1 if failures else 0


def _spent(name: str, workflows: int, calls: int, started: float) -> None:
    seconds = time.process_time() - started
    print(f"{name}: {workflows:,} workflows, {calls:,} calls, {seconds:.0f} s of CPU", file=sys.stderr, flush=True)


def best_for(kind: str, conditions: Sequence[str]) -> tuple[Workflow, int, int]:
    """The workflow of the most worth for ``kind``, how many calls it took and how many workflows; every team of up to three, then
    climbs."""
    target = Worth(gauges({kind: WORLD.problems(kinds=(kind,), n=SEARCH, seed=1000)}))
    tried: dict[Workflow, float] = {}
    for team in teams(3):
        for workflow in variants(team, conditions):
            tried[workflow] = target.score(workflow)
    rng = random.Random(f"optimum {kind} {conditions}")
    climber = Climber(len(WORKERS), WORDS, MAX_STEPS, rng, patience=150, conditions=conditions, seen=tried.__setitem__)
    for start in best_of(tried, 3):
        climber.climb(target, start)
    choice = Worth(gauges({kind: WORLD.problems(kinds=(kind,), n=CHOICE, seed=2000)}))
    return max(best_of(tried, 10), key=choice.score), target.calls + choice.calls, len(tried)


def best_constants(optima: Mapping[str, Workflow], workflows: int) -> tuple[dict[str, Workflow], int, int]:
    """The constant workflow of most worth, the best for no more dollars than ``optima``, the cheapest that is about as right; the
    calls it took, and how many workflows were tried: at least ``workflows``."""
    conditions = (agree(2), agree(3), IF_FAILED)
    choosing = gauges({kind: WORLD.problems(kinds=(kind,), n=CHOICE, seed=4000) for kind in KINDS})
    right, limit = measured(choosing, optima)
    rng, spent, count, found = random.Random("constants"), 0, 0, dict[str, Workflow]()
    searched = {kind: WORLD.problems(kinds=(kind,), n=SEARCH, seed=3000) for kind in KINDS}
    goals: dict[str, tuple[Target, Target]] = {
        "constant, most worth": (Worth(gauges(searched)), Worth(choosing)),
        "constant, at no more dollars": (Target(gauges(searched), limit_usd=limit), Target(choosing, limit_usd=1.02 * limit)),
        "constant, as right": (Saving(gauges(searched), right - _CLOSE / 2), Saving(choosing, right - _CLOSE)),
    }
    for name, (target, choice) in goals.items():
        tried = {workflow: target.score(workflow) for team in teams(3) for workflow in variants(team, conditions)}
        joint = [Step(worker=index, subtask=OWN, access=tuple(range(index))) for index in range(len(WORKERS))]
        for order in range(8):  # everybody one after the other, the dear one last, until two agree
            cheap = rng.sample(joint[:-1], len(joint) - 1)
            chained = [
                replace(s, access=tuple(range(i)), condition=agree(2) if i > 1 else ALWAYS)
                for i, s in enumerate((*cheap, joint[-1]))
            ]
            tried[Workflow(steps=tuple(chained))] = target.score(Workflow(steps=tuple(chained)))
            del order
        climber = Climber(len(WORKERS), WORDS, 6, rng, patience=200, conditions=conditions, seen=tried.__setitem__)
        starts = best_of(tried, 6)
        while len(tried) < workflows / len(goals):
            climber.climb(target, starts.pop(0) if starts else rng.choice(best_of(tried, 40)))
        found[name] = max(best_of(tried, 20), key=choice.score)
        spent += target.calls
        count += len(tried)
    return found, spent, count


def teams(most: int) -> list[tuple[int, ...]]:
    """Every choice of up to ``most`` workers."""
    return [team for count in range(1, most + 1) for team in product(range(len(WORKERS)), repeat=count)]


def variants(team: Sequence[int], conditions: Sequence[str]) -> list[Workflow]:
    """``team`` one after the other, each on its own; the last always, and unless two agree where it sees two."""
    steps = [Step(worker=w, subtask=OWN if i else PLAIN["answer"], access=tuple(range(i))) for i, w in enumerate(team)]
    found = [Workflow(steps=tuple(steps))]
    if len(team) > 2 and agree(2) in conditions:
        found.append(Workflow(steps=(*steps[:-1], replace(steps[-1], condition=agree(2)))))
    return found


def best_of(tried: Mapping[Workflow, float], n: int) -> list[Workflow]:
    """The ``n`` best, of equals the shorter."""
    return sorted(tried, key=lambda workflow: (-tried[workflow], len(workflow.steps)))[:n]


def gauges(problems: Mapping[str, Sequence[Problem]]) -> dict[str, ConditionalGauge]:
    """A gauge for each kind."""
    return {kind: ConditionalGauge(WORKERS, each) for kind, each in problems.items()}


def held_out_problems(per_kind: int, seed: int) -> dict[str, list[Problem]]:
    """Kind -> problems, half of other numbers, half of other templates."""
    return {
        kind: [
            problem
            for split in ("held_out_numbers", "held_out_templates")
            for problem in WORLD.problems(kinds=(kind,), split=split, n=per_kind // 2, seed=seed)
        ]
        for kind in KINDS
    }


def measured(by_kind: Mapping[str, ConditionalGauge], chosen: Mapping[str, Workflow]) -> tuple[float, float]:
    """Share right and dollars a question, each kind counting the same."""
    return (
        fmean(by_kind[kind].accuracy(chosen[kind]) for kind in KINDS),
        fmean(by_kind[kind].cost(chosen[kind]) for kind in KINDS),
    )


def worth(right: float, cost_usd: float) -> float:
    """What it is all worth, in shares of right answers."""
    return right - cost_usd / WORTH_USD


def shown(workflow: Workflow) -> str:
    """A workflow in one line."""
    return "; ".join(
        f"{WORKERS[s.worker].name}: {s.subtask} {list(s.access)}{'' if s.condition == ALWAYS else f' {s.condition}'}"
        for s in workflow.steps
    )


# Trained conductors ------------------------------------------------------------------------------------------------------------


async def compared(conditional: Sequence[Path], without: Sequence[Path], per_kind: int, seed: int) -> dict[str, Any]:
    """Every pair of runs on the same problems, beside the optimum."""
    problems = held_out_problems(per_kind, seed)
    by_kind, known = gauges(problems), stored()
    everything = [problem for kind in KINDS for problem in problems[kind]]
    top, top_usd = measured(by_kind, known.optima)
    print(f"{'optimum':32}right {top:.4f}  $/1000 {1000 * top_usd:.3f}  worth {worth(top, top_usd):.4f}")
    found = []
    for one, other in zip(conditional, without, strict=True):
        ours, theirs = await conducted(one, everything), await conducted(other, everything)
        for run, rows in ((one, ours), (other, theirs)):
            _print(str(run), rows, everything)
        gains = [a - b for (a, *_), (b, *_) in zip(ours, theirs, strict=True)]
        half = 1.96 * stdev(gains) / math.sqrt(len(gains))  # paired differences, normal approximation
        right, cost = fmean(r for r, *_ in ours), fmean(c for _, c, _ in ours)
        right_without, cost_without = fmean(r for r, *_ in theirs), fmean(c for _, c, _ in theirs)
        found.append(
            {
                "run": str(one),
                "right": right,
                "usd": cost,
                "asked": fmean(a for *_, a in ours),
                "of_optimum": right / top,
                "worth_of_optimum": worth(right, cost) / worth(top, top_usd),
                "right_without": right_without,
                "usd_without": cost_without,
                "cheaper": 1 - cost / cost_without,
                "gain": fmean(gains),
                "gain_low": fmean(gains) - half,
                "gain_high": fmean(gains) + half,
            }
        )
    return {"seeds": found, "problems": len(everything)}


async def conducted(run: Path, problems: Sequence[Problem]) -> list[tuple[bool, float, int]]:
    """For each problem: whether the greedy policy of a run is right, the dollars, and how many workers were asked."""
    policy = LocalPolicy.load(run / "policy", temperature=0.0, seed=0)
    pool = WorkerPool([Member(worker=worker, card=worker.card) for worker in WORKERS])
    found = []
    for start in range(0, len(problems), 200):
        part = problems[start : start + 200]
        briefs = [Brief(question=ask(problem.question), cards=pool.cards, max_steps=3) for problem in part]
        for problem, brief, [written] in zip(part, briefs, policy.write_many(briefs, 1), strict=True):
            call = Call(question=brief.question)
            transcript = await Round(written, brief, policy.dialect.syntax, pool, call).run()
            right = transcript.answer is not None and judge(problem, transcript.answer).correct
            cost = Usage.total(each.usage for each in transcript.asked if each.usage is not None).cost_usd
            found.append((right, cost or 0.0, len(transcript.asked)))
    return found


def _print(name: str, rows: Sequence[tuple[bool, float, int]], problems: Sequence[Problem]) -> None:
    right, cost = fmean(r for r, *_ in rows), fmean(c for _, c, _ in rows)
    kinds = "".join(
        f"  {kind} {fmean(row[0] for row, problem in zip(rows, problems, strict=True) if problem.kind == kind):.3f}"
        for kind in KINDS
    )
    print(f"{name:32}right {right:.4f}  $/1000 {1000 * cost:.3f}  worth {worth(right, cost):.4f}{kinds}", flush=True)


if __name__ == "__main__":
    main()
