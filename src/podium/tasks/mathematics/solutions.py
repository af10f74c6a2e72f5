r"""Which numbers a statement is about: ``x < 0 \text{ or } x > 1`` is two intervals, ``x < 0 \text{ and } x > 1`` is nothing.

The parser makes the same list of "x < 0 and x > 1", "x < 0 or x > 1" and "x < 0, x > 1". What joins them is read here: "and"
is what both allow, "or" is what one of them allows, and a comma is "and", unless that leaves nothing: then it is a list of
cases. For worker processes. Left out: conditions on several variables, which stay what the parser makes of them.
"""

import re
from typing import Any

import sympy
from latex2sympy2_extended.logic import And
from sympy.core.relational import Relational

from podium.tasks.mathematics.formulas import plain, prepared, read_formula

_RELATION = re.compile(r"[<>≤≥≠]|\\(?:le|ge|leq|geq|leqslant|geqslant|lt|gt|ne|neq)(?![a-zA-Z])")
_OR = re.compile(r"\\(?:text|mathrm|mbox) ?\{[ ,]*or *\}|\\(?:lor|vee)(?![a-zA-Z])|(?<![a-zA-Z\\])or(?![a-zA-Z])")
_AND = re.compile(r"\\(?:text|mathrm|mbox) ?\{[ ,]*and *\}|\\(?:land|wedge)(?![a-zA-Z])|(?<![a-zA-Z\\])and(?![a-zA-Z])")
_COMPLEX = frozenset("zw")
"""Names that are mostly those of complex numbers: |z| <= 2 is a disk."""
_COMMA = re.compile(r"[,;](?![^()\[\]{}]*[)\]}])")


def read_solutions(text: str, tree: Any) -> tuple[Any, Any]:
    """The set of numbers that ``text``, of which the parser made ``tree``, allows its variable, and the variable.

    ``(tree, None)`` where it is anything but conditions on one variable. Example: of "x > 1, x < 3" it is the interval from 1
    to 3, and x.
    """
    if not _RELATION.search(text):
        return _evaluated(tree), None
    cases = _OR.split(prepared(text))
    parts = [_AND.split(case) for case in cases]
    listed = [[_COMMA.split(part) for part in case] for case in parts]
    if len(cases) == 1 and len(parts[0]) == 1 and len(listed[0][0]) == 1:
        return _allowed(tree) or (tree, None)
    found = [[[_allowed(read_formula(each)) for each in part if each.strip()] for part in case] for case in listed]
    flat = [each for case in found for part in case for each in part]
    names = {each[1] for each in flat if each is not None} - {None}
    if not flat or None in flat or len(names) != 1:
        return tree, None
    return sympy.Union(*(sympy.Intersection(*(_listed(part) for part in case)) for case in found)), names.pop()


def joined_otherwise(gold: str, answer: str) -> bool:
    """Whether two texts join conditions, one by "and" and one by "or". Example: ``x > 0 and y > 0`` and ``x > 0 or y > 0``."""
    if not _RELATION.search(gold) or not _RELATION.search(answer):
        return False
    return {(bool(_AND.search(text)), bool(_OR.search(text))) for text in (gold, answer)} == {(True, False), (False, True)}


def is_disk(tree: Any) -> bool:
    """Whether ``tree`` is a condition on the distance of what is mostly a complex number: |z - i| <= 2."""
    distances = tree.atoms(sympy.Abs) if isinstance(tree, Relational) else ()
    return any(name.name in _COMPLEX for distance in distances for name in distance.free_symbols)


def _evaluated(tree: Any) -> Any:
    """``tree``, where it is made of sets of numbers, as the set that it comes to."""
    if not isinstance(tree, sympy.Complement | sympy.Intersection | sympy.Union) or tree.free_symbols:
        return tree
    return tree.func(
        *(sympy.FiniteSet(*part.args) if isinstance(part, sympy.FiniteSet) else _evaluated(part) for part in tree.args)
    )


def _listed(parts: Any) -> Any:
    sets = [allowed for allowed, _ in parts]
    met = sympy.Intersection(*sets)
    return sympy.Union(*sets) if met is sympy.S.EmptySet else met


def _allowed(tree: Any) -> tuple[Any, Any] | None:
    """The numbers that one condition allows, and its variable; for an interval without a variable; None for anything else."""
    if isinstance(tree, sympy.Interval):
        return tree, None
    if isinstance(tree, And):
        parts = [_allowed(part) for part in tree._unsorted_args]
        names = {part[1] for part in parts if part is not None}
        if None in parts or len(names) != 1:
            return None
        return sympy.Intersection(*(part[0] for part in parts if part is not None)), names.pop()
    if not isinstance(tree, Relational):
        return None
    if isinstance(tree.rhs, sympy.Symbol):
        tree = tree.reversed
    tree = tree.reversed if isinstance(tree.rhs, sympy.Abs) else tree
    if isinstance(tree.lhs, sympy.Abs):
        return _near(tree)
    name, end = tree.lhs, tree.rhs
    if not isinstance(name, sympy.Symbol) or not isinstance(end, sympy.Expr) or not end.is_comparable:
        return None
    below, above = sympy.Interval(-sympy.oo, end, True, True), sympy.Interval(end, sympy.oo, True, True)
    point = sympy.FiniteSet(end)
    allowed = {
        sympy.Eq: point,
        sympy.Ne: sympy.Union(below, above),
        sympy.Lt: below,
        sympy.Gt: above,
        sympy.Le: sympy.Union(below, point),
        sympy.Ge: sympy.Union(above, point),
    }
    return allowed[type(tree)], name


def _near(tree: Any) -> tuple[Any, Any] | None:
    """What a condition on a distance, such as |x - 1| <= 2, allows; None where it is not that of one variable from a number."""
    inside, end = plain(tree.lhs.args[0]), plain(tree.rhs)
    names = inside.free_symbols
    if len(names) != 1 or not isinstance(end, sympy.Expr) or not end.is_comparable:
        return None
    (name,) = names
    if is_disk(tree):
        return None
    line = sympy.Poly(inside, name) if inside.is_polynomial(name) else None
    if line is None or line.degree() != 1 or not all(each.is_comparable for each in line.all_coeffs()):
        return None
    slope, start = line.all_coeffs()
    ends = sorted(((-start - end) / slope, (-start + end) / slope), key=lambda each: float(sympy.N(each)))
    within = sympy.Interval(*ends) if end.is_nonnegative else sympy.S.EmptySet
    inner = sympy.Interval.open(*ends) if end.is_positive else sympy.S.EmptySet
    allowed = {
        sympy.Le: within,
        sympy.Lt: inner,
        sympy.Ge: sympy.S.Reals - inner,
        sympy.Gt: sympy.S.Reals - within,
        sympy.Eq: within - inner,
        sympy.Ne: sympy.S.Reals - (within - inner),
    }
    return allowed[type(tree)], next(iter(tree.lhs.free_symbols))
