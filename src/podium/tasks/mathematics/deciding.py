r"""What texts alone decide: the same text, two numbers, two names, two times of day; the rest is for the processes.

A gold answer is a number with a unit only where its letters can be one (``letters.py``): ``4x^2`` and ``2k`` are formulas,
``5 \text{ m}`` is not, and ``5m`` is what the question and the answer make of it. Of an answer that is an equation the right
side counts where the left is a name or what was asked for; any other equation is compared as an equation.
"""

import re
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from podium.tasks.extraction import IN_TEXT, MAX_CANDIDATE_CHARS
from podium.tasks.mathematics.clock import read_time, same_time
from podium.tasks.mathematics.letters import Reading, read_letters, variables
from podium.tasks.mathematics.names import other_function, other_name, renamed
from podium.tasks.mathematics.notation import (
    MAX_POWER,
    is_name,
    is_unbounded,
    normal_form,
    read_numeral,
    read_words,
    split_unit,
    without_open_base,
)
from podium.tasks.mathematics.question import asked_side, restates_part, restates_task
from podium.tasks.mathematics.reading import MAX_QUESTION_CHARS, counts_in, digits_of, read_number, spelled
from podium.tasks.mathematics.sentences import read_stated
from podium.tasks.quantities.behind import COUNT_WORDS
from podium.tasks.quantities.equations import last_side
from podium.tasks.quantities.numbers import Quantity, read_quantity
from podium.tasks.quantities.units import read_unit, same_quantity


@dataclass(frozen=True, slots=True, kw_only=True)
class Formulas:
    r"""What only the pool can decide. Example: ``Formulas(gold="x/2", answer="0.5x")``."""

    gold: str
    answer: str
    factor: Fraction = Fraction(1)
    """What the answer is to be multiplied with, so that it is in the unit of the gold answer."""
    restated: bool = False
    """Whether the answer stands in the question."""


_SWAPPED = re.compile(r"^([^=]*)=\s*\$?[a-zA-Z]\$?\s*$")
_PURE_POWER = re.compile(r"(-?[0-9]{1,9})\^\{?(-?[0-9]{1,5})\}?")
_DEGREES = re.compile(r"\^ ?(?:\{ ?\\circ ?\}|\\circ(?![a-zA-Z]))|°|\\text\{ ?degrees ?\}")
_PI = re.compile(r"\\pi(?![a-zA-Z])|π")
_RADIANS = re.compile(r"\\(?:text|mathrm) ?\{ ?rad(?:ian)?s? ?\}")
_PERCENT = re.compile(r"%|percent|per cent", re.IGNORECASE)
_LETTERS = re.compile(r"[a-zA-Z]{3,10}")
_LOOSE = re.compile(r"(?:/|\\(?:cdot|times|div)(?![a-zA-Z])) *$|^ *(?:/|\\(?:cdot|times|div)(?![a-zA-Z]))")
_OPTION = re.compile(r"\s*(?:option|choice|answer) *\(?([A-J])\)?[ .]*", re.IGNORECASE)
_OPTION_LETTER = re.compile(r"\s*\(?[A-J]\)?\s*")
_ABOUT_INTERVALS = re.compile(
    r"\b(?:interval|domain|range|inequalit)|[<>≤≥]|\\(?:le|ge|leq|geq|lt|gt)(?![a-zA-Z])", re.IGNORECASE
)
_BARS = re.compile(r"\||\\(?:[lr]?vert|abs)(?![a-zA-Z])|\babsolute value\b", re.IGNORECASE)
_RATIO = re.compile(r"[0-9.]{1,40}(?::[0-9.]{1,40}){1,20}")
_NAMED_RATIO = re.compile(r"[a-zA-Z\\_: ]{1,100}")
_UNIT_IN_FRACTION = re.compile(
    r"\\[dt]?frac ?\{ ?([0-9.,]{1,40}) ?(\\(?:text|mathrm|mbox) ?\{[^{}]*\}|[a-zA-Z]{1,20}) ?\} ?\{ ?([0-9.,]{1,40}) ?\}"
)


@lru_cache(maxsize=256)
def tidied(gold: str) -> str:
    r"""``gold`` without "approximately", in LaTeX, a number word in digits. Example: ``tidied("\approx 5√2")``."""
    gold = spelled(gold)
    digits = digits_of(gold)
    return digits if digits.lstrip("-").isdigit() else gold


def stated_form(answer: str, question: str) -> str:
    r"""What ``answer`` says, as it would be written as a gold answer.

    Examples: of ``5 = x`` it is ``5``, of "Sally has 9 books" it is ``9``; of ``x+y = 7`` it is ``7`` where $x+y$ was asked for.
    """
    form = _SWAPPED.sub(r"\1", spelled(answer)).strip()
    if last_side(form) is None and (side := asked_side(form, question)) is not None:
        form = side
    digits = digits_of(form)
    form = digits if read_quantity(digits) is not None else form
    stated = _stated(form, question) if read_number(form, question) is None else None
    return without_open_base(form) if stated is None else f"{stated.number}{stated.symbol}"


