import subprocess
import sys
import time
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.tasks.mathematics.clock import read_time, same_time
from podium.tasks.mathematics.letters import Reading, read_letters, variables
from podium.tasks.mathematics.question import asked_side, restates_task
from podium.tasks.mathematics.spelling import in_latex
from podium.tasks.quantities.behind import read_behind
from podium.tasks.quantities.equations import is_name, last_side
from podium.tasks.quantities.numbers import read_quantity
from podium.tasks.quantities.units import read_unit


@pytest.mark.parametrize(
    ("text", "question", "reading"),
    [
        (r"5\text{ m}", "?", Reading.UNIT),
        ("5 miles", "?", Reading.UNIT),
        ("5 m", "?", Reading.UNIT),
        ("5km", "?", Reading.UNIT),
        ("5m", "?", Reading.UNSURE),
        ("5m", "How many meters?", Reading.UNIT),
        ("5m", "It is 3 m long.", Reading.UNIT),
        ("5m", "There are $m$ meters.", Reading.VARIABLES),
        ("5km", "Simplify $km + 4mk$.", Reading.VARIABLES),
        ("2mg", "A mass m falls, g is known.", Reading.VARIABLES),
        (r"5\text{ m}", "Let $m$ be 5.", Reading.UNIT),
        ("5k", "?", Reading.UNSURE),
        ("$5k", "?", Reading.UNIT),
        ("42", "Let $x$ be 42.", Reading.UNIT),
    ],
)
def test_what_letters_behind_a_number_are(text: str, question: str, reading: Reading) -> None:
    quantity = read_quantity(text)
    assert quantity is not None
    assert read_letters(quantity, question) is reading


@pytest.mark.parametrize("text", ["4x^2", "3R^2", "2ab", "16x^4y^4", "2 ba", "5xyz", "7 ab^2", r"\frac{1}{2} m v^2", "3 xy"])
def test_products_are_no_quantities(text: str) -> None:
    assert read_quantity(text) is None


def test_the_variables_of_a_question() -> None:
    assert variables(r"A mass $m$ moves 5 m at speed v. $m\angle A = 3\text{ cm}$, [asy] draw(q); [/asy]") == {"m", "v", "A"}
    assert variables("Tom has a dog and I have 3 m of rope; it's $5") == frozenset()


@pytest.mark.parametrize(
    ("text", "side"),
    [
        ("x = 5", "5"),
        ("f(2) = 7", "7"),
        (r"\angle ABC = 30^\circ", r"30^\circ"),
        ("total cost = $5", "$5"),
        ("3 + 4 = 7 eggs", "7 eggs"),
        ("$40 (visit) + $165 (parts) = $205", "$205"),
        ("10/3 = 3.33", "3.33"),
        ("P = nRT/V = 50.7", "50.7"),
        ("2x = 6", None),
        ("x^2 - 1 = 3", None),
        ("3 + 5 = 7", None),
        ("x = 3 + 5 = 7", None),
        ("x = 5, y = 6", None),
        ("x(x-1) = 6", None),
        (r"\sqrt{x} = 3", None),
        ("sin = 3", None),
    ],
)
def test_the_side_of_an_equation_that_counts(text: str, side: str | None) -> None:
    assert last_side(text) == side


def test_what_the_question_asks_for_and_what_it_gives() -> None:
    assert asked_side("x+y = 3", "Find $x+y$.") == "3"
    assert asked_side("x+y = 3", "Find x + y, if x is 1.") == "3"
    assert asked_side("x+y = 3", "Find x+yz.") is None
    assert asked_side("x+y = 3", "If $x+y = 3$, find $x$.") is None
    assert restates_task("x^2+x", "x(x+1)", "Expand $x(x+1)$.")
    assert not restates_task("x^2+x", "x(x+1)", "What is the area?")
    assert not restates_task("x(x+1)", "x(x+1)", "Write $x(x+1)$ as it is.")


@pytest.mark.parametrize(
    ("gold", "answer", "same"),
    [
        ("8:34 p.m.", "20:34", True),
        ("20:34", r"8\!:\!34 \text{ p.m.}", True),
        ("8:34", "8:34 PM", True),
        ("8:34 pm", "8:34", False),
        ("12:00 a.m.", "0:00", True),
        ("1:20", "13:20", False),
        ("5 p.m.", "17:00", True),
    ],
)
def test_times_of_day(gold: str, answer: str, same: bool) -> None:
    one, other = read_time(gold), read_time(answer)
    assert one is not None
    assert other is not None
    assert same_time(one, other) is same
    assert read_time("25:00") is read_time("5") is read_time("13 pm") is read_time("8:74") is None


@pytest.mark.parametrize(
    ("typed", "latex"),
    [
        ("5√2", r"5\sqrt{2}"),
        ("√(x+1)+√3", r"\sqrt{x+1}+\sqrt{3}"),
        ("√((a+b)(c))", r"\sqrt{(a+b)(c)}"),
        ("sqrt(sqrt(2)+1)/2", r"\sqrt{\sqrt{2}+1}/2"),
        (r"\sqrt{2}", r"\sqrt{2}"),
        ("4pi", r"4\pi "),
        (r"\text{infinity}", r"\infty "),
        ("x²¹+y₁₂", "x^{21}+y_{12}"),
        ("∛8½", r"\sqrt[3]{8}\frac{1}{2}"),
        ("the pi day", "the pi day"),
        ("√(", "√("),
    ],
)
def test_what_is_typed_is_latex(typed: str, latex: str) -> None:
    assert in_latex(typed) == latex


def test_units_of_the_long_tail_come_from_pint_and_words_do_not() -> None:
    atm, torr = read_unit("atm"), read_unit("torr")
    assert atm is not None
    assert torr is not None
    assert atm.dimension == torr.dimension
    assert atm.scale == 760 * torr.scale
    assert read_unit("Å") == read_unit("Å")
    assert read_unit("psi") == read_unit("PSI")
    for word in ("hp", "slugs", "fortnight", "lbf", "ft·lbf", "mSv", "knots", "bytes"):
        assert read_unit(word) is not None, word
    for word in ("cat", "points", "turns", "eggs", "degC", "dB", "speed_of_light", "c", "pi", "xyz", "ppm", "rems*2"):
        assert read_unit(word) is None, word
    assert isinstance(torr.scale, Fraction)


def test_pint_is_read_when_a_word_needs_it_and_not_before() -> None:
    code = (
        "import sys\n"
        "from podium.tasks.quantities.numbers import read_quantity\n"
        "from podium.tasks.quantities.units import read_unit\n"
        "read_quantity('5 km'), read_quantity('42 eggs'), read_unit('km/h'); assert 'pint' not in sys.modules\n"
        "read_unit('torr'); assert 'pint' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@given(st.text(max_size=200))
def test_any_text_can_be_read(text: str) -> None:
    for read in (in_latex, last_side, is_name, read_behind, read_time, variables):
        read(text)
    asked_side(text, text)


@pytest.mark.parametrize("piece", ["√(", "√", "sqrt(", "pi ", "a=", "=", "m ", "$x", "²", "(a) ", "m/", "f(", "1:"])
def test_hostile_texts_cost_little(piece: str) -> None:
    text = (piece * 2000)[:2000]
    start = time.process_time()
    for read in (in_latex, last_side, is_name, read_behind, read_time, variables):
        read(text)
    asked_side(text, text)
    assert time.process_time() - start < 0.5
