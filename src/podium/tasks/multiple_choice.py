r"""Which letter did the answer choose? The last one that is marked as the answer, or none; never a guess.

Thinking is cut off. Then counts the last ``\boxed{L}``, else the last ``"answer": "L"``, "answer is (L)", "Answer: L" or
"correct option is L", else a reply that is only a letter. A letter that no option has is not read. A mark with several
letters ("A or B") is an answer, and a wrong one: hedging does not pay. Where no mark holds a letter there is *no answer*
(``Verdict.extracted`` is None), which is wrong too and can be counted apart.

Left out on purpose: the first or a random letter of a text, the text of an option in place of its letter, and "(B) is
right" without a mark: what is not asked for is not searched for.

Replies are hostile: every pattern takes time linear in the text.
"""

import re
import unicodedata
from collections.abc import Iterator

from podium.errors import VerifierError
from podium.tasks.extraction import without_thinking
from podium.types import Problem, Verdict

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


class MultipleChoiceVerifier:
    """Right where the chosen letter is the target's.

    Example: ``await MultipleChoiceVerifier()(problem, "So \\\\boxed{B}.")`` is correct for the target ``B``, and for
    ``B/D`` where two options read the same. Raises :class:`VerifierError` where the target is no letter of an option.
    """

    async def __call__(self, problem: Problem, answer: str) -> Verdict:
        """Judge ``answer`` against ``problem.target``."""
        letters = listed_letters(problem.question)
        right = problem.target.strip().upper().split("/")
        if not all(len(letter) == 1 and letter in letters for letter in right):
            raise VerifierError(
                f"the target {problem.target[:40]!r} of problem {problem.id} is none of its options {letters}; "
                "write the letter of an option, or A/D for two that read the same"
            )
        chosen = chosen_letters(answer, letters)
        if not chosen:
            return Verdict(correct=False, extracted=None, why="no answer: no letter is marked as the answer")
        if len(chosen) > 1:
            return Verdict(correct=False, extracted=", ".join(chosen), why="several letters are no choice")
        correct = chosen in right
        return Verdict(correct=correct, extracted=chosen, why="" if correct else f"{chosen} is not {problem.target}")


def listed_letters(question: str) -> str:
    """The letters of the options that ``question`` lists, from A on without a gap; all letters where it lists none.

    Read are lines that start with ``A)``, ``A.``, ``A:`` or ``(A)``, or else ``(a)`` anywhere in the text. Example:
    ``listed_letters("2 + 2?\\n\\nA) 3\\nB) 4")`` is ``"AB"``.
    """
    found = {line[1] or line[2] for line in _OPTION_LINE.finditer(question)}
    if not {"A", "B"} <= found:
        found = {mark[1].upper() for mark in _OPTION_INLINE.finditer(question)}
    count = next((n for n, letter in enumerate(LETTERS) if letter not in found), len(LETTERS))
    return LETTERS[:count] if count >= 2 else LETTERS


def chosen_letters(answer: str, letters: str = LETTERS) -> str:
    r"""The letters that the last mark in ``answer`` chooses, of those in ``letters``; "" where no mark chooses any.

    Examples: ``chosen_letters(r"\boxed{A}? No: \boxed{\text{(B)}}")`` is ``"B"``; ``chosen_letters("Answer: A or C")`` is
    ``"AC"``; ``chosen_letters("It must be B, as option A is odd")`` and ``chosen_letters("Answer: E", "ABCD")`` are ``""``.
    """
    spoken = without_thinking(answer)
    if spoken is None:
        return ""
    text = _plain(spoken)
    for marks in (_boxes(text), _fields(text), _anchors(text)):
        for mark in reversed(list(marks)):
            if chosen := _read(mark, letters):
                return chosen
    alone = _ALONE.fullmatch(text)
    letter = alone[1].upper() if alone else ""
    return letter if letter in letters else ""


_OPTION_LINE = re.compile(r"^[ \t]{0,8}(?:\(([A-Z])\)|([A-Z])[).:])(?=\s)", re.MULTILINE)
_OPTION_INLINE = re.compile(r"(?<![\w(])\(([a-zA-Z])\)")

