r"""One answer, written in many ways: what LaTeX spelling can be taken away without changing what is meant.

``normal_form`` is for comparing texts: equal forms mean equal answers, and different forms mean nothing. ``read_words`` and
``read_numeral`` read two kinds of answers that are no formulas: names ("Friday", "(E)") and numerals of another base
(``1204_9``). ``split_unit`` takes the unit off a formula. ``is_unbounded`` finds formulas that would cost too much to
evaluate. Left out: what a formula is worth (``equivalence.py``).

The text is hostile: every pattern here takes time linear in it.
"""

import math
import re
from functools import lru_cache

from podium.tasks.extraction import IN_TEXT
from podium.tasks.mathematics.sentences import SPELLED
from podium.tasks.quantities.arithmetic import MINUS
from podium.tasks.quantities.behind import read_behind

MAX_POWER = 10_000
"""The largest exponent, factorial or binomial that is evaluated; ``2^{4181}`` is the largest in the MATH data set."""
MAX_DIGITS = 400
"""The longest number in a formula."""
MAX_DEPTH = 40
"""Of brackets. The parser takes some of its stack, and time, for each."""

_DECORATION = re.compile(
    r"\\(?:left|right|displaystyle|limits|bigl?|bigr?|Bigl?|Bigr?|middle)(?![a-zA-Z])|\\[()\[\]]|\\[,;:! ]|\\q?quad(?![a-zA-Z])"
)
_FRAC = re.compile(r"\\[dtc]frac(?![a-zA-Z])")
_SHORT_FRAC = re.compile(r"\\frac ?([0-9a-zA-Z]) ?([0-9a-zA-Z])(?![0-9])")
_SHORT_SQRT = re.compile(r"\\sqrt ?([0-9a-zA-Z])(?![0-9])")
_SHORT_POWER = re.compile(r"([\^_]) ?([0-9a-zA-Z])(?![0-9a-zA-Z])")
_DEGREES = re.compile(r"\^ ?(?:\{ ?\\circ ?\}|\\circ(?![a-zA-Z]))|°")
_GAP = re.compile(r"(?<=[0-9])\s+(?=[0-9])")
_SPACE = re.compile(r"[\s~\u200b]+")
_ENDS = " \"'`.,;:"

_TRAILING_TEXT = re.compile(r"\\(?:text|textbf|textrm|textnormal|mathrm|mbox) ?\{([^{}]*)\}(?: ?\^ ?\{?([23])\}?)?\.?$")
_TRAILING_WORDS = re.compile(r"(?<=[0-9})])(?:\s|\\[,;: ])+([a-zA-Z]{2,20}(?: [a-zA-Z]{2,20}){0,3})(?: ?\^ ?\{?([23])\}?)?\.?$")
_NO_UNITS = re.compile(r"\b(?:or|and|if|for|when|where|is|are|in|to|mod|base|cup|cap|infty|pi|sqrt)\b", re.IGNORECASE)

_NUMERAL = re.compile(r"(-?)\(?([0-9A-Z]{1,200})\)?_\{?([0-9]{1,2})\}?")
_OPEN_BASE = re.compile(r"(-?[0-9A-Z]{1,200})_\{?b\}?")
_BASE_IN_WORDS = re.compile(
    r"(?<=[0-9A-Z])(?:_ ?\{|,)? ?\(?(?:in )?base[- ]?([0-9]{1,2}|[a-z]{3,8})\b\)? ?\}?|_ ?\{([a-z]{3,8})\}"
)
_CLOCK = re.compile(r"([0-9]{1,2}(?::[0-9]{2}){1,2}) ?([ap]m)?")
_MERIDIEM = re.compile(r"\b([ap])\. ?m\b\.?")
_MAX_NUMERAL_CHARS = 400
_WORDS = re.compile(r"[a-z][a-z'-]*(?:[ ,]+[a-z0-9][a-z0-9'-]*)*")


