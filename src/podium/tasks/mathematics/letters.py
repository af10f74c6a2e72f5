r"""Is a letter behind a number a unit or a variable? ``5m`` is five metres, or five times m; the question knows.

A letter that stands alone in the question is a variable of it, and a unit made of variables is none: with ``$m$`` and ``$g$``
in the question, ``2mg`` has no unit. One letter that touches a number is a unit where the question measures in it. Where
nothing is known (:attr:`Reading.UNSURE`), a gold answer is read as a formula, which no answer without the letter can equal.
"""

import re
from enum import Enum
from functools import lru_cache

from podium.tasks.extraction import IN_TEXT
from podium.tasks.quantities.behind import is_unit_word
from podium.tasks.quantities.numbers import Quantity
from podium.tasks.quantities.unit_table import names_of

MAX_QUESTION_CHARS = 20_000


class Reading(Enum):
    """What the letters behind a number are. Example: of "5 km" they are ``Reading.UNIT``."""

    UNIT = "unit"
    UNSURE = "unsure"
    VARIABLES = "variables"


_DRAWING = re.compile(r"\[asy\].*?(?:\[/asy\]|$)", re.DOTALL)
_SPAN = re.compile(r"\$\$?([^$]*)\$\$?|\\\(([^$]*?)\\\)|\\\[([^$]*?)\\\]")
_COMMAND = re.compile(r"m ?\\angle|\\[a-zA-Z]+|\\.")
_UNIT_IN_FORMULA = re.compile(r"(?<=[0-9}])[ ~]{0,2}([a-zA-Z]{2,4})(?![a-zA-Z^_({])")
_ALONE = re.compile(r"(?<![\w'’.\\$])(?<![0-9] )[b-zB-HJ-Z](?![\w'’])|(?<=[0-9])[a-zA-Z](?= ?[-+*/^=)])")


def read_letters(quantity: Quantity, question: str) -> Reading:
    """Whether the letters behind ``quantity`` are a unit, to the reader of ``question``.

    Example: of "5m" they are a unit for "How many meters?", variables for "Simplify $2m + 3m$." and unsure for "?".
    """
    letters = frozenset(quantity.letters)
    if not letters:
        return Reading.UNIT
    if letters <= variables(question):
        return Reading.VARIABLES
    if quantity.sure or (len(quantity.letters) == 1 and _measures_in(question, quantity.letters)):
        return Reading.UNIT
    return Reading.UNSURE


@lru_cache(maxsize=256)
def variables(question: str) -> frozenset[str]:
    """The letters that stand for something in ``question``: those of its formulas, and single ones in its text.

    Example: ``variables("A mass $m$ moves at speed v.")`` is ``{"m", "v"}``.
    """
    text = IN_TEXT.sub(" ", _DRAWING.sub(" ", question[-MAX_QUESTION_CHARS:]).replace("\\$", " "))
    found: set[str] = set()
    for span in _SPAN.finditer(text):
        formula = _COMMAND.sub(" ", span[1] or span[2] or span[3] or "")
        formula = _UNIT_IN_FORMULA.sub(lambda word: " " if is_unit_word(word[1]) else word[0], formula)
        found.update(char for char in formula if char.isalpha())
    found.update(match[0] for match in _ALONE.finditer(_SPAN.sub(" ", text)))
    return frozenset(found)


def _measures_in(question: str, letter: str) -> bool:
    """Whether ``question`` names the unit that ``letter`` is the symbol of, or has it behind a number."""
    text = question[-MAX_QUESTION_CHARS:]
    if any(re.search(rf"\b(?:kilo|centi|milli)?{name}s?\b", text, re.IGNORECASE) for name in names_of(letter)):
        return True
    measured = rf"[0-9](?:[ ~]|\\[,; ]){{0,2}}(?:\\(?:text|mathrm|mbox) ?\{{ ?)?{re.escape(letter)}(?![\w^])"
    return re.search(measured, text) is not None
