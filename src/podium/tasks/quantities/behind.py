r"""What stands behind a number: a unit, a label, a scale ("5 million", "5 dozen"), or letters that may just as well be variables.

In ``5 \text{ m}`` and "5 miles" a unit is a unit. In ``5m``, ``2ab`` and ``3R^2`` letters follow a number as factors follow a
factor: some of these are no units at all and make the whole a formula, the others are units *perhaps*, which only the question
and the other answer can tell (``mathematics/letters.py``). A power is that of a unit only: ``4x^2`` is not 4 of anything.

The text is hostile: every pattern here takes time linear in it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from podium.tasks.quantities.pint_units import find_in_pint
from podium.tasks.quantities.unit_table import find_unit

SET_AS_TEXT = "\ue000"
"""In front of a word that was set as text, so that it is no product of letters."""

_SCALES = {
    "hundred": 100,
    "thousand": 10**3,
    "million": 10**6,
    "billion": 10**9,
    "trillion": 10**12,
    "quadrillion": 10**15,
    "lakh": 10**5,
    "crore": 10**7,
}
COUNT_WORDS = {"dozen": 12, "score": 20, "gross": 144, "pair": 2, "couple": 2, "trio": 3}
"""So many of what is counted. A question may ask for dozens or pairs themselves; whoever knows it decides."""
_ORDINAL = re.compile(r"(?:st|nd|rd|th)(?![a-zA-Z])")
_SUFFIX = re.compile(r"[kKMB](?![a-zA-Z])")
_SUFFIXES = {"k": 10**3, "K": 10**3, "M": 10**6, "B": 10**9}
_POWER = re.compile(r"(?<=[a-zA-ZÅ]) ?\^ ?\{? ?(-?[1-4]) ?\}?")
_LETTERS = "a-zA-ZµμΩÅ\u212b"
_WORD = re.compile(rf"\(?[{_LETTERS}¹²³⁴⁻]+(?:['/·-][{_LETTERS}¹²³⁴⁻]+)*\.?\)?")
_OPERATOR = re.compile(r" ([/·]) ")
_SUPERSCRIPT = str.maketrans("-1234", "⁻¹²³⁴")
_EXPONENT = re.compile(r"⁻?[¹²³⁴]|⁻")
_ONE_LETTER = frozenset("mgshlLWVAJNKCFdaITΩÅ\u212b")
CHANGES_NUMBER = frozenset(
    {"half", "halves", "third", "thirds", "quarter", "quarters", "fourths", "fifths", "sixths", "sevenths", "eighths", "ninths"}
    | {"tenths", "twelfths", "hundredths", "thousandths", "millionths", "billionths", "double", "doubled", "triple", "tripled"}
    | {
        "quadruple",
        "quadrupled",
        "halved",
        "twice",
        "thrice",
        "fold",
        "factorial",
        "negative",
        "below",
        "remainder",
        "modulo",
        "counting",
    }
    | {"nan", "null", "nil", "none", "undefined", "undetermined", "invalid"}
)
"""Words that make another number of the one in front of them, or around them, or none."""
# With one of these, "5 ..." is several numbers, or a sentence.
_NO_UNITS = CHANGES_NUMBER | frozenset(
    {"or", "and", "to", "plus", "minus", "divided", "over", "by", "than", "not", "between", "if", "but", "is", "are", "was"}
    | {"pi", "sqrt", "cannot", "never", "no", "nor", "neither", "either", "except", "without", "unless"}
)
_POWER_WORDS = frozenset({"squared", "cubed"})
_SHORT_WORDS = frozenset({"of", "in", "on", "at", "us", "pm", "am", "he", "we", "sq", "cu"})
"""Two letters that are a word behind a number ("9 of them") and no product."""
_GLUED = frozenset({"km", "cm", "mm", "kg", "ml", "mL", "kJ", "kW", "Hz", "lbs", "hrs", "mph", "kph", "min", "sec", "kWh", "mol"})
"""Units that are a unit also where they touch the number, unless their letters are variables of the question."""
_MAX_WORDS = 6
_MAX_PRODUCT = 3
"""So many letters in a row may be a product; more of them, behind a space, are a word."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Behind:
    """Example: of "5 km" it is ``Behind(unit="km", letters="km")``; of "5m" ``Behind(unit="m", letters="m", sure=False)``."""

    scale: int = 1
    """What the number is to be multiplied with."""
    count: str = ""
    """The count word ("dozen") that is part of the scale."""
    unit: str = ""
    letters: str = ""
    """Those of the unit, or of a scale such as "k", that are not set as text."""
    sure: bool = True
    """Whether it can be nothing but a unit, unless its letters are variables of the question."""


