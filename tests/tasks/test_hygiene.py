from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.tasks.benchmarks.choices import choice_problem
from podium.tasks.benchmarks.hygiene import fingerprint, overlaps, unique
from podium.tasks.benchmarks.registry import load
from podium.types import Problem


def asked(question: str) -> Problem:
    return Problem(question=question, target="4", kind="mathematics", source="test")


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("What is $2+2$?", "what is 2 + 2?", True),
        ("Find \\(x\\).", "Find $x$.", True),
        ("Find $\\dfrac{1}{2}$", "Find $\\frac12$", True),
        ("  Find\n\n x ", "Find x", True),
        ("ｆｉｎｄ x", "find x", True),
        ("What is 2 + 2?", "What is 2 - 2?", False),
        ("What is 12?", "What is 21?", False),
        ("Find x", "Find y", False),
        ("What is 2 \u2212 2?", "What is 2-2?", True),
    ],
)
def test_two_spellings_of_one_question(one: str, other: str, same: bool) -> None:
    assert (fingerprint(asked(one)) == fingerprint(asked(other))) is same


@given(st.integers(0, 1000))
def test_a_shuffle_hides_no_overlap(seed: int) -> None:
    one = choice_problem("Which?", ["red", "green", "blue", "white"], 2, source="a", split="train", seed=0).problem
    other = choice_problem("Which? ", ["Red", "green", "blue", "white"], 2, source="b", split="test", seed=seed).problem
    assert fingerprint(one) == fingerprint(other)
    third = choice_problem("Which?", ["red", "green", "blue", "black"], 2, source="b", split="test", seed=seed).problem
    assert fingerprint(one) != fingerprint(third)


def test_overlaps_are_found() -> None:
    train, test = [asked("1 + 1?"), asked("2 + 2?"), asked("3 + 3?")], [asked("2+2?"), asked("4 + 4?")]
    assert overlaps(train, test) == [(train[1], test[0])]
    assert overlaps([train[0], train[2]], test) == []


def test_unique_keeps_the_first_and_the_order() -> None:
    one, other = asked("1?"), asked("2?")
    assert unique([one, other, replace(one, split="test")]) == [one, other]


def test_the_real_sets_are_apart_where_they_should_be(data: Path) -> None:
    assert not overlaps(load("math", split="train", data_dir=data), load("math500", data_dir=data))
    assert not overlaps(load("gsm8k", split="train", data_dir=data), load("gsm8k", data_dir=data))
    shared = overlaps(load("mmlu", split="dev", data_dir=data), load("mmlu", split="val", data_dir=data))
    assert all("mmlu" in one.source for one, _ in shared)
