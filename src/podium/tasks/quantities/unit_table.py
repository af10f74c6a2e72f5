"""Our own units: SI with prefixes, the common units of school and trade, money, angles, percent.

They go first, because here a pound is a mass and a calorie has 4184 joules per thousand. The long tail (torr, psi, slugs)
is in ``pint_units.py``; what a compound such as km/h means is for ``units.py``.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import pi

Dimension = tuple[tuple[str, int], ...]
"""Base units and their powers, by name; () is a pure number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """A dimension and a size: ``number * scale + offset`` is the quantity in base units (m, g, s, A, K, mol, cd, rad, $ ...).

    Example: km/h is ``Unit(dimension=(("m", 1), ("s", -1)), scale=Fraction(5, 18))``.
    """

    dimension: Dimension
    scale: Fraction = Fraction(1)
    offset: Fraction = Fraction(0)
    """Other than 0 for degrees Celsius and Fahrenheit only, where they stand alone."""


_PREFIXES = {"T": 12, "G": 9, "M": 6, "k": 3, "h": 2, "d": -1, "c": -2, "m": -3, "µ": -6, "μ": -6, "n": -9, "p": -12}
_PREFIX_NAMES = dict(
    zip(
        ("tera", "giga", "mega", "kilo", "hecto", "deci", "centi", "milli", "micro", "nano", "pico"),
        (12, 9, 6, 3, 2, -1, -2, -3, -6, -9, -12),
        strict=True,
    )
)


def dimension_of(powers: dict[str, int]) -> Dimension:
    """``powers`` of base units in one order. Example: ``dimension_of({"s": -1, "m": 1})`` is ``(("m", 1), ("s", -1))``."""
    return tuple(sorted((base, count) for base, count in powers.items() if count))


def _unit(scale: str | int | Fraction = 1, **powers: int) -> Unit:
    return Unit(dimension=dimension_of(powers), scale=Fraction(scale))


