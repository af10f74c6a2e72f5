"""A plan that a catalogue brings is swept: who takes which place is found, and the team is measured."""

from dataclasses import replace

from podium.tuning.candidates import staffed
from podium.tuning.catalogue import GENERAL, Plan
from podium.tuning.plan_sweeps import PlanSweeps
from podium.tuning.search import Search
from podium.tuning.sweeps import Sweeps
from podium.tuning.trials import Bench
from tests.tuning.desk import exact, kind_of, pool, problems

WRITE: Plan = (("write", ()),)
RECALL: Plan = (("recall", ()), ("solve", (0,)))
REVERSE = 2


def search_with(swept: tuple[Plan, ...]) -> Search:
    catalogue = replace(GENERAL, name="ours", swept=swept)
    return Search(Bench(pool("idle", "sum", "reverse"), exact, kind_of, catalogue), problems(60), 3)


async def test_a_place_goes_to_whoever_is_right_there() -> None:
    search = search_with((WRITE,))
    await search.begin(lambda: 1000.0)
    sweeps = search.sweeps_of("reverse")
    assert isinstance(sweeps, PlanSweeps)
    await sweeps.alone()
    await sweeps.plan(WRITE)
    [(part,)] = [one for one in sweeps.measured if one[0].role == "write"]
    assert part.worker == REVERSE
    assert sweeps.measured[(part,)] > 0.9


async def test_a_plan_is_left_out_where_all_the_same_do_one_of_its_places() -> None:
    search = search_with((RECALL,))
    await search.begin(lambda: 1000.0)
    sweeps = search.sweeps_of("reverse")
    assert isinstance(sweeps, PlanSweeps)
    await sweeps.alone()
    await sweeps.plan(RECALL)
    assert {len(one) for one in sweeps.measured} == {1}


async def test_where_everybody_was_given_up_nobody_is_found() -> None:
    search = search_with((RECALL,))
    await search.begin(lambda: 1000.0)
    sweeps = search.sweeps_of("reverse")
    assert isinstance(sweeps, PlanSweeps)
    proofs = [(staffed(RECALL, (0, REVERSE)), problem) for problem in sweeps.problems[:3]]
    sweeps._workers = lambda: ()
    assert await sweeps._sweep(proofs, 0) is None


async def test_a_second_round_forgets_who_was_chosen_and_keeps_what_was_measured() -> None:
    search = search_with((RECALL,))
    await search.begin(lambda: 1000.0)
    sweeps = search.sweeps_of("sum")
    await sweeps.alone()
    measured, paid = dict(sweeps.measured), len(search.bench.paid)
    await sweeps.begin_again()
    assert (sweeps.measured, len(search.bench.paid)) == (measured, paid)


async def test_every_new_beginning_goes_by_other_problems() -> None:
    search = search_with(())
    await search.begin(lambda: 1000.0)
    sweeps = search.sweeps_of("sum")
    await sweeps.alone()
    seen = []
    for _ in range(2):
        await sweeps.begin_again()
        seen.append({problem.id for _, problem in await sweeps._proofs(3)})
    assert len(seen[0]) == len(seen[1]) == 3
    assert not seen[0] & seen[1]


def test_without_plans_there_is_nothing_to_sweep_first() -> None:
    assert type(search_with(()).sweeps_of("sum")) is Sweeps
