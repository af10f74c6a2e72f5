"""What tuning would take is said before anything is asked, and what is not known is not made up."""

from dataclasses import replace
from typing import cast

import pytest

from podium.errors import ConfigError
from podium.tuning.estimate import LONG, SHORT, estimated
from podium.tuning.run import checked_calls
from podium.types import Card
from tests.tuning.desk import kind_of, pool, problems


def test_parts_kinds_calls_and_dollars() -> None:
    found = estimated(problems(100), kind_of, pool().cards, max_calls=600)
    assert (found.search, found.select, found.sealed) == (50, 26, 24)
    assert found.kinds == ("reverse", "sum")
    assert (found.calls, found.gate_calls) == (600, 3 * 42)
    assert "ends after some 126" in found.as_text()
    assert found.least_usd is not None
    assert found.most_usd is not None
    assert 600 * 1e-5 * SHORT < found.least_usd < found.most_usd
    assert found.most_usd > 600 * 1e-5 * LONG
    assert "within 20 points" in found.as_text()


def test_with_few_calls_few_sealed_problems_are_asked_and_that_is_said() -> None:
    found = estimated(problems(400), kind_of, pool().cards, max_calls=200)
    assert (found.sealed, found.least_sealed) == (100, 20)
    assert "within 10 points; where calls are left for 20 of its problems only, to within 22." in found.as_text()
    assert "only" not in estimated(problems(40), kind_of, pool().cards, max_calls=200).as_text()


def test_a_sign_of_another_script_is_more_of_a_token() -> None:
    latin, other = ([replace(one, question=letter * 4000 + one.question) for one in problems(40)] for letter in "a水")
    dollars = [estimated(given, kind_of, pool().cards, max_calls=200).least_usd for given in (latin, other)]
    assert dollars[0] is not None
    assert dollars[1] is not None
    assert dollars[1] > 2 * dollars[0]


def test_one_unknown_price_makes_the_dollars_unknown() -> None:
    found = estimated(problems(100), kind_of, (*pool().cards, Card(name="new")), max_calls=600)
    assert (found.least_usd, found.most_usd) == (None, None)
    assert "dollars unknown" in found.as_text()


def test_what_can_show_nothing_is_refused() -> None:
    with pytest.raises(ConfigError, match="there are 30 problems"):
        estimated(problems(30), kind_of, pool().cards, max_calls=600)
    with pytest.raises(ConfigError, match="199 calls can not show anything"):
        estimated(problems(60), kind_of, pool().cards, max_calls=199)
    for calls in (300.5, float("inf"), "300", None):
        with pytest.raises(ConfigError, match="a whole number"):
            checked_calls(cast(int, calls))


def test_many_kinds_or_few_calls_come_before_an_early_end() -> None:
    many = [replace(one, kind=f"kind {number % 12}") for number, one in enumerate(problems(240))]
    staff = pool(*(f"idle{number}" for number in range(7))).cards
    found = estimated(many, lambda problem: problem.kind, staff, max_calls=3000)
    assert found.gate_calls == 7 * 12 * 5, "everybody is asked five problems of each kind first"
    few = estimated(problems(160), kind_of, staff, max_calls=300)
    assert few.gate_calls is None
    assert "too few to end before that" in few.as_text()
