r"""What the question already says: what it asks for, and whether an answer only says it again.

To the question "What is $x+y$?" the answer ``x+y = 3`` is 3; where the question gives ``x^2-1 = 3``, repeating it answers
nothing. An answer that only repeats an expression of the question leaves everything to do.
"""

import re
from functools import lru_cache

from podium.tasks.mathematics.notation import normal_form
from podium.tasks.mathematics.reading import MAX_QUESTION_CHARS

_SPAN = re.compile(r"\$\$?([^$]*)\$\$?|\\\(([^$]*?)\\\)|\\\[([^$]*?)\\\]")
_VERBS = ("find", "compute", "evaluate", "calculate", "determine", "valueof", "whatis")
_ASKS = (*_VERBS, *(verb.capitalize() for verb in _VERBS))
_ENDS = frozenset(" .,;:?!igw")
"""What may follow an expression in a question: its end, or "if", "given", "when"."""
_TASK = re.compile(
    r"\b(?:expand|factor|simplify|evaluate|compute|calculate|rationalize|express|rewrite|write|convert)\b", re.IGNORECASE
)
_OPERATOR = re.compile(r"\\[a-zA-Z]{2,}|[-+*/^!]")


def asked_side(answer: str, question: str) -> str | None:
    """The right side of ``answer``, an equation, where the question asks for its left side; else None.

    Example: ``asked_side("x+y = 3", "Find $x+y$.")`` is ``"3"``; it is None where the question gives "x+y = 3".
    """
    left, equals, right = answer.rpartition("=")
    wanted, text = normal_form(left), _plain(question)
    if not equals or not wanted or "=" in left or normal_form(answer) in text:
        return None
    if wanted in _spans(question):
        return right.strip()
    for verb in _ASKS:
        _, found, behind = text.partition(f"{verb}{wanted}")
        if found and (not behind or behind[0] in _ENDS):
            return right.strip()
    return None


def restates_part(formula: str, question: str) -> bool:
    r"""Whether ``formula`` stands in the question and has anything to compute. Example: ``\sqrt{144}`` in "Find $\sqrt{144}$"."""
    spelled = normal_form(formula)
    return bool(_OPERATOR.search(spelled)) and spelled in _plain(question)


def restates_task(gold: str, answer: str, question: str) -> bool:
    """Whether ``answer`` is the expression that the question wants changed, and ``gold`` is not.

    Example: ``(x+1)(x+2)`` for "Expand $(x+1)(x+2)$".
    """
    spelled = normal_form(answer)
    if not _OPERATOR.search(spelled) or not _TASK.search(question[-MAX_QUESTION_CHARS:]):
        return False
    return spelled in _spans(question) and normal_form(gold) not in _spans(question)


@lru_cache(maxsize=64)
def _spans(question: str) -> frozenset[str]:
    """The formulas of the question, each as a whole, in their normal form."""
    found = _SPAN.finditer(question[-MAX_QUESTION_CHARS:])
    return frozenset(normal_form(span[1] or span[2] or span[3] or "") for span in found)


@lru_cache(maxsize=64)
def _plain(question: str) -> str:
    return normal_form(question[-MAX_QUESTION_CHARS:]).replace("\u2423", "")
