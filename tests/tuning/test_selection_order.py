"""Who is compared in selection: kinds with few contenders come first, and where calls are few whom the choice has to beat."""

from collections.abc import Mapping

import pytest

from podium.tuning.candidates import Candidate, solo, staffed
from podium.tuning.run import select
from podium.tuning.search import Search
from podium.tuning.trials import Bench, Judged, Trial
from tests.tuning.desk import exact, kind_of, pool, problems

IDLE, SUM, REVERSE = range(3)
PLANNED = (("plan", ()), ("solve", (0,)))
TEAMS = [staffed(PLANNED, (first, REVERSE)) for first in (IDLE, SUM, REVERSE)]
UNSEEN = problems(160)[80:]


async def searched(measured: Mapping[str, Mapping[Candidate, float]]) -> Search:
    """A search that has begun, and measured so much."""
    search = Search(Bench(pool(), exact, kind_of), problems(40), 3)
    await search.begin(lambda: 1000.0)
    search.sweeps = {kind: search.sweeps_of(kind) for kind in search.by_kind}
    for kind, shares in measured.items():
        search.sweeps[kind].measured = dict(shares)
    return search


ALONE = {solo(SUM): 0.95, solo(IDLE): 0.1, solo(REVERSE): 0.1}
CLOSE = {solo(REVERSE): 0.9, **dict.fromkeys(TEAMS, 0.95)}


@pytest.mark.parametrize("kinds", [("sum", "reverse"), ("reverse", "sum")])
async def test_what_a_kind_without_rivals_leaves_over_is_for_the_others(kinds: tuple[str, ...]) -> None:
    search = await searched({"sum": ALONE, "reverse": CLOSE})
    before = len(search.bench.paid)
    chosen = await select(search.bench, search, UNSEEN, kinds, 80)
    paid = len(search.bench.paid) - before
    assert not [trial for one in chosen["sum"] for trial in one.trials], "a single one is compared with nobody"
    assert 40 < paid <= 80
    alone = await searched({"sum": ALONE, "reverse": CLOSE})
    same = await select(alone.bench, alone, UNSEEN, ("reverse",), 80)
    assert [len(one.trials) for one in chosen["reverse"]] == [len(one.trials) for one in same["reverse"]]


async def test_where_calls_are_few_the_leader_is_compared_with_the_best_worker_alone() -> None:
    leader, _, everywhere = TEAMS
    search = await searched({"reverse": CLOSE | {leader: 0.97}})
    outcome = Judged(right=True, usd=0.002, seconds=0.0, steps=2)
    for asked in problems(40):
        search.note(Trial(problem=asked.id, kind=asked.kind, candidate=everywhere, outcome=outcome))
    search.model.fit()
    assert search.constant(("reverse",)) == everywhere
    for calls, compared in ((8, [leader, solo(REVERSE)]), (18, [leader, solo(REVERSE), everywhere])):
        chosen = await select(search.bench, search, UNSEEN, ("reverse",), calls)
        assert {one.candidate for one in chosen["reverse"]} == {*compared}
        assert all(one.trials for one in chosen["reverse"])
