"""Is the final number right? Reads one number out of an answer and compares it exactly.

Numbers only (GSM8K and the like): 0.5, 1/2 and \\frac{1}{2} are one number, 33.33 and 33 1/3 are two. There is no
tolerance and no guess: a text that names no final answer has none, wherever its last digit stands. Left out: symbolic
answers, intervals, sets, unit conversion.

Answers are hostile: every pattern here takes time linear in the text, and no number is built that the text did not spell
out, within bounds.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from podium.errors import VerifierError
from podium.types import Problem, Verdict

MAX_ANSWER_CHARS = 200_000
"""Of a longer answer only the end is read: no model's answer to one question is longer, and the result stands last."""
MAX_CANDIDATE_CHARS = 2_000
"""A final answer longer than this is prose."""
MAX_NUMBER_CHARS = 200
MAX_EXPONENT = 400
"""More than a float can hold; ``1e999999999`` would fill the memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """A number and the words behind it. Example: ``Quantity(number=Fraction(9, 2), unit="km")`` for "4.5 km"."""

    number: Fraction
    unit: str = ""


class NumericVerifier:
    """Right where the final answer is exactly the number of the target.

    Example: ``await NumericVerifier()(problem, "...so \\\\boxed{1,234} eggs.")`` is correct for the target ``1234``.

    Units behind the answer are dropped where the target has none; where it has one ("5 km"), an answer with another unit
    is wrong and a bare number is taken to be in the asked unit. Raises :class:`VerifierError` where the target is no
    number: then nothing can be said of the answer.
    """

    async def __call__(self, problem: Problem, answer: str) -> Verdict:
        """Judge ``answer`` against ``problem.target``."""
        target = read_quantity(problem.target)
        if target is None:
            raise VerifierError(
                f"the target {problem.target[:80]!r} of problem {problem.id} is no number; give it one or use another verifier"
            )
        extracted = final_answer(answer)
        if extracted is None:
            return Verdict(correct=False, extracted=None, why="no final answer; expected \\boxed{...} or 'Answer: ...'")
        found = read_quantity(extracted)
        if found is None:
            return Verdict(correct=False, extracted=_short(extracted), why=f"{_short(extracted)!r} is no number")
        if found.number != target.number:
            return Verdict(correct=False, extracted=_short(extracted), why=f"{_short(extracted)} is not {problem.target}")
        if target.unit and found.unit and found.unit != target.unit:
            return Verdict(correct=False, extracted=_short(extracted), why=f"{found.unit} are not {target.unit}")
        return Verdict(correct=True, extracted=_short(extracted))


def final_answer(text: str) -> str | None:
    r"""The part of ``text`` that states the final answer, or None where nothing does.

    The first of these that is there and is a number; where none is a number, the first that is there:

    1. the last ``\boxed{...}`` whose braces close,
    2. what follows the last "answer is", "answer:" or ``"answer":`` up to the end of the sentence (or of the quotes),
    3. what follows the last ``####`` up to the end of the line,
    4. the last line, where all of it is a number without a unit.

    Thinking (up to the last ``</think>``) is not part of the answer. Examples: ``final_answer("It is 4, so 42 is out.")``
    is None; ``final_answer("The answer is 42 eggs.")`` is ``"42 eggs"``.
    """
    text = text[-MAX_ANSWER_CHARS:]
    before, closed, after = text.rpartition("</think>")
    text = after if closed else before + after
    if "<think>" in text:
        return None  # cut off while thinking
    found = [candidate for candidate in _candidates(text) if candidate]
    numbers = (candidate for candidate in found if read_quantity(candidate) is not None)
    return next(numbers, found[0] if found else None)


def read_quantity(text: str) -> Quantity | None:
    r"""The one number that ``text`` is, exactly, with the unit behind it; None where it is anything else.

    Reads a decimal point, thousands (``1,234``, ``1 234``, ``1{,}234``), ``a/b``, ``\frac{a}{b}``, mixed numbers, powers
    of ten, "million" and the like, and unicode minus; drops currency and percent signs. Of a chain of equations the last
    right-hand side counts. Examples: ``"-$1,234.50"`` is -2469/2; ``"3 + 4 = 7 eggs"`` is 7 with the unit "eggs";
    ``"5 or 6"``, ``"5x"``, ``"1, 2"`` and ``"at least 5"`` are None.
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
    scaled = _read_unit(side[end:])
    if scaled is None:
        return None
    scale, unit = scaled
    return Quantity(number=-number * scale if signs == "-" else number * scale, unit=unit)


