"""What answers say, and which of them agree, whatever they are: letters, programs, literals, numbers, words."""

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.tasks.agreement import Form, Reading, votes, votes_of

OPTIONS = "Which is the capital of Peru?\n\nA) Quito\nB) Lima\nC) La Paz"
ADD = "def add(a, b):\n    return a + b\n"


def fenced(code: str, before: str = "Here it is:", after: str = "It adds.") -> str:
    return f"{before}\n```python\n{code}```\n{after}"


def same(question: str, kind: str, *answers: str) -> bool:
    said = votes(answers, question=question, kind=kind)
    return None not in said and len(set(said)) == 1


@pytest.mark.parametrize("kind", ["", "known"])
@pytest.mark.parametrize(
    ("question", "of", "answers"),
    [
        (OPTIONS, "multiple_choice", ("The answer is B.", "Answer: B) Lima", r"So \boxed{\text{B}}", "**Answer:** (B)", "b")),
        (OPTIONS, "multiple_choice", ("Answer: B", "Answer: Lima", "The answer is B.")),
        ("6 times 7?", "mathematics", ("So:\n\nAnswer: 42", r"\boxed{42}", "#### 42", "The answer is 42.", "Answer: $42$")),
        ("How much?", "mathematics", ("Answer: $1,000", "The answer is 1000 dollars.", r"\boxed{1000}", "Answer: 1000.0")),
        ("Which share?", "mathematics", ("Answer: 0.5", r"\boxed{\frac{1}{2}}", "The answer is 1/2.")),
        ("Factor.", "mathematics", (r"\boxed{(x+1)^2}", "Answer: $(x + 1)^2$")),
        ("Why?", "free_form", ("Answer: The Krebs cycle.", "The answer is **Krebs cycle**")),
        ("Who?", "", ("Thinking...\nJanet", "janet.")),
        ("Write add.", "programming", (fenced(ADD), fenced('def add(a, b):\n    """Sum."""\n    # plus\n    return (a+b)\n'))),
        ("Write add.", "programming", (fenced(ADD), ADD, fenced(ADD + "\n\nprint(add(1, 2))\n", after="")[:0] + fenced(ADD))),
        ("assert f(1) == ??", "output-prediction", ("Answer: {'a': 1, 'b': {2, 1}}", "Answer: {'b': {1, 2}, 'a': 1}")),
        ("assert f(1) == ??", "output-prediction", ("Answer: abc", "Answer: 'abc'", '{"answer": "abc"}')),
        ("assert f(1) == ??", "output-prediction", ("Answer: ''", '{"answer": ""}')),
        ("List it as JSON.", "", ('{"b": 1, "a": [2]}', '```json\n{"a": [2],\n "b": 1}\n```')),
    ],
)  # fmt: skip
def test_other_words_for_the_same_answer_are_the_same_vote(kind: str, question: str, of: str, answers: tuple[str, ...]) -> None:
    assert same(question, of if kind else "", *answers), votes(answers, question=question, kind=of if kind else "")


@pytest.mark.parametrize(
    ("question", "kind", "one", "other"),
    [
        (OPTIONS, "multiple_choice", "Answer: A", "Answer: B"),
        ("How far?", "mathematics", "Answer: 5 km", "Answer: 5 m"),
        ("How far?", "", "Answer: 42", "Answer: 41"),
        ("Write add.", "programming", fenced(ADD), fenced(ADD.replace("+", "-"))),
        ("", "", fenced(ADD), fenced(ADD.replace("+", "-"))),
        ("assert f(1) == ??", "output-prediction", "Answer: 12", "Answer: '12'"),
        ("assert f(1) == ??", "output-prediction", "Answer: [1]", "Answer: (1,)"),
        ("assert f(1) == ??", "output-prediction", "Answer: 1", "Answer: True"),
        ("assert f(1) == ??", "output-prediction", '{"answer": " a"}', '{"answer": "a"}'),
    ],
)
def test_other_answers_are_other_votes(question: str, kind: str, one: str, other: str) -> None:
    first, second = votes([one, other], question=question, kind=kind)
    assert first is not None
    assert second is not None
    assert first != second


@pytest.mark.parametrize("kind", ["", "mathematics", "multiple_choice", "free_form", "output-prediction", "programming", "word"])
@pytest.mark.parametrize(
    "text",
    ["", "  \n", "Answer: ___", r"\boxed{\_\_\_}", '{"reasoning": "___", "answer": "___"}', "Answer: ...", "<think>It is 42",
     "Answer: ???", "Answer: [your answer]", "Answer: <answer here>", r"\boxed{\text{___}}", r"\boxed{}", r"Answer: \boxed{ }"],
)  # fmt: skip
def test_empty_answers_and_templates_say_nothing(kind: str, text: str) -> None:
    assert votes([text, text], kind=kind) == [None, None]


def test_answers_that_only_look_like_templates_say_something() -> None:
    assert None not in votes(["Answer: '___'", "Answer: None", "Answer: '?'", "Answer: []"], kind="output-prediction")
    assert None not in votes([r"\boxed{\infty}", r"\boxed{\emptyset}", "Answer: no"], kind="mathematics")


def test_two_letters_are_not_the_same_because_they_are_signed_alike() -> None:
    end = "Best regards,\n[Your Name]\n\nLet me know if you want it shorter."
    letters = [f"Dear Ann,\n{said}\n\n{end}" for said in ("I will come.", "I can not come.")]
    assert votes(letters, question="Write a letter to Ann.") == ["i will come", "i can not come"]
    assert votes(["Best regards", "best regards,"], question="How does a letter end?") == ["best regards"] * 2


