"""Reading one number, exactly, with the unit behind it.

0.5, 1/2 and \\frac{1}{2} are one number, 33.33 and 33 1/3 are two; nothing is rounded and nothing is guessed. Left out:
symbolic numbers (``equivalence.py``), what a unit means (``units.py``), intervals, sets.

The text is hostile: every pattern here takes time linear in it, and no number is built that the text did not spell out,
within bounds.
"""

import re
from dataclasses import dataclass
from fractions import Fraction

from podium.tasks.extraction import IN_TEXT, MAX_CANDIDATE_CHARS

MAX_NUMBER_CHARS = 200
MAX_EXPONENT = 400
"""More than a float can hold; ``1e999999999`` would fill the memory."""
MINUS = re.compile("[\u2010-\u2015\u2212\ufe63\uff0d]")
"""Hyphens, dashes and minus signs, all of which are written for a minus."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """A number and the words behind it. Example: ``Quantity(number=Fraction(9, 2), unit="km")`` for "4.5 km"."""

    number: Fraction
    unit: str = ""
    symbol: str = ""
    """The currency or percent sign it was written with: ``$``, ``€``, ``£``, ``¥``, ``₹``, ``%``."""


def read_quantity(text: str) -> Quantity | None:
    r"""The one number that ``text`` is, exactly, with the unit behind it; None where it is anything else.

    Reads a decimal point, thousands (``1,234``, ``1 234``, ``1{,}234``), a period (``0.\overline{3}``), ``a/b``,
    ``\frac{a}{b}``, mixed numbers, powers of ten, "million" and the like, unicode minus, currency and percent signs. Of a
    chain of equations the last right-hand side counts. Examples: ``"-$1,234.50"`` is -2469/2; ``"3 + 4 = 7 eggs"`` is 7
    with the unit "eggs"; ``"5 or 6"``, ``"5x"``, ``"1, 2"`` and ``"at least 5"`` are None.
    """
    if len(text) > MAX_CANDIDATE_CHARS:
        return None
    side = _last_side(_plain(text))
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
    scaled = _read_unit(rest)
    if scaled is None:
        return None
    scale, unit = scaled
    currency = prefix["currency"] if prefix else ""
    symbol = "%" if rest.lstrip().startswith("%") else currency[:1] or ("$" if rest.lstrip().startswith("$") else "")
    return Quantity(number=-number * scale if signs == "-" else number * scale, unit=unit, symbol=symbol)


_EMPHASIS = re.compile(r"(?<![\w)])(\*{1,3}|_{1,2}|`)([^*_`\s][^*_`]*)\1(?!\w)")
_SPACES = re.compile(r"\\[,;: ]|\\q?quad(?![a-zA-Z])|[~\s\u200b]+")
_DELIMITER = re.compile(r"\\(?:left|right|displaystyle)(?![a-zA-Z])|\\[()\[\]]")
_SEVERAL = re.compile(r"[,;.]\s|\b(?:or|and)\b", re.IGNORECASE)

_PREFIX = re.compile(r"(?P<sign>[-+]?) ?(?:(?:US|USD|EUR|GBP)(?![a-zA-Z]))? ?(?P<currency>[$€£¥₹]*) ?(?P<inner_sign>[-+]?) ?")
_WHOLE = r"(?:[1-9][0-9]{0,2}(?:,[0-9]{2,3})*,[0-9]{3}|[1-9][0-9]{0,2}(?: [0-9]{3})+(?![0-9])|[0-9]+)"
_DECIMAL = rf"(?:{_WHOLE}(?:\.[0-9]*)?|\.[0-9]+)"
_FRACTION = re.compile(
    rf"(?:(?P<whole>[0-9]+) )?(?P<over>{_WHOLE}) ?/ ?(?P<under>{_WHOLE})(?![0-9.])"
    rf"|(?:(?P<latex_whole>[0-9]+) ?)?\\frac ?(?:\{{ ?(?P<latex_over>-?{_DECIMAL}) ?\}}|(?P<digit_over>[0-9]))"
    rf" ?(?:\{{ ?(?P<latex_under>-?{_DECIMAL}) ?\}}|(?P<digit_under>[0-9]))"
)
_REPEATING = re.compile(r"(?P<whole>[0-9]+)\.(?P<once>[0-9]*) ?\\overline ?\{ ?(?P<period>[0-9]+) ?\}")
_POWER = re.compile(
    rf"(?P<digits>{_DECIMAL})"
    r"(?:[eE](?P<exponent>[-+]?[0-9]{1,9})| ?(?:\\times|\\cdot|×|·|x|\*) ?10 ?\^ ?\{? ?(?P<power>[-+]?[0-9]{1,9}) ?\}?)?"
)

_SCALES = {"hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_SUFFIX = re.compile(r"[kKMB](?![a-zA-Z])")
_SUFFIXES = {"k": 10**3, "K": 10**3, "M": 10**6, "B": 10**9}
_UNIT_POWER = re.compile(r"(?<=[a-zA-Z]) ?\^ ?\{? ?(-?[1-4]) ?\}?")
_UNIT_WORD = re.compile(r"\(?[a-zA-ZµμΩ¹²³⁴⁻]+(?:['/·-][a-zA-ZµμΩ¹²³⁴⁻]+)*\.?\)?")
_UNIT_OPERATOR = re.compile(r" ([/·]) ")
_SUPERSCRIPT = str.maketrans("-1234", "⁻¹²³⁴")
_ONE_LETTER_UNITS = frozenset("mgshlLWVAJNKCFdaI")
# With one of these, "5 ..." is another number, several numbers, or a sentence.
_NO_UNITS = frozenset(
    {"or", "and", "to", "plus", "minus", "divided", "over", "by", "than", "not", "between", "if", "but", "is", "are", "was"}
    | {"pi", "sqrt", "factorial", "half", "halves", "third", "thirds", "quarter", "quarters"}
)
_POWER_WORDS = frozenset({"squared", "cubed"})
_MAX_UNIT_WORDS = 6


def _plain(text: str) -> str:
    """``text`` without what only decorates a number: LaTeX spacing and delimiters, emphasis, quotes."""
    text = MINUS.sub("-", text).replace("{,}", ",").replace("\\!", "").replace("\u2044", "/")
    for command in ("\\dfrac", "\\tfrac", "\\cfrac"):
        text = text.replace(command, "\\frac")
    text = text.replace("\\$", "$").replace("\\%", "%")
    text = re.sub(r"\^ ?\{?\\circ\}?|°", " degrees ", text)
    text = _EMPHASIS.sub(r"\2", _DELIMITER.sub("", IN_TEXT.sub(r" \1 ", text)))
    text = _SPACES.sub(" ", text).strip(" \"'*_`").rstrip(". ")
    while len(text) > 1 and text.startswith("$") and text.endswith("$"):
        text = text[1:-1].strip()
    return text.rstrip("$. ")


def _last_side(text: str) -> str | None:
    """What stands behind the last equals sign; None where the text states several things, or an inequality."""
    left, equals, right = text.rpartition("=")
    if equals and (left.endswith(("!", "<", ">", ":")) or _SEVERAL.search(left)):
        return None
    return right.strip(" \"'*_`").rstrip("$ ")


def _read_number(text: str, start: int) -> tuple[Fraction, int] | None:
    """The number without a sign that begins at ``start``, and where it ends."""
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
        return (int(match["whole"] + once + period) - int(match["whole"] + once)) / Fraction(
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


def _read_unit(rest: str) -> tuple[int, str] | None:
    """What the number is to be multiplied with, and its unit; None where ``rest`` is more than a unit."""
    scale = 1
    suffix = _SUFFIX.match(rest)
    if suffix is not None:
        scale, rest = _SUFFIXES[suffix.group()], rest[suffix.end() :]
    rest = _UNIT_POWER.sub(lambda power: power[1].translate(_SUPERSCRIPT), rest)
    words = _UNIT_OPERATOR.sub(r"\1", rest.replace("\\cdot", "·")).lstrip(" %").removeprefix("$").rstrip(" .!").split()
    if words and words[0].lower() in _SCALES:
        scale *= _SCALES[words.pop(0).lower()]
    if len(words) > _MAX_UNIT_WORDS or (words and words[0].lower() in _POWER_WORDS):
        return None
    for word in words:
        name = word.strip("()")
        if not _UNIT_WORD.fullmatch(word) or name.lower() in _NO_UNITS or (len(name) == 1 and name not in _ONE_LETTER_UNITS):
            return None
    return scale, " ".join(words)
