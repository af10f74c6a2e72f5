r"""The one number that a short statement names: 9 in "Sally has 9 books", nothing in "9 of the 12 books".

For final answers only, where somebody has marked the sentence as the answer: in running text the one number of a sentence is
rarely the result. Read are plain words around one number. A variable, an operator, or a word that makes something else of the
number ("half", "times", "not", "about", "more than 9", "step 9"), and nothing is read. Of several numbers the one that a
single "is", "costs" or the like leads to is the answer, as in "one monitor is $300" and "10% of 50 is 5".
"""

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction

from podium.tasks.extraction import IN_TEXT
from podium.tasks.quantities.behind import CHANGES_NUMBER
from podium.tasks.quantities.number_words import SMALL
from podium.tasks.quantities.numbers import MAX_NUMBER_CHARS, Quantity, read_quantity

SPELLED = (*SMALL, "twenty")
"""The whole numbers from 0 on, as words."""

_SPACE = re.compile(r"\\[,;: ]|[~\s]+")
_DIGIT = re.compile(r"[0-9]")
_WORD = re.compile(r"[a-z]{2,}(?:['’-][a-z]+)*|[ai]")
_SAYABLE = re.compile(r"[a-z]+(?:['’-][a-z]+)*|[$€£]?[0-9][0-9.,]*%?(?:-[a-z]+)*|[0-9]+(?:st|nd|rd|th)")
_OPENING, _CLOSING = "\"'*_`(", ".,;:!?\"'*_`)"
_ORDINAL = re.compile(r"[0-9,]+(?:st|nd|rd|th)")
_BEHIND = frozenset({"hundred", "thousand", "million", "billion", "trillion", "percent", "%"})
"""What belongs to the number in front of it."""
_CHANGES = re.compile(
    r"no|not|never|none|nobody|nothing|nor|neither|cannot|.*n['’]t|without|except|unless|unknown|impossible|wrong|incorrect|false"
    r"|or|either|if|between|about|around|approx|approximately|roughly|nearly|almost|least|most|up"
    r"|plus|minus|negative|times|divided|multiplied|squared|cubed|root|sqrt|factorial|mod|modulo|base|power|pi"
    r"|half|halves|thirds?|quarters?|twice|double|triple|dozens?|hundreds?|thousands?|[mbt]r?illions?|lakhs?|crores?"
    r"|thirty|forty|fifty|sixty|seventy|eighty|ninety|sin|cos|tan|cot|sec|csc|log|ln|exp|gcd|lcm|det"
)
"""With one of these words, the sentence says more than its number."""
_LEADS = re.compile(
    r"is|are|was|were|equals|costs?|earns?|earned|pays?|paid|makes?|made|needs?|needed|takes?|took|has|have|had|gets?|got|spends?"
    r"|spent|saves?|saved|sells?|sold|weighs?|weighed|receives?|received|totals?|totaled|becomes?|reads?|walks?|runs?|drives?"
)
"""Verbs behind which the result stands."""
_SPLITS = re.compile(r"and|but|while|whereas|if|unless|when|or|not|no|never|nor|neither|cannot|.*n['’]t|then|so|because|than")
"""With one of these in front of the verb, the sentence says several things, or the contrary."""
_IN_FRONT = re.compile(
    r" (?:all but|than|over|under|above|below|beyond|exceed|exceeds|exceeding"
    r"|step|part|question|problem|equation|option|choice|case|figure|table|line|page|chapter|example|exercise|item"
    r"|(?:square|cube|factors?|multiples?) of)$"
)
"""Directly in front of a number they make it a bound, a label, or part of something to compute."""


def read_stated(text: str) -> Quantity | None:
    r"""The number that the statement ``text`` names, without its unit; None where it names none, several, or says more.

    A word for a number is a number as well, so that ``"one of the 9 books"`` names two and ``"nine (9) books"`` one; with
    words alone nothing is read. Examples: ``read_stated(r"\text{Sally has 9 books}")`` is 9; ``"9 of the 12 books"``,
    ``"more than 9 books"``, ``"9 books x"`` are None.
    """
    if len(text) > MAX_NUMBER_CHARS:
        return None
    parts = list(_parts(text))
    if parts and _DIGIT.search(parts[0]) and all(len(part) < 4 and not _DIGIT.search(part) for part in parts[1:]):
        return None  # a product: 9 ab
    stated = _only_number(parts)
    if stated is not None:
        return stated
    verbs = [at for at, part in enumerate(parts) if _LEADS.fullmatch(part) and parts[at - 1] not in {"the", "a", "total"}]
    if len(verbs) != 1 or any(_SPLITS.fullmatch(part) or not _SAYABLE.fullmatch(part) for part in parts[: verbs[0]]):
        return None
    return _only_number(parts[verbs[0] + 1 :])


def _only_number(parts: Sequence[str]) -> Quantity | None:
    """The number among plain words; None where there are several, or a word that makes something else of it."""
    found: Quantity | None = None
    numbers: set[Fraction] = set()
    before = ""
    for part in parts:
        if _DIGIT.search(part):
            quantity = read_quantity(part) if "=" not in part else None
            if quantity is None or quantity.unit not in {"", "percent"} or _IN_FRONT.search(before) or _ORDINAL.fullmatch(part):
                return None
            found = quantity
            numbers.add(quantity.number)
        elif part in SPELLED:
            numbers.add(Fraction(SPELLED.index(part)))
        elif not _WORD.fullmatch(part) or _CHANGES.fullmatch(part) or part in CHANGES_NUMBER:
            return None
        before += f" {part}"
    return found if len(numbers) == 1 else None


def _parts(text: str) -> Iterator[str]:
    """Words in lower case, and numbers with what belongs to them; two numbers with nothing between them are one part."""
    number: list[str] = []
    for token in _SPACE.sub(" ", IN_TEXT.sub(r" \1 ", text)).split():
        word = token.lstrip(_OPENING).rstrip(_CLOSING)
        if _DIGIT.search(token) or (number and word.lower() in _BEHIND):
            number.append(token)
            continue
        if number:
            yield _number_of(number)
            number = []
        yield word.lower()
    if number:
        yield _number_of(number)


def _number_of(tokens: Sequence[str]) -> str:
    """The number without marks around it, but for one that makes it a factorial."""
    text = " ".join(tokens).lstrip(_OPENING)
    bare = text.rstrip(_CLOSING)
    return f"{bare}!" if _DIGIT.search(bare[-1:]) and text[len(bare) :].startswith("!") else bare
