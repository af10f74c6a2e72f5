import time

import pytest

from podium.tasks.extraction import (
    after_anchor,
    after_hashes,
    anchored,
    is_blank,
    json_answer,
    json_field,
    last_boxed,
    last_line,
    without_thinking,
)


@pytest.mark.parametrize(
    ("text", "content"),
    [
        (r"\boxed{41}, no: \boxed{42}", "42"),
        (r"\boxed{42} and then \boxed{4", "42"),
        (r"\boxed{42} \boxed{}", "42"),
        (r"\fbox{42}", "42"),
        (r"\boxed{\boxed{7}}", "7"),
        (r"\boxed{\{1, 2\}}", r"\{1, 2\}"),
        (r"\boxed{\frac{1}{2}}", r"\frac{1}{2}"),
        (r"\boxed{\text{The answer is }42}", "42"),
        (r"\boxed{\text{Answer: } x^2}", "x^2"),
        (r'"\\boxed{\\frac{1}{2}}"', r"\frac{1}{2}"),
        (r"x &= 5 \\\boxed{5}", "5"),
        (r"\boxed{\begin{pmatrix} 1 \\ 2 \end{pmatrix}}", r"\begin{pmatrix} 1 \\ 2 \end{pmatrix}"),
        ("boxed{5}", ""),
        ("", ""),
    ],
)
def test_the_last_box(text: str, content: str) -> None:
    assert last_boxed(text) == content


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("The answer is 41. No: the answer is 42 eggs. Nice!", "42 eggs"),
        (r"**Answer:** $\frac{1}{2}$", r"\frac{1}{2}$"),
        (r'{"answer": "\\frac{1}{2}"}', r"\frac{1}{2}"),
        (r'{"answer": "\frac{1}{2}"}', r"\frac{1}{2}"),
        (r'"answer": "\\begin{pmatrix} 1 \\\\ 2 \\end{pmatrix}"', r"\begin{pmatrix} 1 \\ 2 \end{pmatrix}"),
        ("answers vary", ""),
        ("", ""),
    ],
)
def test_what_stands_behind_the_last_anchor(text: str, content: str) -> None:
    assert anchored(text) == content


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"answer": "42"}', ("42", "42")),
        ('{"answer": 1, "answer": [1, "a"]}', ('[1, "a"]', '[1, "a"]')),
        (r'{"answer": "a\tb"}', ("a\tb", r"a\tb")),
        (r'{"answer": "\"x\""}', ('"x"', r"\"x\"")),
        ('{"answer": ', None),
        ('{"answer": ' + "[" * 5000, None),
        ("answer: 42", None),
    ],
)
def test_the_last_answer_in_json(text: str, value: tuple[str, str] | None) -> None:
    assert json_answer(text) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (r'{"answer": "\"25\""}', "25"),
        (r'"answer": "\frac{1}{2}"', r"\frac{1}{2}"),
        (r'"answer": "\\frac{1}{2}"', r"\frac{1}{2}"),
        (r"\"answer\": \"220\"", "220"),
        ('{"answer": "25"} or {"answer": "___"}', "25"),
        ('{"answer": "<your answer>"}', ""),
        ('{"answer": [[1, 2], [3]], "sure": true}', "[[1, 2], [3]]"),
        ('{"answer": 5 apples}', "5 apples"),
        ("{'answer': '42'}", "42"),
        ('{"answer": "5}', "5"),
        ("no answer: 5", ""),
    ],
)
def test_the_value_of_an_answer_in_what_looks_like_json(text: str, value: str) -> None:
    assert json_field(text)[0] == value


def test_what_follows_the_json_and_what_only_holds_a_place() -> None:
    assert json_field('{"answer": "25"}\nThe rest.')[1].endswith("The rest.")
    assert all(is_blank(text) for text in ("", "___", "...", r"\_\_", "<your answer>", "?"))
    assert not any(is_blank(text) for text in ("0", "x", r"\pi", "-1"))


@pytest.mark.parametrize("title", ["Mr.", "Mrs.", "Dr.", "approx.", "U.S."])
def test_an_abbreviation_ends_no_sentence(title: str) -> None:
    assert anchored(f"The answer is {title} 9 books. Nice.") == f"{title} 9 books"


def test_all_that_stands_behind_the_last_anchor() -> None:
    assert after_anchor("The answer is 1. The answer is **[1, 2]**.\nNice!") == "[1, 2]**.\nNice!"
    assert after_anchor("answers vary") == ""


def test_thinking_is_no_answer() -> None:
    assert without_thinking("<think>41</think>It is 42.") == "It is 42."
    assert without_thinking("a</think>b</think>c") == "c"
    assert without_thinking("<think>41") is None
    assert without_thinking("plain") == "plain"


def test_the_last_line_and_what_follows_hashes() -> None:
    assert last_line("a\n b \n\n") == "b"
    assert after_hashes("#### 1\n#### 42\nbye") == "42"
    assert after_hashes("none") == ""


@pytest.mark.parametrize(
    "text",
    [
        "\\boxed{" * 30_000,
        "\\boxed{" * 15_000 + "}" * 15_000,
        "answer: " * 25_000,
        '"answer": ' * 20_000,
        "\\" * 200_000,
        "#" * 200_000,
    ],
)
def test_hostile_texts_cost_little(text: str) -> None:
    start = time.process_time()
    for read in (without_thinking, last_boxed, anchored, json_answer, json_field, after_hashes, last_line):
        read(text)
    assert time.process_time() - start < 1.0
