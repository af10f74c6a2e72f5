"""The world in which it pays to stop: whose agreement can be trusted, and that what is measured is what a run does."""

import asyncio
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings

from benchmarks.conditional_gauge import ConditionalGauge
from benchmarks.stopping import BOUNDS, EFFORT
from podium.conditions import ALWAYS, agree
from podium.gym.matters import works_alone
from podium.gym.specialists import Specialist
from podium.gym.stopping.stored import stored
from podium.gym.stopping.world import DEAR, KINDS, PAIRS, SCHOLAR, WORKERS, WORLD
from podium.gym.verify import judge
from podium.types import Call, Completion, Generation, Problem, Step, Workflow
from podium.workers.pool import Member, WorkerPool
from podium.workflow.execute import Execution
from tests.workflows import workflows

NUMBER = {worker.name: index for index, worker in enumerate(WORKERS)}


class _FirstRound:
    """A worker whose luck in round 1 is that of no round, as it is measured."""

    def __init__(self, worker: Specialist) -> None:
        self._worker = worker

    async def __call__(self, call: Call) -> Completion:
        return await self._worker(replace(call, sample=call.sample[1:]))


POOL = WorkerPool([Member(worker=_FirstRound(worker), card=worker.card) for worker in WORKERS])
PROBLEMS = {kind: WORLD.problems(kinds=(kind,), n=200, seed=71) for kind in KINDS}
GAUGES = {kind: ConditionalGauge(WORKERS, PROBLEMS[kind]) for kind in KINDS}


def in_turn(*names: str, last: str = ALWAYS) -> Workflow:
    """They answer one after the other, each on its own."""
    tasks = ["Answer the question.", *["Answer on your own."] * (len(names) - 1)]
    steps = [Step(worker=NUMBER[n], subtask=t, access=tuple(range(i))) for i, (n, t) in enumerate(zip(names, tasks, strict=True))]
    return Workflow(steps=(*steps[:-1], replace(steps[-1], condition=last)))


@pytest.mark.parametrize("kind", PAIRS)
def test_two_that_agree_are_right_and_only_where_they_differ_the_dear_one_is_needed(kind: str) -> None:
    gauge, dear = GAUGES[kind], in_turn(DEAR)
    stops = in_turn(*PAIRS[kind], DEAR, last=agree(2))
    assert gauge.accuracy(stops) >= gauge.accuracy(dear) - 0.01 >= 0.95
    assert gauge.cost(stops) < 0.7 * gauge.cost(dear)
    for name in PAIRS[kind]:
        assert 0.65 < gauge.accuracy(in_turn(name)) < 0.85, "alone it is not enough"
    [others] = [pair for other, pair in PAIRS.items() if other != kind]
    assert gauge.cost(in_turn(*others, DEAR, last=agree(2))) > 0.95 * gauge.cost(dear), "the other pair hardly ever agrees"


def test_of_multiple_choice_one_cheap_worker_knows_enough() -> None:
    gauge = GAUGES["choice"]
    assert gauge.accuracy(in_turn(SCHOLAR)) >= 0.95
    wrong = [pair for pair in PAIRS.values() if SCHOLAR not in pair]
    assert all(gauge.accuracy(in_turn(*pair, DEAR, last=agree(2))) < 0.93 for pair in wrong), "they agree on wrong letters"


@pytest.mark.parametrize("words", ["Answer on your own.", "Solve it INDEPENDENTLY.", "Decide by yourself."])
def test_whoever_is_told_to_work_alone_uses_nothing_of_what_it_sees(words: str) -> None:
    assert works_alone(words)
    gauge = GAUGES["story"]
    alone, seen = in_turn(DEAR), in_turn("cedar", DEAR)
    told = Workflow(steps=(seen.steps[0], replace(seen.steps[1], subtask=words)))
    merged = Workflow(steps=(seen.steps[0], replace(seen.steps[1], subtask="Answer the question.")))
    assert gauge.accuracy(told) > gauge.accuracy(alone) - 0.02
    assert gauge.accuracy(merged) < 0.6, "else it takes over the plan"


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(workflow=workflows(max_steps=5, conditions=True))
def test_what_is_measured_is_what_a_run_does(workflow: Workflow) -> None:
    """The same answers, and no step is paid in a run that the measurement left out."""
    steps = tuple(replace(step, subtask="Answer on your own.") for step in workflow.steps)
    workflow = Workflow(steps=(replace(steps[0], subtask="Answer the question."), *steps[1:]))
    problems = [PROBLEMS[kind][index] for kind in KINDS for index in (0, 1)]
    for problem in problems:
        right, cost = _run(workflow, problem)
        gauge = ConditionalGauge(WORKERS, [problem])
        assert gauge.correct(workflow) == (right,)
        # Of steps that run side by side a run may have asked one before it was known that nobody needs it.
        assert cost == pytest.approx(gauge.cost(workflow)) or cost > gauge.cost(workflow)


def _run(workflow: Workflow, problem: Problem) -> tuple[bool, float]:
    transcript = asyncio.run(Execution(workflow, POOL, Call.plain(problem.question), Generation(text="")).run())
    right = transcript.answer is not None and judge(problem, transcript.answer).correct
    return right, sum(each.usage.cost_usd or 0.0 for each in transcript.asked if each.usage is not None)


def test_the_certificate_in_the_package_holds_and_is_of_this_world() -> None:
    known = stored()
    assert all(low <= known.figures[name] <= high for name, (low, high) in BOUNDS.items())
    assert known.figures["workflows_of_opponents"] >= EFFORT * known.figures["workflows"]
    for kind in KINDS:
        assert GAUGES[kind].accuracy(known.optima[kind]) >= 0.95
        assert GAUGES[kind].cost(known.optima[kind]) <= GAUGES[kind].cost(known.without[kind]) * 1.01
