"""The examples that a question gives, read as tests: doctests, asserts, ``add(1, 2) == 3``, and blocks of input and output.

Three forms are read. Of the first two every example becomes one ``assert``:

- Python that the question begins with or fences: its doctests, and its start (imports and such) for the program to stand behind;
- lines ``assert ...``, and calls with literal arguments next to a literal: ``add(1, 2) => 3``, ``add(1, 2) should return 3``;
- a block headed ``Input``, followed by one headed ``Output``: what the program reads and has to print.

What can not be read is left out: an example is a test only where there is no doubt what it says. Nothing is executed here, and
the question is hostile: the work is bounded by its length and by :data:`MOST_EXAMPLES`.
"""

import ast
import doctest
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from podium.tasks.programming.assertions import called_names
from podium.tasks.programming.code import fenced_blocks
from podium.tasks.programming.target import AssertTests, StdinCase
from podium.tasks.syntax import parse_module

MOST_EXAMPLES = 40
MOST_CHARACTERS = 100_000
"""Of a question; in a longer one no examples are looked for."""
_MOST_PARSES = 12
_MOST_PARSED = 4 * MOST_CHARACTERS
"""Characters that are parsed in search of asserts, a thousand counted for each attempt besides."""
_ASSERT = re.compile(r"^[ \t]*(assert\s.*)$", re.MULTILINE)
_SAYS = re.compile(
    r"\s*(?:==>|=>|->|➞|→|➔|==|#\s*=>|#\s*->|(?:should|must|will|would)\s+(?:be|return|give|output)|returns?|gives|outputs?|is)\s*:?\s*"
)
_HEAD = r"^[ \t#*>-]*+(?:(?:sample|example)s?\s++)?{}s?+\s*+\d*+\s*+:?+[ \t*-]*+$"
"""Nothing in it is taken back: a line of blanks would be divided among its parts in every possible way."""
_INPUT = re.compile(_HEAD.format("input"), re.IGNORECASE)
_OUTPUT = re.compile(_HEAD.format("output"), re.IGNORECASE)
_END = re.compile(r"^[ \t#*-]*(?:note|explanation|constraints?|examples?|samples?|(?:input|output)\s+format)\b.*$", re.IGNORECASE)
_OPERATOR = re.compile(r"[-+*/%=<>^](?!\w)|[-+*/%]\d")
"""Behind a literal it says that the value is still to be worked out."""
_LONGEST_CALL = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class Examples:
    """What a question shows. Example: ``read_examples(">>> add(1, 2)\\n3").asserts == ("assert add(1, 2) == 3",)``."""

    prelude: str = ""
    """The start of the program, as far as the question gives it: it stands in front of the answer."""
    names: frozenset[str] = frozenset()
    """The functions that the question gives the start of, which an answer completes."""
    asserts: tuple[str, ...] = ()
    cases: tuple[StdinCase, ...] = ()

    def __len__(self) -> int:
        return len(self.asserts) + len(self.cases)

    @property
    def wanted(self) -> frozenset[str]:
        """Names of which a program that answers the question defines one."""
        return self.names or (frozenset(called_names(AssertTests(asserts=self.asserts))) if self.asserts else frozenset())


def read_examples(question: str, defined: Collection[str] = ()) -> Examples:
    """The examples in ``question``; ``defined`` are functions of the program that answers it, which examples may call."""
    if len(question) > MOST_CHARACTERS:
        return Examples()
    question = question.replace("\r\n", "\n")
    prelude, names = _start(question)
    entries = names or frozenset(defined)
    found = [*_asserts(question), *_doctests(question, entries), *_said(question, entries)]
    asserts = tuple(dict.fromkeys(found))[:MOST_EXAMPLES]
    cases = () if asserts else tuple(_cases(question))[:MOST_EXAMPLES]
    return Examples(prelude=prelude, names=names, asserts=asserts, cases=cases)


def _start(question: str) -> tuple[str, frozenset[str]]:
    """The Python that the question gives the start of, and the functions in it that have no body yet."""
    paragraphs = question.split("\n\n")
    texts = [*fenced_blocks(question)[:_MOST_PARSES]]
    texts += ["\n\n".join(paragraphs[:end]) for end in range(len(paragraphs), max(0, len(paragraphs) - _MOST_PARSES), -1)]
    left = MOST_CHARACTERS
    for text in texts:
        left -= len(text)
        if left < 0:
            break
        tree = parse_module(text)
        stubs = () if tree is None else tuple(node for node in tree.body if _is_stub(node))
        if stubs:
            return text, frozenset(node.name for node in stubs if isinstance(node, ast.FunctionDef))
    return "", frozenset()


def _is_stub(node: ast.stmt) -> bool:
    return isinstance(node, ast.FunctionDef) and all(
        isinstance(part, ast.Pass) or (isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant)) for part in node.body
    )


def _asserts(question: str) -> Iterator[str]:
    lines, left = question.split("\n"), _MOST_PARSED
    for number, line in enumerate(lines):
        if not _ASSERT.match(line):
            continue
        for end in range(number + 1, min(len(lines), number + 10) + 1):
            text = "\n".join(lines[number:end]).strip()
            left -= 1000 + len(text)
            if left < 0:
                return
            tree = parse_module(text)
            if tree is not None and len(tree.body) == 1 and isinstance(tree.body[0], ast.Assert):
                if (spelled := _spelled(tree.body[0])) is not None:
                    yield spelled
                break


