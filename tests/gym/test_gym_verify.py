"""The verifier on the traps of real answers."""

import json

import pytest

from podium.errors import VerifierError
from podium.gym import GymVerifier
from podium.gym.verify import judge
from podium.types import Problem

NUMBER = Problem(question="?", target="1218", kind="story", source="gym")
CHOICE = Problem(
    question="What is the chemical symbol for carbon? A) N B) C C) Na D) Fe", target="B", kind="choice", source="gym"
)
CODE = Problem(question="?", target=json.dumps({"name": "f", "cases": [[[1, 2], 4], [[0, 5], 10]]}), kind="code", source="gym")


@pytest.mark.parametrize(
    ("answer", "extracted"),
    [
        ("Answer: 1218", "1218"),
        ("Plan: 3 * 406\nAnswer: 1218", "1218"),
        ("Answer: 7\nNo, wait.\nAnswer: 1218", "1218"),
        ("Answer: 1218\nAnswer: 7", "7"),
        ("**Answer:** 1,218 apples.", "1218"),
        ("So the answer is 1218.", "1218"),
        ("ANSWER = $1218.00", "1218"),
        ("Answer: 3 * 406 = 1218", "1218"),
        ("answer:\n1218", "1218"),
        ("1218", "1218"),
        ("Answer: −1218", "-1218"),
        ("Answer: 1218 or 1219", None),
        ("Answer: 1218.5", None),
        ("Answer: 12,18", None),
        ("Answer: 1218abc", None),
        ("Answer: " + "9" * 4_000, None),
        ("Plan: 1218", None),
        ("Answer:", None),
        ("", None),
        ("I was not given the question, so there is nothing I can work from.", None),
        ("The total may well be 1218 in some readings of it", None),
    ],
)
def test_numbers(answer: str, extracted: str | None) -> None:
    verdict = judge(NUMBER, answer)
    assert (verdict.extracted, verdict.correct) == (extracted, extracted == "1218")


@pytest.mark.parametrize(
    ("answer", "extracted"),
    [
        ("Answer: B", "B"),
        ("Answer: (B)", "B"),
        ("Answer: B) C", "B"),
        ("Answer: b", None),
        ("Answer: Na", "C"),
        ("Answer: C", "C"),
        ("Answer: A or B", None),
        ("Answer: A) or B)", None),
        ("Answer: B) C or A) N", None),
        ("Answer: B) Na", None),
        ("Answer: B.", "B"),
        ("The answer is **B**", "B"),
        ("Answer: none", None),
        ("Answer: E", None),
    ],
)
def test_letters(answer: str, extracted: str | None) -> None:
    verdict = judge(CHOICE, answer)
    assert (verdict.extracted, verdict.correct) == (extracted, extracted == "B")


@pytest.mark.parametrize(
    ("answer", "correct", "found"),
    [
        ("def f(a, b): return 2 * b", True, True),
        ("```python\ndef f(x, y):\n    return y + y\n```", True, True),
        ("def f(a, b): return 1\n\ndef f(a, b): return 2 * b", True, True),
        ("def f(a, b): return 2 * b\n\ndef f(a, b): return 1", False, True),
        ("def g(a, b): return 2 * b", False, True),
        ("def f(a): return 4", False, True),
        ("def f(a, b): return b // 0", False, True),
        ("def f(a, b): return c", False, True),
        ("def f(a, b): return __import__('os').getpid()", False, False),
        ("def f(a, b): return 9 ** 9 ** 9", False, False),
        ("Answer: 4", False, False),
    ],
)
def test_programs(answer: str, correct: bool, found: bool) -> None:
    verdict = judge(CODE, answer)
    assert (verdict.correct, verdict.extracted is not None) == (correct, found), verdict.why


async def test_a_broken_problem_is_never_a_wrong_answer() -> None:
    for target in ("", "[]", "{}", '{"name": "f", "cases": [1]}', '{"name": "f", "cases": [[["x"], 1]]}'):
        broken = Problem(question="?", target=target, kind="code", source="gym")
        with pytest.raises(VerifierError):
            await GymVerifier()(broken, "def f(): return 1")
