"""Problems shared out: to search on, to select on, and a sealed part that is asked once, at the end."""

import random
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from podium.errors import ConfigError
from podium.types import Problem

SEARCH, SELECT = 0.5, 0.25
LEAST = 40
"""Fewer problems than this can show nothing: ten sealed ones leave an interval of 60 points."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """Three parts without a common problem, each with all kinds in the same shares."""

    search: tuple[Problem, ...]
    select: tuple[Problem, ...]
    test: tuple[Problem, ...]


def shared_out(problems: Sequence[Problem], kind_of: Callable[[Problem], str], *, seed: int = 0) -> Split:
    """Half to search on, a quarter to select on, a quarter sealed. Raises :class:`ConfigError` for too few problems."""
    if twice := [question for question, times in Counter(problem.question for problem in problems).items() if times > 1]:
        raise ConfigError(
            f"{len(twice)} questions are there more than once, and a sealed one could be one that was learned from; "
            f"keep one of each, for example of {twice[0][:60]!r}"
        )
    for what, said in (part for each in problems for part in (("question", each.question), ("kind", kind_of(each) or "none"))):
        if not is_text(said):
            raise ConfigError(f"a {what} is no text that can be written to a file: {said[:60]!r}")
    if len(problems) < LEAST:
        raise ConfigError(
            f"there are {len(problems)} problems; tuning needs {LEAST} or more, some 200 to show a gain of ten points"
        )
    parts = _by_kind(problems, kind_of, (SEARCH, SEARCH + SELECT), seed)
    had, searched = Counter(kind_of(problem) for problem in problems), {kind_of(problem) for problem in parts[0]}
    if empty := [kind for kind in had if kind not in searched]:
        raise ConfigError(f"kind {empty[0]!r} has {had[empty[0]]} problem(s); give it four or more, or leave it out")
    return Split(search=tuple(parts[0]), select=tuple(parts[1]), test=tuple(_spread(parts[2], kind_of)))


def shared_again(parts: Split, kind_of: Callable[[Problem], str], *, seed: int = 0) -> Split:
    """``parts`` with all kinds in the same shares in what is searched and what is selected on; the sealed part stays as it is."""
    known = (*parts.search, *parts.select)
    search, select, _ = _by_kind(known, kind_of, (SEARCH / (SEARCH + SELECT), 1.0), seed)
    return Split(search=tuple(search), select=tuple(select), test=parts.test)


def _by_kind(
    problems: Sequence[Problem], kind_of: Callable[[Problem], str], ends: tuple[float, float], seed: int
) -> tuple[list[Problem], list[Problem], list[Problem]]:
    """The problems of each kind, shuffled, up to the first share, up to the second, and the rest."""
    by_kind: dict[str, list[Problem]] = {}
    for problem in problems:
        by_kind.setdefault(kind_of(problem), []).append(problem)
    parts: tuple[list[Problem], list[Problem], list[Problem]] = ([], [], [])
    for kind in sorted(by_kind):
        own = sorted(by_kind[kind], key=lambda problem: problem.id)
        random.Random(f"{seed} {kind}").shuffle(own)
        first, second = (round(end * len(own)) for end in ends)
        for part, found in zip(parts, (own[:first], own[first:second], own[second:]), strict=True):
            part += found
    return parts


def _spread(problems: Sequence[Problem], kind_of: Callable[[Problem], str]) -> list[Problem]:
    """``problems`` in an order of which any beginning has the kinds in their shares: calls may be left for a few only."""
    sizes, seen, places = Counter(kind_of(problem) for problem in problems), Counter[str](), list[float]()
    for problem in problems:
        kind = kind_of(problem)
        places.append((seen[kind] + 0.5) / sizes[kind])
        seen[kind] += 1
    return [problems[at] for at in sorted(range(len(problems)), key=places.__getitem__)]


def checked_words(words: Iterable[str]) -> None:
    """Raises :class:`ConfigError` where one of ``words`` has half of a character pair: found at the end, it would be paid for."""
    for one in words:
        try:
            one.encode("utf-8")
        except UnicodeEncodeError:
            raise ConfigError(f"{one[:60]!r} is no text that can be written to a file") from None


def is_text(text: str) -> bool:
    """Whether it has something to read, and no half of a character pair."""
    try:
        return bool(text.strip()) and bool(text.encode("utf-8"))
    except UnicodeEncodeError:
        return False
