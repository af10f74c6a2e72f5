r"""One answer as it is read: the same for a verdict and for whether two answers agree.

:func:`spelled` takes away what changes nothing ("\approx", typed roots, "no solution" for the empty set), :func:`read_number`
finds the number and the unit that an answer is to the reader of the question: "forty-two", "3 dozen", "1 hour 30 minutes".
"""

import re
from dataclasses import replace

from podium.tasks.extraction import IN_TEXT, MAX_CANDIDATE_CHARS
from podium.tasks.mathematics.spelling import in_latex
from podium.tasks.quantities.behind import COUNT_WORDS
from podium.tasks.quantities.compound import read_compound
from podium.tasks.quantities.number_words import in_digits
from podium.tasks.quantities.numbers import DECIMAL_COMMA, Quantity, read_quantity
from podium.tasks.quantities.units import read_unit

MAX_QUESTION_CHARS = MAX_CANDIDATE_CHARS * 10

_APPROXIMATELY = re.compile(r"^\s*\$?\s*(?:[a-zA-Z]\s*(?=\\approx|≈))?(?:\\approx|\\sim|≈|~)(?![a-zA-Z])")
_NOTHING = re.compile(
    r"(?:there (?:is|are|exists?) )?(?:no|zero) (?:real |such )?(?:solutions?|roots?)(?: exists?)?|(?:the )?(?:empty|null) set",
    re.IGNORECASE,
)
_RATIO_IN_WORDS = re.compile(r"([0-9]{1,20}) to ([0-9]{1,20})")
_ALL = re.compile(r"(?:the set of )?(?:all |the )?real(?: number)?s", re.IGNORECASE)
_SIMPLY_SET = re.compile(
    r"\\(?:underline|overbrace|underbrace|bm|pmb|textcolor ?\{\w{1,20}\}) ?\{([^{}]*)\}|\\color ?\{\w{1,20}\}"
)
_OVER = re.compile(r"\{([^{}]*)\\over(?![a-zA-Z])([^{}]*)\}")
_EMPHASIS = re.compile(r"^\s*(\*{1,3})([^*]+)\1\s*$")
_NO_INK = re.compile(
    r"\\[hv]?phantom ?\{[^{}]*\}|^(?:\\[,;:! ]|~|\\q?quad(?![a-zA-Z])|\s)+|(?:\\[,;:!]|\\ |\\$|~|\\q?quad(?![a-zA-Z])|\s)+$"
)


def spelled(text: str) -> str:
    r"""``text`` in LaTeX, without "approximately" and what only decorates it.

    Examples: ``spelled("\approx 5√2")`` is ``5\sqrt{2}``; ``spelled(r"\text{no real solutions}")`` is ``\emptyset``.
    """
    text = _EMPHASIS.sub(r"\2", text)
    text = _NO_INK.sub("", _OVER.sub(r"\\frac{\1}{\2}", text)).replace("\\degree", "^\\circ")
    text = _SIMPLY_SET.sub(lambda match: f"{{{match[1]}}}" if match[1] else "", _APPROXIMATELY.sub("", text))
    text = in_latex(DECIMAL_COMMA.sub(".", text)).strip()
    if text.startswith("{") and text.endswith("}") and _closes_at_end(text):
        text = text[1:-1].strip()
    if len(text) > 100:
        return text
    words = " ".join(IN_TEXT.sub(r" \1 ", text).replace("$", " ").split()).strip(" .")
    if _NOTHING.fullmatch(words):
        return r"\emptyset"
    if _ALL.fullmatch(words):
        return r"\mathbb{R}"
    ratio = _RATIO_IN_WORDS.fullmatch(words)
    return f"{ratio[1]}:{ratio[2]}" if ratio else text


def read_number(text: str, question: str) -> Quantity | None:
    r"""The number that ``text``, which is :func:`spelled`, is to the reader of ``question``; None where it is anything else.

    "3 dozen eggs" is 36 eggs, unless dozens were asked for; "1 hour 30 minutes" is 90 minutes, or 1.5 hours where the question
    asks for hours; where it asks for neither, the number is ``mixed``. Example: ``read_number("forty-two km", "?")`` is 42 km.
    """
    text = digits_of(text)
    found = read_quantity(text)
    if found is None:
        return _as_asked(read_compound(text), question)
    if found.count and counts_in(found.count, question):
        return replace(found, number=found.number / COUNT_WORDS[found.count], count="")
    return found


def digits_of(text: str) -> str:
    """``text`` with a number in words at its beginning in digits. Example: of ``\\text{Forty-two eggs}`` it is "42 eggs"."""
    words = IN_TEXT.sub(r" \1 ", text).strip()
    digits = in_digits(words)
    return text if digits == words else digits


def counts_in(word: str, question: str) -> bool:
    """Whether ``question`` counts in ``word``: in pairs where it speaks of pairs, in dozens where it asks how many dozen."""
    text = question[-MAX_QUESTION_CHARS:]
    if word != "dozen":
        return re.search(rf"\b{word}(?:s|es)?\b", text, re.IGNORECASE) is not None
    return re.search(rf"(?:how many|number of|in) (?:[a-z]{{1,20}} )?{word}s?\b", text, re.IGNORECASE) is not None


def _closes_at_end(text: str) -> bool:
    """Whether the brace that opens ``text`` is closed by its last character."""
    depth = 0
    for at, char in enumerate(text):
        depth += (char == "{") - (char == "}")
        if depth == 0:
            return at == len(text) - 1
    return False


def _as_asked(found: Quantity | None, question: str) -> Quantity | None:
    """``found``, which was given in several units, in the one unit that ``question`` asks for."""
    unit = None if found is None else read_unit(found.unit)
    if found is None or unit is None:
        return None
    for word in _ASKED_UNIT.findall(question[-MAX_QUESTION_CHARS:]):
        asked = read_unit(word)
        if asked is not None and asked.dimension == unit.dimension:
            return replace(found, number=found.number * unit.scale / asked.scale, unit=word, mixed=False)
    return found


_ASKED_UNIT = re.compile(r"(?:how many|number of|in) ([a-zA-Z]{2,12})\b", re.IGNORECASE)
