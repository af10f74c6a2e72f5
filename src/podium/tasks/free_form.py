r"""Is a short free answer right: a number with a unit, yes or no, a list, a few words (RLPR, WebInstruct, SciBench).

Decided by the gold answer's form, in this order:

1. the two texts are the same, LaTeX decoration aside;
2. gold is yes/no/true/false: so must the answer be;
3. gold is a list: as many items, each the same, in this order;
4. gold is a number: equal to the digits gold is printed with, units converted (``measures.py``);
5. gold is words: the same words, case, articles and punctuation aside, unless a judge is there to read them.

A judge (any Worker, see ``judge.py``) is asked only where rules can not decide: words, an answer that is no number where
one is wanted, units that no table knows. It never overrules two numbers. What it decides is marked in ``Verdict.why``.

Left out: synonyms without a judge, several golds, intervals, formulas with variables (that is ``mathematics/``).
"""

import re
import unicodedata

from podium.errors import VerifierError
from podium.tasks.extraction import anchored, json_answer, last_boxed, shown, without_thinking
from podium.tasks.judge import Judge
from podium.tasks.quantities.measures import read_measure, same_measure
from podium.types import Problem, Verdict

MAX_FOUND_CHARS = 1_000
"""A final answer longer than this is an essay."""
MAX_WHOLE_REPLY_CHARS = 100
"""A reply of one line, no longer than this and without a mark, is itself the answer."""


class FreeFormVerifier:
    """Right where the final answer says what the target says.

    Example: ``await FreeFormVerifier()(problem, "... so P = \\boxed{50.68 atm}")`` is correct for the target
    ``50.7 \\mathrm{atm}``. With ``judge`` undecided answers go to a model; without, they are wrong. Raises
    :class:`VerifierError` where the target is empty or the judge gives no readable verdict.
    """

    def __init__(self, judge: Judge | None = None) -> None:
        self._judge = judge

    @property
    def identity(self) -> str:
        """What tells verifiers of this kind apart: who decides what rules can not."""
        return "" if self._judge is None else self._judge.identity

    async def __call__(self, problem: Problem, answer: str) -> Verdict:
        """Judge ``answer`` against ``problem.target``."""
        if not problem.target.strip():
            raise VerifierError(f"problem {problem.id} has no target; give it one")
        found = final_text(answer)
        if found is None:
            return Verdict(correct=False, extracted=None, why="no final answer; expected \\boxed{...} or 'Answer: ...'")
        if len(found) > MAX_FOUND_CHARS:
            return Verdict(correct=False, extracted=shown(found), why="the final answer is too long to be one")
        same = same_answer(problem.target, found)
        if same is None and self._judge is not None:
            return await self._judge(problem, found)
        if same:
            return Verdict(correct=True, extracted=shown(found))
        why = f"{shown(found)} is not {shown(problem.target)}"
        return Verdict(correct=False, extracted=shown(found), why=why if same is False else f"{why} as far as rules can tell")


def final_text(answer: str) -> str | None:
    r"""The part of ``answer`` that states the final answer, or None where nothing does.

    The last box, else the last ``"answer": ...`` of JSON, else what follows the last "answer is", else a reply that is
    one short line. Example: ``final_text("It is late.\nThe answer is 42 J.")`` is ``"42 J"``.
    """
    text = without_thinking(answer)
    if text is None:
        return None
    if found := last_boxed(text):
        return found
    written = json_answer(text)
    if written is not None and written[0].strip():
        return written[0].strip()
    if found := anchored(text):
        return found
    whole = text.strip()
    return whole if whole and "\n" not in whole and len(whole) <= MAX_WHOLE_REPLY_CHARS else None


