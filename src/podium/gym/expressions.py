"""A small expression language: the plans and the programs of the gym, read and evaluated without ``exec``.

Integers, variables, quoted words, fact references such as ``legs(spiders)``, ``+ - * // %``, comparisons, ``max min abs``
and ``x if c else y``. A program is one ``def`` that returns one expression. Whatever is outside the language is an
:class:`ExpressionError`, and so is whatever exceeds a bound: expressions come from workers' texts, which are hostile
input. Every bound is checked before the work it bounds is done, so reading and evaluating are linear in a short text.

Left out on purpose: assignments, loops, recursion, floats, powers. A program that needs them is not a gym program.
"""

import operator
import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

MAX_TEXT = 2_000
"""Longest expression read, in characters."""
MAX_TOKENS = 200
"""Longest expression read, in tokens; also bounds the nodes of a tree, and so the time to evaluate it."""
MAX_DEPTH = 40
"""Deepest nesting of parentheses, signs and conditionals."""
MAX_MAGNITUDE = 10**15
"""Largest absolute value of any intermediate result."""

Value = int | str

COMPARISONS = ("<", "<=", "==", "!=", ">", ">=")
CALLS = ("max", "min", "abs")


class ExpressionError(ValueError):
    """The text is not an expression of the language, or exceeds a bound, or can not be evaluated."""


class Node(NamedTuple):
    """One node of a tree. Example: ``a + 2`` is ``Node("+", (Node("name", (), "a"), Node("number", (), 2)))``.

    ``op`` is ``number``, ``name``, ``text``, ``fact`` (leaves, with ``value``), ``neg``, ``if``, a call or an operator.
    """

    op: str
    args: "tuple[Node, ...]" = ()
    value: Value = 0


class Program(NamedTuple):
    """A function of the language. Example: ``def f(a, b): return a + b``."""

    name: str
    parameters: tuple[str, ...]
    body: Node


def number(value: int) -> Node:
    """The tree of an integer; a negative one is a sign and a number, as the parser would read it."""
    return Node("number", (), value) if value >= 0 else Node("neg", (Node("number", (), -value),))


_TOKEN = re.compile(
    r"""\s*(?:
    (?P<number>\d{1,15}(?!\w))
    | (?P<fact>(?!(?:max|min|abs|if|else)\b)[a-z_]+\([A-Za-z][A-Za-z' -]{0,60}\))
    | (?P<name>[A-Za-z_]\w{0,40})
    | (?P<text>"[^"\n]{0,60}"|'[^'\n]{0,60}')
    | (?P<op>//|<=|>=|==|!=|[-+*%<>(),])
    )""",
    re.VERBOSE | re.ASCII,
)
_TYPOGRAPHY = str.maketrans({"×": "*", "·": "*", "−": "-", "–": "-"})  # how people write times and minus
_DEF = re.compile(r"def\s+([A-Za-z_]\w{0,40})\s*\(([^()\n]{0,200})\)\s*(?:->\s*\w+\s*)?:\s*return\b([^\n]*)", re.ASCII)
_PARAMETER = re.compile(r"([A-Za-z_]\w{0,40})\s*(?::\s*int)?", re.ASCII)


def parse(text: str) -> Node:
    """The tree of ``text``. Example: ``parse("2 * (a + 3)")``. Raises :class:`ExpressionError`."""
    if len(text) > MAX_TEXT:
        raise ExpressionError(f"the expression has more than {MAX_TEXT} characters")
    reader = _Reader(_tokens(text.translate(_TYPOGRAPHY).strip()))
    tree = reader.conditional(0)
    if reader.peek() != "":
        raise ExpressionError(f"unexpected {reader.peek()!r} after the expression")
    return tree


