"""Kinds where none are given: a worker answers every question and plans it, and questions that are treated alike are one kind.

A question's words say what it is about, and how it is answered and planned says what it takes: a formula, a program, a letter.
The replies are paid for once; where the worker is tried alone on such a question afterwards, its reply is there.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from podium.policies.kinds import KindClassifier
from podium.tuning.candidates import Candidate, Part, solo
from podium.tuning.kinds import LEAST, grouped, neighbours
from podium.tuning.trials import Bench
from podium.types import Problem

SAMPLE = 200
"""Questions that it is asked at most; the others are told apart by what these say."""
REPLY_SHARE = 0.15
"""Of the calls, what may go into that."""
FEWEST = 0.9
"""Share of these questions that needs a reply, so that those without do not become a kind of their own."""
BATCH = 24
TELLING = 0.5
"""Share of a kind's questions that have the word it is called by."""
SAID, SAYINGS, LONGEST_SAYING = 0.1, 6, 7
"""Share of a kind's questions that have a saying of it, how many of these there are at most, and their words."""
REPEATED = 40
"""Characters of a question that nothing may repeat, as in what is proposed: a saying is shorter."""
LOOKED_AT = 1_000
"""Characters of a question that are read for sayings."""
ELSEWHERE = 0.1
"""Share of the other questions that may have it."""
LONGEST = 40
"""Letters of a word that may be told; longer rows of letters are data, or a script without spaces."""


