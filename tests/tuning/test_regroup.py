"""Kinds found again by what is right: answers overrule the text where a team is good, and say little where it is weak."""

from podium.tuning.regroup import regrouped

SUMS = [f"How much is {n} plus {n + 3} in all?" for n in range(12)]
LETTERS = ("abide", "bacon", "cabin", "dance", "eagle", "fable", "gable", "habit", "image", "jelly", "knife", "label")
WORDS = [f"Spell the word {word} backwards, please." for word in LETTERS]


def test_answers_move_what_the_first_groups_mixed() -> None:
    first = ["sum"] * 12 + ["sum"] * 3 + ["word"] * 9
    right = [{"sum": True, "word": False}] * 12 + [{"sum": False, "word": True}] * 12
    labels, posterior = regrouped([*SUMS, *WORDS], first, right, {"sum": 0.95, "word": 0.95})
    assert labels == ["sum"] * 12 + ["word"] * 12
    assert min(max(each.values()) for each in posterior) > 0.9


def test_without_answers_the_text_decides() -> None:
    first = ["sum"] * 12 + ["word"] * 11 + ["sum"]
    labels, _ = regrouped([*SUMS, *WORDS], first, [{}] * 24, {"sum": 0.9, "word": 0.9})
    assert labels[:23] == ["sum"] * 12 + ["word"] * 11


def test_one_kind_stays_one() -> None:
    assert regrouped(SUMS, ["all"] * 12, [{}] * 12, {"all": 0.5}) == (["all"] * 12, [{"all": 1.0}] * 12)


def test_texts_of_two_words_are_enough() -> None:
    bits = [" ".join(f"{n:06b}") for n in range(64)]
    first = ["low"] * 32 + ["high"] * 32
    labels, _ = regrouped(bits, first, [{}] * 64, {"low": 0.9, "high": 0.9})
    assert len(labels) == 64
    assert {*labels} <= {"low", "high"}
