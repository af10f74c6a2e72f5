r"""Arithmetic as people and models write it, plain or in LaTeX, as a tree; never executed, only walked.

    expression   term (("+" | "-") term)*
    term         signed (("*" | "/" | nothing) signed)*
    signed       ("+" | "-")* power
    power        factor "!"* "°"? ("^" signed)?
    factor       number | constant | function power | \frac{..}{..} | \sqrt[..]{..} | "(" expression ")"

Two readings of a tree are needed: :func:`value`, a float, with roots, logarithms and trigonometry (a gold answer of
22.2036 is also ``\sqrt{493}``), and the exact one of ``countdown.py``. Left out: variables, equations, and ``\log``, whose
base is anyone's guess. Texts are hostile: length and depth are bounded and no power is taken that does not fit a float.
"""

import math
import re
from dataclasses import dataclass
from fractions import Fraction

MINUS = re.compile("[\u2010-\u2015\u2212\ufe63\uff0d]")
"""Hyphens, dashes and minus signs, all of which are written for a minus."""
MAX_CHARS = 500
MAX_DEPTH = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A number, or an operation on nodes. Example: 3 * 4 is ``Node(op="*", args=(three, four))``."""

    op: str
    """``number``, a constant (``pi``, ``e``), ``+ - * / ^ ! neg root`` or a function's name."""
    args: tuple["Node", ...] = ()
    number: Fraction = Fraction(0)


def parse(text: str) -> Node | None:
    r"""The tree of ``text``, or None where it is anything but arithmetic.

    Examples: ``parse("1800\\pi")``, ``parse("(8 - 2) × 4")``, ``parse(r"\frac{8}{\sqrt{3}}")``; ``parse("2x")`` is None.
    """
    if len(text) > MAX_CHARS:
        return None
    plain = _plain(text)
    tokens = _TOKEN.findall(plain)
    if not tokens or _TOKEN.sub("", plain).strip():
        return None
    parser = _Parser(tokens)
    try:
        tree = parser.expression(0)
    except _NoArithmeticError:
        return None
    return tree if parser.at == len(tokens) else None


def value(tree: Node) -> float | None:
    """What ``tree`` is worth; None where that is no finite real number.

    Example: ``value(parse("2^0.5"))`` is 1.414...
    """
    try:
        found = _value(tree)
    except (ArithmeticError, ValueError):
        return None
    return found if math.isfinite(found) else None


class _NoArithmeticError(Exception):
    """The text breaks the grammar. Never leaves this file."""


_DROP = re.compile(r"\\(?:left|right|displaystyle|limits)(?![a-zA-Z])|\\[,;:! ]|\\q?quad(?![a-zA-Z])|[$~\s]+|\\[()\[\]]")
_FRAC_DIGITS = re.compile(r"\\frac\s*([0-9])\s*([0-9])")
_DEGREES = re.compile(r"\^\s*(?:\{\s*\\circ\s*\}|\\circ(?![a-zA-Z]))|\\degree(?![a-zA-Z])")
_SIGNS = {
    **dict.fromkeys(("\\cdot", "\\times", "×", "·", "⋅", "∗"), "*"),
    **dict.fromkeys(("\\div", "÷", "∕", "⁄"), "/"),
    "**": "^",
    "\\dfrac": "\\frac",
    "\\tfrac": "\\frac",
    "\\cfrac": "\\frac",
    "√": "\\sqrt",
    "π": "\\pi",
    "²": "^2",
    "³": "^3",
    "{,}": ",",
    "\\lbrack": "[",
    "\\rbrack": "]",
}
_SIGN = re.compile(r"\\(?:cdot|times|div|dfrac|tfrac|cfrac|lbrack|rbrack)(?![a-zA-Z])|\*\*|\{,\}|[×·⋅∗÷∕⁄√π²³]")
_TOKEN = re.compile(
    r"(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.[0-9]*)?(?:[eE][-+]?[0-9]{1,3})?|\.[0-9]+(?:[eE][-+]?[0-9]{1,3})?"
    r"|\\?[a-zA-Z]+|[-+*/^!°(){}\[\]]"
)
_CLOSING = {"(": ")", "{": "}", "[": "]"}
_FUNCTIONS = {
    "sin": math.sin,
    "cos": math.cos,
    "tan": math.tan,
    "arcsin": math.asin,
    "arccos": math.acos,
    "arctan": math.atan,
    "sinh": math.sinh,
    "cosh": math.cosh,
    "tanh": math.tanh,
    "ln": math.log,
    "exp": math.exp,
}
_CONSTANTS = {"pi": math.pi, "e": math.e}


