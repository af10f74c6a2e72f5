"""Kinds that nobody gave: groups of like texts are searched like kinds, and become kinds by what is right.

The large groups are searched side by side until each has a team. Groups are lent the teams of others: where another group's team
does as well as its own, they are one kind, and small groups that no team does well on are one kind together, to be searched
next. Then the problems go where the text and the teams' answers say (:mod:`podium.tuning.regroup`); where that is in doubt, or
the own team is wrong, the two likeliest teams are asked.
"""

import math
from collections.abc import Callable, Mapping, Sequence

from podium.tuning.candidates import Candidate
from podium.tuning.outcomes import Draw
from podium.tuning.regroup import regrouped
from podium.tuning.search import Search
from podium.tuning.sweeps import AGAIN
from podium.types import Problem

KEPT = 0.25
"""Share of the calls that is kept for the kinds when groups are searched."""
COVERED = 0.85
"""Share of the problems that the groups that are searched hold at least."""
LEND = 0.4
"""Share right from which a team is lent to other groups."""
SAME = 0.1
"""A team that is less right by this much only makes two groups one kind."""
SURE = 0.9
"""Chance of a kind from which a problem's kind is not asked after."""
ROUNDS = 3


async def find_kinds(
    search: Search, others: Sequence[Problem], left: Callable[[], float], on_batch: Callable[[Draw], None]
) -> None:
    """Make kinds of the groups of ``search`` with part of the calls that are ``left()``; ``others`` go where their text says."""
    if len(search.by_kind) < 2:
        return
    large, covered = list[str](), 0
    for kind in sorted(search.by_kind, key=lambda kind: (-len(search.by_kind[kind]), kind)):
        if covered < COVERED * sum(map(len, search.by_kind.values())):
            large.append(kind)
            covered += len(search.by_kind[kind])
    reserve = left() * KEPT
    await search.side_by_side(large, lambda: left() - reserve, on_batch, enough=AGAIN)
    groups, teams = await _lent(search, large)
    await _regroup(search, others, groups, teams, left)


async def _lent(search: Search, large: list[str]) -> tuple[dict[str, str], dict[str, Candidate]]:
    """Group -> kind, and kind -> the best team for it."""
    kinds: dict[str, str] = {}
    teams: dict[str, Candidate] = {}
    lent = {kind: search.sweeps[kind].best for kind in large if search.sweeps[kind].share >= LEND}
    rest = ""
    for kind in [*large, *(kind for kind in search.by_kind if kind not in large)]:
        each = search.sweeps.setdefault(kind, search.sweeps_of(kind))
        each.may_ask = math.inf
        if kind not in large:
            await each.alone()
        if each.share < AGAIN:
            await each.borrow([team for other, team in lent.items() if other != kind])
        search.check()
        best = each.measured.get(each.best, 0.0)
        near = [
            (each.measured[team], other)
            for other, team in lent.items()
            if other in teams and other == kinds[other] and each.measured.get(team, 0.0) >= max(best - SAME, LEND)
        ]
        if near:
            kinds[kind] = max(near)[1]
        elif kind in large or not rest:
            kinds[kind], teams[kind] = kind, each.best
            rest = rest if kind in large else kind
        else:
            kinds[kind] = rest
    return kinds, teams


async def _regroup(
    search: Search,
    others: Sequence[Problem],
    groups: Mapping[str, str],
    teams: Mapping[str, Candidate],
    left: Callable[[], float],
) -> None:
    """Make kinds of what one team solves."""
    search.labels = {problem.id: groups[search.bench.kind_of(problem)] for problem in (*search.problems, *others)}
    wanted = [(teams[search.labels[problem.id]], problem) for problem in search.problems]
    for _ in range(ROUNDS):
        wanted = [(team, problem) for team, problem in wanted if (problem.id, team) not in search.known]
        if left() > 0:
            await search.batch(wanted[: int(left() / 4)])
        posterior = _labelled(search, (*search.problems, *others), teams)
        wanted = [
            (teams[kind], problem)
            for problem, each in zip(search.problems, posterior, strict=False)
            if max(each.values()) < SURE or not search.known.get((problem.id, teams[search.labels[problem.id]]), True)
            for kind in sorted(each, key=lambda kind: -each[kind])[:2]
        ]
    search.relabel(search.labels)
    for kind, sweeps in search.sweeps.items():
        await sweeps.measure(teams[kind])


def settle(search: Search, others: Sequence[Problem]) -> None:
    """Put every problem to its likeliest kind once more, by all that is known of the best teams."""
    if search.labels:
        _labelled(search, (*search.problems, *others), {kind: each.best for kind, each in search.sweeps.items()})


def _labelled(search: Search, problems: Sequence[Problem], teams: Mapping[str, Candidate]) -> list[Mapping[str, float]]:
    """Put ``problems`` to their likeliest kinds by text and by which teams were right. The chance of each kind."""
    shares = {kind: search.sweeps[kind].measured.get(team, LEND) for kind, team in teams.items()}
    right = [
        {kind: known for kind, team in teams.items() if (known := search.known.get((p.id, team))) is not None} for p in problems
    ]
    first = [search.labels[problem.id] for problem in problems]
    labels, posterior = regrouped([problem.question for problem in problems], first, right, shares)
    search.labels = {problem.id: label for problem, label in zip(problems, labels, strict=True)}
    return posterior
