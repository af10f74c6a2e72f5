"""Which program does an answer propose? The last fenced block that parses as Python and does something.

A block does something if any of its statements is more than a bare value: ``7`` and ``["a"]`` parse too, and are the sample
output that many answers end with. Where the tests name what they call, the last block that defines it is preferred, because
many answers end with a usage example. Blocks marked as another language count only where no other block is a program.
An answer without any fence is a program if all of it is one. Thinking is not part of the answer.

Nothing is executed here, and all work is linear in the answer. Left out: joining blocks, repairing code.
"""

import ast
import re
import textwrap
from collections.abc import Iterator
from typing import NamedTuple

from podium.tasks.extraction import without_thinking
from podium.tasks.syntax import parse_module

MAX_BLOCKS = 50
"""How many blocks, from the end, are looked at."""

_FENCE = re.compile(r"(?P<indent>[ \t>]{0,40})(?P<fence>`{3,}|~{3,})[ \t]*(?P<info>[^`\n]*)")
_LINE = re.compile(r"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+$")
_PYTHON = ("", "python", "py", "python3", "py3", "python2", "ipython", "code", "solution")


class _Block(NamedTuple):
    language: str
    text: str


def extract_code(answer: str, defines: frozenset[str] = frozenset()) -> str | None:
    """The program that ``answer`` proposes, or None where there is none.

    ``defines`` are top-level names of which the program should define one. Example: of an answer with the blocks
    ``def add(a, b): ...``, ``print(add(1, 2))`` and ``3``, the second is taken, and with ``defines={"add"}`` the first.
    """
    text = without_thinking(answer)
    if text is None:
        return None
    text = text.replace("\r\n", "\n")
    blocks = list(_blocks(text))
    if not blocks:
        return text if _defined(text) is not None else None
    found: list[_Block] = []
    for block in blocks[: -MAX_BLOCKS - 1 : -1]:
        names = _defined(block.text)
        if names is None:
            continue
        if block.language in _PYTHON and (not defines or names & defines):
            return block.text
        found.append(block)
    if not found:
        return None
    return next((block for block in found if block.language in _PYTHON), found[0]).text


def fenced_blocks(text: str) -> list[str]:
    """The fenced blocks of ``text`` that may be Python, in order."""
    return [block.text for block in _blocks(text.replace("\r\n", "\n")) if block.language in _PYTHON]


def defined_names(code: str) -> set[str]:
    """The names that a program binds at its top level. Example: ``defined_names("def add(a, b): ...") == {"add"}``."""
    return _defined(code) or set()


def with_prelude(prelude: str, code: str) -> str:
    """``code`` with ``prelude`` in front of it, but behind its ``from __future__`` lines, which must come first.

    Example: ``with_prelude("import math", "from __future__ import annotations\\nx = math.pi")``.
    """
    tree = parse_module(code)
    if not prelude.strip() or tree is None:
        return code
    last = 0
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module == "__future__":
            last = node.end_lineno or last
    lines = _LINE.findall(code)  # as Python counts them; splitlines would also split at a form feed
    return "".join([*lines[:last], "" if not last or lines[last - 1].endswith("\n") else "\n", prelude, "\n", *lines[last:]])


def _blocks(text: str) -> Iterator[_Block]:
    """All fenced blocks in order; one that is not closed goes to the end."""
    fence, indent, language = "", "", ""
    lines: list[str] = []
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        if not fence:
            if mark:
                fence, indent, lines = mark["fence"], mark["indent"], []
                language = (mark["info"].split() or [""])[0].strip("{}.:,").lower()
        elif mark and mark["fence"].startswith(fence) and not mark["info"].strip():
            yield _Block(language, textwrap.dedent("\n".join(lines)))
            fence = ""
        else:
            lines.append(line.removeprefix(indent))
    if fence:
        yield _Block(language, textwrap.dedent("\n".join(lines)))


def _defined(text: str) -> set[str] | None:
    """The names that ``text`` binds at its top level; None where it is no program."""
    tree = parse_module(text)
    if tree is None or all(_is_bare_value(node) for node in tree.body):
        return None
    names: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            names.update(target.id for target in node.targets if isinstance(target, ast.Name))
    return names


def _is_bare_value(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and not any(isinstance(part, ast.Call | ast.Await) for part in ast.walk(node))
