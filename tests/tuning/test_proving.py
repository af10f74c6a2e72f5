"""Who spoils nothing where somebody is right; of many roles those are told that come to something of their own."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from podium.tuning.candidates import Candidate, Part, beside, solo
from podium.tuning.catalogue import GENERAL, Catalogue
from podium.tuning.sweeps import Sweeps
from podium.types import Problem

RECALLS = GENERAL.prepared[1]


def sweeps_where(
    is_right: Callable[[Candidate], bool],
    asked: list[Candidate] | None = None,
    workers: int = 4,
    catalogue: Catalogue = GENERAL,
    but: Callable[[Candidate, int], bool] = lambda team, number: False,
) -> Sweeps:
    """Sweeps over thirty problems, of which all come out alike ``but`` some, by their number."""
    known: dict[tuple[str, Candidate], bool] = {}
    problems = [Problem(question=f"{n}?", target=str(n), kind="number", source="test") for n in range(30)]

    async def ask(trials: Sequence[tuple[Candidate, Problem]]) -> None:
        known.update({(p.id, team): is_right(team) != but(team, int(p.target)) for team, p in trials})
        (asked if asked is not None else []).extend(team for team, _ in trials)

    return Sweeps(problems, lambda: range(workers), "", ask, lambda trials: 0, known, [*range(workers)], catalogue)


async def test_of_many_roles_those_stay_that_are_right_where_the_whole_is_spoilt() -> None:
    asked: list[Candidate] = []
    good = beside(solo(0), "recall nature", 1)
    sweeps = sweeps_where(lambda team: team in (solo(0), good), asked)
    await sweeps.prepare(RECALLS)
    assert sweeps._good["recall nature"] == [1]
    assert not [role for role in sweeps._good if role not in ("recall", "recall nature")]
    for role in {*RECALLS} - {"recall", "recall nature"}:
        assert len([team for team in asked if len(team) > 1 and team[-2].role == role]) <= 8, "of what comes to the same few"


async def test_roles_that_come_to_the_same_are_tried_once() -> None:
    sweeps = sweeps_where(lambda team: len(team) == 1 or team[-2].role != "recall" or team[-2].worker == 2)
    await sweeps.prepare(RECALLS)
    assert not sweeps._good.keys() - {"recall", RECALLS[1]}


async def test_many_roles_that_are_no_parts_of_the_first_are_all_tried() -> None:
    own = ("quote", "look", "draw", "count")
    catalogue = replace(GENERAL, name="own", roles={**GENERAL.roles, **{role: f"To {role}." for role in own}}, prepared=(own, ()))
    sweeps = sweeps_where(lambda team: len(team) == 1 or team[-2].worker in (0, 1), catalogue=catalogue)
    await sweeps.prepare(own)
    assert {role: {*good} for role, good in sweeps._good.items()} == {role: {0, 1} for role in own}


async def test_the_only_other_worker_is_known_by_what_it_spoils_as_well() -> None:
    sweeps = sweeps_where(lambda team: len(team) == 1 or team[-2].worker == 0, workers=2)
    await sweeps.prepare(("plan",))
    assert sweeps._shown.missed("plan", 1) > 1
    assert 1 not in sweeps._good.get("plan", [])


async def test_a_team_that_looks_at_an_answer_again_proves_nothing() -> None:
    review = Part(role="review", worker=1, access=(0,))
    again = (*solo(0), review)
    sweeps = sweeps_where(lambda team: team == again)
    await sweeps.measure(again)
    assert sweeps.share > 0.9
    assert await sweeps._proofs(3) == []


async def test_what_was_shown_in_one_round_counts_in_the_next_and_the_same_again_counts_once() -> None:
    sweeps = sweeps_where(lambda team: len(team) == 1 or team[-2].worker in (1, 2))
    await sweeps.prepare(("plan",))
    first = sweeps._shown.tried("plan", 1)
    await sweeps.begin_again()
    await sweeps.prepare(("plan",))
    assert sweeps._shown.tried("plan", 1) == first
    assert {*sweeps._good["plan"]} == {1, 2}


async def test_of_many_workers_most_go_after_one_problem() -> None:
    asked: list[Candidate] = []
    sweeps = sweeps_where(lambda team: len(team) == 1 or team[-2].worker in (7, team[-1].worker), asked, workers=20)
    await sweeps.prepare(("plan",))
    assert sweeps._good["plan"] == [7]
    assert len([team for team in asked if len(team) == 2]) <= 2 * 20 + 7


async def test_with_many_workers_an_answer_that_may_be_luck_proves_less() -> None:
    sweeps = sweeps_where(lambda team: team in (solo(0), solo(1), beside(solo(0), "plan", 0)), workers=20)
    parts = [Part(role="plan", worker=worker) for worker in range(20)]
    first, second = sweeps.problems[:2]
    proofs = [(solo(1), first), (solo(0), second)]
    checked = await sweeps._checked(proofs, parts, lambda team, part: beside(team, part.role, part.worker))
    assert checked == proofs[::-1]


@pytest.mark.parametrize(("spoilt", "believed"), [((6, 1), [3]), ((6, 1, 5), [])])
async def test_where_nobody_is_harmless_the_best_is_believed_if_most_answers_stay_right(
    spoilt: tuple[int, ...], believed: list[int]
) -> None:
    """Of seven answers the last worker spoils two or three; the others more, but on each problem somebody spoils nothing."""
    wrong = {0: (1, 2, 3, 4), 1: (0, 2, 6), 2: range(30), 3: spoilt}
    sweeps = sweeps_where(lambda team: True, but=lambda team, number: len(team) == 2 and number in wrong[team[0].worker])
    await sweeps.prepare(("plan",))
    assert (sweeps._shown.tried("plan", 3), sweeps._shown.missed("plan", 3)) == (7, len(spoilt))
    assert sweeps._good["plan"] == believed
