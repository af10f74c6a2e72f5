"""Kinds that nobody gave: groups of like texts are gone through one by one, and become kinds by what is right.

A group borrows the teams that were found for others before it is searched, so that groups of one kind are paid for once. Then the
problems go where the text and the teams' answers say (:mod:`podium.tuning.regroup`); where that is in doubt the two likeliest
teams are asked.
"""

import math
from collections.abc import Callable, Mapping

from podium.tuning.candidates import Candidate
from podium.tuning.outcomes import Draw
from podium.tuning.regroup import regrouped
from podium.tuning.search import Search

KEPT = 0.2
"""Share of the calls that is kept for the kinds when groups are gone through one by one."""
NEW = 0.6
"""Share of the groups that are reckoned to need a search of their own."""
SHARE = 0.3
"""Share of the calls left that one group takes at most."""
LEND = 0.4
"""Share right from which a team is lent to other groups."""
SURE = 0.9
"""Chance of a kind from which a problem's kind is not asked after."""


async def find_kinds(search: Search, left: Callable[[], float], on_batch: Callable[[Draw], None]) -> None:
    """Make kinds of the groups of ``search`` with part of the calls that are ``left()``."""
    if len(search.by_kind) > 1:
        teams = await _teams(search, left, on_batch)
        await _regroup(search, teams, left)


async def _teams(search: Search, left: Callable[[], float], on_batch: Callable[[Draw], None]) -> dict[str, Candidate]:
    """Group -> the best team for it; the largest groups first."""
    found: dict[str, Candidate] = {}
    lent: list[Candidate] = []
    reserve = left() * KEPT
    groups = sorted(search.by_kind, key=lambda kind: (-len(search.by_kind[kind]), kind))
    for number, kind in enumerate(groups):
        each = search.sweeps[kind] = search.sweeps_of(kind)
        await each.alone()
        await each.borrow(lent)
        for stage in search.stages()[1:]:
            each.may_ask = min((left() - reserve) / max(1.0, (len(groups) - number) * NEW), SHARE * left())
            if each.is_settled or each.may_ask <= 0 or not search.workers:
                break
            await stage(each)
        search.check()
        found[kind] = each.best
        if each.best not in lent and each.measured.get(each.best, 0.0) >= LEND:
            lent.append(each.best)
        search.model.fit()
        on_batch(search.model.mean())
    return found


async def _regroup(search: Search, teams: Mapping[str, Candidate], left: Callable[[], float]) -> None:
    """Make kinds of what one team solves."""
    problems = [problem for own in search.by_kind.values() for problem in own]
    names = {team: kind for kind, team in sorted(teams.items(), reverse=True)}
    labels = [names[teams[kind]] for kind, own in search.by_kind.items() for _ in own]
    shares = {kind: search.sweeps[kind].measured.get(team, LEND) for team, kind in names.items()}
    for _ in range(2):
        right = [
            {kind: known for team, kind in names.items() if (known := search.known.get((p.id, team))) is not None}
            for p in problems
        ]
        labels, posterior = regrouped([problem.question for problem in problems], labels, right, shares)
        doubtful = [
            (teams[kind], problem)
            for problem, each in zip(problems, posterior, strict=True)
            if max(each.values()) < SURE
            for kind in sorted(each, key=lambda kind: -each[kind])[:2]
            if (problem.id, teams[kind]) not in search.known
        ]
        if not doubtful or left() <= 0:
            break
        await search.batch(doubtful[: int(left() / 4)])
    search.relabel({problem.id: label for problem, label in zip(problems, labels, strict=True)})
    for kind, each in search.sweeps.items():
        each.may_ask = math.inf
        await each.measure(teams[kind])
