"""What does an answer say, and which answers say the same? The one place for it: votes, consensus, ties, routers, controls.

An answer is read in the form its question asks for: a letter, a program, a Python literal, a mathematical result, words. The form
follows from the kind of the problem where that is known, else from the question and the answers themselves. Answers that say the
same come out as the same text, so counting needs to compare texts only. An answer that says nothing (an empty one, a template
such as ``___``, thinking that was cut off) comes out as None: that is no vote.

Mathematics is read by the verifier's own code (``mathematics/agreeing.py``): two answers that it would call right for each other
agree. No program is executed and no gold answer is known here. Left out: programs that do the same in other words.
"""

import ast
import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from enum import StrEnum
from functools import cache
from typing import Any

from podium.tasks.empty_words import INVISIBLE, is_refusal, without_closing
from podium.tasks.extraction import (
    MAX_CANDIDATE_CHARS,
    after_anchor,
    anchored,
    is_blank,
    json_answer,
    last_boxed,
    last_line,
    without_thinking,
)
from podium.tasks.free_form import normalised
from podium.tasks.mathematics import final_answer
from podium.tasks.mathematics.agreeing import same_answers
from podium.tasks.mathematics.deciding import Formulas
from podium.tasks.mathematics.notation import normal_form
from podium.tasks.mathematics.pool import Comparison, SymbolicPool
from podium.tasks.mathematics.reading import read_number, spelled
from podium.tasks.multiple_choice import LETTERS, chosen_letters, listed_letters
from podium.tasks.output_prediction import read_literal, spellings
from podium.tasks.programming.code import extract_code
from podium.tasks.syntax import parse_module


class Form(StrEnum):
    """How an answer is read."""

    LETTER = "letter"
    PROGRAM = "program"
    LITERAL = "literal"
    MATHEMATICS = "mathematics"
    WORDS = "words"


_FORM_OF_KIND = {
    "multiple_choice": Form.LETTER,
    "choice": Form.LETTER,
    "programming": Form.PROGRAM,
    "code": Form.PROGRAM,
    "output-prediction": Form.LITERAL,
    "mathematics": Form.MATHEMATICS,
}
"""Kinds of the benchmarks and of the gym; every other kind is answered in words or numbers."""


def votes(answers: Sequence[str], *, question: str = "", kind: str = "") -> list[str | None]:
    """What each of ``answers`` to ``question`` says; equal texts for answers that say the same, None for one that says nothing.

    Without the ``kind`` of the problem the form is read off the question and the answers. Examples::

        votes(["The answer is B.", "Answer: B) Lima"], kind="multiple_choice")  # ["B", "B"]
        votes(["Answer: 0.5", r"\\boxed{1/2}", "Answer: ___"])  # two equal texts and None
    """
    return Reading(question, kind).votes(answers)


def votes_of(extracted: Sequence[str | None], kind: str, question: str = "") -> list[str | None]:
    """The same for what the verifier of ``kind`` read out of answers to ``question`` (``Verdict.extracted``).

    Example: ``votes_of(["1,000", None, "1000"], "mathematics")`` has two equal texts around None.
    """
    return _agreeing(extracted, _FORM_OF_KIND.get(kind, Form.WORDS), question)


class TakesTime(Exception):
    """Formulas have to be compared by another process, and whoever asked can not wait for it now."""


class Reading:
    """Reads the answers to one question, each of them once, however often it is asked what they say.

    Example: ``Reading("6 times 7?").agreed(["Answer: 42", "Answer: 41", "The answer is 42."], 2) == (0, 2)``.
    """

    def __init__(self, question: str, kind: str = "") -> None:
        self._question = question
        self._form = _FORM_OF_KIND.get(kind, Form.WORDS) if kind else None
        self._letters = listed_letters(question)
        self._looks: dict[str, tuple[bool, bool]] = {}
        self._said: dict[tuple[str, Form], str | None] = {}

    def votes(self, answers: Sequence[str], *, at_once: bool = False) -> list[str | None]:
        """What each of ``answers`` says, as the function :func:`votes` tells it.

        Raises :class:`TakesTime` where it has to be found out ``at_once``, as in an event loop, and takes another process.
        """
        form = self._form or self.form(answers)
        for answer in answers:
            if (answer, form) not in self._said:
                self._said[answer, form] = _stated(answer, form, self._question)
        stated = [self._said[answer, form] for answer in answers]
        return _agreeing(stated, form, self._question, _not_now if at_once else _compare)

    def agreed(self, answers: Sequence[str], count: int, *, at_once: bool = False) -> tuple[int, ...]:
        """Positions of the answers that say the same, where ``count`` or more do; of several such answers the one given first.

        () where no ``count`` of them agree. Raises :class:`TakesTime` as :meth:`votes` does.
        """
        said = self.votes(answers, at_once=at_once) if len(answers) >= count else []
        counts = Counter(text for text in said if text is not None)
        chosen = next((text for text, times in counts.items() if times >= count), None)
        return () if chosen is None else tuple(position for position, text in enumerate(said) if text == chosen)

    def form(self, answers: Sequence[str]) -> Form:
        """The form that most of ``answers`` have."""
        if _ASKS_FOR_A_LITERAL.search(self._question):
            return Form.LITERAL
        looks = [self._look(answer) for answer in answers if answer.strip()]
        if 2 * sum(is_program for is_program, _ in looks) > len(looks):
            return Form.PROGRAM
        return Form.LETTER if 2 * sum(has_letter for _, has_letter in looks) > len(looks) else Form.WORDS

    def _look(self, answer: str) -> tuple[bool, bool]:
        """Whether ``answer`` looks like a program, and whether it names a letter of the question's."""
        if answer not in self._looks:
            is_program = _looks_like_a_program(answer, self._question)
            self._looks[answer] = (is_program, bool(chosen_letters(answer, self._letters)))
        return self._looks[answer]


