"""Examples are looked for in a question by the server itself: no question may keep it busy, or break it."""

import sys

import pytest

from podium.acting.examples import MOST_CHARACTERS, read_examples
from podium.tasks.syntax import parse_module

STUB = "```python\ndef f(x):\n    pass\n```\n"


def steps(question: str, most: int) -> int:
    """How many times the parser of Python was asked, and characters it was shown, per thousand; ends where that is too much."""
    seen = 0

    def counted(text: str) -> object:
        nonlocal seen
        seen += 1 + len(text) // 1000
        assert seen <= most, "more work than its length allows"
        return parse_module(text)

    patch = pytest.MonkeyPatch()
    with patch.context() as patched:
        patched.setattr("podium.acting.examples.parse_module", counted)
        read_examples(question)
    return seen


@pytest.mark.parametrize("head", ["input", "Example Output", "sample inputs 1", "- - input"])
def test_a_heading_with_many_blanks_is_looked_at_once(head: str) -> None:
    """Divided in every possible way, 80,000 blanks would take years."""
    for blanks in (" " * 80_000, "\t-*" * 25_000, " 1" * 30_000):
        assert len(read_examples(f"{head}{blanks}x")) == 0
    assert read_examples("## Sample Input 1: \n2\n\n**Output**\n4\n").cases[0].stdout == "4\n"


@pytest.mark.parametrize(
    "line", ["assert " + "-" * 900 + "x", "assert x" + ".a" * 900, "assert " + "x+" * 2000 + "x", "assert " + "not " * 900 + "x"]
)
def test_what_is_nested_too_deep_is_no_example(line: str) -> None:
    assert len(line) < MOST_CHARACTERS
    assert sys.getrecursionlimit() <= 1000, "as servers have it"
    assert read_examples(f"{line}\nassert f(1) == 2").asserts[-1:] == ("assert f(1) == 2",)


@pytest.mark.parametrize("question", ["assert (\n" * 9000, "assert f(1\n" * 9000, "x = 1\n\n" * 12_000, f"{STUB}\n" * 2000])
def test_work_is_bounded_by_the_length(question: str) -> None:
    assert steps(question, most=1200) > 0


def test_forty_asserts_over_several_lines_are_all_read() -> None:
    asserts = "\n".join(f"assert f(\n    {number},\n) == [\n    {number}\n]" for number in range(40))
    assert len(read_examples(f"{STUB}{asserts}")) == 40
