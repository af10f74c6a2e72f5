"""Workflows that stop, tried with paid calls: measured by carrying them out, paid for once, and kept with what they came to."""

from collections.abc import Callable

from podium.conditions import ALWAYS
from podium.policies.rules import cascade, stop
from podium.policies.tuned_policy import TunedPolicy
from podium.policies.tuned_record import FORM, Measured, TunedRecord, TunedStep, TunedWorkflow
from podium.tuning.candidates import solo
from podium.tuning.given_up import without_given_up
from podium.tuning.price import PREFERENCES, price_of
from podium.tuning.stopping import rules_of, with_stopping
from podium.tuning.trials import Bench
from podium.types import Call, Problem, Verdict
from podium.workers.pool import WorkerPool
from tests.tuning.desk import failing, member

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


async def test_a_cheap_one_that_is_mostly_wrong_is_not_chosen_for_its_price() -> None:
    dear, cheap = member("a", lambda call: clerk(3)(call), 1.0), [member(name, lambda call: "Answer: 0", 0.001) for name in "bc"]
    tried = Bench(WorkerPool([dear, *cheap]), exact, lambda problem: problem.kind)
    alone = (TunedWorkflow(steps=(TunedStep(worker="a", subtask="Answer."),), kinds={"room": Measured(right=0.97, usd=1.0)}),)
    price = price_of(alone, ["room"], PREFERENCES["balanced"])
    assert price > 1, "alone it may be as dear as it likes"
    before = TunedRecord(form=FORM, workers=NAMES, prefer="balanced", price=price, robust=0, workflows=alone)
    found = await with_stopping(before, tried, PROBLEMS, {"room": {0: 0.97, 1: 0.5, 2: 0.5}}, lambda: 1000)
    assert len(found.workflows) == 3
    policy = TunedPolicy(found, [(problem.question, "room") for problem in PROBLEMS], NAMES)
    chosen = found.workflows[policy.choose_for("room")].kinds["room"]
    assert chosen.right >= 0.97 - PREFERENCES["balanced"]


async def test_who_stopped_answering_is_in_no_workflow_that_stops() -> None:
    pool = WorkerPool([*(member(name, clerk(position)) for position, name in enumerate("ab")), member("c", failing)])
    tried = Bench(pool, exact, lambda problem: problem.kind)
    await tried.all([tried.run(solo(2), problem) for problem in PROBLEMS])
    assert tried.given_up == ("c",)
    assert await with_stopping(record(), tried, PROBLEMS, {"room": {0: 0.67, 1: 0.66, 2: 0.65}}, lambda: 1000) == record()
    left = without_given_up(record().model_copy(update={"robust": 2}), ("c",))
    assert [one.steps[0].worker for one in left.workflows] == ["a", "b"]
    assert left.robust in (0, 1)
    assert without_given_up(record(), NAMES) == record(), "where nobody is left, it says what was found"


async def test_nothing_is_asked_where_no_calls_are_left() -> None:
    tried = bench()
    assert await with_stopping(record(), tried, PROBLEMS, {"room": {0: 0.6, 1: 0.6, 2: 0.6}}, lambda: 10) == record()
    assert tried.paid == []


def test_three_workers_are_needed() -> None:
    assert rules_of([0, 1], 2) == []
    assert rules_of([2, 0, 1], 3) == [cascade((2, 0, 1)), cascade((0, 1, 2))]
    assert stop(4, 2, (2, 0, 1, 3)) in rules_of([2, 0, 1, 3], 4)
