"""Workers who do what they are told and that alone, with habits: each habit is one small number, and each can be measured."""

from collections.abc import Mapping
from dataclasses import replace
from statistics import fmean

import pytest

from podium.gym.attempt import NOT_GIVEN
from podium.gym.kinds import KINDS, PARTS, UNTRAINED_KINDS
from podium.gym.matters import kinds_named, sort_named
from podium.gym.profiles import Habits, Profile
from podium.gym.specialists import Specialist, specialists
from podium.gym.subtasks import verbs_in
from podium.gym.verify import judge
from podium.gym.wordings import NAMED, PLAIN
from podium.gym.world import World
from podium.recipes.gym_start import wordings
from podium.types import Call, Problem, VisibleStep, ask

NO_HABITS = Habits(distracted=0, spoils=0, alters=0, rambles=0, needs_words=0, shared=0)
WORLD = World()
ALL = (*KINDS, *UNTRAINED_KINDS)


def _worker(level: float = 1.0, habits: Habits = NO_HABITS, name: str = "w", **levels: float) -> Specialist:
    """At one level everywhere, but for some parts of the work."""
    every = {(kind, part): levels.get(part, level) for kind in ALL for part in ("plan", "recall", "nature", "made", "compute")}
    every |= {("code", part): levels.get(part, level) for part in ("write", "review")}
    return Specialist(Profile(name=name, levels=every, habits=habits), WORLD)


def _problem(kind: str) -> Problem:
    return WORLD.problems(kinds=(kind,), n=1)[0]


def _said(worker: Specialist, kind: str, subtask: str, *seen: str) -> str:
    """What ``worker`` says to ``subtask`` about a question of ``kind``, having seen those responses."""
    return _told(worker, _problem(kind), subtask, *seen)


def _told(worker: Specialist, problem: Problem, subtask: str, *seen: str) -> str:
    steps = tuple(
        VisibleStep(question=ask(problem.question) if i == 0 else (), subtask="x", response=r) for i, r in enumerate(seen)
    )
    return worker.complete(Call(question=() if seen else ask(problem.question), subtask=subtask, visible=steps)).text


def _share(worker: Specialist, kind: str, subtask: str, *seen: str, n: int = 400) -> float:
    problems = WORLD.problems(kinds=(kind,), n=n, seed=77)
    return fmean(judge(problem, _told(worker, problem, subtask, *seen)).correct for problem in problems)


def test_a_worker_does_what_it_is_told_and_that_alone() -> None:
    able = _worker()
    assert _said(able, "story", "Write a plan.").startswith("Plan: ")
    assert "Answer" not in _said(able, "story", "Write a plan.")
    assert _said(able, "knowledge", "Recall the facts.").startswith("Fact: ")
    assert _said(able, "story", "Compute the result of the plan.") == "There is no plan that I could compute."
    assert _said(able, "story", "Check the answer.") == "There is no answer here that I could check."
    assert _said(able, "story", "Give the final answer.", "Plan: 3 + 4") == "There is no answer that I could pass on."
    assert _said(able, "story", "Write the program.") == "No program is asked for here."
    assert "no expression to plan" in _said(able, "code", "Write a plan.")
    assert "nothing to plan" in _said(able, "choice", "Write a plan.")
    assert _said(able, "story", "Compute the result of the plan.", "Plan: 3 + 4") == "Plan: 3 + 4\nAnswer: 7"
    assert "not told what legs(ants) is" in _said(able, "story", "Compute the result of the plan.", "Plan: 3 * legs(ants)")
    assert able.complete(Call(subtask="Write a plan.")).text == NOT_GIVEN


def test_facts_of_a_story_without_facts_are_recited_all_the_same() -> None:
    recited = _said(_worker(), "story", "Recall the facts.")
    assert recited.count("Fact: ") == 2


@pytest.mark.parametrize(("sort", "table"), [("of nature", "legs"), ("that are man-made", "pieces_in")])
def test_only_the_sort_of_facts_that_was_asked_for(sort: str, table: str) -> None:
    problems = WORLD.problems(kinds=("bundle",), n=60)
    problem = next(p for p in problems if "dozen" in p.question and "legs" in p.question)
    lines = _told(_worker(), problem, f"Recall the facts {sort}.").splitlines()
    assert [line.startswith(f"Fact: {table}(") for line in lines] == [True]
    assert len(_told(_worker(), problem, "Recall the facts.").splitlines()) == 2


def test_levels_are_per_kind_and_part() -> None:
    levels = {("story", "plan"): 1.0, ("story", "compute"): 1.0, ("bundle", "plan"): 0.0, ("bundle", "compute"): 1.0}
    worker = Specialist(Profile(name="w", levels=levels, habits=NO_HABITS), WORLD)
    assert _share(worker, "story", "Answer the question.", n=50) == 1.0
    assert _share(worker, "bundle", "Answer the question.", n=50) < 0.1, "a misread plan may come out right by luck"
    assert _share(worker, "price", "Answer the question.", n=50) == 1.0, "like the kind it is like, where nothing else is known"


