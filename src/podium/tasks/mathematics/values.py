r"""Are two expressions the same? Their values at several points decide; nothing is simplified.

Two expressions are the same where their values agree to 25 digits, relatively, at every point where the gold answer has one.
That decides at once what ``simplify`` may ponder for minutes (``x^{2n}`` and ``(x^n)^2``), and has no smallest difference:
2^-99 is not 2^-98.

Which points: first all variables positive, then with signs, because ``\sqrt{x^2}`` is x only where x is not negative. There,
variables in an exponent are whole numbers, so that a power has no branch to choose. Where the gold answer is a real number at
some points, points at which it is none are outside of what it is about, and decide nothing. For worker processes: nothing
here bounds time or memory.
"""

import zlib
from fractions import Fraction
from typing import Any

import sympy
from sympy.core.function import AppliedUndef

from podium.tasks.mathematics.formulas import plain

DIGITS = 40
"""Decimal digits to which values are computed; two that agree to 25 are taken to be one."""

_SIZES = tuple(map(Fraction, ["37/29", "71/113", "11/97", "4001/29", "23/31", "313/89", "17/41", "4001/29"]))
"""About how large the variables are, by point; small ones too, for roots and inverse functions; far out for ``|x + 1|``."""
_POSITIVE = 4
"""So many points, the first, have positive variables."""
_ENOUGH = 2
"""So many points must agree."""


def same_expression(wanted: Any, found: Any) -> bool | None:
    """Whether two expressions are the same; None where their values do not tell, because they have none.

    Example: ``same_expression(x**2 - 1, (x - 1)*(x + 1))`` is True.
    """
    one, other = (_with_functions_as_names(plain(tree)) for tree in (wanted, found))
    if one == other:
        return True
    if _powers_of_nothing(other) - _powers_of_nothing(one):
        return False
    if not one.free_symbols and not other.free_symbols:
        values = (_value(one, {}), _value(other, {}))
        if values[0] is None or values[1] is None:
            return None
        return _same_value(*values) and _is_nothing((one - other).doit(), {})
    points = _points(one, other)
    values_of = [value for point in points if (value := _value(one, point)) is not None and _is_real(value)]
    about_reals = bool(values_of) and not one.has(sympy.I)
    agreed = 0
    for point in points:
        value = _value(one, point)
        if value is None or (about_reals and not _is_real(value)):
            continue
        against = _value(other, point)
        if against is None:
            continue
        if not _same_value(value, against):
            return False
        if not agreed and not _is_nothing(one - other, point):
            return False
        agreed += 1
    return True if agreed >= _ENOUGH else None


def _powers_of_nothing(tree: Any) -> set[Any]:
    """Powers such as 0^n, which are 1 where the exponent is 0 and nothing elsewhere: no point but that one shows them."""
    return {power for power in tree.atoms(sympy.Pow) if power.exp.free_symbols and power.base.is_zero}


def is_multiple(wanted: Any, found: Any) -> bool:
    """Whether ``found`` is a number other than 0 times ``wanted``: then both are 0 for the same values of their variables.

    Example: ``is_multiple(x - y, 2*y - 2*x)`` is True.
    """
    one, other = (_with_functions_as_names(plain(tree)) for tree in (wanted, found))
    ratios = []
    for point in _points(one, other):
        value, against = _value(one, point), _value(other, point)
        if value is None or against is None:
            continue
        if _is_zero(value) or _is_zero(against):
            return False
        ratios.append(value / against)
    return len(ratios) >= _ENOUGH and all(_same_value(ratios[0], ratio) for ratio in ratios)


def evaluate(tree: Any) -> None:
    """Compute ``tree`` at one point, so that one which takes for ever does so now. Example: ``evaluate(x**2)``."""
    tree = plain(tree)
    if isinstance(tree, sympy.Expr):
        _value(tree, _points(tree)[0])


def _with_functions_as_names(tree: Any) -> Any:
    """f(x) is as good as a variable: the same f of the same x is the same."""
    calls = tree.atoms(AppliedUndef)
    return tree.xreplace({call: sympy.Symbol(str(call)) for call in calls}) if calls else tree


def _points(*trees: Any) -> list[dict[Any, Any]]:
    """The points at which ``trees`` are evaluated; the same everywhere."""
    powers = [power for tree in trees for power in tree.atoms(sympy.Pow)]
    exponents = {name for power in powers for name in power.exp.free_symbols}
    # Of what may be negative only whole powers are real, and have no branch to choose.
    whole = {name for power in powers if not power.base.is_positive for name in power.exp.free_symbols}
    names = sorted(set().union(*(tree.free_symbols for tree in trees)), key=lambda symbol: str(symbol.name))
    return [
        {name: sympy.Rational(_coordinate(name.name, number, name in exponents, name in whole)) for name in names}
        for number in range(len(_SIZES))
    ]


def _coordinate(name: str, number: int, is_exponent: bool, is_whole: bool) -> Fraction:
    # Another size and sign for each name and point, so that no two variables keep their ratio.
    spread = zlib.crc32(f"{name} {number}".encode("utf-8", "surrogatepass"))
    positive = number < _POSITIVE
    sign = -1 if not positive and (number in {_POSITIVE, len(_SIZES) - 1} or (spread >> 14) % 2) else 1
    if is_whole and not positive:
        return Fraction(sign * (2 + spread % 4))
    if is_exponent:  # a power of a fraction to a fraction with large terms would be computed exactly
        return Fraction(sign * (3 + 2 * (spread % 5)), 4 if number % 2 else 2)
    return sign * _SIZES[number] * (1 + Fraction(spread % 9973, 9973))


def _value(tree: Any, at: dict[Any, Any]) -> Any | None:
    """The value of ``tree`` at a point, a complex number; None where it has none there."""
    # Substituted while it is evaluated: put in first, fractions would be raised to fractions exactly.
    value = tree.evalf(DIGITS, subs=at) if at else sympy.N(tree, DIGITS)
    if not value.is_number:
        value = sympy.N(tree.subs(at), DIGITS)
    return value if value.is_number and value.is_finite and not value.has(sympy.Function) else None


def _same_value(one: Any, other: Any) -> bool:
    largest = max(abs(one), abs(other))
    return bool(_is_zero(one) and _is_zero(other)) or bool(abs(one - other) <= largest * sympy.Float("1e-25"))


def _is_nothing(difference: Any, at: dict[Any, Any]) -> bool:
    """Whether a difference is 0, also where it is one of a number of a hundred digits: 2^100 - 2 is not 2^100 - 3."""
    value = _value(difference, at)
    return value is None or _is_zero(value) or bool(abs(value) < sympy.Float("1e-60"))


def _is_zero(value: Any) -> bool:
    """Whether nothing of ``value`` is significant: it is 0, or what cancellation has left of it."""
    return all(part == 0 or getattr(part, "_prec", 53) == 1 for part in value.as_real_imag())


def _is_real(value: Any) -> bool:
    real, imaginary = value.as_real_imag()
    return bool(_is_zero(imaginary) or abs(imaginary) <= abs(real) * sympy.Float("1e-25"))
