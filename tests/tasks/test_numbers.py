import time
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.tasks.quantities.numbers import Quantity, read_quantity


@pytest.mark.parametrize(
    ("text", "quantity"),
    [
        ("42", Quantity(number=Fraction(42))),
        (r"0.\overline{3}", Quantity(number=Fraction(1, 3))),
        (r"1.2\overline{34}", Quantity(number=Fraction(611, 495))),
        ("$5", Quantity(number=Fraction(5), symbol="$")),
        (r"$\$18.50$", Quantity(number=Fraction(37, 2), symbol="$")),
        ("-€3", Quantity(number=Fraction(-3), symbol="€")),
        ("$$5$$", Quantity(number=Fraction(5))),
        (r"50\%", Quantity(number=Fraction(50), symbol="%")),
        ("5 m s^{-1}", Quantity(number=Fraction(5), unit="m s⁻¹")),
        (r"3\mathrm{~m/s}^2", Quantity(number=Fraction(3), unit="m/s²")),
        (r"3 \text{ kg} \cdot \text{m}", Quantity(number=Fraction(3), unit="kg·m")),
        (r"34\text{ sq. units}", Quantity(number=Fraction(34), unit="sq. units")),
        ("-7 °C", Quantity(number=Fraction(-7), unit="degrees C")),
        ("5 or 6", None),
        ("5x", None),
        (r"\sqrt{2}", None),
        (r"0.\overline{}", None),
        ("", None),
    ],
)
def test_a_number_and_what_it_is_a_number_of(text: str, quantity: Quantity | None) -> None:
    assert read_quantity(text) == quantity


@given(st.fractions())
def test_every_fraction_reads_back(number: Fraction) -> None:
    assert read_quantity(str(number)) == Quantity(number=number)
    over, under = abs(number.numerator), number.denominator
    assert read_quantity(f"{'-' if number < 0 else ''}\\frac{{{over}}}{{{under}}}") == Quantity(number=number)


@given(
    st.integers(-(10**30), 10**30), st.sampled_from([",", " ", "{,}", "\\,", "\u202f"]), st.sampled_from(["", ".0", ".000", "."])
)
def test_every_whole_number_reads_back_however_it_is_grouped(number: int, separator: str, tail: str) -> None:
    grouped = f"{number:,}".replace(",", separator)
    assert read_quantity(grouped + tail) == Quantity(number=Fraction(number))


@given(st.text(alphabet="0123456789.,/\\\\{}$ %-^overlinfactxm", max_size=200))
def test_any_text_is_a_number_or_none(text: str) -> None:
    read_quantity(text)


@pytest.mark.parametrize(
    "text", [r"0.\overline{" + "3" * 1900, "0." + "3" * 1900 + r"\overline{3}", "1" + " /" * 900, "5" + " m^2" * 480]
)
def test_hostile_numbers_cost_little(text: str) -> None:
    start = time.process_time()
    read_quantity(text)
    assert time.process_time() - start < 0.2


def test_a_number_and_the_way_to_it_have_a_longest_length() -> None:
    assert read_quantity("1" * 200) == Quantity(number=Fraction(int("1" * 200)))
    assert read_quantity("1" * 201) is None
    assert read_quantity("1 + " * 400 + "1 = 401") == Quantity(number=Fraction(401))
    assert read_quantity("1 + " * 500 + "1 = 501") is None