def parse_program(text: str) -> Program:
    """The last ``def`` in ``text`` that returns one expression, on the same or on the next line.

    Example: ``parse_program("def f(a, b):\\n    return a + b")``. Raises :class:`ExpressionError`.
    """
    definitions = list(_DEF.finditer(text[-20_000:]))
    if not definitions:
        raise ExpressionError("no function that returns one expression")
    found = definitions[-1]
    parameters = []
    for part in found[2].split(",") if found[2].strip() else ():
        parameter = _PARAMETER.fullmatch(part.strip())
        if parameter is None:
            raise ExpressionError(f"not a parameter: {part.strip()!r}")
        parameters.append(parameter[1])
    return Program(found[1], tuple(parameters), parse(found[3].split("#")[0]))


def evaluate(node: Node, variables: Mapping[str, Value] | None = None, facts: Mapping[str, Value] | None = None) -> Value:
    """The value of a tree; comparisons give 1 or 0.

    ``facts`` maps references to values, e.g. ``{"legs(spiders)": 8}``. Raises :class:`ExpressionError` for an unknown
    variable or fact, a division by zero, a sum over words, and a result beyond :data:`MAX_MAGNITUDE`.
    """
    op, args, value = node
    if op in ("number", "text"):
        return value
    if op in ("name", "fact"):
        known = variables if op == "name" else facts
        if known is None or value not in known:
            raise ExpressionError(f"unknown {op} {value!r}")
        return known[str(value)]
    if op == "if":
        return evaluate(args[1] if evaluate(args[0], variables, facts) else args[2], variables, facts)
    left = evaluate(args[0], variables, facts)
    binary = _BINARY.get(op)
    if binary is not None:
        right = evaluate(args[1], variables, facts)
        if isinstance(left, str) or isinstance(right, str):
            return _compared(op, left, right)
        if op in ("//", "%") and right == 0:
            raise ExpressionError("division by zero")
        result = int(binary(left, right))
    elif op == "neg":
        result = -_integer(left)
    elif op == "abs":
        result = abs(_integer(left))
    else:
        values = [_integer(left), *(_integer(evaluate(arg, variables, facts)) for arg in args[1:])]
        result = max(values) if op == "max" else min(values)
    if not -MAX_MAGNITUDE <= result <= MAX_MAGNITUDE:
        raise ExpressionError("a result is too large")
    return result


def run(program: Program, arguments: tuple[int, ...]) -> int:
    """What the program returns. Raises :class:`ExpressionError` where it has no integer to return."""
    if len(arguments) != len(program.parameters):
        raise ExpressionError(f"{program.name} takes {len(program.parameters)} arguments, not {len(arguments)}")
    return _integer(evaluate(program.body, dict(zip(program.parameters, arguments, strict=True))))


def format_expression(node: Node) -> str:
    """The text of a tree with as few parentheses as it needs: ``parse(format_expression(tree)) == tree``."""
    return _format(node, 0)


def format_program(program: Program) -> str:
    """The text of a program. Example: ``"def f(a, b):\\n    return a + b"``."""
    return f"def {program.name}({', '.join(program.parameters)}):\n    return {format_expression(program.body)}"


def references(node: Node) -> tuple[str, ...]:
    """The fact references of a tree, each once, in order. Example: ``("legs(spiders)",)``."""
    if node.op == "fact":
        return (str(node.value),)
    return tuple(dict.fromkeys(found for arg in node.args for found in references(arg)))


def leaves(node: Node) -> tuple[Node, ...]:
    """The leaves of a tree from left to right."""
    return tuple(leaf for arg in node.args for leaf in leaves(arg)) if node.args else (node,)


def _integer(value: Value) -> int:
    if isinstance(value, str):
        raise ExpressionError(f"{value!r} is not a number")
    return value


def _compared(op: str, left: Value, right: Value) -> int:
    """Words can be equal or not, and nothing else."""
    if op not in ("==", "!="):
        raise ExpressionError(f"{op} does not apply to words")
    return int((left == right) == (op == "=="))


_BINARY: dict[str, Callable[[int, int], int]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "//": operator.floordiv,
    "%": operator.mod,
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    ">=": operator.ge,
}
_PRECEDENCE = {"if": 0, **dict.fromkeys(COMPARISONS, 1), "+": 2, "-": 2, "*": 3, "//": 3, "%": 3, "neg": 4}


