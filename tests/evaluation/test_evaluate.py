import asyncio
import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from podium import jsonl
from podium.errors import Blame, BudgetExceeded, ConfigError, MalformedWorkflow, VerifierError, WorkerUnavailable
from podium.evaluation.evaluate import Result, evaluate, read_results
from podium.types import (
    Call,
    Completion,
    Failure,
    Generation,
    Problem,
    Sampling,
    Step,
    StepResult,
    Transcript,
    Usage,
    Verdict,
    Workflow,
    ask,
)
from podium.workers.scripted import Scripted


def problems(count: int) -> list[Problem]:
    return [Problem(question=f"question {number}", target=str(number), kind="word", source="test") for number in range(count)]


class Same:
    """Right where the answer is the target."""

    async def __call__(self, problem: Problem, answer: str) -> Verdict:
        return Verdict(correct=answer == problem.target, extracted=answer or None)


def number_of(call: Call) -> int:
    return int(call.question[-1].content.split()[1])


def solver() -> Scripted:
    return Scripted(lambda call: str(number_of(call)), usage=Usage(prompt_tokens=2, completion_tokens=1, cost_usd=0.5))


def raising(error: Callable[[], Exception], when: Callable[[Call], bool] = lambda call: True) -> Scripted:
    def answer(call: Call) -> str:
        if when(call):
            raise error()
        return str(number_of(call))

    return Scripted(answer)


def lines_of(path: Path) -> list[Result]:
    return jsonl.read_records(Result, path)


def test_a_result_is_a_record_like_the_others(tmp_path: Path) -> None:
    # Evaluating writes what reading returns: the law of podium.jsonl, for this record.
    result = asyncio.run(evaluate({"a": solver()}, problems(1), Same()))[0]
    assert jsonl.loads(Result, jsonl.dumps(result)) == result


async def test_every_arm_answers_every_problem_and_the_order_is_the_one_given() -> None:
    # The later a question, the sooner its answer: finishing order must not show.
    slow_first = Scripted(lambda call: "0")

    async def worker(call: Call) -> Completion:
        await asyncio.sleep(0.02 - 0.002 * number_of(call))
        return await slow_first(call)

    heard: list[Result] = []
    results = await evaluate({"z": worker, "a": solver()}, problems(10), Same(), repeats=2, on_result=heard.append)
    assert [result.key for result in results] == [
        (arm, problem.id, repeat) for arm in ("z", "a") for problem in problems(10) for repeat in range(2)
    ]
    assert [r.verdict.correct for r in results if r.verdict] == [True] * 2 + [False] * 18 + [True] * 20
    assert Counter(result.key for result in heard) == Counter(result.key for result in results)
    assert [result.key for result in heard] != [result.key for result in results]


async def test_the_call_is_the_bare_question_and_repeats_are_other_draws() -> None:
    calls: list[Call] = []

    def answer(call: Call) -> str:
        calls.append(call)
        return ""

    await evaluate({"a": Scripted(answer)}, problems(1), Same(), repeats=3, sampling=Sampling(temperature=0.2))
    plain = Call.plain("question 0", Sampling(temperature=0.2))
    assert calls == [replace(plain, sample=(repeat,)) for repeat in range(3)]


async def test_a_plain_worker_is_one_step_and_its_own_figures_are_kept() -> None:
    worker = Scripted("0", seconds=0.01, usage=Usage(prompt_tokens=5, completion_tokens=2, cost_usd=None))
    [result] = await evaluate({"a": worker}, problems(1), Same())
    assert (result.steps, result.rounds, result.invalid_rounds, result.seconds) == (1, 0, 0, 0.01)
    assert result.usage == Usage(prompt_tokens=5, completion_tokens=2, cost_usd=None)
    assert (result.kind, result.source, result.failure) == ("word", "test", None)


def round_of(steps: int, failure: Failure | None = None) -> Transcript:
    step = Step(worker=0, subtask="Solve.")
    done = StepResult(step=step, worker="w", completion=Completion(text="0", usage=Usage(completion_tokens=10, cost_usd=0.25)))
    return Transcript(
        question=ask("question 0"),
        generation=Generation(text="lists", usage=Usage(completion_tokens=3, cost_usd=0.125)),
        workflow=Workflow(steps=(step,) * steps) if steps else None,
        results=(done,) * steps,
        answer=None if failure else "0",
        failure=failure,
    )


