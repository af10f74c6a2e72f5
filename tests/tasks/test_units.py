from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.tasks.quantities.numbers import Quantity, read_quantity
from podium.tasks.quantities.units import read_unit, same_quantity


def quantity(text: str) -> Quantity:
    found = read_quantity(text)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("mph", "miles per hour"),
        ("m/s²", "meters per second squared"),
        ("m s⁻¹", "m/s"),
        ("N", "kg m/s²"),
        ("J/(mol K)", "joules per mole kelvin"),
        ("cm²", "square centimeters"),
        ("cubic inches", "in^3"),
        ("kWh", "kilowatthours"),
        ("mL", "cm³"),
        ("µs", "microseconds"),
        ("Hz", "s^{-1}"),
        ("%", "percent"),
    ],
)
def test_units_that_are_one(one: str, other: str) -> None:
    unit = read_unit(one)
    assert unit is not None
    assert unit == read_unit(other)


@pytest.mark.parametrize("text", ["", "eggs", "km and m", "squared", "m/eggs", "m" * 200, "m + s", "per"])
def test_what_is_no_unit(text: str) -> None:
    assert read_unit(text) is None


@pytest.mark.parametrize(
    ("asked", "found", "same"),
    [
        ("5 km", "5000 m", True),
        ("5 km", "5 m", False),
        ("5 m", "5 km", False),
        ("5 km", "5", True),
        ("5", "5 km", True),
        ("5 km", "5 apples", False),
        ("5 apples", "5 km", False),
        ("5 apples", "5 apples", True),
        ("5 apples", "5 apple", True),
        ("16 daps", "16 dops", False),
        ("14 right triangles", "14 triangles", True),
        ("20 sq units", "20 cm²", True),
        ("90 km/h", "25 m/s", True),
        ("1 mile", "5280 feet", True),
        ("2 hours", "120 min", True),
        ("2 min", "2 m", False),
        ("1 Mm", "1 mm", False),
        ("1 pound", "16 ounces", True),
        ("25 °C", "298.15 K", True),
        ("212 degrees Fahrenheit", "100 degrees Celsius", True),
        ("25 °C", "25 K", False),
        ("$5", "500 cents", True),
        ("$5", "5 dollars", True),
        ("$5", "5 euros", False),
        ("50%", "50", True),
        ("50%", "0.5", True),
        ("0.5", "50%", True),
        ("50", "50 percent", True),
        ("50%", "50 percent", True),
        ("50%", "50 cm", False),
        ("50%", "5", False),
        ("90 degrees", "90°", True),
        ("0 degrees", "0 rad", True),
        ("5 kg", "5 s", False),
    ],
)
def test_same_quantity(asked: str, found: str, same: bool) -> None:
    assert same_quantity(quantity(asked), quantity(found)) is same


def test_a_tolerance_is_relative_to_what_was_asked_for() -> None:
    asked = quantity("9.81 m/s²")
    assert same_quantity(asked, quantity("9.8 m/s²"), rel=0.01)
    assert not same_quantity(asked, quantity("9.8 m/s²"), rel=0.0001)
    assert not same_quantity(quantity("0"), quantity("0.001"), rel=0.5)
    assert same_quantity(quantity("-100 m"), quantity("-0.1 km"), rel=1e-9)


NAMED = st.sampled_from(["m", "km", "cm", "inch", "miles", "kg", "lb", "s", "hours", "km/h", "m/s", "J", "kWh", "$", "eggs", ""])
NUMBERS = st.fractions(max_denominator=10**6)


@given(NUMBERS, NAMED, NUMBERS, NAMED)
def test_to_be_the_same_goes_both_ways(number: Fraction, unit: str, other: Fraction, other_unit: str) -> None:
    one, two = Quantity(number=number, unit=unit), Quantity(number=other, unit=other_unit)
    assert same_quantity(one, one)
    assert same_quantity(one, two) == same_quantity(two, one)


@given(NUMBERS, NAMED, NAMED)
def test_a_converted_quantity_is_the_same(number: Fraction, unit: str, other: str) -> None:
    one, two = read_unit(unit), read_unit(other)
    if one is not None and two is not None and one.dimension == two.dimension:
        converted = number * one.scale / two.scale
        assert same_quantity(Quantity(number=number, unit=unit), Quantity(number=converted, unit=other))


@given(st.text(max_size=120))
def test_any_text_is_a_unit_or_none(text: str) -> None:
    read_unit(text)
