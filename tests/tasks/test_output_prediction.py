import pytest

from podium.errors import VerifierError
from podium.tasks.output_prediction import OutputVerifier
from podium.types import Problem


def problem(target: str) -> Problem:
    return Problem(question="?", target=target, kind="output-prediction", source="test")


@pytest.mark.parametrize(
    ("target", "reply", "correct"),
    [
        ("[(4, 1), (2, 3)]", "Answer: [(4,1),(2,3)]", True),
        ("[(4, 1), (2, 3)]", "Answer: [[4, 1], [2, 3]]", False),
        ("'a b'", 'Answer: "a b"', True),
        ("'a b'", "Answer: a b", True),
        ("'a b'", '{"answer": "a b"}', True),
        ("'a b'", "Answer: a  b", False),
        ("'12'", "Answer: 12", False),
        ("''", "Answer: []", False),
        ("'a b'", '{"answer": "\'a b\'"}', True),
        ("1", "Answer: True", False),
        ("1", "Answer: 1.0", False),
        ("[1]", "Answer: [True]", False),
        ("{1: 'a'}", "Answer: {True: 'a'}", False),
        ("{'a': 1, 'b': 2}", "Answer: {'b': 2, 'a': 1}", True),
        ("{1, 2}", "Answer: {2, 1}", True),
        ("None", "Answer: None", True),
        ("''", "Answer: ''", True),
        ("[]", "Answer: `[]`", True),
        ("[]", "\\boxed{[]}", True),
        ("42", "Answer: 41\nNo.\nAnswer: 42", True),
        ("42", "<think>Answer: 41</think>Answer: 42", True),
        ("42", "Answer: 6 * 7", False),
        ("42", "Answer: f(1)", False),
        ("42", "Answer: __import__('os').getpid()", False),
        ("42", "Answer: " + "(" * 50_000, False),
        ("'\\d'", "Answer: '\\d'", True),
        ("[1, 2]", "**Answer:** [1, 2]", True),
        ("[1, 2]", "**Answer: [1, 2]**", True),
        ("[1, 2]", "Answer: **[1, 2]**", True),
        ("[1, 2]", "**Answer:** [1, 3]", False),
        ("'a b'", "**Answer:** a b", True),
        ("'**'", "Answer: **", True),
        ("'**5**'", "Answer: **5**", True),
        ("[1, 2]", "Answer:\n```python\n[1, 2]\n```", True),
        ("{'a': [1,\n 2]}", "Answer:\n```\n{'a': [1,\n 2]}\n```\nDone.", True),
        ("['a', 'b']", "The answer is ['a', 'b'].", True),
        ("['a']", "The answer is ['a', 'b'].", False),
        ("True", "Answer: True.", True),
        ("'a b '", '"Answer": "a b "', True),
        ("[1, 2]", "\"answer\": '[1, 2]'\n}", True),
    ],
)
async def test_golden(target: str, reply: str, correct: bool) -> None:
    verdict = await OutputVerifier()(problem(target), reply)
    assert verdict.correct is correct
    assert verdict.extracted is not None


async def test_no_answer_and_a_target_that_is_none() -> None:
    assert (await OutputVerifier()(problem("42"), "It returns something.")).extracted is None
    with pytest.raises(VerifierError, match="no Python literal"):
        await OutputVerifier()(problem("f(1)"), "Answer: 42")