def _format(node: Node, outer: int) -> str:
    op, args, value = node
    if not args:
        return f'"{value}"' if op == "text" else str(value)
    if op in CALLS:
        return f"{op}({', '.join(_format(arg, 0) for arg in args)})"
    level = _PRECEDENCE[op]
    if op == "if":
        text = f"{_format(args[1], 1)} if {_format(args[0], 1)} else {_format(args[2], 0)}"
    elif op == "neg":
        text = "-" + _format(args[0], level)
    else:
        # Operators of one level group to the left; comparisons do not chain.
        text = f"{_format(args[0], level + (level == 1))} {op} {_format(args[1], level + 1)}"
    return f"({text})" if level < outer else text


def _tokens(text: str) -> list[str]:
    tokens: list[str] = []
    at = 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            raise ExpressionError(f"not in the language: {text[at : at + 20]!r}")
        tokens.append(found[found.lastgroup or 0])
        at = found.end()
        if len(tokens) > MAX_TOKENS:
            raise ExpressionError(f"the expression has more than {MAX_TOKENS} tokens")
    return tokens


class _Reader:
    """Recursive descent over a token list; ``depth`` counts nesting."""

    def __init__(self, tokens: list[str]) -> None:
        self._tokens = [*tokens, ""]
        self._at = 0

    def peek(self) -> str:
        return self._tokens[self._at]

    def take(self, expected: str = "") -> str:
        token = self._tokens[self._at]
        if token == "" or (expected and token != expected):
            raise ExpressionError(f"expected {expected or 'a value'}, found {token or 'the end'}")
        self._at += 1
        return token

    def conditional(self, depth: int) -> Node:
        if depth > MAX_DEPTH:
            raise ExpressionError(f"the expression is nested deeper than {MAX_DEPTH}")
        first = self.comparison(depth)
        if self.peek() != "if":
            return first
        self.take()
        condition = self.comparison(depth)
        self.take("else")
        return Node("if", (condition, first, self.conditional(depth + 1)))

    def comparison(self, depth: int) -> Node:
        left = self.sum(depth)
        if self.peek() in COMPARISONS:
            left = Node(self.take(), (left, self.sum(depth)))
        return left

    def sum(self, depth: int) -> Node:
        left = self.product(depth)
        while self.peek() in ("+", "-"):
            left = Node(self.take(), (left, self.product(depth)))
        return left

    def product(self, depth: int) -> Node:
        left = self.unary(depth)
        while self.peek() in ("*", "//", "%"):
            left = Node(self.take(), (left, self.unary(depth)))
        return left

    def unary(self, depth: int) -> Node:
        if depth > MAX_DEPTH:
            raise ExpressionError(f"the expression is nested deeper than {MAX_DEPTH}")
        if self.peek() == "-":
            self.take()
            return Node("neg", (self.unary(depth + 1),))
        return self.atom(depth)

    def atom(self, depth: int) -> Node:
        word = self.take()
        if word == "(":
            inner = self.conditional(depth + 1)
            self.take(")")
            return inner
        if word in CALLS:
            return self.call(word, depth)
        if word[0].isdigit():
            return Node("number", (), int(word))
        if word[0] in "\"'":
            return Node("text", (), word[1:-1])
        if word[-1] == ")" and len(word) > 1:
            return Node("fact", (), word)
        if word in ("if", "else") or not (word[0].isalpha() or word[0] == "_"):
            raise ExpressionError(f"expected a value, found {word!r}")
        return Node("name", (), word)

    def call(self, function: str, depth: int) -> Node:
        self.take("(")
        args = [self.conditional(depth + 1)]
        while self.peek() == ",":
            self.take()
            args.append(self.conditional(depth + 1))
        self.take(")")
        if (len(args) == 1) != (function == "abs"):
            raise ExpressionError(f"{function} does not take {len(args)} arguments")
        return Node(function, tuple(args))
