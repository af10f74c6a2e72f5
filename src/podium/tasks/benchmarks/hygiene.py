"""Train and test must not share a question: found by normalised text.

Two questions are the same if they read the same once case, white space, LaTeX spacing and the order and letters of the
options are taken away. Operators and digits stay, so that 2 + 3 and 2 - 3 are two questions. Left out: paraphrases and
translations; what is absent here is absent as text, not as knowledge.
"""

import hashlib
import re
import unicodedata
from collections.abc import Iterable

from podium.types import Problem

_LATEX = re.compile(r"\\(?:left|right|displaystyle|mathrm|text|mbox)(?![a-zA-Z])|\\[,;:! ()\[\]]|\\q?quad(?![a-zA-Z])|[${}~]")
_FRACTION = re.compile(r"\\[dtc]frac(?![a-zA-Z])")
_OPTION = re.compile(r"^[A-Z]\) (.*)$")
_BORDER = "\x01"  # what normalising leaves alone
_SPACE = re.compile(r"\s+")


def fingerprint(problem: Problem) -> str:
    """What is asked, as 32 hex digits, the same for two spellings of one question.

    Example: "What is $2+2$?" and "what is 2 + 2?" have one fingerprint.
    """
    lines = problem.question.split("\n")
    options = [option[1] for line in lines if (option := _OPTION.match(line))]
    stem = " ".join(line for line in lines if not _OPTION.match(line))
    stem, *options = _plain(_BORDER.join((stem, *options))).split(_BORDER)
    return hashlib.sha256("\x1f".join((stem, *sorted(options))).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def unique(problems: Iterable[Problem]) -> list[Problem]:
    """``problems`` without those that are there already under the same id, in order.

    The same question twice would count twice in an accuracy. Example: ``unique([a, b, a])`` is ``[a, b]``.
    """
    found: dict[str, Problem] = {}
    for problem in problems:
        found.setdefault(problem.id, problem)
    return list(found.values())


def overlaps(train: Iterable[Problem], test: Iterable[Problem]) -> list[tuple[Problem, Problem]]:
    """(train, test) pairs that ask the same, in the order of ``train``. Example: ``overlaps(math, math500)`` is ``[]``."""
    asked: dict[str, Problem] = {}
    for problem in test:
        asked.setdefault(fingerprint(problem), problem)
    return [(problem, asked[print_]) for problem in train if (print_ := fingerprint(problem)) in asked]


def _plain(text: str) -> str:
    text = unicodedata.normalize("NFKC", text).casefold().replace("\u2212", "-")
    return _SPACE.sub("", _LATEX.sub("", _FRACTION.sub(r"\\frac", text)))
