"""Questions that were grouped wrongly go where a team is right on them, and kinds without a team get what is left."""

from collections.abc import Awaitable, Callable, Mapping

import pytest

from podium.tuning import search as searching
from podium.tuning.regrouping import regrouped
from podium.tuning.search import Search
from podium.tuning.sweeps import Sweeps
from podium.tuning.trials import Bench
from podium.types import Problem
from tests.tuning.desk import exact, pool, problems

GIVEN = problems(60)
STRAYS = [one for one in GIVEN if one.kind == "reverse"][:4]


def thought(one: Problem) -> str:
    """The kind a question is taken for."""
    return "sum" if one in STRAYS else one.kind


async def searched(near: Mapping[str, tuple[str, ...]]) -> Search:
    search = Search(Bench(pool("idle", "sum", "reverse"), exact, thought), GIVEN, 3, near=near)
    await search.begin(lambda: 1000.0)
    left: Callable[[], float] = lambda: 1000.0 - len(search.bench.paid)  # noqa: E731

    async def between() -> None:
        await regrouped(search, GIVEN, left)

    await search.run(left, lambda mean: None, between)
    return search


async def test_a_stray_goes_where_a_team_is_right_on_it_and_the_others_stay() -> None:
    doubtful = {one.id: ("reverse",) for one in GIVEN if thought(one) == "sum"}
    search = await searched(doubtful)
    assert all(search.bench.kind_of(one) == one.kind for one in GIVEN)
    assert {kind: {one.kind for one in own} for kind, own in search.by_kind.items()} == {"sum": {"sum"}, "reverse": {"reverse"}}
    assert {trial.kind for trial in search.trials if trial.problem in {one.id for one in STRAYS}} == {"reverse"}
    assert all(sweeps.share > 0.9 for sweeps in search.sweeps.values())


async def test_who_has_no_neighbours_elsewhere_stays() -> None:
    search = await searched({})
    assert all(search.bench.kind_of(one) == thought(one) for one in GIVEN)


async def test_the_doubtful_are_searched_on_last() -> None:
    search = Search(Bench(pool(), exact, thought), GIVEN, 3, near={one.id: ("reverse",) for one in STRAYS})
    assert search.by_kind["sum"][-len(STRAYS) :] == STRAYS
    assert [one.id for one in search.by_kind["reverse"]] == [one.id for one in GIVEN if thought(one) == "reverse"]


async def test_a_group_is_not_emptied() -> None:
    few = [one for one in GIVEN if one.kind == "sum"][:4] + [one for one in GIVEN if one.kind == "reverse"]
    odd = {one.id: ("reverse",) for one in few[:8]}
    search = Search(Bench(pool(), exact, lambda one: "odd" if one.id in odd else "reverse"), few, 3, near=odd)
    await search.begin(lambda: 1000.0)
    await search.run(lambda: 1000.0 - len(search.bench.paid), lambda mean: None)
    await regrouped(search, few, lambda: 1000.0)
    assert [search.bench.kind_of(one) for one in few[:8]] == ["odd"] * 8


async def test_kinds_without_a_good_team_come_first_and_cheap_looks_are_never_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    search = Search(Bench(pool(), exact, thought), GIVEN, 3)
    await search.begin(lambda: 1000.0)
    search.sweeps = {kind: search.sweeps_of(kind) for kind in search.by_kind}
    order: list[str] = []

    def stage(kind: str, share: float) -> Callable[[Sweeps], Awaitable[None]]:
        async def done(sweeps: Sweeps) -> None:
            order.append(kind)
            sweeps.measured[sweeps.best] = share

        return done

    search.sweeps["sum"].measured[search.sweeps["sum"].best] = 0.8
    stages = {"sum": [stage("sum", 0.8)], "reverse": [stage("reverse", 0.5), stage("reverse", 0.8), stage("reverse", 0.95)]}
    await search._side_by_side(stages, lambda: 1.0, lambda mean: None, by_need=True)
    assert order == ["reverse", "reverse", "sum", "reverse"]
    look = stage("look", 0.95)
    monkeypatch.setattr(searching, "ALWAYS", (look,))
    await search._side_by_side({"reverse": [look, stage("reverse", 0.95)]}, lambda: 1.0, lambda mean: None)
    assert order[4:] == ["look"], "what is right often enough is looked at once, and no more"


@pytest.mark.parametrize(("spent", "order"), [(150, ["sum", "reverse"]), (151, ["reverse", "sum"])])
async def test_a_kind_that_has_taken_far_more_calls_waits_for_the_others(spent: int, order: list[str]) -> None:
    search = Search(Bench(pool(), exact, thought), GIVEN, 3)
    await search.begin(lambda: 1000.0)
    search.sweeps = {kind: search.sweeps_of(kind) for kind in ("sum", "reverse")}
    search.sweeps["sum"].spent = 30 + spent
    search.sweeps["reverse"].spent = 30
    seen: list[str] = []

    def stage(kind: str) -> Callable[[Sweeps], Awaitable[None]]:
        async def done(sweeps: Sweeps) -> None:
            seen.append(kind)
            sweeps.spent += 1

        return done

    stages = {kind: [stage(kind)] for kind in ("sum", "reverse")}
    await search._side_by_side(stages, lambda: 1.0, lambda mean: None, by_need=True)
    assert seen == order
    search.sweeps["sum"].spent += 1000
    stages = {kind: [stage(kind)] for kind in ("sum", "reverse")}
    await search._side_by_side(stages, lambda: 1.0, lambda mean: None)
    assert seen[2:] == ["sum", "reverse"], "the first time all go through everything"