_ASKS_FOR_A_LITERAL = re.compile(r"Python literal|==\s?\?\?")
_BLOCK = re.compile(r"^[ \t>]{0,40}(`{3,}|~{3,})[^\n]*+\n.*?(?:^[ \t>]{0,40}\1|\Z)", re.MULTILINE | re.DOTALL)
_STATEMENT = re.compile(
    r"^[ \t]{0,40}(?:@|(?:async|def|class|import|from|for|while|with|try|if|return|print)\b)|input\(", re.MULTILINE
)
_FENCED_END = re.compile(
    r"^[ \t>]{0,40}(`{3,}|~{3,})[^\n]*+\n((?:(?!^[ \t>]{0,40}\1).)*)^[ \t>]{0,40}\1\s*\Z", re.MULTILINE | re.DOTALL
)
_KEYWORD = re.compile(r"@|input\(|\b(?:async|def|class|import|from|for|while|with|try|if|return|print)\b")
_DEFINED = re.compile(r"^[ \t]{0,40}(?:async[ \t]+)?(?:def|class)[ \t]+([A-Za-z_]\w{0,200})", re.MULTILINE)
_DECORATION = " \t\r\n$\"'`*,;"
_LABEL_ALONE = re.compile(r"[\W_]*(?:(?:the|my|final)\s+)*answer(?:\s+is)?[\W_]*", re.IGNORECASE)
_BOX = re.compile(r"\\{1,2}(?:boxed|fbox)\s*\{(.*)\}")
_WORD = re.compile(r"(?<![\\A-Za-z])[A-Za-z]{3}")
_TEMPLATE = re.compile(
    r"\\{1,2}(?:boxed|fbox)\s*\{[\s_]*\}|(?:\\?_|\\text\{[\s_]*\})+|\.{2,}|…|\?+|[<\[{(]?\s*(?:(?:your|the|my|insert|final|correct)\s+)*(?:answer|<(?![^<>,0-9]*+[0-9][^<>,]*+,)[^<>]*>)(?:\s+here)?\s*[>\])}]?",
    re.IGNORECASE,
)


def _stated(answer: str, form: Form, question: str) -> str | None:
    """The part of ``answer`` that commits itself."""
    answer = without_closing(answer.translate(INVISIBLE))
    if is_refusal(answer):
        return None
    if form is Form.PROGRAM:
        return _program(answer, question)
    if form is Form.LETTER:
        return chosen_letters(answer, listed_letters(question)) or _option(answer, question)
    if form is Form.LITERAL:
        found = spellings(answer)
        return next((text for text in found if read_literal(text) is not None), found[0] if found else None)
    text = without_thinking(answer)
    whole = None if text is None or form is Form.MATHEMATICS or json_answer(text) else _whole_json(text)
    if whole is not None:
        return whole
    stated = final_answer(answer)
    if stated is not None or form is Form.MATHEMATICS:
        return stated
    if text is None:
        return None
    written = json_answer(text)
    if written is not None:
        return written[0]
    line = last_line(_without_fences(text))
    return None if _holds_nothing(line) else line


def _agreeing(
    stated: Sequence[str | None], form: Form, question: str, compare: Callable[[Formulas], Comparison] | None = None
) -> list[str | None]:
    """``stated`` with one spelling for all that say the same."""
    if form is Form.PROGRAM:
        return [None if text is None else _same_program(text) for text in stated]
    if form is Form.LITERAL:
        return [None if text is None else _same_literal(text) for text in stated]
    plain = [None if text is None or _is_template(text) else text.strip() for text in stated]
    if form is Form.LETTER:
        return [None if text is None else text.upper() for text in plain]
    formulas = list(dict.fromkeys(text for text in plain if text is not None and _is_mathematics(text, form, question)))
    said = dict(zip(formulas, same_answers(formulas, question, compare or _compare), strict=True))
    return [None if text is None else said.get(text) or _same_words(text) for text in plain]


def _is_mathematics(text: str, form: Form, question: str) -> bool:
    """Whether ``text`` is to be compared as a number or a formula; in words only what has no word in it, or is a number."""
    if len(text) > MAX_CANDIDATE_CHARS:
        return False
    return form is Form.MATHEMATICS or not _WORD.search(text) or read_number(spelled(text), question) is not None


def _not_now(formulas: Formulas) -> Comparison:
    raise TakesTime