def test_the_closing_fence_is_no_answer() -> None:
    said = votes([fenced(ADD, after=""), fenced(ADD.replace("+", "-"), after=""), fenced(ADD, before="Sure.", after="")])
    assert said[0] == said[2] != said[1]


def test_a_usage_example_behind_the_program_is_not_the_program() -> None:
    used = f"{fenced(ADD)}\nFor example:\n```python\nprint(add(1, 2))\n```\n"
    assert same("", "programming", used, fenced(ADD))
    assert same("", "", used, fenced(ADD), used)


def test_the_program_that_the_question_names_counts() -> None:
    helper = fenced("def helper(a):\n    return a\n", after="")
    one, other = votes([f"{fenced(ADD)}\n{helper}", fenced(ADD)], question="Complete it:\n\ndef add(a, b):\n    ...")
    assert one == other


@pytest.mark.parametrize(
    ("question", "answers", "form"),
    [
        ("", [fenced(ADD)], Form.PROGRAM),
        ("How much is it?", [fenced("x = 6\nprint(x * 7)\n", after="The answer is 42.")], Form.WORDS),
        ("6 times 7?", ["Answer: 42"], Form.WORDS),  # an annotation, to Python
        ("6 times 7?", ["```\nAnswer: 42\n```"], Form.WORDS),
        (OPTIONS, ["Answer: B", "Answer: A"], Form.LETTER),
        ("(a) Show this. (b) How many are there?", ["Answer: 12", "Answer: 13"], Form.WORDS),
        ("assert f('a') == ??", ["Answer: 'b'"], Form.LITERAL),
        ("?", [], Form.WORDS),
    ],
)
def test_the_form_is_read_off_the_question_and_the_answers(question: str, answers: list[str], form: Form) -> None:
    assert Reading(question).form(answers) is form


def test_a_number_without_its_unit_agrees_only_where_it_is_plain_with_what() -> None:
    bare, dollars, rabbits, again = votes(["Answer: 5", "Answer: 5 km", "Answer: 5 m", "Answer: 5"], kind="mathematics")
    assert bare == again
    assert len({bare, dollars, rabbits}) == 3
    assert len(set(votes(["Answer: 18", "Answer: $18", "Answer: 18 dollars"], kind="mathematics"))) == 1


def test_what_a_verifier_read_out_is_read_the_same_way() -> None:
    assert votes_of(["1,000", None, "1000", "___"], "mathematics") == ["1000", None, "1000", None]
    one, other, third = votes_of([ADD, "def add(a, b): return a+b  # plus", ADD.replace("+", "*")], "programming")
    assert one == other != third
    assert votes_of(["B", "b", None], "multiple_choice") == ["B", "B", None]


@given(st.lists(st.text(), max_size=4), st.text(), st.sampled_from(["", "mathematics", "programming", "multiple_choice",
                                                                     "output-prediction", "free_form"]))  # fmt: skip
def test_hostile_answers_are_read_or_left(answers: list[str], question: str, kind: str) -> None:
    said = votes(answers, question=question, kind=kind)
    assert len(said) == len(answers)
    assert all(text is None or text for text in said)


@pytest.mark.parametrize(
    "text", ["(" * 5000 + ")" * 5000, "```python\nx = " + "-" * 5000 + "1\n```", "[" * 100_000, "```\n" * 20_000]
)
def test_deep_and_long_answers_end(text: str) -> None:
    for kind in ("", "programming", "output-prediction", "mathematics"):
        assert len(votes([text, text], kind=kind)) == 2


@pytest.mark.parametrize(
    "text",
    [
        "Answer: 0x" + "f" * 15_000,
        "Answer: 1e99999",
        "Answer: 10^{99999}",
        "Answer: " + "9" * 6000,
        "\\text{" * 20_000 + "}" * 20_000,
        "```a\n~~~b\n" * 10_000,
        "<answer " * 20_000,
    ],
)
def test_numbers_and_nests_beyond_bounds_end(text: str) -> None:
    for kind in ("", "programming", "output-prediction", "mathematics", "free_form"):
        first, second = votes([text, text], kind=kind)
        assert first == second


PAIRS = tomllib.loads(Path(__file__).with_name("golden_mathematics.toml").read_text("utf-8"))["pairs"]


@pytest.mark.parametrize("right", [True, False])
def test_what_the_verifier_calls_right_agrees_with_the_gold_answer_and_what_it_calls_wrong_does_not(right: bool) -> None:
    # Once more with the three behind each other, so that an answer is compared with groups, too.
    for pair in PAIRS:
        if pair["right"] is not right or "miss" in pair:
            continue
        gold, answer = f"\\boxed{{{pair['gold']}}}", str(pair.get("text", f"\\boxed{{{pair.get('answer')}}}"))
        first, second, again = votes([gold, answer, gold], question=pair.get("question", "?"), kind="mathematics")
        assert first == again is not None
        assert (first == second) is (right and pair.get("agrees", True)), (pair, first, second)


@pytest.mark.parametrize(
    "answers", [("Answer: 2k", "Answer: 2000"), ("Answer: 8:34 pm", "Answer: 8:34 am"), ("Answer: 5 km", "Answer: 5")]
)
def test_without_a_kind_numbers_and_times_are_read_as_the_verifier_reads_them(answers: tuple[str, str]) -> None:
    one, other = votes(answers)
    assert (one == other) is (answers[1] == "Answer: 5")
    assert len(set(votes(["Answer: 8:34 p.m.", "Answer: 20:34", r"\boxed{8\!:\!34 \text{ PM}}"]))) == 1
    assert len(set(votes([r"\boxed{x^2-1}", r"\boxed{(x-1)(x+1)}"]))) == 1
