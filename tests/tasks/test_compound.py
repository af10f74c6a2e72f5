"""One quantity in several units."""

from fractions import Fraction

import pytest

from podium.tasks.quantities.compound import read_compound


@pytest.mark.parametrize(
    ("text", "number", "unit"),
    [
        ("1 hour 30 minutes", 90, "minutes"),
        (r"1 \text{ hour and } 30 \text{ minutes}", 90, "minutes"),
        ("1 h, 30 min", 90, "min"),
        ("2 days 3 hours and 15 minutes", 3075, "minutes"),
        ("5 ft 6.5 in", Fraction(133, 2), "in"),
        ("5 dollars and 50 cents", 550, "cents"),
        ("2 lbs 3 oz", 35, "oz"),
    ],
)
def test_several_units_are_read_in_the_last_of_them(text: str, number: int | Fraction, unit: str) -> None:
    found = read_compound(text)
    assert found is not None
    assert (found.number, found.unit, found.mixed) == (number, unit, True)


@pytest.mark.parametrize(
    "text",
    ["1 hour", "90 minutes", "30 minutes 1 hour", "1 hour 90 minutes", "1.5 hours 30 minutes", "5 feet 3 kg",
     "1 hour or 30 minutes", "1 hour minus 30 minutes", "3 eggs 4 apples", "1 year 6 months", "5 x 3 y", "", "1 hour 30",
     "1 hour 1 hour"],
)  # fmt: skip
def test_what_is_one_unit_or_no_sum_is_none(text: str) -> None:
    assert read_compound(text) is None


def test_hostile_texts_cost_little() -> None:
    for text in ("1 h " * 1000, "1" * 5000, "and " * 1000, "1 hour and " * 20):
        assert read_compound(text) is None