GARBAGE = Failure(kind="MalformedWorkflow", blame=Blame.POLICY, message="no lists", where="round 2")


async def test_a_conductor_is_measured_by_its_transcripts() -> None:
    async def conductor(call: Call) -> Completion:
        return Completion(text="0", transcripts=(round_of(3), round_of(2), round_of(0, GARBAGE)))

    [result] = await evaluate({"c": conductor}, problems(1), Same())
    assert (result.steps, result.rounds, result.invalid_rounds) == (5, 3, 1)
    assert result.verdict is not None
    assert result.verdict.correct


async def test_garbage_from_the_policy_is_its_own_failure_and_what_it_cost_is_known() -> None:
    async def conductor(call: Call) -> Completion:
        error = MalformedWorkflow("no lists")
        error.transcripts = (round_of(2), round_of(0, GARBAGE))
        raise error

    [result] = await evaluate({"c": conductor}, problems(1), Same())
    assert result.is_policy_failure
    assert not result.is_world_fault
    assert result.verdict is None
    assert result.usage == Usage(completion_tokens=26, cost_usd=0.75)
    assert (result.steps, result.rounds, result.invalid_rounds) == (2, 2, 1)


async def test_a_world_fault_is_a_record_of_unknown_cost() -> None:
    [result] = await evaluate({"a": raising(lambda: WorkerUnavailable("429", 3.0))}, problems(1), Same())
    assert result.is_world_fault
    assert result.verdict is None
    assert result.usage is None
    assert result.failure is not None
    assert (result.failure.kind, result.failure.message, result.failure.retry_after) == ("WorkerUnavailable", "429", 3.0)
    assert result.failure.where == f"a, problem {problems(1)[0].id}, repeat 0"


async def test_a_broken_verifier_is_a_world_fault_and_the_answer_is_paid_for() -> None:
    class Broken:
        async def __call__(self, problem: Problem, answer: str) -> Verdict:
            raise VerifierError("the grader is gone")

    [result] = await evaluate({"a": solver()}, problems(1), Broken())
    assert result.is_world_fault
    assert result.usage == Usage(prompt_tokens=2, completion_tokens=1, cost_usd=0.5)
    assert result.steps == 1


async def test_a_bug_propagates_as_it_is_and_cancels_the_rest() -> None:
    cancelled = []

    async def worker(call: Call) -> Completion:
        if number_of(call) == 0:
            try:
                _ = 1 // 0
            except ZeroDivisionError as error:
                raise KeyError("bug") from error
        try:
            await asyncio.sleep(10)
        except asyncio.CancelledError:
            cancelled.append(number_of(call))
            raise
        raise AssertionError

    with pytest.raises(KeyError, match="bug") as caught:
        await evaluate({"a": worker}, problems(5), Same(), concurrency=3)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert sorted(cancelled) == [1, 2]


@pytest.mark.parametrize("error", [BudgetExceeded("the cap of $5 is reached"), ConfigError("no such model")])
async def test_a_failure_of_the_users_stops_cleanly_and_loses_nothing(tmp_path: Path, error: Exception) -> None:
    out = tmp_path / "a.jsonl"
    asked: list[int] = []

    async def worker(call: Call) -> Completion:
        asked.append(number_of(call))
        if number_of(call) == 2:
            await asyncio.sleep(0.01)
            raise error
        await asyncio.sleep(0.05)
        return Completion(text=str(number_of(call)))

    with pytest.raises(type(error)) as caught:
        await evaluate({"a": worker}, problems(20), Same(), out=out, concurrency=4)
    assert caught.value is error
    # Those in flight were paid for and are kept; nobody was asked after the stop.
    assert asked == [0, 1, 2, 3]
    assert {result.problem for result in lines_of(out)} == {problems(20)[number].id for number in (0, 1, 3)}
    results = await evaluate({"a": solver()}, problems(20), Same(), out=out)
    assert all(result.verdict is not None and result.verdict.correct for result in results)
    assert len(lines_of(out)) == 20


async def test_cancelling_keeps_what_was_done(tmp_path: Path) -> None:
    out = tmp_path / "a.jsonl"
    three = asyncio.Event()
    heard: list[Result] = []

    async def worker(call: Call) -> Completion:
        if number_of(call) >= 3:
            await asyncio.sleep(10)
        return Completion(text=str(number_of(call)))

    def on_result(result: Result) -> None:
        heard.append(result)
        if len(heard) == 3:
            three.set()

    running = asyncio.create_task(evaluate({"a": worker}, problems(9), Same(), out=out, on_result=on_result))
    await three.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert lines_of(out) == heard