_BOX = re.compile(r"\\boxed\s*+\{|\\.|[{}]", re.DOTALL)
_PHRASE = re.compile(r"\banswer\b[\"'*_`)]*+\s{0,20}+(?:is\b|[:=])(?:[*_`:=\s$]|\\[\[(]){0,20}+", re.IGNORECASE)
_HASHES = re.compile(r"####([^\n]*+)")
# A line of JSON that is no JSON any more ends its lines with a backslash and an n.
_SENTENCE_END = re.compile(r"[.!?](?=\s|$)|\n|\\n")
_QUOTES = " \"'`*_"
_LAST_CLAUSE = re.compile(r",\s[^0-9]*$")

_EMPHASIS = re.compile(r"(?<![\w)])(\*{1,3}|_{1,2}|`)([^*_`\s][^*_`]*)\1(?!\w)")
_SPACES = re.compile(r"\\[,;: ]|\\q?quad(?![a-zA-Z])|[~\s\u200b]+")
_MINUS = re.compile("[\u2010-\u2015\u2212\ufe63\uff0d]")
_TEXT = re.compile(r"\\(?:text|textbf|mathrm|mathbf|mbox) ?\{([^{}]*)\}")
_DELIMITER = re.compile(r"\\(?:left|right|displaystyle)(?![a-zA-Z])|\\[()\[\]]")
_SEVERAL = re.compile(r"[,;.]\s|\b(?:or|and)\b", re.IGNORECASE)

_PREFIX = re.compile(r"(?P<sign>[-+]?) ?(?:(?:US|USD|EUR|GBP)(?![a-zA-Z]))? ?[$€£¥₹]* ?(?P<inner_sign>[-+]?) ?")
_WHOLE = r"(?:[1-9][0-9]{0,2}(?:,[0-9]{2,3})*,[0-9]{3}|[1-9][0-9]{0,2}(?: [0-9]{3})+(?![0-9])|[0-9]+)"
_DECIMAL = rf"(?:{_WHOLE}(?:\.[0-9]*)?|\.[0-9]+)"
_FRACTION = re.compile(
    rf"(?:(?P<whole>[0-9]+) )?(?P<over>{_WHOLE}) ?/ ?(?P<under>{_WHOLE})(?![0-9.])"
    rf"|(?:(?P<latex_whole>[0-9]+) ?)?\\frac ?(?:\{{ ?(?P<latex_over>-?{_DECIMAL}) ?\}}|(?P<digit_over>[0-9]))"
    rf" ?(?:\{{ ?(?P<latex_under>-?{_DECIMAL}) ?\}}|(?P<digit_under>[0-9]))"
)
_POWER = re.compile(
    rf"(?P<digits>{_DECIMAL})"
    r"(?:[eE](?P<exponent>[-+]?[0-9]{1,9})| ?(?:\\times|\\cdot|×|·|x|\*) ?10 ?\^ ?\{? ?(?P<power>[-+]?[0-9]{1,9}) ?\}?)?"
)

