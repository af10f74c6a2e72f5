"""Whole numbers in words: what is one, and what only begins like one."""

import pytest

from podium.tasks.quantities.number_words import in_digits


@pytest.mark.parametrize(
    ("text", "digits"),
    [
        ("forty-two", "42"),
        ("Forty two", "42"),
        ("eighteen.", "18"),
        ("zero", "0"),
        ("one hundred and five", "105"),
        ("a hundred and five eggs", "105 eggs"),
        ("two thousand and six", "2006"),
        ("two thousand twenty-six", "2026"),
        ("one million two hundred thousand three hundred and four", "1200304"),
        ("two hundred million", "200000000"),
        ("five million people", "5000000 people"),
        ("negative three", "-3"),
        ("minus 3", "-3"),
        ("One mile", "1 mile"),
        ("two dozen", "2 dozen"),
    ],
)
def test_numbers_in_words_become_digits(text: str, digits: str) -> None:
    assert in_digits(text) == digits


@pytest.mark.parametrize(
    "text",
    ["two or three", "two three", "twenty twenty", "one can see", "seven eleven", "three times four", "one hundred hundred",
     "hundred", "thousand", "two million thousand", "a", "an hour", "42", "", "one-to-one", "no number"],
)  # fmt: skip
def test_what_is_no_number_or_several_is_left_alone(text: str) -> None:
    assert in_digits(text) == text
