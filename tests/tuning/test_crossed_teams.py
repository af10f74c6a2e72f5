"""Where no worker alone is ever right and one step after the other shows nothing, the best of every place are crossed."""

import re
from collections.abc import Callable

import pytest

from podium.tuning.candidates import Part, team_of
from podium.tuning.catalogue import SOLVE
from podium.tuning.measuring import RACED
from podium.tuning.search import Search
from podium.tuning.shown import Shown
from podium.tuning.sweeps import CROSSED, Sweeps
from podium.tuning.trials import Bench
from podium.types import Call, Problem
from podium.workers.pool import WorkerPool
from tests.tuning.desk import exact, kind_of, member

PLANNER, RECALLER, SOLVER = 1, 2, 3


def locks(count: int) -> list[Problem]:
    return [Problem(question=f"Lock {n}?", target=f"{7 * n}-{n * n}", kind="lock", source="desk") for n in range(count)]


def clerk(at: int) -> Callable[[Call], str]:
    """Only the planner knows the first half, only the recaller the second, and only the solver puts them together."""

    def answer(call: Call) -> str:
        told = [*call.question, *(message for step in call.visible for message in step.question)]
        number = int(re.search(r"Lock (\d+)", " ".join([*(one.content for one in told), call.subtask]))[1])  # type: ignore[index]
        seen = dict(re.findall(r"(first|second)=(\d+)", " ".join(step.response for step in call.visible)))
        if at == PLANNER and "plan" in call.subtask:
            return f"first={7 * number}"
        if at == RECALLER and "Recall" in call.subtask:
            return f"second={number * number}"
        return f"{seen['first']}-{seen['second']}" if at == SOLVER and len(seen) == 2 else "I do not know."

    return answer


def noted(shown: Shown, role: str, worker: int, *, tried: int, missed: int) -> None:
    for trial in range(tried):
        shown.note(role, worker, trial, right=trial >= missed)


async def begun(left: float) -> Sweeps:
    workers = WorkerPool([member(f"clerk{at}", clerk(at)) for at in range(5)])
    search = Search(Bench(workers, exact, kind_of), locks(30), 5)
    await search.begin(lambda: 1000.0)
    sweeps = search.sweeps_of("lock")
    await sweeps.alone()
    assert sweeps.share < 0.1
    for role, worker in (("plan", PLANNER), ("recall", RECALLER), (SOLVE, SOLVER)):
        noted(sweeps._shown, role, worker, tried=3, missed=1)
        noted(sweeps._shown, role, 4, tried=2, missed=2)
    sweeps.may_ask = left
    return sweeps


async def test_the_team_is_found_that_nobody_is_right_without() -> None:
    sweeps = await begun(1000.0)
    await sweeps.cross()
    last = Part(role=SOLVE, worker=SOLVER)
    assert sweeps.best == team_of([("plan", PLANNER), ("recall", RECALLER)], last)
    assert sweeps.share > 0.9
    assert 1000.0 - sweeps.may_ask < 2 * CROSSED**3 + 30 * 3, "what begins alike is paid for once"


async def test_it_is_not_begun_where_the_calls_do_not_suffice() -> None:
    sweeps = await begun(CROSSED**3 - 1.0)
    await sweeps.cross()
    assert sweeps.may_ask == CROSSED**3 - 1.0


@pytest.mark.parametrize(("left", "crossed"), [(99, 27), (98, 8), (74, 8), (73, 0)])
async def test_it_is_begun_only_where_what_comes_out_can_be_raced_as_well_with_fewer_workers_if_need_be(
    left: float, crossed: int
) -> None:
    sweeps = await begun(left)  # three of each place are 27 teams for 39 calls, two are 8 teams for 14; a race takes 60
    first = next(problem for problem in sweeps.problems if sweeps._known.get((problem.id, sweeps.best)) is not True)
    await sweeps.cross()
    assert sum(of == first.id and len(team) == 3 for of, team in sweeps._known) == crossed
    assert (sweeps.share > 0.9) == bool(crossed)
    assert sweeps.may_ask >= 0


async def test_it_is_left_out_where_there_is_a_team() -> None:
    sweeps = await begun(1000.0)
    await sweeps.cross()
    sweeps.may_ask = 1000.0
    await sweeps.cross()
    assert sweeps.may_ask == 1000.0


async def test_a_race_drops_who_is_far_behind_after_half_of_it() -> None:
    sweeps = await begun(1000.0)
    good = team_of([("plan", PLANNER), ("recall", RECALLER)], Part(role=SOLVE, worker=SOLVER))
    bad = team_of([("plan", PLANNER), ("recall", 0)], Part(role=SOLVE, worker=SOLVER))
    await sweeps.race([bad, good])
    asked = {one: sum((problem.id, one) in sweeps._known for problem in sweeps.problems) for one in (good, bad)}
    assert asked[bad] == RACED // 2
    assert sweeps.best == good


async def test_a_race_without_teams_is_none() -> None:
    sweeps = await begun(10.0)
    await sweeps.race([])
    assert sweeps.may_ask == 10.0


def test_what_was_shown_is_forgotten_but_for_the_ranks() -> None:
    shown = Shown()
    noted(shown, "plan", 0, tried=4, missed=3)
    noted(shown, "plan", 0, tried=4, missed=3)
    noted(shown, "plan", 1, tried=4, missed=0)
    assert (shown.tried("plan", 0), shown.missed("plan", 0)) == (4, 3), "what is done again shows nothing new"
    assert not shown.may_be_good("plan", 0)
    shown.begin_again()
    assert shown.may_be_good("plan", 0)
    assert shown.ranked("plan", (0, 1, 2)) == [1, 2, 0]
    assert shown.spread("plan", (0, 1)) > shown.spread("recall", (0, 1)) == 0.0