def read_behind(rest: str, *, prose: bool = False) -> Behind | None:
    """What the text ``rest``, which follows a number, adds to it; None where it is more than a unit.

    In ``prose``, which is text without LaTeX, one letter behind a space is a unit as well: "5 m".

    Examples: of " million people" the scale is a million and the unit "people"; of " dozen eggs" it is 12, and the count is
    "dozen"; of "x^2", "ab" and " or 6" it is None.
    """
    scale, count, letters, sure = 1, "", "", True
    suffix = _SUFFIX.match(rest)
    if suffix is not None:
        scale, letters, sure, rest = _SUFFIXES[suffix.group()], suffix.group(), False, rest[suffix.end() :]
    touches = rest[:1] not in {"", " ", "%", "$", "("}
    if rest.startswith("!") or rest.count("%") > 1:
        return None  # a factorial; the end of a sentence is not part of an answer
    if (ordinal := _ORDINAL.match(rest)) is not None:  # "the 42nd term"
        letters, sure, rest, touches = ordinal.group(), False, rest[ordinal.end() :], False
    rest = _POWER.sub(lambda power: power[1].translate(_SUPERSCRIPT), rest)
    rest = _OPERATOR.sub(r"\1", rest.replace("\\cdot", "·")).lstrip(" %").removeprefix("$").rstrip(" .!")
    if rest.startswith("/"):
        if not rest[1:].strip():
            return None  # it breaks off
        rest, touches = f"per {rest[1:]}", False
    words = rest.split()
    if words and (name := _name_in(_SCALES, words[0])):
        scale, words = scale * _SCALES[name], words[1:]
    if words and (count := _name_in(COUNT_WORDS, words[0])):
        scale, words = scale * COUNT_WORDS[count], words[1:]
    words = words[1:] if scale > 1 and words[:1] == ["of"] else words
    if len(words) > _MAX_WORDS or (words and words[0].lstrip(SET_AS_TEXT).lower() in _POWER_WORDS):
        return None
    kinds = [_kind(word, touches and index == 0) for index, word in enumerate(words)]
    if None in kinds:
        return None
    if words:
        sure = any(kinds) or (prose and not touches)
        letters += "".join(char for word in words if SET_AS_TEXT not in word for char in word if char.isalpha())
    return Behind(scale=scale, count=count, unit=" ".join(words).replace(SET_AS_TEXT, ""), letters=letters, sure=sure)


def _name_in(words: Mapping[str, int], word: str) -> str:
    """The one of ``words`` that ``word`` is, also where it is of several: "dozen" of "Dozens"; "" where it is none."""
    plain = word.lstrip(SET_AS_TEXT).rstrip(".,").lower()
    return plain if plain in words else plain.removesuffix("s") if plain.removesuffix("s") in words else ""


def _kind(word: str, touches: bool) -> bool | None:
    """Whether ``word`` is surely a unit or a label; None where it is neither."""
    name = word.replace(SET_AS_TEXT, "").strip("()")
    if not _WORD.fullmatch(name) or name.lower() in _NO_UNITS or (len(name) == 1 and name not in _ONE_LETTER):
        return None
    if SET_AS_TEXT in word:
        return True
    bare = _EXPONENT.sub("", name)
    parts = [part.rstrip(".") for part in re.split(r"[/·]", bare)]
    if bare != name or len(parts) > 1:
        known = all(part and is_unit_word(part) for part in parts)
        if not known and len(parts) > 1 and not touches and all(len(part) > _MAX_PRODUCT for part in parts):
            return True  # "apples/person"
        return ("⁻" in name or len(parts) > 1 or len(bare) > 1) and not touches if known else None
    if len(name) == 1:
        return False
    if name.lower() in _SHORT_WORDS and not touches:
        return True
    if len(name) > _MAX_PRODUCT:
        return not touches or name in _GLUED
    if not is_unit_word(name.rstrip(".")):
        return None if touches or len(name) < _MAX_PRODUCT else False
    return name in _GLUED or not (touches or (len(name) == 2 and find_unit(name) is None))


def is_unit_word(word: str) -> bool:
    """Whether one ``word`` without a power names a unit. Examples: ``km`` and ``torr`` do; ``ab`` and ``eggs`` do not."""
    if len(word) == 1:
        return word in _ONE_LETTER
    return find_unit(word) is not None or find_in_pint(word) is not None
