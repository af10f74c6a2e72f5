"""Problems shared out: three parts without a common question, all kinds in each, and a refusal where nothing can be shown."""

from dataclasses import replace

import pytest

from podium.errors import ConfigError
from podium.tuning.kinds import LEAST as LEAST_OF_A_GROUP
from podium.tuning.kinds import kinds_of
from podium.tuning.split import LEAST, shared_out
from podium.types import Problem
from tests.tuning.desk import TRADES, kind_of, problem, problems


def test_no_problem_is_in_two_parts_and_none_is_lost() -> None:
    given = problems(120)
    parts = shared_out(given, kind_of)
    ids = [one.id for part in (parts.search, parts.select, parts.test) for one in part]
    assert sorted(ids) == sorted(one.id for one in given)
    assert [len(part) for part in (parts.search, parts.select, parts.test)] == [60, 30, 30]
    for part in (parts.search, parts.select, parts.test):
        assert {one.kind for one in part} == set(TRADES)


def test_the_seed_says_who_goes_where_and_the_order_of_the_file_does_not() -> None:
    given = problems(120)
    assert shared_out(given, kind_of) == shared_out(given[::-1], kind_of)
    assert shared_out(given, kind_of) != shared_out(given, kind_of, seed=1)


def test_too_few_are_refused() -> None:
    with pytest.raises(ConfigError, match=f"there are {LEAST - 2} problems; tuning needs {LEAST}"):
        shared_out(problems(LEAST - 2), kind_of)
    shared_out(problems(LEAST), kind_of)


def test_a_kind_with_one_problem_is_refused_by_name() -> None:
    alone = replace(problem("sum", 1000), kind="odd")
    with pytest.raises(ConfigError, match=r"'odd' has 1 problem\(s\)"):
        shared_out([*problems(60), alone], kind_of)


@pytest.mark.parametrize("change", [{}, {"target": "another"}, {"kind": "reverse"}])
def test_a_question_that_is_there_twice_is_refused_whatever_else_differs(change: dict[str, str]) -> None:
    given = problems(60)
    with pytest.raises(ConfigError, match="1 questions are there more than once"):
        shared_out([*given, replace(given[0], **change)], kind_of)


@pytest.mark.parametrize("question", ["", " \n ", "half a pair: \ud800"])
def test_what_is_no_text_is_refused_before_it_is_paid_for(question: str) -> None:
    with pytest.raises(ConfigError, match="no text that can be written"):
        shared_out([*problems(60), Problem(question=question, target="1", kind="sum", source="desk")], kind_of)
    with pytest.raises(ConfigError, match="a kind is no text"):
        shared_out(problems(60), lambda problem: "half a pair: \ud800")


def test_any_beginning_of_the_sealed_part_has_the_kinds_in_their_shares() -> None:
    given = [*problems(160, ("sum",)), *(problem("reverse", number) for number in range(40))]
    parts = shared_out(given, kind_of)
    for count in (10, 20, 30):
        assert sum(one.kind == "reverse" for one in parts.test[:count]) == count // 5


def test_given_kinds_are_kept() -> None:
    given = problems(60)
    assert kinds_of(given, kind_of) is kind_of


def test_kinds_are_found_where_none_are_given() -> None:
    given = problems(120)
    found = kinds_of(given, lambda problem: "all the same")
    together = {(one.kind, found(one)) for one in given}
    assert len({group for _, group in together}) == len(together), "a group may be part of a kind, and never of two"
    assert {kind for kind, _ in together} == {"sum", "reverse"}
    assert len(together) <= len(given) // LEAST_OF_A_GROUP
    again = kinds_of(given, lambda problem: "")
    assert [found(one) for one in given] == [again(one) for one in given]


def test_alike_or_few_texts_are_one_kind() -> None:
    for given in (problems(30, ("sum",)), problems(12)):
        assert {kinds_of(given, lambda problem: "")(one) for one in given} == {"group 1"}