def _compare(formulas: Formulas) -> Comparison:
    return _pool().compare_blocking(formulas.gold, formulas.answer, factor=str(formulas.factor), restated=formulas.restated)


@cache
def _pool() -> SymbolicPool:
    """One process for all votes, which starts when the first two formulas differ, and ends with this process."""
    return SymbolicPool(size=1)


def _is_template(text: str) -> bool:
    bare = text.strip(_DECORATION)
    return not bare or _TEMPLATE.fullmatch(bare) is not None


def _holds_nothing(line: str) -> bool:
    """Whether a line is a label or a box with nothing in it, or with a template."""
    box = _BOX.fullmatch(line.strip(_DECORATION))
    inside = box[1] if box else after_anchor(line)
    return _LABEL_ALONE.fullmatch(line) is not None or (inside != "" and (is_blank(inside) or _is_template(inside)))


def _program(answer: str, question: str) -> str | None:
    """The program in ``answer``: the one that defines what the question names, else one that defines anything, else the last."""
    for names in (frozenset(_DEFINED.findall(question)), frozenset(_DEFINED.findall(answer))):
        code = extract_code(answer, names) if names else None
        if code is not None and names.intersection(_DEFINED.findall(code)):
            return code
    return extract_code(answer)


def _looks_like_a_program(answer: str, question: str) -> bool:
    """Whether ``answer`` is code and no words; "Answer: 42" is Python, too, and no program."""
    if _KEYWORD.search(answer) is None:
        return False  # no statement without one of them: most answers are not worth a parse
    code = _program(answer, question)
    return code is not None and _STATEMENT.search(code) is not None and not _marked(answer)


def _marked(answer: str) -> bool:
    """Whether the words around the programs of ``answer`` state a result."""
    words = _BLOCK.sub(lambda block: "\n" if _STATEMENT.search(block.group()) else block.group(), answer)
    words = "" if _STATEMENT.match(words) else words
    return bool(last_boxed(words) or anchored(words))


def _same_program(text: str) -> str | None:
    """The program's syntax tree, so that comments, spaces, quotes and docstrings do not tell two apart."""
    tree = parse_module(text)
    if tree is None:
        return " ".join(text.split()) or None
    try:
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Module) and ast.get_docstring(node):
                node.body = node.body[1:] or [ast.Pass()]
        # "Answer: ___" is an annotation, to Python.
        return None if all(isinstance(node, ast.AnnAssign) for node in tree.body) else ast.dump(tree)
    except RecursionError:  # hostile: nested deeper than it can be walked
        return text


def _same_words(text: str) -> str:
    """Words without case, articles and punctuation; formulas without spaces and decoration; prose as it is."""
    if len(text) > MAX_CANDIDATE_CHARS:
        return " ".join(text.split())
    return (normalised(text) if _WORD.search(text) else normal_form(text)) or text


def _same_literal(text: str) -> str | None:
    """The value, its type included; a text without quotes that is no literal stands for itself."""
    value = read_literal(text)
    if value is None:
        return None if _is_template(text) else _spelled(text)
    return None if value[0] is ... else _spelled(value[0])


def _spelled(value: Any) -> str:
    """``repr`` with the items of sets and dictionaries in one order."""
    if isinstance(value, dict):
        return "{" + ", ".join(sorted(f"{_spelled(key)}: {_spelled(item)}" for key, item in value.items())) + "}"
    if isinstance(value, set):
        return "{" + ", ".join(sorted(map(_spelled, value))) + "}" if value else "set()"
    if isinstance(value, list | tuple):
        inside = ", ".join(map(_spelled, value))
        return f"[{inside}]" if isinstance(value, list) else f"({inside},)"
    return hex(value) if type(value) is int else repr(value)  # decimal digits are bounded by Python, and slow


def _option(answer: str, question: str) -> str | None:
    """The letter of the option whose words are the answer."""
    said = normalised(final_answer(answer) or last_line(answer))
    letters = listed_letters(question)
    if not said or letters == LETTERS:
        return None
    options = {normalised(words): letter for letter, words in _OPTION.findall(question) if letter in letters}
    return options.get(said)


_OPTION = re.compile(r"^[ \t]{0,8}\(?([A-Z])[).:][ \t]+([^\n]{1,500})$", re.MULTILINE)


def _whole_json(text: str) -> str | None:
    """A reply that is one JSON object or list, or ends with one in a fence, its keys in one order; None where it is none."""
    fenced = _FENCED_END.search(text)
    if fenced and (last_boxed(text[: fenced.start()]) or anchored(text[: fenced.start()].rstrip())):
        fenced = None  # the words say what the answer is
    for written in (text, *([fenced[2]] if fenced else [])):
        try:
            value = json.loads(_without_fences(written))
            if isinstance(value, dict | list):
                return json.dumps(value, sort_keys=True, ensure_ascii=False)
        except (ValueError, RecursionError):
            continue
    return None


def _without_fences(text: str) -> str:
    """``text`` without the lines that open and close fenced blocks."""
    return "\n".join(line for line in text.strip().splitlines() if not line.strip().startswith(("```", "~~~")))
