"""What tuning would take is said before anything is asked, and what is not known is not made up."""

import pytest

from podium.errors import ConfigError
from podium.tuning.estimate import LONG, SHORT, estimated
from podium.types import Card
from tests.tuning.desk import kind_of, pool, problems


def test_parts_kinds_calls_and_dollars() -> None:
    found = estimated(problems(100), kind_of, pool().cards, max_calls=600)
    assert (found.search, found.select, found.sealed) == (50, 26, 24)
    assert found.kinds == ("reverse", "sum")
    assert (found.calls, found.gate_calls) == (600, 3 * 42)
    assert found.least_usd is not None
    assert found.most_usd is not None
    assert 600 * 1e-5 * SHORT < found.least_usd < found.most_usd
    assert found.most_usd > 600 * 1e-5 * LONG
    assert "within 20 points" in found.as_text()


def test_one_unknown_price_makes_the_dollars_unknown() -> None:
    found = estimated(problems(100), kind_of, (*pool().cards, Card(name="new")), max_calls=600)
    assert (found.least_usd, found.most_usd) == (None, None)
    assert "dollars unknown" in found.as_text()


def test_what_can_show_nothing_is_refused() -> None:
    with pytest.raises(ConfigError, match="there are 30 problems"):
        estimated(problems(30), kind_of, pool().cards, max_calls=600)
