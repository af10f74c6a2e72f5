"""The long tail of units (torr, psi, hp, furlongs, slugs), out of pint's table: one word at a time, never a whole expression.

Pint is asked for what our own table (``unit_table.py``) does not know. Its parser is not used: it would read a number, a
prefix of anything ("cat" is a hundredth of a technical atmosphere) and constants of nature as units. Left out: single
letters, which are variables more often than units, pure numbers, constants, and units with a zero of their own.
"""

import importlib
import re
from fractions import Fraction
from functools import cache, lru_cache
from typing import Any

from podium.tasks.quantities.unit_table import Unit

_WORD = re.compile(r"[a-zA-ZÅ]{2,24}")
_BASES = {
    "meter": "m",
    "gram": "g",
    "second": "s",
    "ampere": "A",
    "kelvin": "K",
    "mole": "mol",
    "candela": "cd",
    "radian": "rad",
    "bit": "bit",
}
_COUNTS = frozenset({"count", "revolution"})
"""Of these pint makes units; here they are pure numbers, so that a becquerel is 1/s."""
# Words that count things, or name them, more often than they measure.
_EVERYDAY = frozenset(
    {"point", "turn", "count", "hand", "link", "chain", "pole", "perch", "drop", "dot", "pixel", "scan", "cycle", "line"}
    | {"skein", "bag", "bucket", "scruple", "circle", "sphere", "mil", "ell", "em", "pi", "tau", "particle", "faraday"}
)


@lru_cache(maxsize=4096)
def find_in_pint(word: str) -> Unit | None:
    """The unit that one ``word`` names, spelled as pint spells it or in capitals; None where pint knows no such unit.

    Example: ``find_in_pint("torr")`` has the dimension of a pressure; ``find_in_pint("eggs")`` is None.
    """
    if not _WORD.fullmatch(word):
        return None
    found = _known(word)
    return found if found is not None or not word.isupper() else _known(word.lower())


@cache
def _registry() -> Any:
    # Not at the top: reading pint's table takes half a second, which only an unknown unit is worth.
    return importlib.import_module("pint").UnitRegistry(non_int_type=Fraction)


def _known(word: str) -> Unit | None:
    registry = _registry()
    names = [(prefix, unit) for prefix, unit, _ in registry.parse_unit_name(word, case_sensitive=True)]
    if not names:
        return None
    prefix, name = min(names, key=lambda one: len(one[0]))
    # A prefix written as a letter goes with a symbol in capitals only (mSv, kDa), so that "cat" and "pints" are words.
    if name in _EVERYDAY or "constant" in name or (prefix and not word.startswith(prefix) and word[1:2].islower()):
        return None
    if not registry._units[name].is_multiplicative:
        return None  # degrees Celsius, decibels
    scale, root = registry.get_root_units(prefix + name)
    dimension: list[tuple[str, int]] = []
    for base, power in root._units.items():
        if base in _COUNTS:
            continue
        if base not in _BASES or power != int(power):
            return None
        dimension.append((_BASES[base], int(power)))
    return Unit(dimension=tuple(sorted(dimension)), scale=Fraction(scale)) if dimension else None
