"""Where the best team is wrong, others are put into its places: what is done again looks at other problems."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from podium.tuning.candidates import Candidate, Part, beside, solo, staffed, without
from podium.tuning.catalogue import GENERAL
from podium.tuning.measuring import Price
from podium.tuning.sweeps import Sweeps
from podium.types import Problem

PLANNED = (("plan", ()), ("solve", (0,)))
TEAM, OTHER = staffed(PLANNED, (0, 0)), staffed(PLANNED, (0, 1))


def sweeps_where(is_right: Callable[[Candidate, int], bool], workers: int = 3, price: Price = lambda trials: 0) -> Sweeps:
    """Sweeps over thirty problems; what comes out is told by a team and the number of the problem."""
    known: dict[tuple[str, Candidate], bool] = {}
    problems = [Problem(question=f"{n}?", target=str(n), kind="number", source="test") for n in range(30)]

    async def ask(trials: Sequence[tuple[Candidate, Problem]]) -> None:
        known.update({(problem.id, team): is_right(team, int(problem.target)) for team, problem in trials})

    return Sweeps(problems, lambda: range(workers), "", ask, price, known, [*range(workers)], GENERAL)


async def test_a_team_is_mended_on_other_problems_where_nobody_is_right_on_the_first() -> None:
    wrong = {TEAM: (0, 4, 8), OTHER: (0, 4)}
    sweeps = sweeps_where(lambda team, number: team in wrong and number not in wrong[team])
    await sweeps.measure(TEAM)
    await sweeps.mend()
    assert sweeps.best == OTHER


async def test_who_is_right_where_the_team_is_wrong_is_measured_on_more_than_ten() -> None:
    wrong = {TEAM: (1, 2, 3, 8, 12, 14, 16), OTHER: (0, 4, 5, 8)}
    sweeps = sweeps_where(lambda team, number: team in wrong and number not in wrong[team])
    await sweeps.measure(TEAM)
    await sweeps.mend()
    assert sweeps.best == OTHER
    assert sweeps.asked(OTHER) == 20


async def test_a_team_that_may_be_good_is_looked_at_twice_before_it_is_mended() -> None:
    sweeps = sweeps_where(lambda team, number: team == TEAM and number not in (1, 2, 3, 8))
    await sweeps.measure(TEAM)
    assert sweeps.share < 0.6
    await sweeps.look_twice()
    assert sweeps.asked(TEAM) == 20
    assert sweeps.share > 0.75, "ten problems were bad luck"


async def test_where_the_best_team_was_mended_in_vain_another_one_is() -> None:
    longer = staffed((("plan", ()), ("recall", (0,)), ("solve", (0, 1))), (0, 0, 0))
    mended = (*longer[:2], replace(longer[2], worker=2))
    right = {TEAM: 3, longer: 2, mended: 30}
    sweeps = sweeps_where(lambda team, number: 9 - number < right.get(team, 0))
    await sweeps.measure(TEAM)
    await sweeps.measure(longer)
    for _ in range(3):
        await sweeps.mend()
    assert sweeps.best == mended


async def test_a_weak_team_is_not_mended_at_length() -> None:
    asked: list[int] = []

    def is_right(team: Candidate, number: int) -> bool:
        if len(team) > 1 and team != TEAM:
            asked.append(number)
        return team == TEAM and number > 6

    sweeps = sweeps_where(is_right)
    await sweeps.measure(TEAM)
    await sweeps.mend()
    assert {*asked} == {0, 1}


async def test_a_step_too_many_is_left_out() -> None:
    long = staffed((("plan", ()), ("recall", (0,)), ("solve", (0, 1))), (0, 0, 0))
    wrong = {long: (1, 2, 3), without(long, 1): ()}
    sweeps = sweeps_where(lambda team, number: team in wrong and number not in wrong[team])
    await sweeps.measure(long)
    await sweeps.mend()
    assert sweeps.best == without(long, 1)


async def test_a_review_is_tried_behind_the_second_best_worker_as_well() -> None:
    good = (*solo(1), Part(role="review", worker=2, access=(0,)))
    wrong = {solo(0): (1, 5, 9), solo(1): (0, 2, 6, 9), good: ()}
    sweeps = sweeps_where(lambda team, number: team in wrong and number not in wrong[team])
    await sweeps.alone()
    await sweeps.review()
    assert sweeps.best == good


async def test_reviewers_of_a_sound_worker_are_compared_on_more_than_two_problems_that_it_has_wrong() -> None:
    last = Part(role="review", worker=0, access=(0,))
    good, lucky = (*solo(0), replace(last, worker=1)), (*solo(0), replace(last, worker=2))
    wrong = {solo(0): (0, 1, 6, 7), good: (0, 1), lucky: (1, 6, 7)}  # the first two tell for the wrong one
    sweeps = sweeps_where(lambda team, number: team in wrong and number not in wrong[team])
    await sweeps.measure(solo(0))
    await sweeps.review()
    assert sweeps.best == good


@pytest.mark.parametrize(("right", "reviewed"), [(2, False), (3, True)])
async def test_a_worker_that_is_hardly_ever_right_is_not_reviewed(right: int, reviewed: bool) -> None:
    good = (*solo(0), Part(role="review", worker=1, access=(0,)))
    sweeps = sweeps_where(lambda team, number: team == good or (team == solo(0) and number < right))
    await sweeps.measure(solo(0))
    await sweeps.review()
    assert any(len(team) > 1 for _, team in sweeps._known) == reviewed
    assert (sweeps.best == good) == reviewed


async def test_a_team_that_looks_again_is_not_widened_where_there_is_another() -> None:
    again = (*TEAM, Part(role="review", worker=1, access=(0, 1)))
    wider = beside(TEAM, "recall", 2)
    right = {solo(0): 10, TEAM: 6, again: 7, wider: 10}
    sweeps = sweeps_where(lambda team, number: number % 10 < right.get(team, 0) or (len(team) == 3 and team[1].worker == 2))
    for team in (TEAM, again):
        await sweeps.measure(team)
    await sweeps.widen(("recall",))
    raced = {team for _, team in sweeps._known if len(team) > 2} - {again}
    assert wider in raced
    assert sweeps.best == wider
    assert not [team for team in raced if team[-1].role == "review"], "what is put before a review may not matter"


async def test_a_team_that_looks_again_is_widened_where_there_is_no_other() -> None:
    again = (*solo(0), Part(role="review", worker=1, access=(0,)))
    wider, harmless = beside(again, "recall", 2), beside(solo(0), "recall", 2)
    sweeps = sweeps_where(lambda team, number: team in (solo(0), harmless, wider) or (team == again and number % 10 < 6))
    await sweeps.measure(again)
    await sweeps.widen(("recall",))
    assert sweeps.best == wider


async def test_a_weak_team_that_looks_again_is_not_mended_before_a_shorter_one_that_does_not() -> None:
    again = (*TEAM, Part(role="review", worker=1, access=(0, 1)))
    sweeps = sweeps_where(lambda team, number: team == OTHER or (team in (TEAM, again) and number > 6))
    for team in (TEAM, again):
        await sweeps.measure(team)
    await sweeps.mend()
    assert sweeps.best == OTHER


async def test_a_team_for_which_no_calls_were_left_was_not_mended_in_vain() -> None:
    wrong = {TEAM: (1, 2, 3, 8, 12, 14, 16), OTHER: ()}
    sweeps = sweeps_where(lambda team, number: team in wrong and number not in wrong[team], price=len)
    await sweeps.measure(TEAM)
    sweeps.may_ask = 5
    await sweeps.mend()
    assert sweeps.best == TEAM
    sweeps.may_ask = 1000
    await sweeps.mend()
    assert sweeps.best == OTHER


async def test_what_a_batch_takes_is_booked_and_what_has_begun_is_finished() -> None:
    asked: list[int] = []

    def is_right(team: Candidate, number: int) -> bool:
        asked.append(number)
        return True

    sweeps = sweeps_where(is_right, price=lambda trials: sum(len(team) for team, _ in trials))
    sweeps.may_ask = 7
    await sweeps.measure(TEAM)
    assert asked == [*range(10)]
    assert (sweeps.may_ask, sweeps.spent) == (-13, 20)
    await sweeps.measure(OTHER)
    assert len(asked) == 10


async def test_a_batch_that_is_too_much_over_all_is_not_begun_and_neither_is_what_would_come_of_it() -> None:
    asked: list[tuple[Candidate, int]] = []

    def is_right(team: Candidate, number: int) -> bool:
        asked.append((team, number))
        return True

    async def may_begin(calls: int) -> bool:
        return calls not in refused

    refused = {4}
    sweeps = sweeps_where(is_right, price=len)
    sweeps.may_begin = may_begin
    await sweeps.race([TEAM, OTHER])
    assert (asked, sweeps.measured, sweeps.spent) == ([], {}, 0), "who is best was not seen, so nobody is measured"
    sweeps.may_ask, refused = 1000, {0}
    await sweeps.race([TEAM, OTHER])
    assert sorted(number for team, number in asked if team == OTHER)[:4] == [0, 1, 2, 3]
    assert sweeps.measured