def decide(gold: str, answer: str, question: str) -> str | Formulas:
    """Why ``answer`` is not ``gold``, which is :func:`tidied`; "" where it is; or what to ask the pool.

    Example: ``decide("42", "6 * 7 = 42 eggs", "?")`` is ``""``.
    """
    if len(answer) > MAX_CANDIDATE_CHARS:
        return "this is prose"
    if _breaks_off(answer) and not _breaks_off(gold):
        return "breaks off at an operator"
    if normal_form(answer) == normal_form(gold):
        return ""
    written, answer = answer, _SWAPPED.sub(r"\1", spelled(_letter_of(gold, answer)))
    if answer != written and normal_form(answer) == normal_form(gold):
        return ""
    if "\\langle" in answer and "\\langle" not in gold and _ABOUT_INTERVALS.search(question[-MAX_QUESTION_CHARS:]):
        return "may be an interval, and which ends belong to it is not said"
    by_text = _as_text(gold, answer)
    if by_text is not None:
        return by_text
    answer = renamed(gold, answer, variables(question))
    if other_function(gold, answer):
        return "another function"
    if other_name(gold, answer):
        return Formulas(gold=gold, answer=answer)
    if (terms := _terms(gold)) and _terms(answer) not in (0, terms):
        return "another ratio"
    if len(of_gold := _ratio(gold)) > 2:
        found = _ratio(answer)
        return _formulas(_shares(of_gold), _shares(found), question) if len(found) == len(of_gold) else "another ratio"
    answer = without_open_base(_value_of(gold, answer, question))
    if "_" in gold or "_" in answer or "base" in answer:
        numerals = _numerals(without_open_base(gold), answer)
        if numerals is not None:
            return "" if numerals else "another number"
    return _as_numbers(gold, answer, question)


def _breaks_off(text: str) -> bool:
    """Whether an operator at an end of ``text`` has nothing to work on; stars around all of it are emphasis."""
    bare = text.replace("$", " ").strip()
    stars = len(bare) - len(bare.lstrip("*")), len(bare) - len(bare.rstrip("*"))
    return stars[0] != stars[1] or _LOOSE.search(bare) is not None


def _letter_of(gold: str, answer: str) -> str:
    """The letter that ``answer`` names as an option, where ``gold`` is a letter. Example: of "Option B" it is B."""
    named = _OPTION.fullmatch(IN_TEXT.sub(r"\1", answer)) if _OPTION_LETTER.fullmatch(IN_TEXT.sub(r"\1", gold)) else None
    return answer if named is None else named[1]


def _as_text(gold: str, answer: str) -> str | None:
    """The verdict on names and times; None where the two are something else."""
    time = read_time(answer)
    if time is not None:
        wanted = read_time(gold)
        if wanted is not None:
            return "" if same_time(wanted, time) else "another time"
        hour = read_quantity(gold)
        if time.is_full and hour is not None and not hour.unit and not hour.symbol and hour.number == time.hours:
            return ""
    if not is_name(gold):
        return None
    return "" if read_words(gold) == read_words(answer) else "another name"


def _terms(text: str) -> int:
    """How many terms a ratio such as 3:2:1 has; 0 for anything else."""
    return text.count(":") + 1 if _RATIO.fullmatch(normal_form(text)) else 0


def _ratio(text: str) -> list[str]:
    """The terms of a ratio of any expressions; of what is no ratio it is one. Example: of "a:b:c = 1 : 2 : 3" 1, 2 and 3."""
    left, _, right = text.strip(" $").rpartition("=")
    return right.split(":") if not left or _NAMED_RATIO.fullmatch(left) else [text]


def _shares(terms: list[str]) -> str:
    """A tuple that is the same for the same ratio: every term as so many times the first."""
    return ", ".join(["(1", *(rf"\frac{{{term}}}{{{terms[0]}}}" for term in terms[1:])]) + ")"


def _value_of(gold: str, answer: str, question: str) -> str:
    """What ``answer`` says that something is; all of it where it is no equation, or an equation is what was asked for."""
    if "=" not in answer or ("=" in gold and last_side(gold) is None):
        return answer
    side = last_side(answer)
    if side is None:
        side = asked_side(answer, question)
    return answer if side is None else side


