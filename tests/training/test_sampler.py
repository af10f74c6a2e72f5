"""Which problem, which pool, how it begins: a pure function of recipe, seed and iteration."""

import random
from collections import Counter
from collections.abc import Sequence

import pytest

from podium.errors import ConfigError
from podium.gym import World
from podium.training.exploration import Exploration, first_line, with_drafts
from podium.training.sampler import KindCurriculum, Pools, SetAside, described, draw_tasks
from podium.training.schedule import Schedule
from podium.training.word_dropout import drop_words
from podium.types import Brief, Generation, Step, Workflow
from podium.workflow.parse import format_workflow
from tests.training.gym_runs import gym_pool

PROBLEMS = World().problems(n=60)


def test_the_same_iteration_draws_the_same_and_another_one_anew() -> None:
    def drawn(iteration: int) -> list[str]:
        tasks = draw_tasks(
            PROBLEMS, gym_pool(), seed=3, iteration=iteration, problems_per_step=8, pools=Pools(sizes=(2, 3), shuffled=True)
        )
        return [f"{task.problem.id} {task.pool.names} {task.sample}" for task in tasks]

    assert drawn(5) == drawn(5)
    assert drawn(5) != drawn(6)


def test_every_problem_of_an_iteration_is_another_one() -> None:
    tasks = draw_tasks(PROBLEMS, gym_pool(), seed=0, iteration=0, problems_per_step=40)
    assert len({task.problem.id for task in tasks}) == 40


def test_a_problem_that_failed_rests_and_comes_back() -> None:
    aside = SetAside(iterations=3)
    for problem in PROBLEMS[1:]:
        aside.strike(problem, 10)
    assert {
        t.problem.id for t in draw_tasks(PROBLEMS, gym_pool(), seed=0, iteration=11, problems_per_step=5, set_aside=aside)
    } == {PROBLEMS[0].id}
    assert not any(aside.rests(problem, 14) for problem in PROBLEMS)


def test_where_everything_rests_the_run_goes_on() -> None:
    aside = SetAside(iterations=3)
    for problem in PROBLEMS:
        aside.strike(problem, 0)
    assert len(draw_tasks(PROBLEMS, gym_pool(), seed=0, iteration=1, problems_per_step=5, set_aside=aside)) == 5


def test_kinds_with_headroom_come_more_often_and_solved_ones_do_not_vanish() -> None:
    curriculum = KindCurriculum(correct={"choice": 1.0, "story": 0.0, "versus": 0.5, "code": 0.5})
    seen = Counter(
        task.problem.kind
        for iteration in range(100)
        for task in draw_tasks(PROBLEMS, gym_pool(), seed=1, iteration=iteration, problems_per_step=16, curriculum=curriculum)
    )
    assert seen["story"] > 1.5 * seen["versus"] > 1.5 * seen["choice"] > 0


@pytest.mark.parametrize("curriculum", [None, KindCurriculum(correct={"choice": 1.0, "story": 0.0})])
@pytest.mark.parametrize("questions", [10, 60, 61, 130])
def test_no_problem_comes_again_before_all_have_come(curriculum: KindCurriculum | None, questions: int) -> None:
    for iteration in range(20):
        tasks = draw_tasks(PROBLEMS, gym_pool(), seed=2, iteration=iteration, problems_per_step=questions, curriculum=curriculum)
        often = Counter(task.problem.id for task in tasks)
        assert sum(often.values()) == questions
        assert len(often) == min(questions, 60)
        assert max(often.values()) - min(often.values()) <= (1 if questions > 60 else 0)
        assert len({task.sample for task in tasks}) == questions, "a second visit draws anew"


@pytest.mark.parametrize("curriculum", [None, KindCurriculum(correct={"story": 1.0})])
def test_a_problem_that_is_listed_twice_is_one_problem(curriculum: KindCurriculum | None) -> None:
    tasks = draw_tasks([*PROBLEMS[:8]] * 5, gym_pool(), seed=0, iteration=0, problems_per_step=8, curriculum=curriculum)
    assert len({task.problem.id for task in tasks}) == 8


def test_a_kind_that_is_used_up_leaves_its_place_to_the_others() -> None:
    words = [problem for problem in PROBLEMS if problem.kind == "story"]
    few = [*words[:2], *(problem for problem in PROBLEMS if problem.kind == "choice")]
    tasks = draw_tasks(
        few,
        gym_pool(),
        seed=0,
        iteration=0,
        problems_per_step=8,
        curriculum=KindCurriculum(correct={"choice": 1.0, "story": 0.0}),
    )
    assert Counter(task.problem.kind for task in tasks) == {"story": 2, "choice": 6}


def test_a_kind_saves_only_when_it_is_solved() -> None:
    curriculum = KindCurriculum(correct={"story": 0.9, "versus": 0.975, "choice": 1.0})
    assert [curriculum.cost_weight(kind, 0.95) for kind in ("code", "story", "versus", "choice")] == pytest.approx([0, 0, 1, 1])
    assert curriculum.cost_weight("versus", 0.96) == pytest.approx(0.75)
    assert curriculum.cost_weight("code", 0.0) == 1.0


def test_a_solved_kind_gets_no_entropy_bonus_any_more() -> None:
    curriculum = KindCurriculum(correct={"versus": 0.3, "story": 0.7, "code": 0.85, "choice": 1.0})
    assert [curriculum.entropy_weight(kind, 0.7) for kind in ("versus", "story", "code", "choice")] == pytest.approx(
        [1, 1, 0.5, 0]
    )
    assert curriculum.entropy_weight("choice", 1.0) == curriculum.entropy_weight("unseen", 0.7) == 1.0


