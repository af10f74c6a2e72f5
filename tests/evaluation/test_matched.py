"""The cost-matched control."""

from dataclasses import replace

import pytest

from podium.errors import Blame, ConfigError
from podium.evaluation.evaluate import Result
from podium.evaluation.matched import MOST_TRIES, tries, voted
from podium.tasks.agreement import votes_of
from podium.types import Usage, Verdict
from tests.evaluation.results import result


def answer(said: str | None, repeat: int, problem: str = "1") -> Result:
    made = result(arm="cheap", problem=problem, correct=said == "42", repeat=repeat, cost_usd=0.1)
    return replace(made, verdict=Verdict(correct=said == "42", extracted=said))


@pytest.mark.parametrize(("dear", "cheap", "expected"), [(0.8, 0.3, 2), (0.9, 0.3, 3), (0.2, 0.3, 1), (9.0, 0.001, MOST_TRIES)])
def test_how_often_the_cheaper_one_may_try(dear: float, cheap: float, expected: int) -> None:
    results = [
        result(arm="dear", problem="1", correct=True, cost_usd=dear),
        result(arm="cheap", problem="1", correct=True, cost_usd=cheap),
    ]
    assert tries(results, "dear", "cheap") == expected


def test_free_workers_may_try_as_often_as_anybody() -> None:
    results = [result(arm="dear", problem="1", correct=True), result(arm="free", problem="1", correct=True, cost_usd=0.0)]
    assert tries(results, "dear", "free") == MOST_TRIES


def test_most_votes_win_and_everything_is_paid() -> None:
    results = [answer("41", 0), answer("42", 1), answer("42", 2), answer("7", 0, "2"), answer("42", 1, "2")]
    first, second = voted(results, "cheap", "cheap x3", votes_of)
    assert first.arm == "cheap x3"
    assert first.verdict is not None
    assert first.verdict.correct
    assert first.usage is not None
    assert first.usage.cost_usd == pytest.approx(0.3)
    assert (first.steps, first.seconds, first.repeat) == (3, 3.0, 0)
    assert second.verdict is not None
    assert second.verdict.extracted == "7", "of equals the earliest"


def test_faults_have_no_vote_and_unknown_costs_are_not_matched() -> None:
    fault = result(arm="cheap", problem="1", correct=False, repeat=0, fault=Blame.WORLD)
    [only] = voted([fault, answer(None, 1)], "cheap", "x", votes_of)
    assert only.verdict is not None
    assert only.verdict.extracted is None
    unknown = replace(answer("42", 0), usage=Usage(cost_usd=None))
    with pytest.raises(ConfigError, match="is not known"):
        tries([unknown, result(arm="dear", problem="1", correct=True)], "dear", "cheap")


def test_no_answer_wins_no_vote() -> None:
    [found] = voted([answer(None, 0), answer(None, 1), answer("___", 2), answer("42", 3)], "cheap", "x", votes_of)
    assert found.verdict is not None
    assert found.verdict.correct
    invalid = result(arm="cheap", problem="1", correct=False, repeat=0, fault=Blame.POLICY)
    [found] = voted([invalid, answer(None, 1), answer("42", 2)], "cheap", "x", votes_of)
    assert found.verdict is not None
    assert found.verdict.correct


def test_spellings_of_one_answer_are_one_vote() -> None:
    said = [("41", 0), ("1000", 1), ("1,000", 2), ("41.0", 3), ("1000.0", 4)]
    made = [replace(answer(text, repeat), kind="mathematics") for text, repeat in said]
    [found] = voted(made, "cheap", "x", votes_of)
    assert found.verdict is not None
    assert found.verdict.extracted == "1000"
    programs = ["def f():\n    return 1", "def f():\n    return 2", "def f(): return 2  # two"]
    [found] = voted([replace(answer(t, i), kind="programming") for i, t in enumerate(programs)], "cheap", "x", votes_of)
    assert found.verdict is not None
    assert found.verdict.extracted == programs[1]