def _as_numbers(gold: str, answer: str, question: str) -> str | Formulas:
    wanted, found = read_number(gold, question), read_number(answer, question)
    reading = Reading.UNIT if wanted is None else read_letters(wanted, question)
    letters = found is not None and read_letters(found, question) is Reading.VARIABLES
    if letters:
        found = None
    if wanted is None or reading is not Reading.UNIT:
        if wanted is not None and found is not None and reading is Reading.UNSURE and found.unit and same_quantity(wanted, found):
            return ""
        return _formulas(gold, answer, question, whole=wanted is not None)
    if letters:
        return "holds a variable of the question"
    if found is None and wanted.unit:
        found = read_quantity(_UNIT_IN_FRACTION.sub(r"\\frac{\1}{\3} \2", answer))
    if found is not None:
        if not wanted.unit and len(found.letters) == 1 == len(found.unit) and read_letters(found, question) is not Reading.UNIT:
            return f"{found.unit} may be a variable"
        if (found.mixed and not wanted.unit + wanted.symbol) or (wanted.mixed and not found.unit + found.symbol):
            return "nobody asked for either unit"
        if _is_share(wanted, found, question):
            return "" if wanted.number * 100 == found.number else "another number"
        return "" if same_quantity(wanted, found) else "another number"
    if wanted.unit == "degrees" and _PI.search(answer):
        return _formulas(gold, answer, question)
    power = _power(answer, question)
    if power is not None:
        return "" if same_quantity(wanted, Quantity(number=power)) else "another number"
    stated = _stated(answer, question) if not wanted.unit and not wanted.symbol else None
    if stated is not None:
        return "" if same_quantity(wanted, stated) else "another number"
    return "not one number, with no arithmetic left to do"


def _numerals(gold: str, answer: str) -> bool | None:
    """Whether two numerals, of which one names its base, are one number; None where there is none."""
    wanted, found = read_numeral(gold), read_numeral(answer)
    if wanted is None and found is None:
        return None
    if wanted is None:
        quantity = read_quantity(gold)
        return quantity is not None and found is not None and quantity.number == int(*found)
    if found is None:  # without a base it is in the one asked for
        return read_numeral(f"{normal_form(answer)}_{{{wanted[1]}}}") == wanted
    return int(*wanted) == int(*found)


def _stated(answer: str, question: str) -> Quantity | None:
    """The number that a sentence names; None where it counts in dozens, pairs or the like, and the question does not."""
    words = {word.lower() for word in _LETTERS.findall(answer)}
    if any(words & {word, f"{word}s"} and not counts_in(word, question) for word in COUNT_WORDS):
        return None
    return read_stated(answer)


def _is_share(wanted: Quantity, found: Quantity, question: str) -> bool:
    """Whether a percent sign must be worth 1/100: half a percent is no half, unless per cent were asked for."""
    per_cent = "%" in (found.symbol, found.unit) or found.unit.lower() in {"percent", "per cent"}
    asked = wanted.unit or wanted.symbol or wanted.number.denominator == 1 or _PERCENT.search(question[-MAX_QUESTION_CHARS:])
    return per_cent and not asked


def _power(answer: str, question: str) -> Fraction | None:
    """The value of an answer such as 2^{10}; None where it is no power, or only one that the question names."""
    match = _PURE_POWER.fullmatch(normal_form(answer))
    if match is None:
        return None
    base, exponent = int(match[1]), int(match[2])
    named = set(re.findall(r"[0-9]+", question[-MAX_QUESTION_CHARS:]))
    if {match[1].lstrip("-"), match[2].lstrip("-")} <= named or abs(exponent) > MAX_POWER or not base:
        return None
    # A target has at most a few hundred digits, so that a larger power is another number and need not be computed.
    return Fraction(base) ** exponent if len(match[1]) * abs(exponent) < MAX_POWER else Fraction(-1, 7)


def _formulas(gold: str, answer: str, question: str, *, whole: bool = False) -> str | Formulas:
    """What to ask the pool; ``whole`` says that the letters at the end of ``gold`` belong to the formula."""
    if is_unbounded(answer):
        return "a number too large to evaluate"
    letters = variables(question)
    (gold_formula, wanted), (formula, found) = (gold, "") if whole else split_unit(gold, letters), split_unit(answer, letters)
    if restates_task(gold_formula, formula, question):
        return "restates the question"
    if _BARS.search(formula) and not _BARS.search(gold_formula) and _BARS.search(question[-MAX_QUESTION_CHARS:]):
        return "leaves an absolute value to solve"
    factor = Fraction(1)
    if wanted and found and wanted != found:
        one, other = read_unit(wanted), read_unit(found)
        if one is not None and other is not None and one.dimension == other.dimension:
            factor = other.scale / one.scale
        elif not same_quantity(Quantity(number=factor, unit=wanted), Quantity(number=factor, unit=found)):
            return "another unit"
    # Half a turn is 180 degrees and pi, whichever of the two was asked for.
    if _DEGREES.search(formula) and _PI.search(gold) and not _PI.search(formula) and read_quantity(formula) is not None:
        formula = rf"\frac{{{_DEGREES.sub('', formula)} \pi}}{{180}}"
    elif _DEGREES.search(gold) and read_quantity(gold) is not None:
        gold_formula, formula = rf"\frac{{{_DEGREES.sub('', gold)} \pi}}{{180}}", _RADIANS.sub("", formula)
    return Formulas(gold=gold_formula, answer=formula, factor=factor, restated=restates_part(formula, question))
