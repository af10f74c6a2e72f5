"""A share right rests on problems that nobody chose: those that a team was asked because it is right on them say nothing."""

from podium.tuning.measuring import MEASURED
from tests.tuning.test_mended_teams import OTHER, TEAM, sweeps_where


async def test_problems_that_a_team_was_chosen_for_do_not_raise_its_share() -> None:
    sweeps = sweeps_where(lambda team, number: number % 2 == 0)
    await sweeps.measure(TEAM)
    assert sweeps.share_of(TEAM) == 0.5
    await sweeps._ask([(TEAM, problem) for problem in sweeps.problems[MEASURED:] if int(problem.target) % 2 == 0])
    assert sweeps.share_of(TEAM) == 0.5, "it is right on all that were asked afterwards, which is why they were asked"


async def test_who_was_asked_on_chosen_problems_only_has_no_share() -> None:
    sweeps = sweeps_where(lambda team, number: team == OTHER or number > 4)
    await sweeps.measure(TEAM)
    wrong = [problem for problem in sweeps.problems[:MEASURED] if int(problem.target) <= 4]
    await sweeps._ask([(OTHER, problem) for problem in (*wrong, *sweeps.problems[MEASURED : 2 * MEASURED])])
    assert sweeps.share_of(OTHER) is None
    await sweeps.measure(OTHER)
    assert sweeps.measured[OTHER] > 0.9
