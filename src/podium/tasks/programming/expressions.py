"""A small evaluator for the expressions in test asserts: plain data, bounded arithmetic, a few functions, and calls.

The results of a hostile program take part in the expressions, so every operation is bounded in time and memory, and nothing
is ever given to ``eval``. What it does not know, :func:`is_known` says before anything is run.
"""

import ast
import math
import operator
from collections.abc import Awaitable, Callable, Iterator
from fractions import Fraction
from typing import Any

from podium.tasks.inside.plain import Opaque
from podium.tasks.programming.values import MAX_CHOSEN, MAX_HASHED, chosen, same_value, shown

Caller = Callable[[str, list[Any], dict[str, Any]], Awaitable[Any]]
"""Calls an entry of the program with arguments and returns its result."""

MAX_BITS = 100_000
"""Of an integer that is computed here; also elements of a sequence."""
MAX_DIGITS = 1_000
"""That a number is rounded to."""
_CALLABLE: dict[str, Callable[..., Any]] = {
    **{f.__name__: f for f in (abs, all, any, bool, float, int, len, list, max, min, sorted, str, tuple)},
    "set": lambda *parts: set(_hashable(*parts)),
    "frozenset": lambda *parts: frozenset(_hashable(*parts)),
    "dict": lambda *pairs, **named: dict(_hashable(*pairs), **named),
    "round": lambda number, *digits: round(number, *_small(*digits)),
    "sum": lambda numbers, *start: sum(_numbers(numbers), *_numbers(start)),
    **{f"math.{f.__name__}": f for f in (math.isclose, math.fabs, math.floor, math.ceil, math.sqrt, math.isnan, math.isinf)},
}
_CONSTANTS = {"math.pi": math.pi, "math.e": math.e, "math.inf": math.inf, "math.nan": math.nan}
_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: lambda a, b: _identical(a, b),
    ast.IsNot: lambda a, b: not _identical(a, b),
    ast.In: lambda a, b: a in b,
    ast.NotIn: lambda a, b: a not in b,
}
_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
}
_KNOWN = (*(ast.List, ast.Tuple, ast.Set, ast.Dict, ast.UnaryOp, ast.BinOp, ast.BoolOp, ast.Compare, ast.Subscript, ast.Slice),)


class NotReadHere(Exception):
    """An expression that this evaluator does not know, or work beyond its bounds. Never leaves this folder."""


class Evaluator:
    """Evaluates one expression; every operation is bounded, because the program's results take part in it."""

    def __init__(self, call: Caller, entries: dict[str, str]) -> None:
        self._call, self._entries = call, entries
        self.seen = ""
        """The last result of the program, in words."""

    async def value(self, node: ast.expr) -> Any:
        """The value of ``node``. Raises :class:`NotReadHere`, what ``call`` raises, and the errors that Python would raise."""
        match node:
            case ast.Constant():
                return node.value
            case ast.List() | ast.Tuple() | ast.Set():
                parts = [await self.value(part) for part in node.elts]
                return (
                    parts
                    if isinstance(node, ast.List)
                    else tuple(parts)
                    if isinstance(node, ast.Tuple)
                    else set(_hashable(parts))
                )
            case ast.Dict():
                keys = [await self.value(key) for key in node.keys if key is not None]
                return dict(zip(keys, [await self.value(value) for value in node.values], strict=True))
            case ast.Name() | ast.Attribute():
                return _CONSTANTS[ast.unparse(node)]
            case ast.UnaryOp():
                return _unary(node.op, await self.value(node.operand))
            case ast.BinOp():
                return _binary(node.op, await self.value(node.left), await self.value(node.right))
            case ast.BoolOp():
                return await self._bool(node)
            case ast.Compare():
                return await self._compare(node)
            case ast.Subscript():
                return (await self.value(node.value))[await self._index(node.slice)]
            case ast.Call():
                return await self._called(node)
        raise NotReadHere(type(node).__name__)

    async def _bool(self, node: ast.BoolOp) -> Any:
        result: Any = None
        for part in node.values:
            result = await self.value(part)
            if bool(result) is isinstance(node.op, ast.Or):
                break
        return result

    async def _compare(self, node: ast.Compare) -> bool:
        left_node, left = node.left, await self.value(node.left)
        for op, right_node in zip(node.ops, node.comparators, strict=True):
            right = await self.value(right_node)
            if isinstance(op, ast.Eq | ast.NotEq):
                # The expected side is the one without a call, whichever way the assert is written.
                swapped = self._tests(right_node) and not self._tests(left_node)
                want, have = (left, right) if swapped else (right, left)
                holds = same_value(want, have, as_json=False) is isinstance(op, ast.Eq)
            else:
                holds = _COMPARE[type(op)](left, right)
            if not holds:
                return False
            left_node, left = right_node, right
        return True

    async def _index(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Slice):
            parts = [None if part is None else await self.value(part) for part in (node.lower, node.upper, node.step)]
            return slice(*parts)
        return await self.value(node)

    async def _called(self, node: ast.Call) -> Any:
        args = [await self.value(arg) for arg in node.args]
        kwargs = {str(keyword.arg): await self.value(keyword.value) for keyword in node.keywords}
        name = ast.unparse(node.func)
        if name in self._entries:
            if any(isinstance(arg, Opaque) for arg in _parts([*args, *kwargs.values()])):
                raise NotReadHere("an object of the program among the arguments")
            result = await self._call(self._entries[name], args, kwargs)
            self.seen = f": {self._entries[name]} returned {shown(result)}"
            return result
        if any(isinstance(arg, Opaque) and arg.parts is None for arg in args) and name != "bool":
            raise TypeError(f"{name} of an object")
        return _CALLABLE[name](*args, **kwargs)

    def _tests(self, node: ast.expr) -> bool:
        """Whether the program under test is called in ``node``."""
        return any(isinstance(part, ast.Call) and ast.unparse(part.func) in self._entries for part in ast.walk(node))


