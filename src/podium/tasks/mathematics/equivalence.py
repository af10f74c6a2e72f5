r"""Are two formulas the same? Math-Verify reads them; numbers, tuples, sets, intervals and matrices are compared here.

Expressions are compared by their values (``values.py``). Nothing is rounded: a decimal fraction is the number it spells, so
1.41421 is not the root of 2. Equations are compared as equations, and are no value. What is no expression, equation, tuple,
set, interval or matrix is left to Math-Verify's own comparison.

Where the gold answer is a number, the answer must be one in closed form: no sum, product, integral or limit left to do, and
no function that the gold answer does without (``\arctan 1`` is the question, not the answer, where the gold is ``\pi/4``).

This module is for worker processes (``worker.py``): nothing here bounds time or memory. Left out: units, names,
numerals of another base (``notation.py``).
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import sympy
from latex2sympy2_extended.logic import And
from latex2sympy2_extended.sets import FiniteSet
from math_verify import verify
from sympy.concrete.expr_with_limits import ExprWithLimits
from sympy.core.function import AppliedUndef

from podium.tasks.mathematics.formulas import plain, read_formula, with_case
from podium.tasks.mathematics.pool import Comparison
from podium.tasks.mathematics.solutions import is_disk, joined_otherwise, read_solutions
from podium.tasks.mathematics.values import evaluate, is_multiple, same_expression

Stage = Callable[[str], None]
"""Told ``"answer"`` before the answer is read and evaluated by itself, and ``"compare"`` before the two are compared."""


def compare(
    gold: str, answer: str, *, factor: str = "1", restated: bool = False, enter: Stage = lambda stage: None
) -> Comparison:
    r"""Whether ``factor`` times ``answer`` is ``gold``; both are LaTeX without units.

    ``restated`` says that the answer stands in the question, so that it can not be the number that was asked for. Example:
    ``compare(r"\frac{1}{\sqrt{3}}", r"\frac{\sqrt{3}}{3}").equal`` is True.
    """
    gold, answer = with_case(gold, answer)
    wanted, name = read_solutions(gold, read_formula(gold, gold=True))
    if wanted is None:
        return Comparison(equal=None, why="the gold answer is no formula")
    enter("answer")
    found, other_name = read_solutions(answer, read_formula(answer))
    if isinstance(wanted, FiniteSet) and not isinstance(found, sympy.Set | sympy.Tuple):
        # Several are wanted; what was read as "60,120" may be two numbers.
        found = read_formula(answer.replace(",", ", "))
    if found is None:
        return Comparison(equal=False, why="can not be read as a formula")
    for part in _parts(found):
        if not part.has(*_UNDONE):
            evaluate(part)
    if isinstance(wanted, sympy.Tuple | sympy.Interval) and isinstance(found, FiniteSet) and _BRACES.match(answer):
        return Comparison(equal=False, why="a set, where the order counts")
    enter("compare")
    if (name is not None and other_name is not None and name != other_name) or joined_otherwise(gold, answer):
        return Comparison(equal=False, why="other conditions")
    if restated and isinstance(wanted, sympy.Expr) and not wanted.free_symbols:
        return Comparison(equal=False, why="restates the question")
    if factor != "1" and isinstance(wanted, sympy.Expr) and isinstance(found, sympy.Expr):
        reason = _unfinished(wanted, found) or _expressions(wanted, sympy.Rational(factor) * plain(found))
    else:
        reason = _difference(wanted, found)
    return Comparison(equal=not reason, why=reason)


class _Interval(NamedTuple):
    """From ``start`` to ``end``, which is ``start`` where it is one number."""

    start: Any
    end: Any
    left_open: bool
    right_open: bool


_BRACES = re.compile(r"[\s$]*(?:\\left)?\s*\\[{]")
_RELATIONS = (sympy.core.relational.Relational, And)
_UNDONE = (ExprWithLimits, sympy.Limit, sympy.Derivative)
_TRIGONOMETRIC = {sympy.sin, sympy.cos, sympy.tan, sympy.cot, sympy.sec, sympy.csc}


def _difference(wanted: Any, found: Any) -> str:
    """Why ``found`` is not ``wanted``; "" where it is."""
    wanted, found = _without_name(wanted, found)
    if isinstance(wanted, sympy.Expr) and isinstance(found, sympy.Expr):
        return _unfinished(wanted, found) or _expressions(wanted, found)
    column, other = _entries(wanted), _entries(found)
    if column is not None and other is not None and not isinstance(wanted, FiniteSet):
        return _in_order(column, other)
    if isinstance(wanted, FiniteSet) and isinstance(found, sympy.FiniteSet):
        return _in_any_order(list(wanted.args), list(found.args))
    if isinstance(wanted, FiniteSet) and other is not None:
        return "in an order, where none is asked for"
    if isinstance(wanted, sympy.Eq) and isinstance(found, sympy.Eq):
        # Math-Verify solves both; of y = 2x and y = 3x it then says that they are the same.
        return _equations(wanted, found)
    if isinstance(wanted, sympy.Eq) is not isinstance(found, sympy.Eq):
        return "an equation, not a value" if isinstance(found, sympy.Eq) else "no equation"
    intervals, others = _intervals(wanted), _intervals(found)
    if intervals is not None and others is not None:
        if len(intervals) != len(others):
            return f"{len(others)} intervals, not {len(intervals)}"
        return next((why for pair in zip(intervals, others, strict=True) if (why := _interval(*pair))), "")
    if isinstance(wanted, sympy.MatrixBase) and isinstance(found, sympy.MatrixBase):
        return "another shape" if wanted.shape != found.shape else _in_order(wanted.flat(), found.flat())
    if is_disk(wanted) != is_disk(found):
        return "a disk, where the other is none"
    return "" if verify([wanted], [found], timeout_seconds=None) else "not the same"


def _without_name(wanted: Any, found: Any) -> tuple[Any, Any]:
    """Both without "x =" where only one of them has it."""
    if isinstance(found, sympy.Eq) and not isinstance(wanted, _RELATIONS):
        # x^2 - 1 = 3 is no value, and stays the equation that it is.
        found = found.rhs if _is_assignment(found) else found.lhs if _is_assignment(found.reversed) else found
    elif _is_assignment(wanted) and not isinstance(found, _RELATIONS):
        wanted = wanted.rhs
    if isinstance(found, FiniteSet) and len(found.args) == 1 and isinstance(wanted, sympy.Expr):
        found = found.args[0]
    if isinstance(wanted, FiniteSet) and len(wanted.args) == 1 and isinstance(found, sympy.Expr):
        wanted = wanted.args[0]
    return wanted, found


def _is_assignment(tree: Any) -> bool:
    named = isinstance(tree, sympy.Eq) and isinstance(tree.lhs, sympy.Symbol | AppliedUndef)
    return named and not tree.rhs.has(tree.lhs)  # x = x + 1 says nothing of x


def _unfinished(wanted: Any, found: Any) -> str:
    """Why ``found`` is no answer although its value may be right."""
    if found.has(*_UNDONE) and not wanted.has(*_UNDONE):
        return "leaves a sum, product, integral or limit to do"
    if wanted.free_symbols:
        return ""
    if plain(found).free_symbols - {sympy.Symbol("e")} and not wanted.free_symbols:
        return "is no number"
    if wanted.is_Rational and not _is_literal(found):
        return "leaves arithmetic to do"
    functions = {type(call) for call in found.atoms(sympy.Function)} - {type(call) for call in wanted.atoms(sympy.Function)}
    if wanted.has(sympy.functions.elementary.trigonometric.TrigonometricFunction):
        functions -= _TRIGONOMETRIC
    if functions - {sympy.exp}:
        return "leaves a function to evaluate"
    return ""


def _is_literal(tree: Any) -> bool:
    """Whether ``tree`` is a number as people write it: 5, -3/4, 3 * 10^4, 2^10; no arithmetic is left."""
    if tree.is_Rational or tree.is_Float:
        return True
    if isinstance(tree, sympy.Pow):
        return bool(tree.base.is_Integer and tree.exp.is_Integer)
    if isinstance(tree, sympy.Mul):
        factors = [factor for factor in tree.args if factor not in (1, -1)]
        tens = [factor for factor in factors if isinstance(factor, sympy.Pow) and factor.base == 10]
        under = [factor for factor in factors if isinstance(factor, sympy.Pow) and factor.exp == -1]
        rest = [factor for factor in factors if factor not in tens and factor not in under]
        return len(tens) + len(under) <= 1 and len(rest) <= 1 and all(_is_literal(factor) for factor in (*rest, *under))
    return False


def _expressions(wanted: Any, found: Any) -> str:
    same = same_expression(wanted, found)
    if same is None:
        same = verify([plain(wanted)], [plain(found)], timeout_seconds=None)
    return "" if same else "another value"


def _parts(tree: Any) -> Iterator[Any]:
    """The expressions that ``tree`` is made of."""
    if isinstance(tree, sympy.Expr):
        yield tree
    elif isinstance(tree, sympy.MatrixBase):
        yield from tree.flat()
    elif isinstance(tree, sympy.Set | sympy.Tuple | sympy.logic.boolalg.Boolean):
        for part in tree.args:
            yield from _parts(part)


def _entries(tree: Any) -> Sequence[Any] | None:
    """The entries of a tuple, of a row or column of a matrix, of a list, or of (a, b), which may be a pair."""
    if isinstance(tree, sympy.Tuple):
        return list(tree.args)
    if isinstance(tree, FiniteSet):
        return list(tree._unsorted_args)
    if isinstance(tree, sympy.MatrixBase) and 1 in tree.shape:
        return list(tree.flat())
    if isinstance(tree, sympy.Interval) and tree.left_open and tree.right_open:
        return [tree.start, tree.end]
    return None


def _in_order(wanted: Sequence[Any], found: Sequence[Any]) -> str:
    if len(wanted) != len(found):
        return f"{len(found)} entries, not {len(wanted)}"
    return next((reason for one, other in zip(wanted, found, strict=True) if (reason := _difference(one, other))), "")


def _in_any_order(wanted: list[Any], found: list[Any]) -> str:
    if len(wanted) != len(found):
        return f"{len(found)} elements, not {len(wanted)}"
    left = list(found)
    for one in wanted:
        match = next((other for other in left if not _difference(one, other)), None)
        if match is None:
            return "another element"
        left.remove(match)
    return ""


def _intervals(tree: Any) -> list[_Interval] | None:
    """The intervals of a set of numbers, in order; a number by itself is one, too. A list of intervals is their union."""
    if isinstance(tree, sympy.Interval):
        return [_Interval(tree.start, tree.end, bool(tree.left_open), bool(tree.right_open))]
    if tree is sympy.S.Reals:
        return [_Interval(-sympy.oo, sympy.oo, True, True)]
    if not isinstance(tree, sympy.Union | sympy.FiniteSet):
        return None
    found: list[_Interval] = []
    for part in tree.args:
        point = isinstance(tree, sympy.FiniteSet) and isinstance(part, sympy.Expr)
        inside = [_Interval(part, part, False, False)] if point else _intervals(part)
        if inside is None or not all(each.start.is_comparable for each in inside):
            return None
        found += inside
    return sorted(found, key=lambda each: float(sympy.N(each.start))) or None


def _equations(wanted: Any, found: Any) -> str:
    """Two equations are the same where their sides are, in either order, or differ by a factor that is a number."""
    sides, others = [(plain(tree.lhs), plain(tree.rhs)) for tree in (wanted, found)]
    if not all(isinstance(side, sympy.Expr) for side in (*sides, *others)):
        return "" if verify([wanted], [found], timeout_seconds=None) else "another equation"
    if _is_assignment(wanted) and not sides[1].free_symbols and not (_is_assignment(found) or _is_assignment(found.reversed)):
        return "leaves an equation to solve"
    if any(side.free_symbols or side.atoms(AppliedUndef) for side in (*sides, *others)):
        if is_multiple(sides[0] - sides[1], others[0] - others[1]):
            return ""
        # 0 = 0 and the like have nothing to divide.
        return "" if sides == others else "another equation"
    for pair in (others, others[::-1]):
        if all(same_expression(one, other) for one, other in zip(sides, pair, strict=True)):
            return ""
    return "another equation"


def _interval(wanted: _Interval, found: _Interval) -> str:
    if (wanted.left_open, wanted.right_open) != (found.left_open, found.right_open):
        return "another kind of end"
    return _in_order([wanted.start, wanted.end], [found.start, found.end])