# The base of mass is the gram, so that every prefix works alike; a newton is then 1000 g m / s^2.
_SI: dict[str, tuple[tuple[str, ...], Unit]] = {
    # symbol: names, unit; all of them take prefixes
    "m": (("meter", "metre"), _unit(m=1)),
    "g": (("gram",), _unit(g=1)),
    "s": (("second", "sec"), _unit(s=1)),
    "A": (("ampere", "amp"), _unit(A=1)),
    "K": (("kelvin",), _unit(K=1)),
    "mol": (("mole",), _unit(mol=1)),
    "cd": (("candela",), _unit(cd=1)),
    "Hz": (("hertz",), _unit(s=-1)),
    "N": (("newton",), _unit(1000, g=1, m=1, s=-2)),
    "Pa": (("pascal",), _unit(1000, g=1, m=-1, s=-2)),
    "J": (("joule",), _unit(1000, g=1, m=2, s=-2)),
    "W": (("watt",), _unit(1000, g=1, m=2, s=-3)),
    "C": (("coulomb",), _unit(A=1, s=1)),
    "V": (("volt",), _unit(1000, g=1, m=2, s=-3, A=-1)),
    "F": (("farad",), _unit("0.001", g=-1, m=-2, s=4, A=2)),
    "Ω": (("ohm",), _unit(1000, g=1, m=2, s=-3, A=-2)),
    "T": (("tesla",), _unit(1000, g=1, s=-2, A=-1)),
    "H": (("henry",), _unit(1000, g=1, m=2, s=-2, A=-2)),
    "Wb": (("weber",), _unit(1000, g=1, m=2, s=-2, A=-1)),
    "L": (("liter", "litre"), _unit("0.001", m=3)),
    "eV": (("electronvolt",), _unit(Fraction("1.602176634e-16"), g=1, m=2, s=-2)),
    "bar": (("bar",), _unit(10**8, g=1, m=-1, s=-2)),
    "cal": (("calorie",), _unit(4184, g=1, m=2, s=-2)),
    "rad": (("radian",), _unit(rad=1)),
    "Wh": (("watthour",), _unit(3_600_000, g=1, m=2, s=-2)),
}
_INCH, _POUND, _GALLON = Fraction("0.0254"), Fraction("453.59237"), Fraction("0.003785411784")
_OTHERS: dict[str, Unit] = {
    **dict.fromkeys(("min", "minute"), _unit(60, s=1)),
    **dict.fromkeys(("h", "hr", "hour"), _unit(3600, s=1)),
    "day": _unit(86400, s=1),
    "week": _unit(7 * 86400, s=1),
    **dict.fromkeys(("year", "yr"), _unit(int(365.25 * 86400), s=1)),
    "month": _unit(month=1),
    **dict.fromkeys(("in", "inch", "inche"), _unit(_INCH, m=1)),
    **dict.fromkeys(("ft", "foot", "feet"), _unit(12 * _INCH, m=1)),
    **dict.fromkeys(("yd", "yard"), _unit(36 * _INCH, m=1)),
    **dict.fromkeys(("mi", "mile"), _unit(63360 * _INCH, m=1)),
    **dict.fromkeys(("å", "angstrom"), _unit("1e-10", m=1)),
    **dict.fromkeys(("lb", "pound"), _unit(_POUND, g=1)),
    **dict.fromkeys(("oz", "ounce"), _unit(_POUND / 16, g=1)),
    "ton": _unit(2000 * _POUND, g=1),
    "tonne": _unit(10**6, g=1),
    **dict.fromkeys(("acre",), _unit(6272640 * _INCH**2, m=2)),
    **dict.fromkeys(("ha", "hectare"), _unit(10_000, m=2)),
    **dict.fromkeys(("gal", "gallon"), _unit(_GALLON, m=3)),
    **dict.fromkeys(("qt", "quart"), _unit(_GALLON / 4, m=3)),
    **dict.fromkeys(("pt", "pint"), _unit(_GALLON / 8, m=3)),
    "cup": _unit(_GALLON / 16, m=3),
    "l": _unit("0.001", m=3),
    "ml": _unit("0.000001", m=3),
    "cc": _unit("0.000001", m=3),
    "mph": _unit(63360 * _INCH / 3600, m=1, s=-1),
    **dict.fromkeys(("kph", "kmh", "kmph"), _unit(Fraction(5, 18), m=1, s=-1)),
    **dict.fromkeys(("atm", "atmosphere"), _unit(101_325_000, g=1, m=-1, s=-2)),
    "mmhg": _unit("133322.387415", g=1, m=-1, s=-2),
    "kwh": _unit(3_600_000_000, g=1, m=2, s=-2),
    **dict.fromkeys(("degree", "deg", "°"), _unit(Fraction(pi) / 180, rad=1)),
    "%": _unit("0.01"),
    **dict.fromkeys(("percent", "pct"), _unit("0.01")),
    **dict.fromkeys(("$", "dollar", "usd", "buck"), _unit(dollar=1)),
    **dict.fromkeys(("cent", "penny", "pennie", "¢"), _unit("0.01", dollar=1)),
    **dict.fromkeys(("€", "euro", "eur"), _unit(euro=1)),
    **dict.fromkeys(("£", "gbp"), _unit(sterling=1)),
    **dict.fromkeys(("¥", "yen"), _unit(yen=1)),
    **dict.fromkeys(("₹", "rupee"), _unit(rupee=1)),
}
_CELSIUS = Unit(dimension=(("K", 1),), offset=Fraction("273.15"))
_FAHRENHEIT = Unit(dimension=(("K", 1),), scale=Fraction(5, 9), offset=Fraction("459.67") * 5 / 9)
TEMPERATURES = {
    **dict.fromkeys(("°c", "degrees c", "degree c", "celsius", "degrees celsius", "degree celsius"), _CELSIUS),
    **dict.fromkeys(("°f", "degrees f", "degree f", "fahrenheit", "degrees fahrenheit", "degree fahrenheit"), _FAHRENHEIT),
}
_SYMBOLS = {symbol: unit for symbol, (_, unit) in _SI.items()}
_NAMES = {name: unit for names, unit in _SI.values() for name in names}


def names_of(symbol: str) -> tuple[str, ...]:
    """The names of the unit with this SI symbol, or of the hour; none where there is none. Example: ``names_of("s")``."""
    return ("hour",) if symbol == "h" else _SI[symbol][0] if symbol in _SI else ()


def find_unit(word: str) -> Unit | None:
    """What one word names: a symbol as it is spelled, or a name in any case, one or many; None where neither.

    Examples: ``find_unit("km")``, ``find_unit("Kilometers")``; ``find_unit("eggs")`` is None.
    """
    if word in _SYMBOLS:
        return _SYMBOLS[word]
    lower = word.lower()
    for name in (lower, lower.removesuffix("s")):
        if name in _NAMES:
            return _NAMES[name]
        if name in _OTHERS:
            return _OTHERS[name]
        for prefix, power in _PREFIX_NAMES.items():
            if name.startswith(prefix) and name.removeprefix(prefix) in _NAMES:
                return _scaled(_NAMES[name.removeprefix(prefix)], power)
    if word[:1] in _PREFIXES and word[1:] in _SYMBOLS:
        return _scaled(_SYMBOLS[word[1:]], _PREFIXES[word[0]])
    return None


def _scaled(unit: Unit, power: int) -> Unit:
    return Unit(dimension=unit.dimension, scale=unit.scale * Fraction(10) ** power)
