"""Workflows that stop, tried with paid calls: measured by carrying them out, paid for once, and kept with what they came to."""

from collections.abc import Callable

from podium.conditions import ALWAYS
from podium.policies.rules import cascade, stop
from podium.policies.tuned_policy import TunedPolicy
from podium.policies.tuned_record import FORM, Measured, TunedRecord, TunedStep, TunedWorkflow
from podium.tuning.stopping import rules_of, with_stopping
from podium.tuning.trials import Bench
from podium.types import Call, Problem, Verdict
from podium.workers.pool import WorkerPool
from tests.tuning.desk import member

NAMES = ("a", "b", "c")
PROBLEMS = [Problem(question=f"Room {number}?", target=str(number), kind="room", source="rooms") for number in range(12)]


def clerk(position: int) -> Callable[[Call], str]:
    """Errs at every third room, each clerk at another one."""

    def answer(call: Call) -> str:
        text = call.subtask + "".join(message.content for message in call.question)
        text += "".join(message.content for step in call.visible for message in step.question)
        number = int(text.split("Room ")[1].split("?")[0])
        return f"Answer: {number}" if number % 3 != position else f"Answer: {100 + position}"

    return answer


async def exact(problem: Problem, answer: str) -> Verdict:
    return Verdict(correct=answer == f"Answer: {problem.target}", extracted=answer)


def record() -> TunedRecord:
    workflows = tuple(
        TunedWorkflow(steps=(TunedStep(worker=name, subtask="Answer."),), kinds={"room": Measured(right=0.6)}) for name in NAMES
    )
    return TunedRecord(form=FORM, workers=NAMES, prefer="accuracy", price=0.0, robust=0, workflows=workflows)


def bench() -> Bench:
    pool = WorkerPool([member(name, clerk(position)) for position, name in enumerate(NAMES)])
    return Bench(pool, exact, lambda problem: problem.kind)


async def test_two_who_agree_are_right_and_the_third_is_rarely_asked() -> None:
    tried = bench()
    found = await with_stopping(record(), tried, PROBLEMS, {"room": {0: 0.67, 1: 0.66, 2: 0.65}}, lambda: 1000)
    cascades = [one for one in found.workflows if any(step.condition != ALWAYS for step in one.steps)]
    assert len(cascades) == 2
    measured = cascades[0].kinds["room"]
    assert measured.problems == 12
    assert measured.high is not None
    assert measured.high > 0.95, "the third decides where the first two differ, and one of them is right"
    assert measured.calls is not None
    assert 2 < measured.calls < 3
    policy = TunedPolicy(found, [(problem.question, "room") for problem in PROBLEMS], NAMES)
    assert policy.workflow(policy.choose_for("room")).steps[-1].condition == "unless 2 agree"


async def test_nothing_is_asked_where_no_calls_are_left() -> None:
    tried = bench()
    assert await with_stopping(record(), tried, PROBLEMS, {"room": {0: 0.6, 1: 0.6, 2: 0.6}}, lambda: 10) == record()
    assert tried.paid == []


def test_three_workers_are_needed() -> None:
    assert rules_of([0, 1], 2) == []
    assert rules_of([2, 0, 1], 3) == [cascade((2, 0, 1)), cascade((0, 1, 2))]
    assert stop(4, 2, (2, 0, 1, 3)) in rules_of([2, 0, 1, 3], 4)