def same_answer(gold: str, found: str) -> bool | None:
    """Whether ``found`` says what ``gold`` says; None where rules can not tell.

    Examples: ``same_answer("50.7 atm", "50.68 atm")``; ``same_answer("True", "Yes")``; ``same_answer("[0, 5]", "(0, 5)")``;
    ``same_answer("osmosis", "diffusion")`` is None.
    """
    gold, found = _bare(gold), _bare(found)
    if gold == found:
        return True
    words = normalised(gold)
    if words in _TRUTH:
        said = _TRUTH.get(normalised(found))
        return None if said is None else said is _TRUTH[words]
    items = _items(gold)
    if items is not None and (_LIST.match(gold) or any(read_measure(item) is not None for item in items)):
        return _same_items(items, _items(found) or [found])
    asked = read_measure(gold)
    if asked is None:
        # Only words: of numbers and units, the case and the sign mean something (MW is not mW).
        return True if words and words == normalised(found) else None
    number = read_measure(found)
    if number is None:
        alone = _items(found)
        # [3] for 3; several items are several answers.
        return None if alone is None else len(alone) == 1 and same_answer(gold, alone[0])
    return same_measure(asked, number)


def normalised(text: str) -> str:
    r"""``text`` with what does not change its meaning left out: case, decoration, articles, punctuation at the ends.

    Example: ``normalised("**The** $\\text{Krebs cycle}$.")`` is ``"krebs cycle"``.
    """
    text = unicodedata.normalize("NFKC", _bare(text)).casefold()
    text = _ARTICLE.sub("", " ".join(_HYPHEN.sub(" ", _QUOTES.sub("", text)).split()))
    return text.strip(" .,;:!?")


_WRAPPED = re.compile(r"\\(?:text|textbf|textit|textrm|mathrm|mathbf|mbox|boxed|emph)\s?\{([^{}]*)\}")
_DECORATION = re.compile(
    r"\\[,;:! ]|\\(?:left|right|displaystyle)(?![a-zA-Z])|\\[()]|\$(?![0-9])(?<!\\\$)|[*`]{1,3}(?=\S)|(?<=\S)[*`]{1,3}$"
)
_HYPHEN = re.compile(r"(?<=[^\W\d_])[-\u2010\u2011](?=[^\W\d_])")
_QUOTES = re.compile("[\"'\u2018\u2019\u201c\u201d]")
_ARTICLE = re.compile(r"^(?:the|an?)\s+(?=\S)")
_TRUTH = {"true": True, "yes": True, "false": False, "no": False}
_LIST = re.compile(
    r"^(?:\[(?P<square>.*)\]|\((?P<round>.*)\)|\\?\{(?P<curly>.*?)\\?\}|\\langle(?P<angle>.*)\\rangle)$", re.DOTALL
)


def _bare(text: str) -> str:
    """``text`` without LaTeX and Markdown decoration around and in it."""
    while (plain := _WRAPPED.sub(r" \1 ", text)) != text:
        text = plain
    return " ".join(_DECORATION.sub(" ", text).replace("\\%", "%").split())


def _items(text: str) -> list[str] | None:
    """The items of a list in any brackets, or of a bare "1, 2, 3"; None where ``text`` is no list."""
    listed = _LIST.match(text)
    inside = next(part for part in listed.groups() if part is not None) if listed else text
    parts, depth, start = [], 0, 0
    for at, sign in enumerate(inside):
        if sign in "([{":
            depth += 1
        elif sign in ")]}":
            depth -= 1
            if depth < 0:
                return None  # "(1) and (2)": the outer brackets are not a pair
        elif sign in ",;" and depth == 0 and not _in_number(inside, at):
            parts.append(inside[start:at].strip())
            start = at + 1
    parts.append(inside[start:].strip())
    if listed is None and len(parts) == 1:
        return None
    return parts if all(parts) else None


def _in_number(text: str, at: int) -> bool:
    """Whether the comma at ``at`` separates thousands, as in 102,965.21; in "1, 234" it does not."""
    return text[at] == "," and _THOUSANDS.match(text, at) is not None and text[at - 1 : at].isdigit() and "," not in text[:at]


_THOUSANDS = re.compile(r",[0-9]{3}(?:,[0-9]{3})*(?![0-9])(?!.*,)")


def _same_items(gold: list[str], found: list[str]) -> bool | None:
    if len(gold) != len(found):
        return False
    verdicts = [same_answer(one, other) for one, other in zip(gold, found, strict=True)]
    if False in verdicts:
        return False
    return None if None in verdicts else True