IDLE = frozenset(
    {"what", "which", "who", "whom", "whose", "when", "where", "why", "how", "many", "much", "does", "did", "has", "have", "had"}
    | {
        "was",
        "were",
        "are",
        "been",
        "being",
        "can",
        "will",
        "would",
        "should",
        "must",
        "give",
        "say",
        "tell",
        "the",
        "and",
        "for",
    }
    | {"with", "that", "this", "these", "those", "from", "into", "each", "every", "all", "any", "some", "there", "their", "its"}
    | {"they", "them", "you", "your", "not", "but", "than", "then", "also", "only", "just", "very", "more", "most"}
)
"""Words that by themselves say nothing about a task."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Kinds that were found."""

    kind_of: Callable[[Problem], str]
    """Problem -> "group 1", "group 2", ...; a problem that was not looked at has no group."""
    near: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Problem, by id -> the other groups that it may belong to, the likeliest first."""


async def found_kinds(bench: Bench, problems: Sequence[Problem], calls: float) -> Found:
    """Groups of ``problems`` by texts and replies; by texts alone where nobody replies or ``calls`` do not suffice for it.

    ``calls`` is what a whole run can pay for.
    """
    few = _spread(problems)
    asked = _asked(bench)
    if len(few) < 2 * LEAST or len(asked) * len(few) > min(REPLY_SHARE * calls, bench.allowance.room):
        return Found(kind_of=grouped(problems))
    replies: dict[str, str] = {}
    for start in range(0, len(few), BATCH):
        part = few[start : start + BATCH]
        said = await bench.all([bench.reply(one, problem) for problem in part for one in asked])
        for n, problem in enumerate(part):
            both = [reply for reply in said[n * len(asked) : (n + 1) * len(asked)] if reply]
            if both:
                replies[problem.id] = "\n\n".join(both)
        if bench.is_exhausted:
            break
    if len(replies) < FEWEST * len(few):
        return Found(kind_of=grouped(problems))
    kind_of = grouped(few, replies)
    known = {problem.id: kind_of(problem) for problem in few}
    near = neighbours(few, replies, kind_of)
    if len(few) < len(problems):
        classifier = KindClassifier([problem.question for problem in few], [*known.values()])
        known |= {p.id: classifier.likeliest(p.question) for p in problems if p.id not in known}
    return Found(kind_of=lambda problem: known[problem.id], near=near)


def _spread(problems: Sequence[Problem]) -> list[Problem]:
    """``SAMPLE`` of ``problems`` at most, from all over them."""
    count = min(SAMPLE, len(problems))
    return [problems[n * len(problems) // count] for n in range(count)]


def _asked(bench: Bench) -> list[Candidate]:
    """What is asked of every question: that the cheapest worker answers it, and that it prepares an answer."""

    def price(worker: int) -> float:
        card = bench.workers[worker].card
        return math.inf if card.prompt_usd is None or card.completion_usd is None else card.prompt_usd + card.completion_usd

    worker = min(bench.answering, key=price)
    return [solo(worker), (Part(role=bench.catalogue.prepared[0][0], worker=worker),)]


def telling(problems: Sequence[Problem], kind_of: Callable[[Problem], str]) -> dict[str, str]:
    """Kind -> the word, or the two words in a row, that tells it from the others best; kinds without such a word are left out.

    Best is who has the largest share in the kind times the logarithm of how much more often it is there than elsewhere. Workers
    are told it as what the task is about.
    """
    by_kind: dict[str, list[set[str]]] = {}
    for problem in problems:
        by_kind.setdefault(kind_of(problem), []).append(_phrases(problem.question))
    had = {kind: Counter(phrase for one in own for phrase in one) for kind, own in by_kind.items()}
    everywhere = sum(had.values(), Counter[str]())
    found = {}
    for kind, own in by_kind.items():
        others = len(problems) - len(own)
        worth = {
            phrase: _worth(times, len(own), elsewhere, others)
            for phrase, times in had[kind].items()
            if others and times >= TELLING * len(own) and (elsewhere := everywhere[phrase] - times) <= ELSEWHERE * others
        }
        if worth:
            found[kind] = max(sorted(worth), key=lambda phrase: (worth[phrase], len(phrase)))
    return found


def sayings(problems: Sequence[Problem], kind_of: Callable[[Problem], str]) -> dict[str, tuple[str, ...]]:
    """Kind -> words in a row that some of its questions have and hardly any others, those that tell it best first.

    Of those that the same questions have only the longest is there that has fewer than ``REPEATED`` characters. Such words may
    say what the task is about. Where there are many questions, ``SAMPLE`` of them are read.
    """
    problems = _spread(problems)
    where: dict[str, set[int]] = {}
    for place, problem in enumerate(problems):
        for saying in _in_a_row(problem.question[:LOOKED_AT]):
            where.setdefault(saying, set()).add(place)
    again = sorted(
        (one for one, had in where.items() if len(had) > 1 and len(one) < REPEATED), key=lambda one: (len(one.split()), one)
    )
    found = {}
    for kind in dict.fromkeys(map(kind_of, problems)):
        own = {place for place, problem in enumerate(problems) if kind_of(problem) == kind}
        others, longest = len(problems) - len(own), dict[frozenset[int], str]()
        for saying in again:
            had = where[saying] & own
            if len(had) >= max(2, SAID * len(own)) and len(where[saying]) - len(had) <= ELSEWHERE * others:
                longest[frozenset(had)] = saying
        within = {part for saying in longest.values() for part in _parts(saying.split()) if part != saying}
        worth = {
            saying: _worth(len(had), len(own), len(where[saying]) - len(had), others)
            for had, saying in longest.items()
            if saying not in within
        }
        found[kind] = tuple(sorted(worth, key=lambda one: (-worth[one], one))[:SAYINGS])
    return found


def _parts(words: Sequence[str]) -> Iterator[str]:
    """All words in a row among ``words``."""
    return (" ".join(words[a:b]) for a in range(len(words)) for b in range(a + 1, len(words) + 1))


def _in_a_row(text: str) -> set[str]:
    """One to ``LONGEST_SAYING`` words in a row within a sentence, of which one says something."""
    found = set()
    for sentence in re.split(r"[.?!:;\n\d]", text.lower()):
        words = re.findall(r"[^\W\d_]+", sentence)
        for start in range(len(words)):
            for end in range(start + 1, min(len(words), start + LONGEST_SAYING) + 1):
                some = words[start:end]
                if any(len(word) > 2 and word not in IDLE for word in some) and all(len(word) <= LONGEST for word in some):
                    found.add(" ".join(some))
    return found


def _worth(times: int, own: int, elsewhere: int, others: int) -> float:
    """How well what ``times`` of ``own`` questions have and ``elsewhere`` of ``others`` tells these apart."""
    return times / own * math.log((times + 0.5) / (own + 1) * (others + 1) / (elsewhere + 0.5))


def _phrases(text: str) -> set[str]:
    """Words of three letters and more that say something, and such pairs of words that follow each other."""
    words = [word if len(word) <= LONGEST else "" for word in re.findall(r"[^\W\d_]+", text.lower())]
    pairs = {f"{one} {other}" for one, other in pairwise(words) if min(len(one), len(other)) > 2 and not {one, other} <= IDLE}
    return {word for word in words if len(word) > 2} - IDLE | pairs