def test_what_is_seen_and_not_needed_distracts() -> None:
    """GSM-IC and GSM-DC: every irrelevant thing costs, the more the worse."""
    worker = _worker(habits=replace(NO_HABITS, distracted=0.1))
    ways = [_share(worker, "choice", "Answer.", *(["No plan is needed."] * n)) for n in (0, 1, 3)]
    assert ways == pytest.approx([1.0, 0.9, 0.9**3], abs=0.05)
    # What is needed does not distract.
    told = "Compute the result of the plan."
    problems = WORLD.problems(kinds=("story",), n=200, seed=3)
    assert all("Answer: 7" in _told(worker, problem, told, "Plan: 3 + 4") for problem in problems)


def test_what_speaks_against_the_rest_distracts_too() -> None:
    worker = _worker(habits=replace(NO_HABITS, distracted=0.3))
    told = "Compute the result of the plan."
    problems = WORLD.problems(kinds=("story",), n=300, seed=3)
    shares = [
        fmean(
            f"Answer: {n + 4}\n"
            in _told(worker, problem, told, f"Plan: {n} + {first}", f"Plan: {n} + 4", f"Plan: {n} + 4") + "\n"
            for n, problem in enumerate(problems)
        )
        for first in (4, 5)
    ]
    assert shares == pytest.approx([1.0, 0.7], abs=0.08)


def test_reviewing_spoils_what_is_right() -> None:
    worker = _worker(habits=replace(NO_HABITS, spoils=0.2))
    problems = WORLD.problems(kinds=("story",), n=400, seed=3)
    right = fmean(
        judge(p, _told(worker, p, "Check the answer.", _told(worker, p, "Answer the question."))).correct for p in problems
    )
    assert right == pytest.approx(0.8, abs=0.06)


def test_answers_are_altered_when_passed_on() -> None:
    worker = _worker(habits=replace(NO_HABITS, alters=0.25))
    problems = WORLD.problems(kinds=("story",), n=400, seed=3)
    right = fmean(judge(p, _told(worker, p, "Give the final answer.", f"Answer: {p.target}")).correct for p in problems)
    assert right == pytest.approx(0.75, abs=0.06)


def test_long_contexts_cost_accuracy() -> None:
    worker = _worker(habits=replace(NO_HABITS, rambles=0.1))
    problems = WORLD.problems(kinds=("choice",), n=300, seed=3)
    long = [
        fmean(judge(p, _told(worker, p, "Answer." + " Take care." * (n // 11))).correct for p in problems) for n in (0, 500, 3500)
    ]
    assert long[0] == long[1] == 1.0
    assert long[2] == pytest.approx(0.9**2.6, abs=0.07)


def test_a_subtask_that_names_the_matter_is_carried_out_better_than_a_vague_one() -> None:
    worker = _worker(habits=replace(NO_HABITS, needs_words=0.1))
    asked = ("Answer what the story asks.", "Solve it: a tale with numbers.", "Answer.", "Do it.", "", "Answer with an option.")
    shares = [_share(worker, "story", subtask) for subtask in asked]
    # Two parts of the work, each at its level.
    assert shares == pytest.approx([1.0, 1.0, 0.81, 0.81, 0.81, 0.9**4], abs=0.06)
    naming_all = "Whether story, option, knowledge, program, units or both: answer."
    assert _share(worker, "story", naming_all) == pytest.approx(0.81, abs=0.06), "who names everything says nothing"


def test_a_family_shares_mistakes() -> None:
    problems = WORLD.problems(kinds=("story",), n=400, seed=5)

    def both_wrong_alike(family: Mapping[str, str]) -> float:
        workers = [
            _worker(0.6, replace(NO_HABITS, shared=0.5, family=family[name]), name=name, compute=1.0) for name in ("one", "two")
        ]
        answers = [[judge(p, _told(worker, p, "Answer.")) for p in problems] for worker in workers]
        assert all(fmean(v.correct for v in row) == pytest.approx(0.6, abs=0.07) for row in answers), "no better and no worse"
        wrong = [(a, b) for a, b in zip(*answers, strict=True) if not a.correct and not b.correct]
        return fmean(a.extracted == b.extracted for a, b in wrong)

    assert both_wrong_alike({"one": "x", "two": "x"}) > 0.5
    assert both_wrong_alike({"one": "x", "two": "y"}) < 0.15


def test_every_wording_of_the_searches_and_of_the_start_means_what_it_says() -> None:
    told = [(kind, part, text) for kind, parts in NAMED.items() for part, text in parts.items()]
    for kind, part, text in (*told, *wordings()):
        verb = {"nature": "recall", "made": "recall", "review": "verify"}.get(part, part)
        assert verbs_in(text) == {verb}, text
        assert kinds_named(text) in ({kind}, set()), text
        assert (sort_named(text) == part) == (part in ("nature", "made")), text
    for verb, text in PLAIN.items():
        assert verbs_in(text) == {verb}
        assert kinds_named(text) == ({"code"} if verb == "write" else set())
    assert {part for parts in PARTS.values() for part in parts} <= {
        "plan",
        "recall",
        "nature",
        "made",
        "compute",
        "write",
        "review",
    }


def test_the_same_call_gets_the_same_completion_and_speaks_of_its_price() -> None:
    call = Call.plain(_problem("bundle").question)
    for worker in specialists(WORLD):
        completion = worker.complete(call)
        assert completion == worker.complete(call)
        assert completion.usage.cost_usd is not None
        assert worker.card.about == "a worker of the gym", "nothing on it says who is good at what"