_TOWER = re.compile(r"(?:\^|\*\*)[ {(]*[0-9][0-9 ]*(?:\^|\*\*)[ {(]*[-+]?[0-9]|(?:\^|\*\*)[ {(]*[0-9][0-9 {}()]*!|! ?!")
_POWERS_OF_POWERS = re.compile(r"(?:(?:\^|\*\*)[ {(]*[-+]? ?[0-9]{1,9}[ )}]*){2,}")
_POWER = re.compile(r"(?:\^|\*\*) ?[{(]* ?[-+]? ?([0-9]+)")
_FACTORIAL = re.compile(r"([0-9]+) ?!")
_BINOMIAL = re.compile(r"\\[dt]?binom ?\{? ?([0-9]+)")
_DIGITS = re.compile(rf"[0-9]{{{MAX_DIGITS + 1}}}")


@lru_cache(maxsize=256)
def normal_form(text: str) -> str:
    r"""``text`` without spaces, dollars, sizes of brackets and the like, with short fractions spelled out.

    Example: ``normal_form(r"$\left(\dfrac12,\, x\right)$.")`` is ``"(\frac{1}{2},x)"``.
    """
    text = MINUS.sub("-", text).replace("\\$", "").replace("$", "").replace("\\%", "%").replace("{,}", ",")
    text = _DECORATION.sub(" ", IN_TEXT.sub(r" \1 ", _FRAC.sub(r"\\frac", text)))
    text = text.replace("\\le ", "\\leq ").replace("\\ge ", "\\geq ").replace("\\cdot", "*").replace("\\times", "*")
    text = _SHORT_SQRT.sub(r"\\sqrt{\1}", _SHORT_FRAC.sub(r"\\frac{\1}{\2}", _DEGREES.sub(r"^\\circ", text)))
    text = _SHORT_POWER.sub(r"\1{\2}", text)
    if not text.lstrip(' "').startswith("'"):
        text = text.replace("'", "\u2032")  # f' is not f
    text = text.rstrip(_ENDS).lstrip(_ENDS.replace(".", ""))  # ".5" is not "5"
    text = _GAP.sub("\u2423", text)  # "1 2" is not "12"
    return _SPACE.sub("", text)


def read_words(text: str) -> str | None:
    r"""The name, letter or time that ``text`` is, in one spelling; None where it is a formula or a number.

    Case, brackets around it and full stops do not count, nor the order of single letters. A word for a whole number up to
    20 is a digit. Examples: ``\text{(E)}`` and ``E.`` are ``"e"``; ``8:34 p.m.`` is ``"8:34 pm"``; ``\text{B, A}`` is
    ``"a, b"``; ``four`` is ``"4"``.
    """
    plain = _SPACE.sub(" ", _DECORATION.sub(" ", IN_TEXT.sub(r" \1 ", text.replace("$", ""))))
    plain = _MERIDIEM.sub(r"\1m", plain.lower()).strip(_ENDS + "()").replace(" :", ":").replace(": ", ":")
    clock = _CLOCK.fullmatch(plain)
    if clock is not None:
        hours, colon, rest = clock[1].partition(":")
        return f"{hours.lstrip('0') or '0'}{colon}{rest}" + (f" {clock[2]}" if clock[2] else "")
    if not _WORDS.fullmatch(plain):
        return None
    if plain in SPELLED:
        return str(SPELLED.index(plain))
    parts = [part for part in re.split(r"[ ,]+(?:and )?", plain) if part]
    return ", ".join(sorted(parts)) if all(len(part) == 1 for part in parts) else " ".join(parts)


def is_name(text: str) -> bool:
    r"""Whether ``text``, a gold answer, is a name and no formula: set as text, or several letters that are no product.

    Examples: ``\text{east}``, ``(\text{H})``, ``Wednesday``, ``8:34`` are; ``x``, ``ab``, ``\pi`` and ``12`` are not.
    """
    words = read_words(text)
    if words is None:
        return False
    bare = re.sub(r"[^a-zA-Z]", "", text)
    return bool(IN_TEXT.search(text)) or not bare or (len(bare) > 3 and "\\" not in text) or words.isdigit()


