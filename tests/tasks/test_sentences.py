import time
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.tasks.mathematics.sentences import SPELLED, read_stated


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("Sally has 9 books", 9),
        (r"\text{Sally has 9 books.}", 9),
        (r"\text{Sally has } 9 \text{ books}", 9),
        ("Sally has $9$ books (all of them red)", 9),
        ("She pays **$1,234.50** a month", Fraction(2469, 2)),
        ("The city has 5 million people", 5_000_000),
        ("It fell by -7 degrees", -7),
        ("A total of 33 1/3 cups", Fraction(100, 3)),
        (r"She ate \frac{1}{2} of it", Fraction(1, 2)),
        ("Nine (9) of them", 9),
        ("9, as Sally has 9 books", 9),
        ("It covers 9 square feet", 9),
        ("I get 9 more than Tom", 9),
        ("one monitor is $300", 300),
        ("The total cost of 3 monitors is $900", 900),
        ("10% of 50 is 5", 5),
        ("In 5 days Tom has 40 pages", 40),
    ],
)
def test_the_one_number_of_a_sentence(text: str, number: Fraction | int) -> None:
    quantity = read_stated(text)
    assert quantity is not None
    assert quantity.number == number


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "Sally has books",
            "nine books",
            "if x is 3, y is 4",
            "3 is not 4",
            "2x is 6",
            "x + 3 is 6",
            "it is 3 and 4 is 5",
            "9 of the 12 books",
            "Sally has 9 and Tom has 3",
            "5, 6 books",
            "5 5 books",
        ),
        *("one of the 9 books", "five times 9", "9 times 9", "3 + 4 = 7 books", "x = 5", "9 books x", "9x books", "the 9th"),
        *("not 9", "Sally isn't 9", "Sally isn’t 9", "no 9 books", "either 9", "9 or so", "about 9", "at least 9", "up to 9"),
        *("more than 9", "over 9", "exceeds 9", "negative 9", "9 squared", "9 dozen books", "half of 9", "the square of 9"),
        *(
            "a multiple of 9",
            "the root of 9",
            "log 9",
            "see step 9",
            "Question 9",
            "the 10-year-old tree",
            "9.5.2",
            "a 9-inch nail",
        ),
        *("Sally n'a que 9 livres", "Салли 9", "a ≤ 9", "thirty 9s", "2 thirds", "5 and a half"),
    ],
)
def test_a_sentence_that_says_more_or_nothing(text: str) -> None:
    assert read_stated(text) is None


@given(st.integers(0, 10**6), st.integers(0, 10**6), st.sampled_from(["and", "of the", "out of", "but", "then"]))
def test_two_numbers_are_none_and_a_repeated_one_is_one(one: int, other: int, between: str) -> None:
    quantity = read_stated(f"We see {one} {between} {other} there")
    assert (quantity is not None) == (one == other)
    assert quantity is None or quantity.number == one


@given(st.integers(0, 20), st.integers(0, 20))
def test_a_number_in_words_is_a_number(one: int, other: int) -> None:
    assert (read_stated(f"{SPELLED[one]} of {other} books") is not None) == (one == other)


@given(st.text(alphabet="0123456789 .,$%()\\{}textabmillion'-*_", max_size=250))
def test_any_text_is_read_without_an_error(text: str) -> None:
    read_stated(text)


@pytest.mark.parametrize("text", ["9 " * 100, "1" * 200, "a " * 99 + "9", "(" * 199 + "9", "1,000" * 39, r"\text{" * 33])
def test_hostile_sentences_cost_little(text: str) -> None:
    start = time.process_time()
    read_stated(text)
    assert time.process_time() - start < 0.2
