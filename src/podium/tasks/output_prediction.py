"""What does a program return? The answer is a Python literal and must be the same value, type included.

``[1, 2]`` is ``[1,2]`` but not ``(1, 2)``; ``1`` is neither ``True`` nor ``1.0``; sets and dictionaries have no order.
A text may come without its quotes where it can be nothing else: ``abc`` is ``'abc'``, but ``12`` is not ``'12'``.

Literals are parsed, never evaluated. Left out: values that have no literal.
"""

import ast
import re
from typing import Any

from podium.errors import VerifierError
from podium.tasks.extraction import after_anchor, anchored, json_answer, last_boxed, shown, without_thinking
from podium.tasks.syntax import parse_expression
from podium.types import Problem, Verdict

MAX_LITERAL_CHARS = 20_000
_FENCE = re.compile(r"\s*+```[a-zA-Z0-9]*+[ \t]*+\n(.*?)(?:```|$)", re.DOTALL)


class OutputVerifier:
    """Right where the final answer is the literal of the target.

    Example: ``await OutputVerifier()(problem, "Answer: [(4, 1), (2, 3)]")``. Raises :class:`VerifierError` where the target
    is no literal.
    """

    async def __call__(self, problem: Problem, answer: str) -> Verdict:
        """Judge ``answer`` against ``problem.target``."""
        wanted = read_literal(problem.target)
        if wanted is None:
            raise VerifierError(f"the target {problem.target[:80]!r} of problem {problem.id} is no Python literal")
        found = spellings(answer)
        if not found:
            return Verdict(correct=False, extracted=None, why="no final answer; expected a line 'Answer: <literal>'")
        if isinstance(wanted[0], str) and any(text == wanted[0] and read_literal(text) is None for text in found):
            return Verdict(correct=True, extracted=shown(found[0]))
        values = [(text, value) for text in found if (value := read_literal(text)) is not None]
        for text, value in values:
            if _same(wanted[0], value[0]):
                return Verdict(correct=True, extracted=shown(text))
        said = shown(values[0][0] if values else found[0])
        return Verdict(correct=False, extracted=said, why=f"{said} is not {shown(problem.target)}")


def spellings(answer: str) -> list[str]:
    """Spellings of the one final answer: its last box, else its JSON, else what stands behind the last "Answer:".

    Example: ``spellings("So it is 4.\\nAnswer: [4]") == ["[4]", "[4]"]``; there are none where nothing is marked.
    """
    text = without_thinking(answer)
    if text is None:
        return []
    if found := last_boxed(text):
        return [found]
    written = json_answer(text)
    if written is not None:
        # A text of its own, between its quotes: an empty one is the empty string.
        return list(dict.fromkeys(written)) if written[0] else ["''"]
    before, mark, rest = text.rpartition("Answer:")
    found = "" if mark else anchored(text)
    if read_literal(found) is not None:
        return [found]
    line = _first_line(rest if mark else after_anchor(text))
    if mark and before.endswith("**"):
        line = line.removeprefix("**").strip() if line.startswith("**") else line.removesuffix("**").strip()
    bare = line.strip("*_` ")
    literals = [spelling for spelling in (bare, bare.rstrip(".")) if read_literal(spelling) is not None]
    if literals:
        return [line, *literals]
    found = found or line.strip("`").strip()
    return [found] if found else []


def _first_line(text: str) -> str:
    """The first line that is not empty, or all of a fenced block that the text starts with."""
    fence = _FENCE.match(text)
    return fence[1].strip() if fence else text.strip().partition("\n")[0].strip()


def read_literal(text: str) -> tuple[Any] | None:
    """The value of a Python literal, in a tuple of its own, so that None can be a value; None where ``text`` is no literal.

    Example: ``read_literal("[1, 2]") == ([1, 2],)``.
    """
    if len(text) > MAX_LITERAL_CHARS:
        return None
    tree = parse_expression(text.strip())
    try:
        return None if tree is None else (ast.literal_eval(tree),)
    except (ValueError, TypeError, MemoryError, RecursionError):
        return None


def _same(one: Any, other: Any) -> bool:
    if type(one) is not type(other):
        return False
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, dict):
        # 1 and True are one key to Python, so the keys' types are compared as well.
        return {(type(key), key) for key in one} == {(type(key), key) for key in other} and all(
            _same(one[key], other[key]) for key in one
        )
    if isinstance(one, set):
        return {(type(item), item) for item in one} == {(type(item), item) for item in other}
    return bool(one == other)
