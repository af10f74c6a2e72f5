"""Where the best team is wrong, others are put into its places: what is done again looks at other problems."""

from collections.abc import Callable, Sequence

from podium.tuning.candidates import Candidate, staffed
from podium.tuning.catalogue import GENERAL
from podium.tuning.sweeps import Sweeps
from podium.types import Problem

PLANNED = (("plan", ()), ("solve", (0,)))
TEAM, OTHER = staffed(PLANNED, (0, 0)), staffed(PLANNED, (0, 1))


def sweeps_where(is_right: Callable[[Candidate, int], bool], workers: int = 3) -> Sweeps:
    """Sweeps over thirty problems; what comes out is told by a team and the number of the problem."""
    known: dict[tuple[str, Candidate], bool] = {}
    problems = [Problem(question=f"{n}?", target=str(n), kind="number", source="test") for n in range(30)]

    async def ask(trials: Sequence[tuple[Candidate, Problem]]) -> None:
        known.update({(problem.id, team): is_right(team, int(problem.target)) for team, problem in trials})

    return Sweeps(problems, lambda: range(workers), "", ask, lambda team, problem: 0, known, [*range(workers)], GENERAL)


async def test_a_team_is_mended_on_other_problems_where_nobody_is_right_on_the_first() -> None:
    wrong = {TEAM: (0, 4, 8), OTHER: (0, 4)}
    sweeps = sweeps_where(lambda team, number: team in wrong and number not in wrong[team])
    await sweeps.measure(TEAM)
    await sweeps.mend()
    assert sweeps.best == OTHER


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
