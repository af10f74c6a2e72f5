"""Whole numbers in words: "forty-two" is 42, "minus one hundred and five eggs" is "-105 eggs".

Only at the beginning of a text, and only where the words behind them are no number. Left out: fractions ("two thirds"),
decimals, ordinals, and "one" in front of anything but a unit, which is a pronoun more often than a number.
"""

import re
from collections.abc import Sequence

from podium.tasks.quantities.behind import is_unit_word

SMALL = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen"),
    *("fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_UNDER_HUNDRED = {
    **{word: value for value, word in enumerate(SMALL)},
    **{tens: 10 * (2 + position) for position, tens in enumerate(_TENS)},
    **{
        f"{tens}-{word}": 10 * (2 + position) + value
        for position, tens in enumerate(_TENS)
        for value, word in enumerate(SMALL[:10])
        if value
    },
}
_SCALES = {"trillion": 10**12, "billion": 10**9, "million": 10**6, "thousand": 10**3}
_NUMBER_WORDS = frozenset({*_UNDER_HUNDRED, *_SCALES, "hundred"})
_MINUS = frozenset({"minus", "negative"})
_MAX_CHARS = 200
_WORD = re.compile(r"[a-z]+(?:-[a-z]+)*")


def in_digits(text: str) -> str:
    """``text`` with the number in words that it begins with in digits; the same text where it begins with none.

    Examples: ``in_digits("Forty-two")`` is ``"42"``, ``in_digits("a hundred and five eggs")`` is ``"105 eggs"``;
    ``in_digits("two or three")`` and ``in_digits("one can see")`` are what they were.
    """
    if not text[:1].isalpha() or len(text) > _MAX_CHARS:
        return text
    words = text.split()
    plain = [word.lower().rstrip(",.") for word in words]
    sign = plain[0] in _MINUS
    if sign and len(plain) > 1 and plain[1][:1].isdigit():
        return f"-{' '.join(words[1:])}"
    value, taken = _read(plain[sign:])
    behind = plain[sign + taken :]
    if not taken or any(word in _NUMBER_WORDS or not _WORD.fullmatch(word) for word in behind):
        return text
    if plain[sign:][0] == "one" and taken == 1 and behind and not (len(behind) == 1 and is_unit_word(behind[0])):
        return text
    return " ".join([f"{'-' if sign else ''}{value}", *words[sign + taken :]])


def _read(words: Sequence[str]) -> tuple[int, int]:
    """The number that ``words`` begin with, and how many of them it is; (0, 0) where they begin with none."""
    total, at, limit = 0, 0, 10**15
    while at < len(words):
        start = at + (at > 0 and words[at] == "and")
        group, taken = _hundreds(words[start:])
        if not taken:
            break
        end = start + taken
        scale = _SCALES.get(words[end], 1) if end < len(words) else 1
        if scale >= limit or (start > at and (scale > 1 or group >= 100)):
            break
        total, limit, at = total + group * scale, scale, end + (scale > 1)
        if scale == 1:
            break
    return total, at


def _hundreds(words: Sequence[str]) -> tuple[int, int]:
    """A number below 1000; "a" counts in front of "hundred" and the like only."""
    if words[:1] == ["a"] and words[1:2] and (words[1] == "hundred" or words[1] in _SCALES):
        first, taken = 1, 1
    else:
        first, taken = _tens(words)
    if words[taken : taken + 1] != ["hundred"] or not 0 < first < 100:
        return first, taken
    taken += 1
    joined = taken + (words[taken : taken + 1] == ["and"])
    rest, more = _tens(words[joined:])
    return (100 * first + rest, joined + more) if rest else (100 * first, taken)


def _tens(words: Sequence[str]) -> tuple[int, int]:
    value = _UNDER_HUNDRED.get(words[0]) if words else None
    if value is None:
        return 0, 0
    if value >= 20 and value % 10 == 0 and words[1:2] and 0 < _UNDER_HUNDRED.get(words[1], 0) < 10:
        return value + _UNDER_HUNDRED[words[1]], 2
    return value, 1
