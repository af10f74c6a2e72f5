"""The Conductors in the package: they load, conduct as well as their papers say, and the start they came from knew nothing."""

import asyncio
import json
import math
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import pytest

from podium.access import call_for
from podium.conduct import Conductor
from podium.errors import ConfigError, WorkflowError
from podium.gym import KINDS, World, specialists, stored
from podium.gym.gauge import Gauge
from podium.gym.verify import judge
from podium.policies.local import LocalPolicy
from podium.policies.shipped import conductor_folder, shipped
from podium.pools.gym import gym_pool
from podium.types import Brief, Call, Card, Problem, Workflow, ask
from podium.workers.budget import Budget
from podium.workflow.parse import parse

WORLD = World()
WORKERS = specialists(WORLD)
CARDS = tuple(Card(name=worker.name) for worker in WORKERS)


def right(problem: Problem, workflow: Workflow) -> bool:
    responses: dict[int, str] = {}
    for index, step in enumerate(workflow.steps):
        responses[index] = WORKERS[step.worker].complete(call_for(workflow, index, ask(problem.question), responses)).text
    return judge(problem, responses[len(workflow.steps) - 1]).correct


def written(policy: LocalPolicy, problems: Sequence[Problem], n: int) -> list[tuple[Problem, Workflow | None]]:
    """``n`` texts for each problem, parsed; None where one is no workflow."""
    found: list[tuple[Problem, Workflow | None]] = []
    for at in range(0, len(problems), 40):
        part = problems[at : at + 40]
        briefs = [Brief(question=ask(problem.question), cards=CARDS) for problem in part]
        for problem, brief, row in zip(part, briefs, policy.write_many(briefs, n), strict=True):
            for one in row:
                try:
                    found.append((problem, parse(one.text, brief, policy.dialect.syntax)))
                except WorkflowError:
                    found.append((problem, None))
    return found


@cache
def start_texts() -> list[tuple[Problem, Workflow | None]]:
    """What the untrained start writes at temperature 1 for held-out problems."""
    policy = LocalPolicy.load(conductor_folder("gym-start"), temperature=1.0, seed=0)
    return written(policy, WORLD.problems(kinds=KINDS, split="held_out_numbers", n=320, seed=9), 8)


def test_each_comes_with_what_made_it_and_is_small() -> None:
    assert set(shipped()) >= {"gym", "gym-start"}
    for folder in shipped().values():
        assert json.loads((folder / "recipe.json").read_text())["name"].startswith("gym")
        assert sum(file.stat().st_size for file in folder.iterdir()) < 3_000_000
    folder = shipped()["gym"]
    assert (folder / "curves.svg").read_text().startswith("<svg")
    seeds = {json.loads((folder / name).read_text())["seed"] for name in ("evaluation.json", "recipe.json")}
    assert len(seeds) == 1


def test_the_one_with_second_rounds_mends_more_than_it_spoils() -> None:
    told = json.loads((shipped()["gym-recursive"] / "evaluation.json").read_text())
    assert told["recursion_gain_low"] > 0
    assert told["recursion_over_start_low"] > 0
    assert told["recursion_calls"] < 1.5
    policy = LocalPolicy.load(conductor_folder("gym-recursive"))
    conductor = Conductor(policy, gym_pool(Budget()).workers, rounds=2, syntax=policy.dialect.syntax)
    problems = WORLD.problems(kinds=("price",), split="held_out_templates", n=40, seed=8)

    async def answered(problem: Problem) -> tuple[bool, bool]:
        completion = await conductor.conduct(Call.plain(problem.question))
        return judge(problem, completion.transcripts[0].answer or "").correct, judge(problem, completion.text).correct

    async def both() -> list[tuple[bool, bool]]:
        return list(await asyncio.gather(*map(answered, problems)))

    pairs = asyncio.run(both())
    assert sum(after for _, after in pairs) > sum(before for before, _ in pairs)


def test_a_name_nobody_has() -> None:
    with pytest.raises(ConfigError, match=r"one of .*gym"):
        conductor_folder("nobody")


def test_it_conducts_far_better_than_its_best_worker_and_any_fixed_workflow() -> None:
    policy = LocalPolicy.load(conductor_folder("gym"))
    problems = WORLD.problems(kinds=KINDS, split="held_out_numbers", n=200, seed=8)
    conducted = [workflow is not None and right(problem, workflow) for problem, workflow in written(policy, problems, 1)]
    alone = max(sum(judge(p, worker.complete(Call.plain(p.question)).text).correct for p in problems) for worker in WORKERS)
    assert sum(conducted) >= alone + 0.3 * len(problems)
    gauge = Gauge(WORKERS, problems)
    assert sum(conducted) >= (max(map(gauge.accuracy, stored().opponents.values())) + 0.25) * len(problems)
    assert sum(conducted) >= 0.85 * len(problems)


def test_the_start_writes_workflows() -> None:
    valid = [workflow is not None for _, workflow in start_texts()]
    assert sum(valid) / len(valid) >= 0.95


def test_the_start_chooses_workers_without_regard_to_the_question() -> None:
    pairs = Counter((p.kind, step.worker) for p, workflow in start_texts() if workflow for step in workflow.steps)
    assert information(pairs) <= 0.01


def information(pairs: Counter[tuple[str, int]]) -> float:
    """Mutual information in bits, less the bias that a finite sample gives (Miller 1955: (rows - 1)(columns - 1) / 2N ln 2)."""
    total = pairs.total()
    rows, columns = Counter[str](), Counter[int]()
    for (row, column), count in pairs.items():
        rows[row] += count
        columns[column] += count
    plain = sum(
        count / total * math.log2(count * total / (rows[row] * columns[column])) for (row, column), count in pairs.items()
    )
    return plain - (len(rows) - 1) * (len(columns) - 1) / (2 * total * math.log(2))


def test_information_is_measured_as_it_should_be() -> None:
    assert information(Counter({("a", 0): 500, ("b", 1): 500})) == pytest.approx(1.0, abs=0.01)
    assert information(Counter({(kind, worker): 100 for kind in "ab" for worker in (0, 1)})) <= 0


def test_the_start_is_as_often_right_as_workers_drawn_at_random() -> None:
    rng = random.Random(0)
    valid = [(p, workflow) for p, workflow in start_texts() if workflow is not None]
    chosen = sum(right(p, workflow) for p, workflow in valid) / len(valid)
    redrawn = [
        replace(workflow, steps=tuple(replace(step, worker=rng.randrange(len(CARDS))) for step in workflow.steps))
        for _, workflow in valid
    ]
    random_ = sum(right(p, workflow) for (p, _), workflow in zip(valid, redrawn, strict=True)) / len(valid)
    # Two shares of some 2,500, so a standard error of about 1.2 points.
    assert abs(chosen - random_) < 0.04
