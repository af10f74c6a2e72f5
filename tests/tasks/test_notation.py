import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.tasks.mathematics.notation import is_name, is_unbounded, normal_form, read_numeral, read_words, split_unit


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (r"$\left(\dfrac12,\, x\right)$.", r"(\frac{1}{2},x)"),
        (r"\sqrt2", r"\sqrt{2}"),
        ("x^2", "x^{2}"),
        (r"\text{Friday}", "Friday"),
        (r"60^\circ", "60°"),
        ("−3", "-3"),
        (r"\$5", "5"),
    ],
)
def test_one_answer_in_two_spellings(one: str, other: str) -> None:
    assert normal_form(one) == normal_form(other)


@pytest.mark.parametrize(
    ("one", "other"), [("12", "1 2"), (".5", "5"), ("x^{12}", "x^12"), ("(1,2)", "[1,2]"), ("X", "x"), ("-3", "3"), ("x_1", "x1")]
)
def test_two_answers_in_like_spellings(one: str, other: str) -> None:
    assert normal_form(one) != normal_form(other)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (r"\text{(E)}", "e"),
        ("E.", "e"),
        (r"\text{B, A}", "a, b"),
        ("A and C", "a, c"),
        ("four", "4"),
        (r"8\!:\!34 \text{ p.m.}", "8:34 pm"),
        ("08:34 PM", "8:34 pm"),
        (r"\text{two lines}", "two lines"),
        (r"\text{October 30}", "october 30"),
        ("42", None),
        ("x^2", None),
        ("", None),
    ],
)
def test_words(text: str, words: str | None) -> None:
    assert read_words(text) == words


def test_names_are_no_formulas() -> None:
    assert all(is_name(text) for text in (r"\text{east}", r"(\text{H})", "Wednesday", "8:34", "even"))
    assert not any(is_name(text) for text in ("x", "ab", r"\pi", "12", r"12\text{ cm}", "x+y"))


@pytest.mark.parametrize(
    ("text", "numeral"),
    [
        ("1204_9", ("1204", 9)),
        (r"\text{A5}_{11}", ("A5", 11)),
        ("-037_8.", ("-37", 8)),
        ("1204_3", None),
        ("12_1", None),
        ("x_1", None),
        ("12", None),
    ],
)
def test_numerals(text: str, numeral: tuple[str, int] | None) -> None:
    assert read_numeral(text) == numeral


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (r"12\sqrt{13}\text{ feet}", (r"12\sqrt{13}", "feet")),
        (r"15\pi\mbox{ cm}^2", (r"15\pi", "cm²")),
        (r"\sqrt{2} cm", (r"\sqrt{2}", "cm")),
        (r"3 \text{ or } \sqrt{2}", (r"3 \text{ or } \sqrt{2}", "")),
        (r"\text{east}", (r"\text{east}", "")),
        ("2x", ("2x", "")),
    ],
)
def test_units_behind_formulas(text: str, parts: tuple[str, str]) -> None:
    assert split_unit(text) == parts


def test_what_is_too_large_to_evaluate() -> None:
    towers = ["9^{9^{9}}", "9^9^9", "9**9**9", "2^{99999}", "10001!", "3!!", r"\binom{99999}{3}", "1" * 401, "(" * 41]
    assert [text for text in towers if not is_unbounded(text)] == []
    fine = [
        "2^{4181}",
        "x^8+x^7",
        "e^{x^2}",
        "100!",
        r"\binom{20}{10}",
        "-4x^4+5x^2+14",
        r"\sqrt{x^2+y^2}",
        "(x-1)^3(x+1)^3",
        r"\frac{n!}{(n-k)!}",
    ]
    assert [text for text in fine if is_unbounded(text)] == []


@given(st.text(alphabet="0123456789abxyz \\{}()^_.,$!textrmfrac", max_size=200))
def test_any_text_can_be_read(text: str) -> None:
    once = normal_form(text)
    assert normal_form(text) == once
    read_words(text), read_numeral(text), split_unit(text), is_unbounded(text), is_name(text)


@pytest.mark.parametrize("piece", ["^{", "^", "{", r"\text{", "a ", "1 ", "^ ", "^a", r"\frac ", ") ab", " a", "9^", "**", "1_"])
def test_hostile_texts_cost_little(piece: str) -> None:
    text = (piece * 2000)[:2000] + "1"
    start = time.process_time()
    normal_form(text), read_words(text), read_numeral(text), split_unit(text), is_unbounded(text), is_name(text)
    assert time.process_time() - start < 0.2
