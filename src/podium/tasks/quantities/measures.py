r"""A number as it was printed: its value, how exact its digits say it is, and the unit behind it.

"50.7 atm" is 50.7 with a last digit worth 0.1, so it stands for everything from 50.65 to 50.75. An integer without a unit
is a count and exact; so are fractions and closed forms (``\sqrt{493}``). Units of science are read in their LaTeX
(``\mathrm{kJ} \mathrm{~mol}^{-1}``); what they mean is for ``units.py``.
"""

import re
from dataclasses import dataclass, replace
from fractions import Fraction

from podium.tasks.quantities import arithmetic
from podium.tasks.quantities.arithmetic import MINUS
from podium.tasks.quantities.equations import last_side
from podium.tasks.quantities.numbers import MAX_EXPONENT, MAX_NUMBER_CHARS
from podium.tasks.quantities.unit_table import Unit
from podium.tasks.quantities.units import read_unit

MAX_RELATIVE = Fraction(5, 100)
"""No gold answer is so coarse that more than 5 % off is right: one digit ("0.03") would allow 17 %."""
MIN_SIGNIFICANT = 3
"""Digits an answer needs to be right by rounding the gold answer to *its* digits."""
_NOISE = Fraction(1, 10**9)
"""Relative: what floats lose in evaluating a closed form."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """Example: "-1.0 x 10^2 J" is ``Measure(value=-100, last_digit=10, significant=2, unit="J")``."""

    value: Fraction
    last_digit: Fraction = Fraction(0)
    """What one step in the last printed digit is worth, in the measure's own unit; 0 where no digits are printed."""
    significant: int = 0
    """Printed digits, leading zeros not counted; 0 where no digits are printed."""
    counted: bool = False
    """Whether it is an integer without a unit: 12 eggs are not 12.3 eggs."""
    evaluated: bool = False
    """Whether it is a closed form that a float stands for."""
    unit: str = ""


def read_measure(text: str) -> Measure | None:
    r"""The one number, and its unit, that ``text`` is; None where it is anything else.

    Of an equation the right side counts where the left is a name (``equations.py``).
    Examples: ``read_measure("P \\approx 50.7 \\mathrm{~atm}")`` is 50.7
    atm; ``read_measure("1800\\pi")`` is 5654.86...; ``read_measure("4.4, 13.3")`` is None.
    """
    if len(text) > MAX_NUMBER_CHARS or _INEQUALITY.search(text):
        return None
    stated = last_side(text)
    if stated is None:
        return None
    # "\\$" is money and "$" the border of a formula: the first becomes a sign of its own.
    side = _ABOUT_EQUAL.split(stated.replace("\\$", _DOLLAR))[-1].strip(" $\t\n.*`\"'")
    side = _ABOUT.sub("", side)
    printed = _PRINTED.match(MINUS.sub("-", side))
    if printed is not None:
        rest = side[printed.end() :]
        unit = _plain_unit(rest)
        if unit is not None and (currency := printed["currency"]):
            unit = unit or currency.replace(_DOLLAR, "$")
        if unit is not None:
            return _measure(printed, unit)
    return _closed_form(side)


def same_measure(gold: Measure, found: Measure) -> bool | None:
    """Whether ``found`` is ``gold``, to the digits that ``gold`` is printed with; None where the units can not be compared.

    Right is what rounds to the gold answer: at most half its last digit away, and never more than 5 %. An answer with fewer
    digits than the gold answer is right if it has at least three and the gold answer rounds to it. Example: 50.68 is
    50.7 and so is 50.7 itself; 50.6 is not; 0.0588 is 0.05882352941.
    """
    scaled = _in_unit_of(gold, found)
    return None if scaled is None else any(_close(gold, one) for one in scaled)


def _close(gold: Measure, found: Measure) -> bool:
    away = abs(gold.value - found.value)
    noise = max(abs(gold.value), Fraction(1)) * _NOISE if gold.evaluated or found.evaluated else Fraction(0)
    if away <= noise:
        return True
    # Of 0.0 it can not be said how large the rest may be, so it is 0: the bound below is then 0 as well.
    bound = abs(gold.value) * MAX_RELATIVE
    if gold.counted:
        return away == 0
    if away <= min(gold.last_digit / 2, bound):
        return True
    coarser = found.significant >= MIN_SIGNIFICANT and found.last_digit > gold.last_digit
    return coarser and away <= min(found.last_digit / 2, bound)


