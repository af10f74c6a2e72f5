"""The shipped optimum: it verifies again, nothing one change away is clearly better, and there is a slope up to it."""

import math
from collections import Counter
from dataclasses import replace
from importlib import import_module
from itertools import pairwise
from statistics import fmean

import pytest

from podium.errors import ConfigError
from podium.gym import KINDS, UNTRAINED_KINDS, World, optimum, specialists
from podium.gym.gauge import Gauge
from podium.gym.optimum import SUBTASKS, neighbours, search, single
from podium.gym.specialists import Specialist
from podium.types import Problem, Step, Workflow

ALL = KINDS + UNTRAINED_KINDS
WORLD = World()
POOL = specialists(WORLD)
BEST = optimum()


def _fresh(kind: str, n: int) -> list[Problem]:
    """Problems no search has seen."""
    return [
        problem
        for split in ("held_out_numbers", "held_out_templates")
        for problem in WORLD.problems(kinds=(kind,), split=split, n=n // 2, seed=40)
    ]


def _z(better: Workflow, worse: Workflow, gauge: Gauge) -> float:
    """Paired: how many standard errors the first is above the second."""
    differences = [int(a) - int(b) for a, b in zip(gauge.correct(better), gauge.correct(worse), strict=True)]
    spread = math.sqrt(sum(d * d for d in differences))
    return sum(differences) / spread if spread else 0.0


@pytest.mark.parametrize("kind", ALL)
def test_the_stored_accuracy_holds_on_fresh_problems(kind: str) -> None:
    n = 500
    accuracy = Gauge(POOL, _fresh(kind, n)).accuracy(BEST[kind].workflow)
    assert BEST[kind].low <= BEST[kind].accuracy <= BEST[kind].high
    assert BEST[kind].accuracy >= 0.95
    assert abs(accuracy - BEST[kind].accuracy) < 3.5 * math.sqrt(0.02 / n) + 0.01


@pytest.mark.parametrize("kind", ALL)
def test_no_single_change_is_clearly_better(kind: str) -> None:
    best = BEST[kind].workflow
    gauge = Gauge(POOL, _fresh(kind, 60))
    strongest = max(neighbours(best, len(POOL)), key=lambda other: _z(other, best, gauge))
    # The winner of hundreds of comparisons has to hold on problems of its own.
    assert _z(strongest, best, Gauge(POOL, WORLD.problems(kinds=(kind,), n=600, seed=41))) < 3


@pytest.mark.parametrize("kind", ALL)
def test_every_step_up_is_a_clear_gain(kind: str) -> None:
    gauge = Gauge(POOL, _fresh(kind, 300))
    path = BEST[kind].path
    heights = [gauge.accuracy(workflow) for workflow in path]
    assert all(right > left + 0.02 for left, right in pairwise(heights)), heights
    assert heights[-1] >= 0.95
    assert all(right in set(neighbours(left, len(POOL))) for left, right in pairwise(path))


_PLAN, _FACTS, _COMPUTE, _ANSWER = (SUBTASKS[verb] for verb in ("plan", "recall", "compute", "answer"))
_WRITE, _VERIFY = SUBTASKS["write"], SUBTASKS["verify"]


@pytest.mark.parametrize(
    ("kind", "ways"),
    [
        ("word", [[(1, _ANSWER)], [(4, _PLAN), (1, _COMPUTE)], [(4, _PLAN), (0, _COMPUTE)]]),
        ("choice", [[(1, _ANSWER)], [(2, _ANSWER)]]),
        (
            "fact",
            [
                [(1, _ANSWER)],
                [(4, _PLAN), (1, _COMPUTE)],
                [(4, _PLAN), (2, _FACTS), (1, _COMPUTE)],
                [(4, _PLAN), (2, _FACTS), (0, _COMPUTE)],
            ],
        ),
        ("code", [[(1, _WRITE)], [(1, _WRITE), (3, _VERIFY)], [(5, _WRITE), (3, _VERIFY)]]),
    ],
)
def test_the_way_a_person_would_go_rises_too(kind: str, ways: list[list[tuple[int, str]]]) -> None:
    """A good solver, then a planner (or a reviewer) beside it, then the facts, then a better solver."""
    gauge = Gauge(POOL, _fresh(kind, 300))
    heights = [
        gauge.accuracy(Workflow(steps=tuple(Step(worker=w, subtask=s, access=tuple(range(i))) for i, (w, s) in enumerate(way))))
        for way in ways
    ]
    assert all(right > left + 0.05 for left, right in pairwise(heights)), heights


def test_the_shape_of_the_world() -> None:
    gauges = {kind: Gauge(POOL, _fresh(kind, 300)) for kind in ALL}
    alone = [{kind: gauges[kind].accuracy(single(worker)) for kind in ALL} for worker in range(len(POOL))]
    best_single = max(fmean(row[kind] for kind in KINDS) for row in alone)
    top = {kind: gauges[kind].accuracy(BEST[kind].workflow) for kind in ALL}
    assert 0.44 < best_single < 0.56
    assert fmean(top[kind] for kind in KINDS) - best_single >= 0.35
    for kind in UNTRAINED_KINDS:
        assert top[kind] >= max(row[kind] for row in alone) + 0.3
    assert len(BEST["choice"].workflow.steps) == 1
    assert all(2 <= len(BEST[kind].workflow.steps) <= 3 for kind in ("word", "fact", "code"))
    shares = Counter(step.worker for kind in KINDS for step in BEST[kind].workflow.steps)
    entropy = -sum(c / shares.total() * math.log2(c / shares.total()) for c in shares.values())
    assert entropy >= 2.0


@pytest.mark.parametrize("count", [3, 9, 12])
def test_any_pool_is_searched_whatever_its_workers_are_called(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, problems in (("_SEARCH_PROBLEMS", 6), ("_FINAL_PROBLEMS", 30), ("_MEASURED_PROBLEMS", 40)):
        monkeypatch.setattr(import_module("podium.gym.optimum"), name, problems)
    usual = specialists(WORLD, count)
    pool = [Specialist(replace(each.profile, name=f"w{i}"), WORLD) for i, each in enumerate(reversed(usual))]
    found = search(WORLD, pool, "choice", single(0))
    names = [worker.name for worker in pool]
    assert {step["worker"] for steps in (found["steps"], *found["path"]) for step in steps} <= set(names)
    assert found["path"][0][0]["worker"] == "w0"
    # Who knows the facts is the one to ask, wherever it stands; the smallest pool lacks it and asks the generalist.
    trade = "scholar" if count > 3 else "generalist"
    [best] = [worker.name for worker in pool if worker.profile.trade == trade]
    assert found["steps"][0]["worker"] == best


def test_a_climb_from_a_worker_that_is_not_there() -> None:
    with pytest.raises(ConfigError, match="begin with worker 3, and the pool has 3"):
        search(WORLD, specialists(WORLD, 3), "choice", single(3))