def is_known(node: ast.expr, entries: dict[str, str]) -> bool:
    """Whether the evaluator knows all of the expression."""
    match node:
        case ast.Call():
            name = ast.unparse(node.func)
            named = all(keyword.arg for keyword in node.keywords)
            args = [*node.args, *(keyword.value for keyword in node.keywords)]
            return named and (name in entries or name in _CALLABLE) and all(is_known(arg, entries) for arg in args)
        case ast.Name() | ast.Attribute():
            return ast.unparse(node) in _CONSTANTS
        case ast.Constant():
            return True
        case ast.Dict() if None in node.keys:
            return False
        case ast.BinOp() if type(node.op) not in _BINARY:
            return False
        case ast.Starred() | ast.NamedExpr() | ast.Lambda() | ast.IfExp() | ast.JoinedStr():
            return False
    if not isinstance(node, _KNOWN):
        return False
    return all(is_known(part, entries) for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr))


def _hashable(values: Any = ()) -> dict[Any, Any] | list[Any]:
    """The parts of a set or a dictionary, unless they are too many: equal hashes take time that grows with their square."""
    parts: dict[Any, Any] | list[Any] = values if isinstance(values, dict) else list(values)
    if len(parts) > MAX_HASHED or (len(parts) > MAX_CHOSEN and chosen(list(parts)) > MAX_CHOSEN):
        raise NotReadHere("a set or a dictionary too large to be made on the host")
    return parts


def _small(*digits: Any) -> tuple[Any, ...]:
    """The digits to round to: ``round(5, -10**9)`` computes the power."""
    if any(isinstance(number, int) and abs(number) > MAX_DIGITS for number in digits):
        raise NotReadHere("rounding to very many digits")
    return digits


def _numbers(values: Any) -> list[Any]:
    """The values to add up. Each of many lists would be copied once for every one behind it; fractions grow with each."""
    numbers = list(values)
    if any(isinstance(number, list | tuple | Fraction) for number in numbers):
        raise NotReadHere("a sum of lists or fractions")
    return numbers


def _unary(op: ast.unaryop, value: Any) -> Any:
    if isinstance(op, ast.Not):
        return not value
    return -value if isinstance(op, ast.USub) else +value if isinstance(op, ast.UAdd) else ~value


def _parts(values: list[Any]) -> Iterator[Any]:
    """The values and all that the lists among them hold; objects are only ever made by calls, so no other container counts."""
    for value in values:
        yield value
        if isinstance(value, list | tuple):
            yield from _parts(list(value))


def _identical(left: Any, right: Any) -> bool:
    """``is``, which holds for constants; numbers and texts that were sent over can not be identical, only of one type."""
    return left is right or (type(left) is type(right) and isinstance(left, int | float | str) and bool(left == right))


def _binary(op: ast.operator, left: Any, right: Any) -> Any:
    if isinstance(op, ast.Mod) and isinstance(left, str | bytes):
        raise NotReadHere("text formatting")
    if isinstance(op, ast.Mult | ast.Pow | ast.Div | ast.FloorDiv | ast.Mod) and _size(op, left, right) > MAX_BITS:
        raise NotReadHere("a result beyond bounds")
    return _BINARY[type(op)](left, right)


def _size(op: ast.operator, left: Any, right: Any) -> int:
    """An upper bound on the bits, or the elements, of a product or a power."""
    if isinstance(left, int) and isinstance(right, int):
        return left.bit_length() * abs(right) if isinstance(op, ast.Pow) else left.bit_length() + right.bit_length()
    if isinstance(op, ast.Pow) and isinstance(left, int | Fraction) and isinstance(right, int | Fraction):
        return (left.numerator.bit_length() + left.denominator.bit_length()) * (abs(right.numerator) // right.denominator + 1)
    for many, times in ((left, right), (right, left)):
        if isinstance(many, str | bytes | bytearray | list | tuple) and isinstance(times, int):
            return len(many) * abs(times)
    return 0