def _in_unit_of(gold: Measure, found: Measure) -> list[Measure] | None:
    """``found`` in the unit of ``gold``: one or two readings; none where the units do not fit; None where who knows."""
    mine, theirs = _label(gold.unit), _label(found.unit)
    if mine == theirs:
        return [found]
    if not mine or not theirs:
        # A bare number is in the asked unit; a percent sign may also be worth 1/100.
        if {mine, theirs} == {_PER_CENT, ()}:
            return [found, _scaled(found, Fraction(100) if mine else Fraction(1, 100))]
        return [found]
    unit, other = read_unit(gold.unit), read_unit(found.unit)
    if unit is None or other is None:
        # Units that no table knows: "KJ mol^-1" is "kj/mol". For known ones the case tells MW from mW.
        return [found] if _label(gold.unit.casefold()) == _label(found.unit.casefold()) else None
    if unit.dimension != other.dimension:
        return []
    return [_converted(found, other, unit)]


def _converted(found: Measure, unit: Unit, wanted: Unit) -> Measure:
    scaled = _scaled(found, unit.scale / wanted.scale)
    return replace(scaled, value=scaled.value + (unit.offset - wanted.offset) / wanted.scale)


def _scaled(found: Measure, factor: Fraction) -> Measure:
    return replace(found, value=found.value * factor, last_digit=found.last_digit * factor, counted=False, unit="")


_DOLLAR = "¤"
_ABOUT_EQUAL = re.compile(r"≈|≃|\\approx(?![a-zA-Z])|\\simeq(?![a-zA-Z])|\\cong(?![a-zA-Z])")
_INEQUALITY = re.compile(r"[<>≤≥≠±]|\\(?:le|ge|leq|geq|lt|gt|ne|neq|pm)(?![a-zA-Z])")
_ABOUT = re.compile(r"^(?:about|approximately|approx\.?|roughly|around|~|\\sim(?![a-zA-Z]))\s*", re.IGNORECASE)
_PRINTED = re.compile(
    r"(?P<sign>[-+]?)\s*(?P<currency>[$€£¥¤]?)\s*"
    r"(?:(?P<whole>[0-9]{1,3}(?:(?:,|\{,\}|\\,)[0-9]{3})+|[0-9]+)(?P<point>\.[0-9]*)?|(?P<only>\.[0-9]+))"
    r"(?:[eE](?P<e>[-+]?[0-9]{1,4})(?![0-9])"
    r"|\s*(?:\\times|\\cdot|×|·|x|\*)\s*10\s*\^\s*(?:\{\s*(?P<braced>[-+]?[0-9]{1,4})\s*\}|(?P<bare>[-+]?[0-9]{1,4})))?"
)
_WRAP = re.compile(r"\\(?:mathrm|text|textrm|mbox|operatorname|rm|mathit|textit|mathbf)(?![a-zA-Z])\s*")
_DIRECTION = re.compile(r"\\(?:hat|vec)\s*\{[^{}]*\}")
_WRAPPED = re.compile(r"\\(?:mathrm|text|textrm|mbox|operatorname)\s*\{([^{}]*)\}")
_FRACTION_OF_UNITS = re.compile(r"\\[dt]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}")
_UNIT_TEXT = re.compile(r"[a-zA-ZµμΩ°%Å$€£¥/·*^0-9\s().²³⁻¹-]*")
_UNIT_SIGN = re.compile(r"[a-zA-ZµμΩ°%Å$€£¥]")
_UNIT_SIGNS = (
    ("\\%", "%"),
    ("\\Omega", "Ω"),
    ("\\mu", "µ"),
    ("\\cdot", "·"),
    ("\\times", "·"),
    ("\\AA", "Å"),
    ("\\circ", "°"),
    ("\\degree", "°"),
    ("\\alpha", "alpha"),
    ("\u2212", "-"),
)


