"""Reading one number, exactly, with the unit behind it.

0.5, 1/2 and \\frac{1}{2} are one number, 33.33 and 33 1/3 are two; nothing is rounded and nothing is guessed. Left out:
symbolic numbers (``equivalence.py``), what a unit means (``units.py``), intervals, sets.

The text is hostile: every pattern here takes time linear in it, and no number is built that the text did not spell out,
within bounds.
"""

import re
from dataclasses import dataclass, field
from fractions import Fraction

from podium.tasks.extraction import IN_TEXT, MAX_CANDIDATE_CHARS
from podium.tasks.quantities.arithmetic import MINUS
from podium.tasks.quantities.behind import SET_AS_TEXT, read_behind
from podium.tasks.quantities.equations import last_side

MAX_NUMBER_CHARS = 200
MAX_EXPONENT = 400
"""More than a float can hold; ``1e999999999`` would fill the memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """A number and the words behind it. Example: ``Quantity(number=Fraction(9, 2), unit="km")`` for "4.5 km"."""

    number: Fraction
    unit: str = ""
    symbol: str = ""
    """The currency or percent sign it was written with: ``$``, ``€``, ``£``, ``¥``, ``₹``, ``%``."""
    letters: str = field(default="", compare=False)
    """Letters of the unit, or of a scale as in "5k", that may be variables."""
    sure: bool = field(default=True, compare=False)
    """Whether these letters are surely a unit where the question has no such variables."""
    count: str = field(default="", compare=False)
    """The count word that the number was multiplied with, as in "3 dozen", which is 36."""
    mixed: bool = field(default=False, compare=False)
    """Whether it was given in several units, as "1 hour 30 minutes" is."""


def read_quantity(text: str) -> Quantity | None:
    r"""The one number that ``text`` is, exactly, with the unit behind it; None where it is anything else.

    Reads a decimal point, thousands (``1,234``, ``1 234``, ``1{,}234``, ``1'234``), a decimal comma where it can be nothing else
    (``1.234,5``, ``1{,}5``; but ``1.234`` is less than 2, and ``1,5`` is two numbers), a period (``0.\overline{3}``, ``.3̅``,
    ``0.333...``; but ``0.33...`` is 0.33), ``a/b``, ``\frac{a}{b}``, mixed numbers, powers of ten, "million" and the like,
    unicode minus, currency and percent signs. Of a chain of equations the last right-hand side counts (``equations.py``).
    Examples: ``"-$1,234.50"`` is -2469/2; ``"3 + 4 = 7 eggs"`` is 7 with the unit "eggs"; ``"5 or 6"``, ``"5x"``, ``"4x^2"``
    and ``"at least 5"`` are None.
    """
    if len(text) > MAX_CANDIDATE_CHARS:
        return None
    side = last_side(_plain(text))
    if side is None or len(side) > MAX_NUMBER_CHARS:
        return None
    if side.startswith("(") and side.endswith(")"):
        side = side[1:-1].strip()
    prefix = _PREFIX.match(side)
    signs = prefix["sign"] + prefix["inner_sign"] if prefix else ""
    read = _read_number(side, prefix.end() if prefix else 0)
    if read is None or len(signs) > 1:
        return None
    number, end = read
    rest = side[end:]
    behind = read_behind(rest, prose="\\" not in text)
    if behind is None:
        return None
    currency = prefix["currency"] if prefix else ""
    symbol = "%" if rest.lstrip().startswith("%") else currency[:1] or ("$" if rest.lstrip().startswith("$") else "")
    return Quantity(
        number=number * (-behind.scale if signs == "-" else behind.scale),
        unit=behind.unit,
        symbol=symbol,
        letters=behind.letters,
        count=behind.count,
        sure=behind.sure or symbol not in {"", "%"},
    )


_EMPHASIS = re.compile(r"(?<![\w)])(\*{1,3}|_{1,2}|`)([^*_`\s][^*_`]*)\1(?!\w)")
_SPACES = re.compile(r"\\[,;: ]|\\q?quad(?![a-zA-Z])|[~\s\u200b]+")
_DELIMITER = re.compile(r"\\(?:left|right|displaystyle)(?![a-zA-Z])|\\[()\[\]]")
_WORD_START = re.compile(r"(?<![a-zA-Z0-9µμ])(?=[a-zA-ZµμΩÅ])")

_PREFIX = re.compile(
    rf"(?P<sign>[-+]?) ?{SET_AS_TEXT}?(?:(?:US|USD|EUR|GBP)(?![a-zA-Z]))? ?(?P<currency>[$€£¥₹]*) ?(?P<inner_sign>[-+]?) ?"
)
_WHOLE = r"(?:[1-9][0-9]{0,2}(?:,[0-9]{2,3})*,[0-9]{3}|[1-9][0-9]{0,2}(?: [0-9]{3})+(?![0-9])|[0-9]+)"
_DECIMAL = rf"(?:{_WHOLE}(?:\.[0-9]*)?|\.[0-9]+)"
_FRACTION = re.compile(
    rf"(?:(?P<whole>[0-9]+) )?(?P<over>{_WHOLE}) ?/ ?(?P<under>{_WHOLE})(?![0-9.])"
    rf"|(?:(?P<latex_whole>[0-9]+) ?)?\\frac ?(?:\{{ ?(?P<latex_over>-?{_DECIMAL}) ?\}}|(?P<digit_over>[0-9]))"
    rf" ?(?:\{{ ?(?P<latex_under>-?{_DECIMAL}) ?\}}|(?P<digit_under>[0-9]))"
)
# Thousands with an apostrophe; thousands with a point where the comma behind them, or a second point, says so.
_GROUPED = re.compile(
    r"(?:[1-9][0-9]{0,2}(?:['’][0-9]{3})+(?:\.[0-9]+)?|[1-9][0-9]{0,2}(?:\.[0-9]{3})+,[0-9]+|[1-9][0-9]{0,2}(?:\.[0-9]{3}){2,}"
    r"|[1-9][0-9]{0,2}(?: [0-9]{3})+,[0-9]{1,2})(?![0-9.,'’])"
)
_POINT_COMMA = str.maketrans({".": "", " ": "", ",": "."})
DECIMAL_COMMA = re.compile(r"(?<=[0-9])\{,\}(?=(?:[0-9]{1,2}|[0-9]{4,9})(?![0-9{]))")
"""A comma that LaTeX was told not to set as one between two numbers, and that is none between thousands: 3{,}14."""
_REPEATING = re.compile(r"(?P<whole>[0-9]*)\.(?P<once>[0-9]*) ?\\overline ?\{ ?(?P<period>[0-9]+) ?\}")
_GOES_ON = re.compile(
    r"(?<![0-9.,])(?P<start>[0-9]*\.[0-9]*?)(?:(?P<digit>[0-9])(?P=digit){2}|(?P<digits>[0-9]{2,9})(?P=digits))"
    r" ?(?:\.{3}|…|\\[lc]?dots(?![a-zA-Z]))(?! ?[0-9])"
)
"""A decimal fraction that goes on: one digit three times, or several twice, and dots."""
_DOTTED = re.compile(r"(?<=[0-9.])\\dot ?(?:\{ ?(?P<digit>[0-9]) ?\}|(?P<bare>[0-9]))(?!\\dot| ?[0-9])")
_BARRED = re.compile("(?:[0-9][\u0304\u0305])+")
"""Digits with a bar over each of them."""
_BAR = re.compile(r"(?<=[0-9.])\\bar ?(?:\{ ?(?P<period>[0-9]+) ?\}|(?P<digit>[0-9]))")
_CENTS = re.compile(r"\\(?:text)?cent(?![a-zA-Z])|\\(?:text|mathrm|mbox) ?\{ ?¢ ?\}|¢")
_POWER = re.compile(
    rf"(?P<digits>{_DECIMAL})"
    r"(?:[eE](?P<exponent>[-+]?[0-9]{1,9})| ?(?:\\times|\\cdot|×|·|x|\*) ?10 ?\^ ?\{? ?(?P<power>[-+]?[0-9]{1,9}) ?\}?)?"
)


def _plain(text: str) -> str:
    """``text`` without what only decorates a number: LaTeX spacing and delimiters, emphasis, quotes."""
    text = _DOTTED.sub(_overlined, _GOES_ON.sub(_going_on, text))
    text = _CENTS.sub(rf" {SET_AS_TEXT}cents ", _BAR.sub(_overlined, _BARRED.sub(_overlined, text)))
    text = MINUS.sub("-", DECIMAL_COMMA.sub(".", text)).replace("{,}", ",").replace("\\!", "").replace("\u2044", "/")
    for command in ("\\dfrac", "\\tfrac", "\\cfrac"):
        text = text.replace(command, "\\frac")
    text = text.replace("\\$", "$").replace("\\%", "%")
    text = re.sub(r"\^ ?\{? ?\\circ ?\}?|°", f" {SET_AS_TEXT}degrees ", text)
    text = _EMPHASIS.sub(r"\2", _DELIMITER.sub("", IN_TEXT.sub(_words, text)))
    text = _SPACES.sub(" ", text.replace("\\Omega", "Ω").replace("\\mu", "µ").replace("\\AA", "Å")).strip(" \"'*_`").rstrip(". ")
    while len(text) > 1 and text.startswith("$") and text.endswith("$"):
        text = text[1:-1].strip()
    return text.rstrip("$. ")


def _overlined(barred: re.Match[str]) -> str:
    return rf"\overline{{{re.sub('[^0-9]', '', barred[0])}}}"


def _going_on(number: re.Match[str]) -> str:
    return rf"{number['start']}\overline{{{number['digit'] or number['digits']}}}"


def _words(text: re.Match[str]) -> str:
    return f" {_WORD_START.sub(SET_AS_TEXT, text[1])} "


def _read_number(text: str, start: int) -> tuple[Fraction, int] | None:
    """The number without a sign that begins at ``start``, and where it ends."""
    match = _GROUPED.match(text, start)
    if match is not None:
        digits = match.group()
        plain = re.sub("['’]", "", digits) if "'" in digits or "’" in digits else digits.translate(_POINT_COMMA)
        return Fraction(plain), match.end()
    match = _FRACTION.match(text, start)
    if match is not None:
        under = _decimal(match["under"] or match["latex_under"] or match["digit_under"])
        if under == 0:
            return None
        whole = _decimal(match["whole"] or match["latex_whole"] or "0")
        return whole + _decimal(match["over"] or match["latex_over"] or match["digit_over"]) / under, match.end()
    match = _REPEATING.match(text, start)
    if match is not None:
        once, period = match["once"] or "", match["period"]
        return (int(match["whole"] + once + period) - int(f"0{match['whole']}{once}")) / Fraction(
            10 ** (len(once) + len(period)) - 10 ** len(once)
        ), match.end()
    match = _POWER.match(text, start)
    if match is None:
        return None
    exponent = int(match["exponent"] or match["power"] or "0")
    if abs(exponent) > MAX_EXPONENT:
        return None
    return _decimal(match["digits"]) * Fraction(10) ** exponent, match.end()


def _decimal(digits: str) -> Fraction:
    return Fraction(digits.replace(",", "").replace(" ", ""))