_BOXED = re.compile(r"\\(?:boxed|fbox)\s*\{")
_WRAPPED = re.compile(r"\\(?:text|textbf|textit|mathrm|mathbf|mathsf|mbox|bf|rm|large|Large)\s*\{([^{}\\]*)\}")
_DECORATION = re.compile(r"\\(?:left|right|displaystyle|bf|rm)(?![a-zA-Z])|\\[,;:! ()\[\]]|[$`]")
# A pair of stars or underscores around something; a lone star ("A*") stays.
_EMPHASIS = re.compile(r"(\*{1,3}|(?<!\w)_{1,3})(?=\S)([^*_\n]*)(?<=\S)\1")
_FIELD = re.compile(r'"(?:final_|correct_)?(?:answer|choice|option)"\s{0,20}:\s{0,20}"?(?=[(\w])', re.IGNORECASE)
_ANCHOR = re.compile(
    r"\b(?:answer|(?:correct|right|best|final|my)\s(?:option|choice|letter))\b[\"')]{0,3}\s{0,20}"
    r"(?:\bis\b\s{0,20}:?|[:=])\s{0,20}(?:(?:option|choice|letter)\s{1,5})?",
    re.IGNORECASE,
)
_ALONE = re.compile(r"\s*[(\[]?([a-zA-Z])[)\].:]{0,2}\s*")

# One letter, in brackets or followed by what ends it: a bare "A" before a word is mostly an article.
_LETTER = r"(?:\(([A-Za-z])\)|\[([A-Za-z])\]|([A-Za-z])(?![\w'’+*/^=-]|\.\w))"
_FIRST = re.compile(rf"\s{{0,20}}[\"']?(?:(?:option|choice|letter)\s{{1,5}})?{_LETTER}", re.IGNORECASE)
_NEXT = re.compile(
    rf"[\"']?\s{{0,20}}(?:,|;|&|/|\bor\b|\band\b|\bnor\b)\s{{0,20}}(?:(?:or|and)\s{{1,5}})?(?:option\s)?{_LETTER}(?=\W|$)",
    re.IGNORECASE,
)
_BARE_END = re.compile(
    r"[\"']?\s*(?:$|[.,;:!?)}\]\n]|[-\u2013\u2014]+\s|\(|(?:because|since|as|for|which|given|so|that|or|and|nor|is|with)\b)"
)
_STATES_MORE = re.compile(r"\s*(?:is|was|are|would|can|could|does|has|seems)\b", re.IGNORECASE)


def _plain(text: str) -> str:
    """``text`` without decoration that can stand around a letter."""
    text = unicodedata.normalize("NFKC", text).replace('\\"', '"')
    for _ in range(3):  # \text{\textbf{B}}
        text = _WRAPPED.sub(r"\1", text)
    text = _DECORATION.sub("", text)
    for _ in range(2):
        text = _EMPHASIS.sub(r"\2", text)
    return text


def _boxes(text: str) -> Iterator[str]:
    for box in _BOXED.finditer(text):
        content, closed, _ = text[box.end() : box.end() + 500].partition("}")
        if closed:
            yield content + "\n"


def _fields(text: str) -> Iterator[str]:
    for field in _FIELD.finditer(text):
        yield text[field.end() : field.end() + 200].partition('"')[0] + "\n"


def _anchors(text: str) -> Iterator[str]:
    for anchor in _ANCHOR.finditer(text):
        yield text[anchor.end() : anchor.end() + 200]


def _read(mark: str, letters: str) -> str:
    """The letters that ``mark`` starts with; "" where it starts with anything else, or with a letter no option has."""
    first = _FIRST.match(mark)
    if first is None:
        return ""
    if first[3] is not None and not _BARE_END.match(mark, first.end()):
        return ""  # "A train ...", "a bit"
    found, at = [_letter(first)], first.end()
    while (more := _NEXT.match(mark, at)) and not _STATES_MORE.match(mark, more.end()):
        found.append(_letter(more))
        at = more.end()
    if any(letter not in letters for letter in found):
        found = [letter for letter in found[:1] if letter in letters]
    return "".join(dict.fromkeys(found))


def _letter(match: re.Match[str]) -> str:
    return str(next(group for group in match.groups() if group)).upper()