async def test_no_more_than_concurrency_at_once_and_all_lanes_are_used() -> None:
    now = peak = 0

    async def worker(call: Call) -> Completion:
        nonlocal now, peak
        now += 1
        peak = max(peak, now)
        await asyncio.sleep(0.001)
        now -= 1
        return Completion(text="")

    await evaluate({"a": worker, "b": worker}, problems(50), Same(), concurrency=7)
    assert peak == 7


async def test_tasks_are_bounded_by_concurrency_not_by_questions() -> None:
    most = 0

    def answer(call: Call) -> str:
        nonlocal most
        most = max(most, len(asyncio.all_tasks()))
        return ""

    await evaluate({"a": Scripted(answer)}, problems(2000), Same(), concurrency=8)
    assert most <= 9


async def test_a_rerun_asks_only_what_is_missing(tmp_path: Path) -> None:
    out = tmp_path / "runs" / "a.jsonl"  # the folder is made
    first = await evaluate({"a": solver()}, problems(4), Same(), out=out)
    asked: list[int] = []

    def answer(call: Call) -> str:
        asked.append(number_of(call))
        return "wrong"

    heard: list[Result] = []
    second = await evaluate(
        {"a": Scripted(answer), "b": Scripted(answer)}, problems(6), Same(), out=out, on_result=heard.append, concurrency=1
    )
    assert asked == [0, 1, 2, 3, 4, 4, 5, 5]
    assert second[:4] == first
    assert heard[:4] == first
    assert len(heard) == len(second) == len(lines_of(out)) == 12
    third = await evaluate({"a": raising(AssertionError)}, problems(4), Same(), out=out, repeats=1)
    assert third == first


async def test_repeats_resume_one_by_one(tmp_path: Path) -> None:
    out = tmp_path / "a.jsonl"
    await evaluate({"a": solver()}, problems(2), Same(), out=out)
    samples: list[tuple[int, ...]] = []

    def answer(call: Call) -> str:
        samples.append(call.sample)
        return ""

    await evaluate({"a": Scripted(answer)}, problems(2), Same(), out=out, repeats=3)
    assert sorted(samples) == [(1,), (1,), (2,), (2,)]


async def test_faults_are_asked_again_and_replaced_but_policy_failures_stand(tmp_path: Path) -> None:
    out = tmp_path / "a.jsonl"
    await evaluate(
        {"a": raising(lambda: WorkerUnavailable("503")), "p": raising(lambda: MalformedWorkflow("no"))},
        problems(3),
        Same(),
        out=out,
    )
    results = await evaluate({"a": solver(), "p": solver()}, problems(3), Same(), out=out)
    assert [result.failure is None for result in results] == [True] * 3 + [False] * 3
    assert len(lines_of(out)) == 9
    assert sorted(read_results(out), key=lambda r: r.key) == sorted(results, key=lambda r: r.key)


async def test_other_problems_may_share_the_file(tmp_path: Path) -> None:
    out = tmp_path / "a.jsonl"
    await evaluate({"a": solver()}, problems(3), Same(), out=out)
    results = await evaluate({"a": solver()}, problems(5)[3:], Same(), out=out)
    assert [result.problem for result in results] == [problem.id for problem in problems(5)[3:]]
    assert len(read_results(out)) == 5


async def test_a_torn_last_line_is_asked_again(tmp_path: Path) -> None:
    out = tmp_path / "a.jsonl"
    await evaluate({"a": solver()}, problems(3), Same(), out=out)
    out.write_bytes(out.read_bytes()[:-20])
    asked: list[int] = []

    def answer(call: Call) -> str:
        asked.append(number_of(call))
        return str(number_of(call))

    results = await evaluate({"a": Scripted(answer)}, problems(3), Same(), out=out)
    assert asked == [2]
    assert lines_of(out) == results


