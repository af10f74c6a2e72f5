import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.errors import VerifierError
from podium.tasks.multiple_choice import MultipleChoiceVerifier, chosen_letters, listed_letters
from podium.types import Problem

FOUR = "Which?\n\nA) one\nB) two\nC) three\nD) four"

GOLDEN = [
    # reply, the letters it chooses among A to D
    (r"\boxed{B}", "B"),
    (r"So it is \boxed{C}.", "C"),
    (r"\boxed{A}? No. \boxed{B}", "B"),
    (r"\boxed{B} and then \boxed{A", "B"),
    (r"\boxed{(B)}", "B"),
    (r"\boxed{\text{B}}", "B"),
    (r"\boxed{\textbf{(B)}}", "B"),
    (r"\boxed{\text{\textbf{B}}}", "B"),
    (r"\boxed{\mathrm{D}}", "D"),
    (r"\boxed{B. two}", "B"),
    (r"\boxed{B) two}", "B"),
    (r"\boxed{\text{B: two}}", "B"),
    (r"\boxed{\text{Option B}}", "B"),
    (r"\boxed {B}", "B"),
    (r"\boxed{ b }", "B"),
    (r"$\boxed{B}$", "B"),
    (r"\fbox{B}", "B"),
    (r"\boxed{B} because 6 * 7 = \boxed{42}", "B"),
    (r"The answer is (A). \boxed{B}", "B"),
    (r"\boxed{B} The answer is (A).", "B"),
    (r"\boxed{42} The answer is (A).", "A"),
    (r"\boxed{A, B}", "AB"),
    (r"\boxed{A} or \boxed{B}", "B"),
    (r"\boxed{A\text{ and }C}", "AC"),
    (r"\boxed{E}", ""),
    (r"\boxed{E} but the answer is (A)", "A"),
    (r"\boxed{AB}", ""),
    (r"\boxed{}", ""),
    (r"\boxed{Apple}", ""),
    ("The answer is (B).", "B"),
    ("The answer is B.", "B"),
    ("The answer is B", "B"),
    ("the answer is: B", "B"),
    ("Answer: B", "B"),
    ("**Answer:** B", "B"),
    ("**Answer: B**", "B"),
    ("**Final Answer:** (B) two", "B"),
    ("Answer: **B**", "B"),
    ("Answer: B) two", "B"),
    ("Answer: B. two", "B"),
    ("Answer: B - two", "B"),
    ("Answer: [B]", "B"),
    ("Answer:\n\nB", "B"),
    ("Answer: $B$", "B"),
    ("ANSWER: b", "B"),
    ("The correct answer is option C.", "C"),
    ("The correct option is C, as shown.", "C"),
    ("So the best choice is (D).", "D"),
    ("The answer is B because A is odd.", "B"),
    ("The answer is B, C is wrong.", "B"),
    ("The answer is (A). Wait, the answer is (B).", "B"),
    ("The answer is B. So the answer is not A.", "B"),
    ("The answer is A or B.", "AB"),
    ("The answer is either A or B.", ""),
    ("The answer is (A) and (C).", "AC"),
    ("The answer is A, B, or C.", "ABC"),
    ("The answer is (E).", ""),
    ("The answer is (A). The answer is (F).", "A"),
    ("The answer is a bit hard to find.", ""),
    ("Answer: A train takes 3 hours.", ""),
    ("The answer is A* search.", ""),
    ("The answer is C++.", ""),
    ("The answer is B-cells.", ""),
    ("The answer is A.M. hours.", ""),
    ("The answer is A+B.", ""),
    ("The answer is B's.", ""),
    ("The answer is not A.", ""),
    ('{"reasoning": "A is odd", "answer": "B"}', "B"),
    ('{\n "answer": "B) two"\n}', "B"),
    (r"{\"answer\": \"B\"}", "B"),
    ('{"answer": "none"}', ""),
    ("B", "B"),
    ("b", "B"),
    ("(B)", "B"),
    ("B.", "B"),
    (" **B** \n", "B"),
    ("`B`", "B"),
    ("E", ""),
    ("Ｂ", "B"),
    ("В", ""),  # the Cyrillic letter
    ("B two", ""),
    ("A\nB", ""),
    ("I think it is B", ""),
    ("B is right, A is wrong.", ""),
    ("Option A is odd, so two it is.", ""),
    ("A) one B) two C) three D) four", ""),
    ("", ""),
    ("two", ""),
    ("<think>The answer is (A).</think>The answer is (B).", "B"),
    (r"<think>\boxed{A}</think>No idea.", ""),
    (r"<think>It is \boxed{B}", ""),
    (r"It is \boxed{A}</think>\boxed{B}", "B"),
    ("<think>hm</think>\n\nC", "C"),
]