def _plain_unit(text: str) -> str | None:
    """``text`` as a unit in plain letters, powers behind "^"; None where it is no unit at all but more of a formula."""
    touches, written = text[:1].isalpha(), text
    if any(text.count(opening) != text.count(closing) for opening, closing in ("{}", "()")):
        return None
    for sign, plain in _UNIT_SIGNS:
        text = text.replace(sign, plain)
    text = _FRACTION_OF_UNITS.sub(r"\1/\2", _WRAPPED.sub(r" \1 ", text))
    text = _WRAP.sub(" ", _DIRECTION.sub("", text)).replace("\\,", " ").replace("\\;", " ").replace("\\ ", " ").replace("~", " ")
    text = text.replace("{", " ").replace("}", " ").replace("$", " ").replace(_DOLLAR, "$")
    text = re.sub(r"\s*\^\s*°", "°", text)
    text = re.sub(r"\s*\^\s*(-?)\s*([0-9])", r"^\1\2", text)
    text = re.sub(r"µ\s+(?=[a-zA-Z])", "µ", text)
    text = re.sub(r"°\s*(?=[CF]\b)", "°", " ".join(text.split())).strip(" .,;")
    if text and not _UNIT_SIGN.search(text):
        return None
    if not _UNIT_TEXT.fullmatch(text) or text[:1] in set("^/*-+.") or re.match(r"\(?[0-9]", text):
        return None
    if re.search(r"(?<![\^-])\b[0-9]", re.sub(r"\^-?[0-9]", "", text)):
        return None  # a second number
    words = re.findall(r"[a-zA-Z]+", text)
    # One letter as it is spelled: N is newton and n a variable.
    if any((word if len(word) == 1 else word.lower()) in _NO_UNITS for word in words):
        return None
    # 3R^2 and 2ab are formulas: letters that no table knows are a label only as a word of its own, or set as text.
    if words and "\\" not in written and (touches or any(len(word) == 1 for word in words)) and read_unit(text) is None:
        return None
    return text


# Behind a number these make a formula, several numbers, or a sentence.
_NO_UNITS = frozenset(
    {"or", "and", "to", "pi", "sqrt", "frac", "sin", "cos", "tan", "ln", "log", "exp", "x", "y", "z", "i", "n", "infty"}
    | {"not", "plus", "minus", "is", "are", "if", "but", "than", "factorial"}
)


def _measure(printed: re.Match[str], unit: str) -> Measure | None:
    whole, point = printed["whole"] or "", printed["point"] or printed["only"] or ""
    digits = re.sub(r"[^0-9]", "", whole)
    exponent = int(printed["e"] or printed["braced"] or printed["bare"] or 0)
    if abs(exponent) > MAX_EXPONENT:
        return None
    scale = Fraction(10) ** exponent
    value = Fraction(f"{digits or 0}{point if len(point) > 1 else ''}") * scale
    scientific = printed.end("bare") >= 0 or printed.end("braced") >= 0 or printed["e"] is not None
    # "12" is a count; "12 J", "12.0" and "1.2e1" are measured.
    measured = len(point) > 1 or scientific or _label(unit) not in _COUNTED
    return Measure(
        value=-value if printed["sign"] == "-" else value,
        last_digit=scale / 10 ** (len(point) - 1 if point else 0),
        counted=not measured,
        significant=len((digits + point.replace(".", "")).lstrip("0")),
        unit=unit,
    )


def _closed_form(text: str) -> Measure | None:
    tree = arithmetic.parse(text)
    if tree is None:
        # The unit stands behind the last closing brace, digit or constant: "\frac{1}{17} \Omega".
        head = _HEAD.match(text)
        unit = _plain_unit(text[head.end() :]) if head else None
        tree = arithmetic.parse(head[0]) if head and unit else None
        if tree is None or unit is None:
            return None
    else:
        unit = ""
    value = arithmetic.value(tree)
    if value is None:
        return None
    over = tree.op == "/" and all(arg.op == "number" for arg in tree.args) and tree.args[1].number
    exact = tree.args[0].number / over if over else None
    whole = exact is not None and exact.denominator == 1
    return Measure(value=Fraction(value) if exact is None else exact, evaluated=exact is None, counted=whole, unit=unit)


_HEAD = re.compile(r".*(?:[0-9)}]|\\pi|π)(?=\s*(?:\\(?:mathrm|text|Omega|mu|,|%| )|[a-zA-ZΩµ°%~]))", re.DOTALL)


def _label(unit: str) -> tuple[tuple[str, int], ...]:
    """The words of a unit with their powers, in one order: the same for "kJ mol^-1" and "kJ/mol"."""
    powers: dict[str, int] = {}
    over = 1
    for word, power, divided in _LABEL_WORD.findall(unit):
        if divided or word == "per":
            over = -1
        else:
            name = _LABEL_NAMES.get(word, word)
            powers[name] = powers.get(name, 0) + over * int(power or 1)
    return tuple(sorted(powers.items()))


_LABEL_WORD = re.compile(r"([a-zA-ZµμΩ%Å$€£¥°]+)(?:\^(-?[0-9]))?|(/)")
_LABEL_NAMES = {"percent": "%", "degrees": "°", "degree": "°", "deg": "°", "dollars": "$", "dollar": "$", "μ": "µ"}
_PER_CENT = (("%", 1),)
_COUNTED = (_PER_CENT, (("$", 1),), ())