def test_headroom_follows_what_is_seen() -> None:
    curriculum = KindCurriculum(memory=0.5)
    curriculum.learn("story", 0.0)
    assert curriculum.correct["story"] == 0.0
    curriculum.learn("story", 1.0)
    assert curriculum.correct["story"] == 0.5


def test_pools_are_subsets_of_every_kind() -> None:
    rng, pool = random.Random(0), gym_pool()
    plain = {Pools(sizes=(2,)).draw(pool, rng).names for _ in range(300)}
    assert len(plain) == 6  # 4 choose 2, in pool order
    assert len({Pools(sizes=(2,), shuffled=True).draw(pool, rng).names for _ in range(300)}) == 12
    hidden = Pools(pseudonyms=True).draw(pool, rng)
    assert hidden.names == ("worker 0", "worker 1", "worker 2", "worker 3")
    assert [m.worker for m in hidden] == [m.worker for m in pool]
    with pytest.raises(ConfigError, match="no subsets of 9"):
        Pools(sizes=(9,)).draw(pool, rng)


def test_skills_are_written_on_cards_by_name() -> None:
    pool = described({"atlas": {"compute": 0.99}}, gym_pool())
    assert dict(pool[pool.names.index("atlas")].card.skills) == {"compute": 0.99}
    assert all(not member.card.skills for member in pool if member.name != "atlas")


@pytest.mark.parametrize(
    ("schedule", "expected"),
    [
        (Schedule(start=0.3, hold=0.5, end=0.7), [0.3, 0.3, 0.15, 0.0, 0.0]),
        (Schedule(start=1.0), [1.0, 0.5, 0.4, 0.3, 0.0]),
        (Schedule(start=1.0, hold=0.6, end=0.6), [1.0, 1.0, 0.0, 0.0, 0.0]),
        (Schedule(start=1.0, hold=1.0), [1.0, 1.0, 1.0, 1.0, 0.0]),
    ],
)
def test_schedules_hold_and_then_fall_evenly(schedule: Schedule, expected: list[float]) -> None:
    assert [schedule.at(progress) for progress in (0.0, 0.5, 0.6, 0.7, 1.0)] == pytest.approx(expected)


@pytest.mark.parametrize(("hold", "end"), [(0.6, 0.5), (-0.1, 0.5), (0.5, 1.1), (float("nan"), 1.0)])
def test_a_schedule_that_can_not_be_is_refused(hold: float, end: float) -> None:
    with pytest.raises(ConfigError, match="hold <= end"):
        Schedule(start=1.0, hold=hold, end=end)


def test_without_exploration_nothing_is_forced() -> None:
    none = Exploration()
    assert none.entropy.at(0.0) == none.forced_prefix.at(0.0) == none.draft_sft_weight.at(0.0) == 0.0


def test_every_task_gets_a_draft_and_a_share_of_them_begins_with_it() -> None:
    class Untrained:
        def write_many(self, briefs: Sequence[Brief], n: int, forced_prefixes: Sequence[str] = ()) -> list[list[Generation]]:
            return [[Generation(text=f"plan {index}.\nrest")] * n for index, _ in enumerate(briefs)]

        def prompt_ids(self, brief: Brief, forced_prefix: str = "") -> Sequence[int]:
            raise AssertionError("a draft is written, not continued")

    tasks = draw_tasks(PROBLEMS, gym_pool(), seed=0, iteration=0, problems_per_step=40)
    found = with_drafts(tasks, Untrained(), 0.5, random.Random(0))
    assert [task.draft for task in found] == [f"plan {index}.\nrest" for index in range(40)]
    assert {task.forced_prefix for task in found if task.forced_prefix} < {f"plan {index}.\n" for index in range(40)}
    assert 10 <= sum(bool(task.forced_prefix) for task in found) <= 30
    assert not any(task.forced_prefix for task in with_drafts(tasks, Untrained(), 0.0, random.Random(0)))


def test_of_several_drafts_the_one_with_most_steps_is_taken() -> None:
    def draft(steps: int) -> Generation:
        workflow = Workflow(steps=tuple(Step(worker=0, subtask="Answer.") for _ in range(steps)))
        return Generation(text=f"{steps} steps.\n{format_workflow(workflow)}")

    class Untrained:
        def write_many(self, briefs: Sequence[Brief], n: int, forced_prefixes: Sequence[str] = ()) -> list[list[Generation]]:
            return [[Generation(text="broken ["), draft(1), draft(3), draft(2)][:n] for _ in briefs]

        def prompt_ids(self, brief: Brief, forced_prefix: str = "") -> Sequence[int]:
            raise AssertionError("a draft is written, not continued")

    tasks = draw_tasks(PROBLEMS, gym_pool(), seed=0, iteration=0, problems_per_step=4)
    found = with_drafts(tasks, Untrained(), 1.0, random.Random(0), longest_of=[1, 2, 4, 3])
    assert [task.forced_prefix for task in found] == ["", "1 steps.\n", "3 steps.\n", "3 steps.\n"]
    assert [first_line(task.draft) for task in found] == [task.forced_prefix for task in found]


def test_more_of_a_question_can_be_left_out() -> None:
    words = " ".join(str(number) for number in range(200))
    rng = random.Random(0)
    half, most = ([len(drop_words(words, rng, share).split()) for _ in range(300)] for share in (0.5, 0.9))
    assert 80 <= min(half) < 120
    assert min(most) < 50
    assert all(drop_words("one two", rng, 1.0) for _ in range(100)), "something is always left"


@pytest.mark.parametrize(("text", "line"), [("plan.\nrest", "plan.\n"), ("\nrest", "\n"), ("no newline", ""), ("", "")])
def test_an_opening_is_a_whole_first_line(text: str, line: str) -> None:
    assert first_line(text) == line
