"""A whole run of tuning: it finds who is good at what, keeps to its calls and caps, and says where there is nothing to find."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import podium
from podium.errors import BudgetExceeded, CheckpointError, ConfigError, WorkerUnavailable
from podium.evaluation.metrics import Interval
from podium.policies.tuned_record import read_tuned
from podium.tuning.catalogue import GENERAL
from podium.tuning.report import verdict
from podium.tuning.result import Tuned
from podium.tuning.run import LEAST_CALLS, Progress, tune_pool
from podium.types import Problem, Usage
from podium.workers.budget import Budget
from podium.workers.journal import Journal
from podium.workers.pool import Member, WorkerPool
from podium.workers.scripted import Scripted
from podium.workers.stack import Layers, stacked
from tests.tuning.desk import clerk, exact, kind_of, member, pool, problem, problems


async def tuned(workers: WorkerPool, out: Path, given: Sequence[Problem] | None = None, **more: Any) -> Tuned:
    arguments: dict[str, Any] = {"kind_of": kind_of, "max_calls": 300} | more
    return await tune_pool(workers, problems(100) if given is None else given, exact, out, **arguments)


def asked_for(found: Tuned, kind: str) -> set[str]:
    """Who carries out the workflow that is chosen for new questions of ``kind``."""
    number, _ = found.policy.choose(problem(kind, 900).question)
    return {step.worker for step in found.record.workflows[number].steps}


async def test_it_finds_who_is_good_at_what(tmp_path: Path) -> None:
    seen: list[Progress] = []
    found = await tuned(pool(), tmp_path, on_progress=seen.append)
    assert found.tested[0].share == 1.0
    assert (found.use_worker, found.given_up) == (False, ())
    assert all(kind in asked_for(found, kind) for kind in ("sum", "reverse"))
    assert found.calls <= 300
    assert found.usd == pytest.approx(0.001 * found.calls)
    assert {one.phase for one in seen} == {"search", "select", "test"}
    assert [one.calls for one in seen] == sorted(one.calls for one in seen)
    record, questions = read_tuned(tmp_path)
    assert (record, found.folder) == (found.record, tmp_path)
    sealed = len(problems(100)) - len(questions)
    assert sealed == 24
    report = (tmp_path / "report.md").read_text()
    assert verdict(found) in report
    assert "### reverse" in report
    ours, alone, constant = found.tested
    assert constant.name == "constant"
    as_good = replace(constant, share=0.97, gain=Interval(low=-0.02, high=0.08))
    assert "one workflow for everything has 97.0 %" in verdict(replace(found, tested=(ours, alone, as_good)))
    worse = replace(constant, share=0.5, gain=Interval(low=0.3, high=0.6))
    assert "one workflow" not in verdict(replace(found, tested=(ours, alone, worse)))


async def test_a_sealed_test_of_few_problems_has_all_kinds(tmp_path: Path) -> None:
    given = problems(400)
    by_question = {one.question: one.kind for one in given}
    asked: list[str] = []

    async def noted(problem: Problem, answer: str) -> podium.Verdict:
        asked.append(problem.question)
        return await exact(problem, answer)

    found = await tune_pool(pool(), given, noted, tmp_path, kind_of=kind_of, max_calls=200)
    known = {question for question, _ in read_tuned(tmp_path)[1]}
    sealed = {question for question in asked if question not in known}
    assert len(sealed) == found.tested[0].problems < 100
    kinds = [by_question[question] for question in sealed]
    assert abs(kinds.count("sum") - kinds.count("reverse")) <= 1


async def test_whoever_looks_on_changes_nothing(tmp_path: Path) -> None:
    shown = await tuned(pool(), tmp_path / "shown", on_progress=lambda progress: None)
    silent = await tuned(pool(), tmp_path / "silent")
    assert shown.calls == silent.calls
    assert (tmp_path / "shown" / "policy.json").read_bytes() == (tmp_path / "silent" / "policy.json").read_bytes()


async def test_words_that_no_file_can_hold_are_refused_before_anything_is_asked(tmp_path: Path) -> None:
    def nobody(call: podium.Call) -> str:
        raise AssertionError(call)

    half = "half a pair: \ud800"
    spoken = replace(GENERAL, roles={**GENERAL.roles, "solve": half})
    for name, more in (("a", {"about": {"sum": half, "reverse": ""}}), (half, {}), ("a", {"catalogue": spoken})):
        with pytest.raises(ConfigError, match="no text that can be written"):
            await tuned(WorkerPool([member(name, nobody)]), tmp_path, **more)


async def test_another_seed_is_another_run(tmp_path: Path) -> None:
    one, other = await tuned(pool(), tmp_path / "0"), await tuned(pool(), tmp_path / "1", seed=1)
    assert one.record != other.record


async def test_a_pool_of_one_says_use_it(tmp_path: Path) -> None:
    found = await tuned(pool("sum"), tmp_path, problems(80, ("sum",)))
    assert found.use_worker
    assert "Nothing to conduct here" in verdict(found)
    assert found.record.workers == ("sum",)


async def test_copies_of_one_worker_have_nothing_to_conduct(tmp_path: Path) -> None:
    found = await tuned(pool("sum1", "sum2", "sum3"), tmp_path)
    assert found.use_worker


async def test_fifteen_workers(tmp_path: Path) -> None:
    names = [f"idle{number}" for number in range(13)]
    found = await tuned(pool(*names[:6], "sum", *names[6:], "reverse"), tmp_path, max_calls=500)
    assert found.tested[0].share == 1.0
    assert found.calls <= 500


@pytest.mark.parametrize("workers", [("idle", "sum", "failing"), ("failing", "sum", "reverse", "failing2")])
async def test_a_worker_that_always_fails_is_done_without(tmp_path: Path, workers: tuple[str, ...]) -> None:
    found = await tuned(pool(*workers), tmp_path)
    assert set(found.given_up) == {name for name in workers if name.startswith("failing")}
    assert not any(step.worker in found.given_up for one in found.record.workflows for step in one.steps)
    assert f"they kept failing: {', '.join(found.given_up)}." in (tmp_path / "report.md").read_text()


@pytest.mark.parametrize("answers", [60, 80])
async def test_the_best_worker_stops_answering_and_the_others_are_tested(tmp_path: Path, answers: int) -> None:
    left = answers

    def good(call: podium.Call) -> str:
        nonlocal left
        left -= 1
        if left < 0:
            raise WorkerUnavailable("429 out for the day")
        return max(clerk("sum")(call), clerk("reverse")(call), key=lambda said: said != "I do not know.")

    workers = WorkerPool([member("good", good), *pool()])
    found = await tuned(workers, tmp_path, problems(200), max_calls=500, gate=False)
    assert found.given_up == ("good",)
    assert (found.tested[0].share, found.best_worker) == (1.0, "sum")
    assert not any(step.worker == "good" for one in found.record.workflows for step in one.steps)


async def test_where_nobody_answers_it_is_the_worlds_fault(tmp_path: Path) -> None:
    with pytest.raises(WorkerUnavailable, match="no answer could be judged: failing: 503 closed for today"):
        await tuned(pool("failing", "failing2"), tmp_path)
    assert not (tmp_path / "policy.json").exists()


async def test_where_nobody_answers_any_more_it_ends(tmp_path: Path) -> None:
    left = 60

    def tired(call: podium.Call) -> str:
        nonlocal left
        left -= 1
        if left < 0:
            raise WorkerUnavailable("429 out for the day")
        return clerk("sum")(call)

    with pytest.raises(
        WorkerUnavailable, match=r"no worker answers any more; with a journal, tuning goes on: .*429 out for the day"
    ):
        await tuned(WorkerPool([member("one", tired), member("two", tired)]), tmp_path)


async def test_unknown_prices_stay_unknown(tmp_path: Path) -> None:
    found = await tuned(pool(usd=None), tmp_path, prefer="cheap")
    assert found.usd is None
    assert found.record.price == 0
    assert all(one.usd is None for workflow in found.record.workflows for one in workflow.kinds.values())
    assert [one.usd for one in found.tested] == [None, None, None]
    assert "| ? |" in (tmp_path / "report.md").read_text()


@pytest.mark.parametrize(("prefer", "chosen"), [("accuracy", "dear"), ("cheap", "fair")])
async def test_what_one_prefers_turns_the_choice(tmp_path: Path, prefer: str, chosen: str) -> None:
    def nearly(call: podium.Call) -> str:
        right = clerk("sum")(call)
        return "?" if right.endswith("00") else right

    workers = WorkerPool([member("fair", nearly, 0.0001), member("dear", clerk("sum"), 0.1)])
    found = await tuned(workers, tmp_path, problems(120, ("sum",)), prefer=prefer, max_calls=400)
    assert found.record.prefer == prefer
    if chosen == "fair":  # by its price, or at once where it is as often right as the dear one
        assert asked_for(found, "sum") == {"fair"}
        assert found.record.price > 0 or found.best_worker == "fair"
    else:
        assert found.record.price == 0


async def test_wrong_words_and_numbers_are_refused_before_anything_is_asked(tmp_path: Path) -> None:
    for more, words in (
        ({"prefer": "best"}, "prefer is one of accuracy, balanced, cheap, not 'best'"),
        ({"max_calls": LEAST_CALLS - 1}, f"tuning needs {LEAST_CALLS} or more"),
        ({"given": problems(30)}, "there are 30 problems"),
        ({"given": [*problems(100), replace(problem("sum", 0), target="?")]}, "more than once"),
    ):
        with pytest.raises(ConfigError, match=words):
            await tuned(pool("failing"), tmp_path, **more)


async def test_the_folder_of_another_pool_is_left_alone(tmp_path: Path) -> None:
    await tuned(pool(), tmp_path, max_calls=200)
    before = (tmp_path / "policy.json").read_bytes()
    with pytest.raises(ConfigError, match="holds a policy for other workers"):
        await tuned(pool("sum", "idle"), tmp_path)
    assert (tmp_path / "policy.json").read_bytes() == before
    await tuned(pool("sum", "reverse", "idle"), tmp_path, max_calls=200)
    (tmp_path / "policy.json").write_text("my notes")
    with pytest.raises(CheckpointError, match="delete it and run podium tune again"):
        await tuned(pool(), tmp_path)
    assert (tmp_path / "policy.json").read_text() == "my notes"


@pytest.mark.parametrize("left", ["", '{"question":"of another', '{"question":"Of others?","kind":"others"}\n', None])
async def test_questions_that_a_crash_left_without_their_policy_are_written_anew(tmp_path: Path, left: str | None) -> None:
    await tuned(pool(), tmp_path, max_calls=200)
    whole = (tmp_path / "questions.jsonl").read_text()
    (tmp_path / "questions.jsonl").unlink() if left is None else (tmp_path / "questions.jsonl").write_text(left)
    with pytest.raises(CheckpointError):
        read_tuned(tmp_path)
    await tuned(pool(), tmp_path, max_calls=200)
    assert (tmp_path / "questions.jsonl").read_text() == whole


def capped(usd: float, journal: Journal | None = None, sent: list[str] | None = None) -> tuple[WorkerPool, Budget]:
    budget = Budget(usd)

    def wrap(one: Member) -> podium.Worker:
        async def noted(call: podium.Call) -> podium.Completion:
            if sent is not None:
                sent.append(one.name)
            return await one.worker(call)

        return stacked(noted, one.card, Layers(max_tokens=50), [budget], journal, identity=one.name)

    return pool().wrapped(wrap), budget


@pytest.mark.parametrize("usd", [0.03, 0.08, 0.15])
async def test_a_cap_ends_the_search_and_the_folder_is_written(tmp_path: Path, usd: float) -> None:
    workers, budget = capped(usd)
    found = await tuned(workers, tmp_path, max_calls=2000)
    assert budget.spent.cost_usd is not None
    assert 0 < budget.spent.cost_usd <= usd
    record, _ = read_tuned(tmp_path)
    assert set(record.workflows[0].kinds) == {"sum", "reverse"}
    assert verdict(found) in (tmp_path / "report.md").read_text()


async def test_a_cap_that_allows_not_one_answer_is_said(tmp_path: Path) -> None:
    with pytest.raises(BudgetExceeded, match="before one answer was judged"):
        await tuned(capped(0.0001)[0], tmp_path)


async def test_dollars_end_the_search_early_enough_for_the_test(tmp_path: Path) -> None:
    workers, budget = capped(0.4)
    found = await tuned(workers, tmp_path, max_calls=2000, max_usd=0.4)
    assert budget.spent.cost_usd is not None
    assert budget.spent.cost_usd <= 0.4
    assert len(found.tested) == 3


async def test_over_a_journal_a_second_run_asks_nobody_and_comes_to_the_same(tmp_path: Path) -> None:
    sent: list[str] = []
    files = []
    for turn in ("first", "second"):
        with Journal(tmp_path / "calls.db", run="tune") as journal:
            workers, _ = capped(5, journal, sent)
            found = await tuned(workers, tmp_path / turn)
        files.append(((tmp_path / turn / "policy.json").read_bytes(), found.calls, len(sent)))
    assert files[0] == files[1]


async def test_hostile_names_do_not_break_the_report(tmp_path: Path) -> None:
    odd = "a|b\n# <script>\x1b[31m ![seen](https://elsewhere.example/seen.png)"
    given = [replace(one, kind=f"{one.kind}{odd}") for one in problems(60)]
    workers = WorkerPool([member(f"sum{odd}", clerk("sum")), member("idle", clerk(""))])
    await tuned(workers, tmp_path, given, max_calls=200)
    report = (tmp_path / "report.md").read_text()
    assert "<script>" not in report
    assert "\x1b" not in report
    assert "![seen](" not in report, "whoever opens it would ask for that picture"
    assert {line.count(" | ") for line in report.splitlines() if line.startswith("| 0 ")} == {4}


async def test_in_python_with_the_pools_own_kinds_and_verifier(tmp_path: Path) -> None:
    given = podium.load_problems("gym", limit=60)
    workers = [
        Member(worker=Scripted("Answer: A", usage=Usage(cost_usd=0.0)), card=podium.Card(name="a")),
        Member(worker=Scripted("Answer: B", usage=Usage(cost_usd=0.0)), card=podium.Card(name="b")),
    ]
    async with podium.open_pool(workers) as opened:
        found = await podium.tune(opened, given, str(tmp_path), max_calls=200)
        answer = await podium.conductor(opened, found.policy).ask(given[0].question)
    assert answer.text in ("Answer: A", "Answer: B")
    assert json.loads((tmp_path / "policy.json").read_text())["workers"] == ["a", "b"]