@pytest.mark.parametrize(
    "content",
    [
        '{"arm":"a"}\n',
        '{"question":"6 times 7?"}\n{"question":"and 8?"}\n',
        '{\n  "a": 1\n}\n',
        "dear diary",
        "a,b\n1,2\n",
    ],
)
async def test_a_file_of_something_else_is_refused_and_left_alone(tmp_path: Path, content: str) -> None:
    out = tmp_path / "a.jsonl"
    out.write_text(content)
    with pytest.raises(ConfigError, match=r"a\.jsonl, line 1"):
        await evaluate({"a": raising(AssertionError)}, problems(1), Same(), out=out)
    assert out.read_text() == content


async def test_a_line_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    out = tmp_path / "a.jsonl"
    await evaluate({"a": solver()}, problems(2), Same(), out=out)
    lines = out.read_text().splitlines()
    out.write_text(lines[0] + "\n" + json.dumps(json.loads(lines[1]) | {"mood": "good"}) + "\n")
    with pytest.raises(ConfigError, match=r"a\.jsonl, line 2.*mood"):
        await evaluate({"a": solver()}, problems(2), Same(), out=out)


async def test_results_of_other_sampling_are_not_passed_off_as_these(tmp_path: Path) -> None:
    out = tmp_path / "a.jsonl"
    await evaluate({"a": solver()}, problems(2), Same(), out=out)
    with pytest.raises(ConfigError, match="sampled with"):
        await evaluate({"a": raising(AssertionError)}, problems(2), Same(), out=out, sampling=Sampling(temperature=1.0))


async def test_what_can_not_be_evaluated_is_said_before_anyone_is_asked(tmp_path: Path) -> None:
    never = {"a": raising(AssertionError)}
    with pytest.raises(ConfigError, match="worker"):
        await evaluate({}, problems(1), Same())
    with pytest.raises(ConfigError, match="no problems"):
        await evaluate(never, [], Same())
    with pytest.raises(ConfigError, match="repeats"):
        await evaluate(never, problems(1), Same(), repeats=0)
    with pytest.raises(ConfigError, match="concurrency"):
        await evaluate(never, problems(1), Same(), concurrency=0)
    with pytest.raises(ConfigError, match=r"problem 4 .* twice"):
        await evaluate(never, problems(3) + problems(1), Same())
    with pytest.raises(ConfigError, match="can not write"):
        await evaluate(never, problems(1), Same(), out=tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError, match="can not write"):
        await evaluate(never, problems(1), Same(), out=tmp_path / "file" / "a.jsonl")
    with pytest.raises(ConfigError, match="can not read"):
        read_results(tmp_path / "none.jsonl")


KILLED = """
import asyncio, sys
from pathlib import Path
from podium.evaluation.evaluate import evaluate
from podium.types import Call, Completion, Problem, Verdict

out, asked = Path(sys.argv[1]), Path(sys.argv[2])
problems = [Problem(question=f"question {n}", target=str(n), kind="word", source="test") for n in range(300)]

async def worker(call):
    with asked.open("a") as file:
        file.write(call.question[0].content + "\\n")
    await asyncio.sleep(0.005)
    return Completion(text="x" * 10)

async def same(problem, answer):
    return Verdict(correct=False, extracted="y" * 20000)

async def main():
    await evaluate({"a": worker}, problems, same, out=out, concurrency=8, on_result=lambda r: print(r.problem, flush=True))
    print("done", flush=True)

asyncio.run(main())
"""


def test_kill_minus_nine_and_rerun_gives_every_result_exactly_once(tmp_path: Path) -> None:
    out, asked = tmp_path / "a.jsonl", tmp_path / "asked.txt"
    heard: set[str] = set()
    for attempt in range(4):
        before = {result.problem for result in lines_of(out)} if out.exists() else set()
        with subprocess.Popen([sys.executable, "-c", KILLED, str(out), str(asked)], stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            words = []
            if attempt < 3:
                words = [process.stdout.readline().strip() for _ in range(40)]
                os.kill(process.pid, signal.SIGKILL)
            words += process.stdout.read().split()
        assert process.returncode == (-signal.SIGKILL if attempt < 3 else 0)
        heard |= set(words) - {"done"}
        ids = [result.problem for result in lines_of(out)]
        assert len(ids) == len(set(ids)), "a result is there twice"
        assert heard <= set(ids), "a result that was reported is lost"
        assert before <= set(ids), "a result of an earlier run is lost"
    assert words[-1] == "done"
    assert set(ids) == {problem.id for problem in problems(300)}
    # Each kill may cost the questions that were in flight, and no others.
    assert len(asked.read_text().splitlines()) <= 300 + 3 * 8