def _doctests(question: str, entries: Collection[str]) -> Iterator[str]:
    if ">>>" not in question:
        return
    try:
        # The quotes around a docstring are no part of the last value in it.
        found = doctest.DocTestParser().get_examples(question.replace('"""', "\n\n").replace("'''", "\n\n"))
    except ValueError:  # the prompts are not indented as doctest wants them
        return
    for example in found[:MOST_EXAMPLES]:
        call = _call(example.source.strip(), entries)
        if call is not None and (value := _literal(example.want.strip())) is not None:
            yield f"assert {call} == {value}"


def _said(question: str, entries: Collection[str]) -> Iterator[str]:
    """Calls with the value they should have next to them, on one line."""
    if not entries:
        return
    begins = re.compile(r"(?<![\w.])(?:" + "|".join(re.escape(name) for name in sorted(entries)) + r")\(")
    for number, begin in enumerate(begins.finditer(question)):
        if number == MOST_EXAMPLES:
            return
        end = _closed(question, begin.end())
        says = None if end is None else _SAYS.match(question, end)
        if end is None or says is None or "\n" in says[0].strip(" \t"):
            continue
        call = _call(question[begin.start() : end], entries)
        rest = question[says.end() :].partition("\n")[0][:_LONGEST_CALL]
        if call is not None and (value := _first_literal(rest)) is not None:
            yield f"assert {call} == {value}"


def _closed(text: str, start: int) -> int | None:
    """Behind the parenthesis that closes the one before ``start``; None where there is none nearby."""
    depth, quote, position = 1, "", start
    while position < min(len(text), start + _LONGEST_CALL):
        character = text[position]
        if quote:
            if character == "\\":
                position += 1
            elif character == quote:
                quote = ""
        elif character in "\"'":
            quote = character
        elif character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
            if depth == 0:
                return position + 1
        position += 1
    return None


def _call(source: str, entries: Collection[str]) -> str | None:
    """``source`` in one spelling, where it is a call of one of ``entries`` with literal arguments."""
    tree = parse_module(source)
    if tree is None or len(tree.body) != 1 or not isinstance(tree.body[0], ast.Expr):
        return None
    call = tree.body[0].value
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or (entries and call.func.id not in entries):
        return None
    arguments = [*call.args, *(keyword.value for keyword in call.keywords)]
    return _spelled(call) if all(_is_literal(argument) for argument in arguments) else None


def _first_literal(text: str) -> str | None:
    """The longest literal that ``text`` begins with: ``"3 since 1 + 2 is 3"`` begins with 3, ``"3 - 2 = 1"`` with none."""
    cuts = [len(text), *(match.start() for match in re.finditer(r"[ .,;#(]|$", text))]
    for cut in sorted(set(cuts), reverse=True)[-40:]:
        if (value := _literal(text[:cut].strip().rstrip(".,;"))) is not None:
            return None if _OPERATOR.match(text[cut:].lstrip()) else value
    return None


def _literal(text: str) -> str | None:
    """``text`` in one spelling, where it is a Python literal."""
    tree = parse_module(text) if text else None
    if tree is None or len(tree.body) != 1 or not isinstance(tree.body[0], ast.Expr):
        return None
    return _spelled(tree.body[0].value) if _is_literal(tree.body[0].value) else None


def _spelled(node: ast.AST) -> str | None:
    """``node`` in one spelling; None where it is nested deeper than Python itself can write down."""
    try:
        return ast.unparse(node)
    except RecursionError:
        return None


def _is_literal(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False
    return True


def _cases(question: str) -> Iterator[StdinCase]:
    lines, number = question.split("\n"), 0
    while number < len(lines):
        number += 1
        if not _INPUT.match(lines[number - 1]):
            continue
        given, after = _block(lines, number)
        if after < len(lines) and _OUTPUT.match(lines[after]):
            printed, number = _block(lines, after + 1)
            if printed.strip():
                yield StdinCase(stdin=given, stdout=printed)


def _block(lines: list[str], start: int) -> tuple[str, int]:
    """The lines from ``start`` on, to the next heading, fences left out, and the number of that heading."""
    kept: list[str] = []
    fence = ""
    for number in range(start, len(lines)):
        line = lines[number]
        if line.strip().startswith("```"):
            if fence:
                return "\n".join([*kept, ""]), _next(lines, number + 1)
            fence, kept = "```", []
        elif not fence and (_INPUT.match(line) or _OUTPUT.match(line) or _END.match(line)):
            return "\n".join([*kept, ""]).lstrip("\n"), number
        elif not fence and not line.strip() and any(text.strip() for text in kept):
            return "\n".join([*kept, ""]).lstrip("\n"), _next(lines, number)
        else:
            kept.append(line)
    return "\n".join([*kept, ""]).lstrip("\n"), len(lines)


def _next(lines: list[str], number: int) -> int:
    """The number of the next line that says something."""
    while number < len(lines) and not lines[number].strip():
        number += 1
    return number