_SCALES = {"hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_SUFFIX = re.compile(r"[kKMB](?![a-zA-Z])")
_SUFFIXES = {"k": 10**3, "K": 10**3, "M": 10**6, "B": 10**9}
_UNIT_POWER = re.compile(r"(?<=[a-zA-Z]) ?\^ ?\{?([23])\}?")
_UNIT_WORD = re.compile(r"\(?[a-zA-Zµμ²³]+(?:['/·-][a-zA-Zµμ²³]+)*\)?")
_ONE_LETTER_UNITS = frozenset("mgshlLWVAJNKCFdaI")
# With one of these, "5 ..." is another number, several numbers, or a sentence.
_NO_UNITS = frozenset(
    {"or", "and", "to", "plus", "minus", "divided", "over", "by", "than", "not", "between", "if", "but", "is", "are", "was"}
    | {"pi", "sqrt", "factorial", "half", "halves", "third", "thirds", "quarter", "quarters"}
)
_POWER_WORDS = frozenset({"squared", "cubed"})
_MAX_UNIT_WORDS = 6


def _candidates(text: str) -> Iterator[str]:
    yield _last_boxed(text)
    yield _last_phrase(text)
    hashes = _HASHES.findall(text)
    yield hashes[-1].strip() if hashes else ""
    last_line = text.rstrip().rpartition("\n")[2].strip()
    quantity = read_quantity(last_line)
    yield last_line if quantity is not None and not quantity.unit and "=" not in last_line else ""


def _last_boxed(text: str) -> str:
    open_braces: list[int | None] = []  # of a box, where its content starts; of any other brace, None
    found, found_at = "", -1
    for match in _BOX.finditer(text):
        mark = match.group()
        if mark == "{":
            open_braces.append(None)
        elif mark.startswith("\\boxed"):
            open_braces.append(match.end())
        elif mark == "}" and open_braces:
            start = open_braces.pop()
            if start is not None and start > found_at:  # of nested boxes the inner one
                found, found_at = text[start : match.start()], start
    return found.strip()


def _last_phrase(text: str) -> str:
    text = text.replace('\\"', '"')  # JSON quoted inside JSON
    last = None
    for match in _PHRASE.finditer(text):
        last = match
    if last is None:
        return ""
    rest = text[last.end() : last.end() + MAX_CANDIDATE_CHARS]
    if rest[:1] in {'"', "'"}:
        return rest[1:].partition(rest[0])[0].strip()
    end = _SENTENCE_END.search(rest)
    sentence = rest[: end.start()] if end else rest
    sentence = _LAST_CLAUSE.sub("", sentence).rstrip(_QUOTES)
    if sentence.endswith("}") and sentence.count("}") > sentence.count("{"):
        sentence = sentence[:-1].rstrip(_QUOTES)  # it closes the JSON object around the answer
    return sentence


def _plain(text: str) -> str:
    """``text`` without what only decorates a number: LaTeX spacing and delimiters, emphasis, quotes."""
    text = _MINUS.sub("-", text).replace("{,}", ",").replace("\\!", "").replace("\u2044", "/")
    for command in ("\\dfrac", "\\tfrac", "\\cfrac"):
        text = text.replace(command, "\\frac")
    text = text.replace("\\$", "$").replace("\\%", "%")
    text = re.sub(r"\^ ?\{?\\circ\}?|°", " degrees ", text)
    text = _EMPHASIS.sub(r"\2", _DELIMITER.sub("", _TEXT.sub(r" \1 ", text)))
    return _SPACES.sub(" ", text).strip(" \"'*_`$").rstrip(". ")


def _last_side(text: str) -> str | None:
    """What stands behind the last equals sign; None where the text states several things, or an inequality."""
    left, equals, right = text.rpartition("=")
    if equals and (left.endswith(("!", "<", ">", ":")) or _SEVERAL.search(left)):
        return None
    return right.strip(" \"'*_`$")


def _read_number(text: str, start: int) -> tuple[Fraction, int] | None:
    """The number without a sign that begins at ``start``, and where it ends."""
    match = _FRACTION.match(text, start)
    if match is not None:
        under = _decimal(match["under"] or match["latex_under"] or match["digit_under"])
        if under == 0:
            return None
        whole = _decimal(match["whole"] or match["latex_whole"] or "0")
        return whole + _decimal(match["over"] or match["latex_over"] or match["digit_over"]) / under, match.end()
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
    rest = _UNIT_POWER.sub(lambda power: "²³"[int(power[1]) - 2], rest)
    words = rest.lstrip(" %").removeprefix("$").rstrip(" .!").replace(" / ", "/").split()
    if words and words[0].lower() in _SCALES:
        scale *= _SCALES[words.pop(0).lower()]
    if len(words) > _MAX_UNIT_WORDS or (words and words[0].lower() in _POWER_WORDS):
        return None
    for word in words:
        name = word.strip("()")
        if not _UNIT_WORD.fullmatch(word) or name.lower() in _NO_UNITS or (len(name) == 1 and name not in _ONE_LETTER_UNITS):
            return None
    return scale, " ".join(words)


def _short(text: str) -> str:
    return text if len(text) <= MAX_NUMBER_CHARS else text[: MAX_NUMBER_CHARS - 1] + "…"
