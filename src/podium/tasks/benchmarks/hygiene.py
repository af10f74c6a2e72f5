"""Train and test must not share a question: found by normalised text, dropped from the training side, or proved absent.

Two questions are the same if they read the same once case, white space, LaTeX spacing and the order and letters of the
options are taken away. Operators and digits stay, so that 2 + 3 and 2 - 3 are two questions. Left out: paraphrases and
translations; a proof here is a proof about texts, not about knowledge.
"""

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Sequence

from podium.errors import ConfigError
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


def without_overlaps(train: Sequence[Problem], test: Iterable[Problem]) -> list[Problem]:
    """``train`` without the questions of ``test``. Example: ``train = without_overlaps(train, test)``."""
    asked = {fingerprint(problem) for problem in test}
    return [problem for problem in train if fingerprint(problem) not in asked]


def prove_disjoint(train: Iterable[Problem], test: Iterable[Problem]) -> None:
    """Return only where no question of ``train`` is asked in ``test``; else raise :class:`ConfigError` that names some."""
    shared = overlaps(train, test)
    if shared:
        shown = "; ".join(f"{one.source} {one.id} = {other.source} {other.id}" for one, other in shared[:3])
        raise ConfigError(f"{len(shared)} training questions are in the test set ({shown}); drop them with without_overlaps")


def _plain(text: str) -> str:
    text = unicodedata.normalize("NFKC", text).casefold().replace("\u2212", "-")
    return _SPACE.sub("", _LATEX.sub("", _FRACTION.sub(r"\\frac", text)))
