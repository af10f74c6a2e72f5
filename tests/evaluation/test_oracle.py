"""The oracle over single workers."""

from podium.errors import Blame
from podium.evaluation.oracle import oracle
from tests.evaluation.results import result


def test_it_is_right_wherever_anybody_is_and_takes_the_cheapest() -> None:
    results = [
        result(arm="dear", problem="1", correct=True, cost_usd=0.5),
        result(arm="cheap", problem="1", correct=True, cost_usd=0.1),
        result(arm="dear", problem="2", correct=True, cost_usd=0.5),
        result(arm="cheap", problem="2", correct=False, cost_usd=0.1),
        result(arm="dear", problem="3", correct=False, cost_usd=0.5),
        result(arm="cheap", problem="3", correct=False, cost_usd=0.1),
        result(arm="conductor", problem="3", correct=True),
    ]
    found = oracle(results, ["dear", "cheap"])
    assert {r.arm for r in found} == {"oracle"}
    assert [r.verdict is not None and r.verdict.correct for r in found] == [True, True, False]
    assert [r.usage.cost_usd for r in found if r.usage] == [0.1, 0.5, 0.1]


def test_a_fault_of_the_world_is_no_answer() -> None:
    results = [result(arm="a", problem="1", correct=False, fault=Blame.WORLD), result(arm="b", problem="1", correct=False)]
    assert [r.failure for r in oracle(results, ["a", "b"])] == [None]
    assert oracle(results[:1], ["a"]) == []
