r"""One quantity in several units: "1 hour 30 minutes" is 90 minutes, "5 ft 6 in" is 66 inches, "5 dollars and 50 cents" is $5.50.

The units must be of one dimension, each smaller than the one before, and none may hold enough for one more of the unit before
it: "1 hour and 90 minutes" is not read. Only the last number may have a fraction. Left out: units that are not in a table,
signs (``5'6"``), degrees with minutes of arc.
"""

import re
from dataclasses import replace
from fractions import Fraction

from podium.tasks.extraction import IN_TEXT
from podium.tasks.quantities.numbers import MAX_NUMBER_CHARS, Quantity, read_quantity
from podium.tasks.quantities.unit_table import Unit
from podium.tasks.quantities.units import read_unit

_SPACE = re.compile(r"\\[,;:! ]|[~$\s]+")
_PARTS = re.compile(r"(?:and )?(?P<part>[0-9][0-9.,]* ?[a-zA-Z]{1,12}\.?)(?:,? |$)")
_DEGREES = re.compile(r"\\circ|°")


def read_compound(text: str) -> Quantity | None:
    r"""The quantity that ``text`` gives in several units, in the last of them; None where it is anything else.

    Example: ``read_compound(r"1 \text{ hour and } 30 \text{ minutes}")`` is 90 minutes; of "1 hour" and "5 feet 3 kg" it is None.
    """
    if len(text) > MAX_NUMBER_CHARS or _DEGREES.search(text):
        return None
    plain = " ".join(_SPACE.sub(" ", IN_TEXT.sub(r" \1 ", text)).split()).strip(" .")
    total, before, last = Fraction(0), None, None
    at = 0
    while at < len(plain):
        found = _PARTS.match(plain, at)
        if found is None:
            return None
        last, unit = _part(found["part"])
        if last is None or unit is None or not (before is None or _fits(before, last, unit)):
            return None
        if found.end() < len(plain) and last.number.denominator != 1:
            return None
        total, before, at = total + last.number * unit.scale, unit, found.end()
    if last is None or before is None or total == last.number * before.scale:
        return None
    return replace(last, number=total / before.scale, mixed=True)


def _part(text: str) -> tuple[Quantity | None, Unit | None]:
    quantity = read_quantity(text)
    unit = read_unit(quantity.unit) if quantity is not None and not quantity.count and not quantity.symbol else None
    return quantity, unit if unit is not None and unit.dimension and not unit.offset else None


def _fits(before: Unit, part: Quantity, unit: Unit) -> bool:
    return unit.dimension == before.dimension and part.number * unit.scale < before.scale
