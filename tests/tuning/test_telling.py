"""What a task is about is found by telling teams that are wrong: who becomes right is told it from then on."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from podium.tuning.candidates import Candidate, solo, staffed, told_about
from podium.tuning.catalogue import GENERAL
from podium.tuning.finding import REPEATED, SAYINGS, sayings
from podium.tuning.over_kinds import searched_by_kinds
from podium.tuning.search import Search
from podium.tuning.split import shared_out
from podium.tuning.sweeps import Sweeps
from podium.tuning.trials import Bench
from podium.types import Problem
from tests.tuning.desk import exact, kind_of, pool, problems

TEAM = staffed((("plan", ()), ("solve", (0,))), (0, 1))
OTHER = staffed((("plan", ()), ("solve", (0,))), (1, 0))
WORDS = (("weather", "poetry"), ("rivers", "law"))


class Told:
    """Sweeps over thirty problems, and what was asked."""

    def __init__(
        self, is_right: Callable[[Candidate, int], bool], words: Sequence[Sequence[str]] = WORDS, about: str = ""
    ) -> None:
        self.asked: list[tuple[str, int]] = []
        known: dict[tuple[str, Candidate], bool] = {}
        given = [Problem(question=f"{n}?", target=str(n), kind="number", source="test") for n in range(30)]

        async def ask(trials: Sequence[tuple[Candidate, Problem]]) -> None:
            self.asked += [(team[-1].about, int(problem.target)) for team, problem in trials]
            known.update({(problem.id, team): is_right(team, int(problem.target)) for team, problem in trials})

        self.sweeps = Sweeps(
            given, lambda: range(3), about, ask, lambda trials: 0, known, [*range(3)], GENERAL, words=words
        )  # fmt: skip


def knows(word: str, wrong: int = 4) -> Callable[[Candidate, int], bool]:
    """Wrong on every problem whose number ``wrong`` divides, but where ``word`` is told."""
    return lambda team, number: team[-1].about == word or number % wrong > 0


async def test_the_best_team_is_told_what_makes_it_right_and_takes_its_own_place() -> None:
    told = Told(knows("rivers"))
    await told.sweeps.measure(TEAM)
    await told.sweeps.tell()
    assert told.sweeps.best == told_about(TEAM, "rivers")
    assert TEAM not in told.sweeps.measured
    assert {about for about, _ in told.asked} == {"", "weather", "poetry", "rivers", "law"}


async def test_what_helps_at_once_ends_it() -> None:
    told = Told(knows("poetry"))
    await told.sweeps.measure(TEAM)
    await told.sweeps.tell()
    assert told.sweeps.best == told_about(TEAM, "poetry")
    assert "rivers" not in {about for about, _ in told.asked}
    before = len(told.asked)
    await told.sweeps.tell_again()
    assert len(told.asked) == before, "it is told something now"


async def test_where_nothing_helps_few_problems_are_asked_and_more_only_another_time() -> None:
    told = Told(knows("nothing of it"))
    await told.sweeps.measure(TEAM)
    await told.sweeps.tell()
    await told.sweeps.tell()
    assert {number for about, number in told.asked if about} == {0, 4}
    await told.sweeps.tell_again()
    assert {number for about, number in told.asked if about} == {0, 4, 8}
    assert told.sweeps.best == TEAM


async def test_another_team_shows_it_where_the_best_one_is_never_wrong() -> None:
    told = Told(lambda team, number: team[0].worker == 0 or team[-1].about == "law" or number % 4 > 0)
    await told.sweeps.measure(TEAM)
    await told.sweeps.measure(OTHER)
    await told.sweeps.tell()
    assert told.sweeps.best == told_about(TEAM, "law")


async def test_what_does_harm_elsewhere_does_not_take_the_place() -> None:
    told = Told(lambda team, number: number % 4 == 0 if team[-1].about == "weather" else number % 4 > 0)
    await told.sweeps.measure(TEAM)
    await told.sweeps.tell()
    assert told.sweeps.best == TEAM


async def test_a_bad_team_one_that_is_told_and_a_weak_single_worker_are_left_alone() -> None:
    for team, wrong in ((TEAM, 1), (told_about(TEAM, "birds"), 4), (solo(0), 4)):
        told = Told(knows("rivers", wrong))
        await told.sweeps.measure(team)
        before = len(told.asked)
        await told.sweeps.tell()
        assert len(told.asked) == before
    told = Told(knows("rivers"), words=((), ()))
    await told.sweeps.measure(TEAM)
    await told.sweeps.tell()
    assert told.sweeps.best == TEAM


async def test_a_single_worker_that_is_right_often_is_told_as_well() -> None:
    told = Told(knows("rivers", 9))
    await told.sweeps.measure(solo(0))
    await told.sweeps.tell()
    assert told.sweeps.best == told_about(solo(0), "rivers")


async def test_where_a_kind_is_called_by_a_word_a_good_team_is_told_what_its_questions_say_all_the_same() -> None:
    team = told_about(TEAM, "once")
    told = Told(knows("poetry", 9), about="once")
    await told.sweeps.measure(team)
    await told.sweeps.tell()
    assert told.sweeps.best == told_about(TEAM, "poetry")
    told = Told(knows("rivers", 9), about="once")
    await told.sweeps.measure(team)
    await told.sweeps.tell()
    assert told.sweeps.best == team
    assert {about for about, _ in told.asked} == {"once", "weather", "poetry"}, "sorts of tasks are left out"


async def test_where_no_calls_are_left_nothing_counts_as_told() -> None:
    told = Told(knows("rivers"))
    await told.sweeps.measure(TEAM)
    told.sweeps.may_ask = 0
    await told.sweeps.tell()
    told.sweeps.may_ask = 1000
    await told.sweeps.tell()
    assert told.sweeps.best == told_about(TEAM, "rivers")


def test_sayings_are_the_longest_words_in_a_row_that_a_kind_has_and_others_do_not() -> None:
    given = problems(60)
    ended = [
        replace(one, question=f"{one.question} {('Mind the gap between', 'Count it twice')[n % 4 > 1]} {n}. Work with care.")
        if one.kind == "sum"
        else replace(one, question=f"{one.question} Work with care.")
        for n, one in enumerate(given)
    ]
    found = sayings(ended, kind_of)
    assert {"mind the gap between", "count it twice"} <= {*found["sum"]}
    assert not [one for one in found["sum"] for other in found["sum"] if one != other and f" {one} " in f" {other} "]
    assert not [one for each in found.values() for one in each if "care" in one], "all kinds have it"
    assert all(len(each) <= SAYINGS for each in found.values())
    assert sayings(given, lambda one: "all the same")["all the same"]


def test_a_saying_repeats_fewer_characters_of_a_question_than_a_plan_may() -> None:
    given = problems(60)
    long = "whoever looks into a drawer finds something else"
    ended = [replace(one, question=f"{one.question} {long} {n}.") if one.kind == "sum" else one for n, one in enumerate(given)]
    found = sayings(ended, kind_of)["sum"]
    assert found
    assert all(len(one) < REPEATED for one in found)


def test_what_more_questions_have_than_a_longer_saying_of_theirs_is_no_saying_beside_it() -> None:
    given = problems(60)
    ended = [
        replace(one, question=f"{one.question} Mind the gap{(' between', '')[n % 4 > 1]} {n}.") if one.kind == "sum" else one
        for n, one in enumerate(given)
    ]
    found = sayings(ended, kind_of)["sum"]
    assert "mind the gap between" in found
    assert "mind the gap" not in found


async def test_a_search_over_kinds_that_were_found_knows_what_teams_may_be_told() -> None:
    parts = shared_out(problems(100), lambda one: "all", seed=0)
    bench = Bench(pool(), exact, lambda one: "all")
    search = Search(bench, parts.search, 3)
    begun, _ = await searched_by_kinds(search, parts, 3000, lambda: 1000, seed=0)
    assert len(begun.by_kind) > 1
    for kind in begun.by_kind:
        said, subjects = begun.sweeps_of(kind)._words
        assert said == sayings([*parts.search, *parts.select], begun.bench.kind_of)[kind]
        assert said
        assert subjects == GENERAL.subjects


async def test_a_kind_called_by_a_word_and_without_sayings_is_told_nothing() -> None:
    told = Told(lambda team, number: number % 8 > 0, words=((), ("rivers", "law")), about="once")
    await told.sweeps.measure(team := told_about(TEAM, "once"))
    assert told.sweeps.best == team
    await told.sweeps.tell()
    assert {about for about, _ in told.asked} == {"once"}