def _plain(text: str) -> str:
    text = _DEGREES.sub("°", _SIGN.sub(lambda sign: _SIGNS[sign[0]], MINUS.sub("-", text)))
    return _DROP.sub(" ", _FRAC_DIGITS.sub(r"\\frac{\1}{\2}", text)).strip()


class _Parser:
    """One walk over the tokens, from left to right; ``at`` is the next one."""

    def __init__(self, tokens: list[str]) -> None:
        self._tokens = tokens
        self.at = 0

    def expression(self, depth: int) -> Node:
        if depth > MAX_DEPTH:
            raise _NoArithmeticError
        left = self._term(depth)
        while self._next() in {"+", "-"}:
            op = self._take()
            left = Node(op=op, args=(left, self._term(depth)))
        return left

    def _term(self, depth: int) -> Node:
        left = self._signed(depth)
        while True:
            op = self._next()
            if op in {"*", "/"}:
                self._take()
                left = Node(op=op, args=(left, self._signed(depth)))
            elif op and op not in "+-^!°)}]" and not (op[0] in "0123456789." and self._tokens[self.at - 1][-1].isdigit()):
                left = Node(op="*", args=(left, self._power(depth)))  # 2\pi, 3(4 + 5); never "2 3"
            else:
                return left

    def _signed(self, depth: int) -> Node:
        negative = False
        while self._next() in {"+", "-"}:
            negative ^= self._take() == "-"
        tree = self._power(depth)
        return Node(op="neg", args=(tree,)) if negative else tree

    def _power(self, depth: int) -> Node:
        tree = self._factor(depth + 1)
        while self._next() == "!":
            self._take()
            tree = Node(op="!", args=(tree,))
        if self._next() == "°":
            self._take()
            tree = Node(op="degrees", args=(tree,))
        if self._next() == "^":
            self._take()
            if depth > MAX_DEPTH:
                raise _NoArithmeticError
            tree = Node(op="^", args=(tree, self._signed(depth + 1)))
        return tree

    def _factor(self, depth: int) -> Node:
        token = self._take()
        if token[0] in "0123456789.":
            return Node(op="number", number=Fraction(token.replace(",", "")))
        if token in _CLOSING:
            tree = self.expression(depth)
            if self._take() != _CLOSING[token]:
                raise _NoArithmeticError
            return tree
        name = token.removeprefix("\\")
        if name == "frac":
            return Node(op="/", args=(self._braced(depth), self._braced(depth)))
        if name == "sqrt":
            two = Node(op="number", number=Fraction(2))
            index = self._factor(depth + 1) if self._next() == "[" else two
            return Node(op="root", args=(self._factor(depth + 1), index))
        if name in _CONSTANTS:
            return Node(op=name)
        if name in _FUNCTIONS and depth <= MAX_DEPTH:
            return Node(op=name, args=(self._power(depth + 1),))
        raise _NoArithmeticError

    def _braced(self, depth: int) -> Node:
        if self._next() != "{":
            raise _NoArithmeticError
        return self._factor(depth + 1)

    def _next(self) -> str:
        return self._tokens[self.at] if self.at < len(self._tokens) else ""

    def _take(self) -> str:
        token = self._next()
        if not token:
            raise _NoArithmeticError
        self.at += 1
        return token


def _value(tree: Node) -> float:
    if tree.op == "number":
        return float(tree.number)
    if tree.op in _CONSTANTS:
        return _CONSTANTS[tree.op]
    args = [_value(arg) for arg in tree.args]
    if tree.op in _FUNCTIONS:
        return _FUNCTIONS[tree.op](args[0])
    match tree.op, args:
        case "+", [a, b]:
            return a + b
        case "-", [a, b]:
            return a - b
        case "*", [a, b]:
            return a * b
        case "/", [a, b]:
            return a / b
        case "^", [a, b]:
            return math.pow(a, b)
        case "neg", [a]:
            return -a
        case "degrees", [a]:
            return math.radians(a)
        case "root", [a, n]:
            return math.sqrt(a) if n == 2 else math.pow(a, 1 / n)
        case "!", [a] if a == int(a) and 0 <= a <= 170:
            return float(math.factorial(int(a)))
    raise ValueError(f"{tree.op} of {args} is no number")