def read_numeral(text: str) -> tuple[str, int] | None:
    r"""Digits and base of a numeral such as ``1204_9``, "1204 base 9" or ``\text{A5}_{11}``: ``("1204", 9)``, ``("A5", 11)``.

    None where it is none: no base, or a digit that the base does not have.
    """
    if len(text) > _MAX_NUMERAL_CHARS:
        return None
    text = _BASE_IN_WORDS.sub(_base_in_digits, " ".join(IN_TEXT.sub(r"\1", text).split()))
    match = _NUMERAL.fullmatch(normal_form(text).replace(",", ""))
    if match is None or not 2 <= int(match[3]) <= 36:
        return None
    try:
        int(match[2], int(match[3]))
    except ValueError:
        return None
    return match[1] + (match[2].lstrip("0") or "0"), int(match[3])


def without_open_base(text: str) -> str:
    """``text`` without a base that is a letter, as in ``100100_b``: the question says which base it is.

    Example: ``without_open_base("100100_b")`` is ``"100100"``.
    """
    match = _OPEN_BASE.fullmatch(normal_form(text)) if len(text) <= _MAX_NUMERAL_CHARS else None
    return match[1] if match else text


def _base_in_digits(match: re.Match[str]) -> str:
    base = match[1] or match[2]
    if base.isdigit():
        return f"_{{{base}}}"
    return f"_{{{SPELLED.index(base)}}}" if base in SPELLED else match[0]


def split_unit(text: str, variables: frozenset[str] = frozenset()) -> tuple[str, str]:
    r"""A formula and the unit behind it, "" where there is none; letters that are ``variables`` of the question are none.

    Examples: ``12\sqrt{13}\text{ feet}`` is ``12\sqrt{13}`` and ``feet``; ``15\pi\mbox{ cm}^2`` is ``15\pi`` and ``cm²``;
    ``\frac{1}{2} ab`` is all formula.
    """
    text = text.strip().rstrip("$").rstrip()
    match = _TRAILING_TEXT.search(text)
    if match is None:
        match = _TRAILING_WORDS.search(text)
        behind = read_behind(f" {match[1]}") if match is not None else None
        if behind is None or not behind.sure or frozenset(behind.letters) <= variables:
            return text, ""
    if (
        match is None
        or not text[: match.start()].strip()
        or _NO_UNITS.search(match[1])
        or match[1].strip() in {"", "i", "e", "d"}
    ):
        return text, ""
    power = {"2": "²", "3": "³"}.get(match[2] or "", "")
    return text[: match.start()].rstrip(" ~\\"), _SPACE.sub(" ", match[1]).strip(" .~") + power


def is_unbounded(text: str) -> bool:
    r"""Whether ``text`` holds a number that no judge should be made to compute.

    A tower of powers (``9^{9^{9}}``), a power, power of a power, factorial or binomial above :data:`MAX_POWER`, a factorial of
    a factorial, more than :data:`MAX_DIGITS` digits in a row, or brackets deeper than :data:`MAX_DEPTH`. What this does not see,
    such as a product of many powers, the limits of the worker process do.
    """
    if _TOWER.search(text) or _DIGITS.search(text):
        return True
    chains = _POWERS_OF_POWERS.finditer(text)
    if any(math.prod(map(int, re.findall("[0-9]+", chain[0]))) > MAX_POWER for chain in chains):
        return True
    depth = deepest = 0
    for char in text:
        depth += (char in "({[") - (char in ")}]")
        deepest = max(deepest, depth)
    numbers = [*_POWER.findall(text), *_FACTORIAL.findall(text), *_BINOMIAL.findall(text)]
    return deepest > MAX_DEPTH or any(int(number) > MAX_POWER for number in numbers)
