"""What a unit means: its dimension and its size, and whether two quantities are the same.

The words are looked up in ``unit_table.py``, then in ``pint_units.py``; the grammar around them is here. 5000 m is 5 km and
not 5 m; 90 km/h is 25 m/s. A word in neither table ("eggs") is a label: it has no size, and only a like label fits it. Left
out: exchange rates, calendars (a month has no length), logarithmic units.
"""

import re
from fractions import Fraction

from podium.tasks.quantities.numbers import Quantity
from podium.tasks.quantities.pint_units import find_in_pint
from podium.tasks.quantities.unit_table import TEMPERATURES, Unit, dimension_of, find_unit

MAX_UNIT_CHARS = 100


def read_unit(text: str) -> Unit | None:
    """The unit that ``text`` names; None where any word of it is not in the table.

    Everything behind a "/" or "per" divides. Example: ``read_unit("miles per hour")`` equals ``read_unit("mph")``;
    ``read_unit("eggs")`` is None.
    """
    text = " ".join(text.translate(_SUPERSCRIPTS).split())
    if not text or len(text) > MAX_UNIT_CHARS:
        return None
    if text.lower() in TEMPERATURES:
        return TEMPERATURES[text.lower()]
    words = _WORD.findall(text)
    if _WORD.sub("", text).strip(" .()"):
        return None  # something that is neither a word nor an operator
    powers: dict[str, int] = {}
    scale, over, times, seen = Fraction(1), 1, 1, False
    for index, (word, power) in enumerate(words):
        behind = words[index + 1][0].lower() if index + 1 < len(words) else ""
        if word in {"/", "per"}:
            over = -1
        elif word.lower() in _POWERS_BEFORE:
            times = _POWERS_BEFORE[word.lower()]
        elif word not in {"*", "·"} and word.lower() not in _POWERS_BEHIND:
            unit = find_unit(word) or find_in_pint(word)
            if unit is None:
                return None
            exponent = over * times * int(power or 1) * _POWERS_BEHIND.get(behind, 1)
            scale *= unit.scale**exponent
            for base, count in unit.dimension:
                powers[base] = powers.get(base, 0) + count * exponent
            times, seen = 1, True
    return Unit(dimension=dimension_of(powers), scale=scale) if seen else None


def same_quantity(asked: Quantity, found: Quantity, rel: float | Fraction = 0) -> bool:
    """Whether ``found`` is ``asked``, up to ``rel`` times its size; by default exactly.

    Where one of the two has no unit, it is taken to be in that of the other; a percent sign may then also be worth 1/100,
    so that 50 % is 50 (per cent were asked for) and 0.5. Two units must have one dimension, and their sizes count. Two
    labels fit where their last words do ("right triangles", "triangles"); "units" fits anything.

    Example: 5000 m is 5 km; 5 m, 6 km and 5 apples are not.
    """
    mark, other = _mark(asked, found), _mark(found, asked)
    if mark == other or not mark or not other or _head(mark) == "unit" or _head(other) == "unit":
        if _close(asked.number, found.number, rel):
            return True
        per_cent = {mark, other} == {"%", ""}
        return per_cent and _close(asked.number / (100 if mark else 1), found.number / (100 if other else 1), rel)
    unit, other_unit = read_unit(mark), read_unit(other)
    if unit is None and other_unit is None:
        return _head(mark) == _head(other) and _close(asked.number, found.number, rel)
    if unit is None or other_unit is None or unit.dimension != other_unit.dimension:
        return False
    return _close(asked.number * unit.scale + unit.offset, found.number * other_unit.scale + other_unit.offset, rel)


_SUPERSCRIPTS = str.maketrans({"²": "^2", "³": "^3", "⁴": "^4", "⁻": "^-", "¹": "1", "\u212b": "Å"})
_WORD = re.compile(r"([a-zA-ZÅµμ°Ω$€£¥₹%]+|[/*·])(?:\.? ?\^ ?\{? ?(-?[1-6]) ?\}?)?")
_POWERS_BEFORE = {"square": 2, "sq": 2, "cubic": 3, "cu": 3}
_POWERS_BEHIND = {"squared": 2, "cubed": 3}


def _mark(quantity: Quantity, other: Quantity) -> str:
    """How the unit is written, percent in one way; of "$5 per day" only the money where ``other`` says nothing of days."""
    if quantity.unit.lower() in {"percent", "pct", "percentage"}:
        return "%"
    if quantity.symbol and quantity.unit.startswith("per "):
        return f"{quantity.symbol} {quantity.unit}" if " per " in f" {other.unit}" or "/" in other.unit else quantity.symbol
    return quantity.unit or quantity.symbol


def _close(asked: Fraction, found: Fraction, rel: float | Fraction) -> bool:
    return asked == found if not rel else abs(asked - found) <= Fraction(rel) * abs(asked)


def _head(label: str) -> str:
    """The last word, for one: "triangle" of "right triangles"."""
    word = re.split(r"[\s-]", label.strip(" ()").lower())[-1]
    return word.removesuffix("es") if word.endswith(("ses", "xes", "ches", "shes")) else word.removesuffix("s")