@pytest.mark.parametrize(("reply", "letters"), GOLDEN)
async def test_golden(reply: str, letters: str) -> None:
    assert chosen_letters(reply, "ABCD") == letters
    for target in "ABCD":
        verdict = await MultipleChoiceVerifier()(problem(target), reply)
        assert verdict.correct is (letters == target)
        assert (verdict.extracted is None) is (letters == "")
        assert verdict.correct is not bool(verdict.why)
        assert ("several letters" in verdict.why) is (len(letters) > 1)


def test_the_table_is_large_and_has_every_outcome() -> None:
    assert len(GOLDEN) >= 60
    assert {len(letters) for _, letters in GOLDEN} == {0, 1, 2, 3}


def problem(target: str, question: str = FOUR) -> Problem:
    return Problem(question=question, target=target, kind="multiple_choice", source="test")


@pytest.mark.parametrize(
    ("question", "letters"),
    [
        (FOUR, "ABCD"),
        ("Which?\nA. one\nB. two\n", "AB"),
        ("Which?\n(A) one\n(B) two\n(C) three", "ABC"),
        ("Which? (a) one; (b) two, (c) three", "ABC"),
        ("Is f(a) = f(b)?\n\nA) yes\nB) no", "AB"),
        ("Which is it?", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
        ("A man and (b) a woman", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
        ("\n".join(f"{letter}) {n}" for n, letter in enumerate("ABCDEFGHIJ")), "ABCDEFGHIJ"),
    ],
)
def test_only_letters_that_exist(question: str, letters: str) -> None:
    assert listed_letters(question) == letters


async def test_an_answer_among_ten_options_and_one_beyond() -> None:
    ten = problem("J", "Which?\n" + "\n".join(f"{letter}) {n}" for n, letter in enumerate("ABCDEFGHIJ")))
    assert (await MultipleChoiceVerifier()(ten, "The answer is (J).")).correct
    assert (await MultipleChoiceVerifier()(ten, "The answer is (K).")).extracted is None


async def test_two_options_that_read_the_same_are_both_right() -> None:
    twins = problem("A/D", "Which?\n\nA) one\nB) two\nC) three\nD) one")
    verifier = MultipleChoiceVerifier()
    assert [(await verifier(twins, f"\\boxed{{{letter}}}")).correct for letter in "ABCD"] == [True, False, False, True]
    assert not (await verifier(twins, r"\boxed{A, D}")).correct


@pytest.mark.parametrize("target", ["E", "", "AB", "A/E", "two", "1"])
async def test_a_target_that_is_no_option_is_never_wrong(target: str) -> None:
    with pytest.raises(VerifierError, match="none of its options"):
        await MultipleChoiceVerifier()(problem(target), r"\boxed{A}")


@given(st.text(alphabet='ABCDE answeris():.*\\boxed{}\n"$_-', max_size=200))
def test_whatever_is_said_the_letters_exist_and_the_last_box_wins(reply: str) -> None:
    assert set(chosen_letters(reply, "ABCD")) <= set("ABCD")
    if "<think>" not in reply:
        assert chosen_letters(f"{reply}\n\n\\boxed{{C}}", "ABCD") == "C"


@pytest.mark.parametrize("piece", [r"\boxed{", "answer is ", "*", "_a ", r"\text{", "(", '"answer": ', "A, ", "answer is A or "])
def test_hostile_texts_take_linear_time(piece: str) -> None:
    start = time.process_time()
    chosen_letters(piece * (200_000 // len(piece)), "ABCD")
    assert time.process_time() - start < 3
