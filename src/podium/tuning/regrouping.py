"""Groups that were found are put right by what teams show: who is right on a question tells what kind it is of.

A team is right on most questions of the kind that it was found for, and hardly on others. So a question that has neighbours in
another group, and that its own group's team has wrong or that has no such team, is put to the team of that group; where it is
right, the question goes there. What is left of a group without a team is purer then, and is searched anew.

So a question that was moved is one that the team there has right, and the shares right of single kinds come out a little too
high. What the sealed problems say does not: none of them is looked at.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise

from podium.tuning.candidates import Candidate
from podium.tuning.search import BATCH, Search
from podium.types import Problem

GOOD = 0.6
"""Share right from which a team is one to tell by: it may be right on all that belongs to its group."""
FEWEST = 8
"""Questions that a group keeps at least; it is left as it is where fewer would stay."""


async def regrouped(search: Search, problems: Sequence[Problem], left: Callable[[], float]) -> None:
    """Move those of ``problems`` that belong elsewhere, in ``search`` and for its bench, as long as calls are ``left()``."""
    kinds = {problem.id: search.bench.kind_of(problem) for problem in problems}
    teams = {kind: sweeps.best for kind, sweeps in search.sweeps.items() if sweeps.share >= GOOD}
    doubtful = [problem for problem in problems if any(kind in teams for kind in search.near.get(problem.id, ()))]
    await _ask(search, [(teams[kinds[p.id]], p) for p in doubtful if kinds[p.id] in teams], left)
    open_ = [p for p in doubtful if kinds[p.id] not in teams or not search.known.get((p.id, teams[kinds[p.id]]), True)]
    moved: dict[str, str] = {}
    for place in range(max((len(search.near[p.id]) for p in open_), default=0)):
        here = {p.id: search.near[p.id][place] for p in open_ if p.id not in moved and len(search.near[p.id]) > place}
        here = {one: kind for one, kind in here.items() if kind in teams}
        await _ask(search, [(teams[here[p.id]], p) for p in open_ if p.id in here], left)
        moved |= {one: kind for one, kind in here.items() if search.known.get((one, teams[kind]))}
    stay = Counter(kinds[p.id] for own in search.by_kind.values() for p in own if p.id not in moved)
    found = kinds | {one: kind for one, kind in moved.items() if stay[kinds[one]] >= FEWEST}
    if found != kinds:
        search.regroup(lambda problem: found[problem.id])


async def _ask(search: Search, wanted: Sequence[tuple[Candidate, Problem]], left: Callable[[], float]) -> None:
    new = [(team, problem) for team, problem in wanted if (problem.id, team) not in search.known]
    for start, end in pairwise([*range(0, len(new), BATCH), len(new)]):
        if left() <= 0 or not search.bench.can_pay(new[start:end]):
            return
        await search.batch(new[start:end])
