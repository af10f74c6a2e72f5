"""What the page computes without a browser: places of steps, the state of a run, growing files."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from podium.conduct import Conductor
from podium.errors import MalformedWorkflow, WorkerRefused
from podium.page.comparison import Outcome, compared
from podium.page.following import Following
from podium.page.layout import GAP, PLAN, ROW, WRITTEN, layout, lines
from podium.page.mix import POINTS, curves, mix
from podium.page.shown import clipped, line, took
from podium.page.timeline import bill, spans
from podium.page.training_files import TrainingRun, TrainingRuns
from podium.policies.fixed import FixedPolicy
from podium.protocols import Worker
from podium.types import Brief, Call, Card, Completion, Generation, Step, StepResult, Transcript, Usage, Verdict, Workflow, ask
from podium.workers.pool import Member, WorkerPool
from podium.workers.scripted import Scripted
from podium.workflow.draw import as_svg, counted
from tests.page.training_run import add_iteration, write_run

CHAIN = Workflow(steps=tuple(Step(worker=0, subtask=f"step {index}", access=tuple(range(index))) for index in range(3)))


def test_a_chain_stands_in_rows_and_lines_pass_by_at_the_side() -> None:
    placed = layout(CHAIN)
    assert placed.rows == ((0,), (1,), (2,))
    assert placed.height == 3 * ROW + 2 * GAP
    assert {(edge.source, edge.target) for edge in placed.edges} == {(0, 1), (0, 2), (1, 2)}
    assert placed.share < 1, "room for the line that passes a row by"
    assert lines(placed, frozenset({0})).count("edge done") == 2
    wide = layout(Workflow(steps=(*(Step(worker=0, subtask="x") for _ in range(4)), Step(worker=0, subtask="y", access=(0, 3)))))
    assert wide.rows == ((0, 1), (2, 3), (4,))
    assert wide.share < 1, "step 0 is seen from beyond the second row"
    [band] = wide.bands
    assert (band.top, band.steps) == (0, (0, 1, 2, 3)), "what works at the same time is held together"
    assert band.top + band.height < wide.tops[2]
    planned = layout(CHAIN, planned=True)
    assert planned.tops[0] == PLAN + GAP
    assert [edge.target for edge in planned.edges if edge.source == WRITTEN] == [0], "only who sees no step is next to the plan"
    assert layout(Workflow(steps=tuple(Step(worker=0, subtask="x") for _ in range(7)))).rows == ((0, 1, 2), (3, 4), (5, 6))


async def test_a_live_run_and_a_kept_one_look_the_same() -> None:
    pool = WorkerPool([Member(worker=Scripted("said"), card=Card(name="echo"))])
    live = Following()
    completion = await Conductor(FixedPolicy(CHAIN), pool).conduct(Call.plain("?"), live.on_event)
    kept = Following.of(completion.transcripts)
    for following in (live, kept):
        [only] = following.rounds
        assert [(step.worker, step.state, step.said) for step in only.steps] == [("echo", "done", "said")] * 3
    assert live.answered is not None
    assert not live.running
    assert [span.name for span in spans(completion.transcripts)] == ["Conductor", "0 echo", "1 echo", "2 echo"]


async def test_a_step_that_nobody_needed_any_more_is_shown_as_no_fault_of_its_worker() -> None:
    async def broken(call: Call) -> Completion:
        await asyncio.sleep(0.02)
        raise WorkerRefused("no")

    members: tuple[tuple[str, Worker], ...] = (
        ("slow", Scripted("said", seconds=30)),
        ("broken", broken),
        ("late", Scripted("said")),
    )
    pool = WorkerPool([Member(worker=worker, card=Card(name=name)) for name, worker in members])
    # The slow one is stopped; the late one, which waits for it, never starts; the last one lacks what the broken one owes.
    steps = [Step(worker=0, subtask="x"), Step(worker=1, subtask="x"), Step(worker=2, subtask="x", access=(0,))]
    workflow = Workflow(steps=(*steps, Step(worker=2, subtask="x", access=(1, 2))))
    live = Following()
    with pytest.raises(WorkerRefused) as caught:
        await Conductor(FixedPolicy(workflow), pool).conduct(Call.plain("?"), live.on_event)
    [transcript] = caught.value.transcripts
    for following in (live, Following.of(caught.value.transcripts)):
        assert [step.state for step in following.rounds[0].steps] == ["stopped", "failed", "never", "never"]
    assert [span.failed for span in spans([transcript])] == [False, False, True, False, True]
    assert [result.was_needed for result in transcript.results] == [False, True, False, True]
    assert as_svg(transcript).count('stroke="#b91c1c"') == 2


async def test_a_run_that_is_stopped_says_what_was_cut_and_what_was_never_begun() -> None:
    started = asyncio.Event()

    async def endless(call: Call) -> Completion:
        started.set()
        await asyncio.sleep(60)
        return Completion(text="late")

    members = [Member(worker=Scripted("said"), card=Card(name="quick")), Member(worker=endless, card=Card(name="slow"))]
    steps = (Step(worker=0, subtask="x"), Step(worker=1, subtask="x", access=(0,)), Step(worker=0, subtask="x", access=(1,)))
    live = Following()
    conducted = Conductor(FixedPolicy(Workflow(steps=steps)), WorkerPool(members)).conduct(Call.plain("?"), live.on_event)
    task = asyncio.create_task(conducted)
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert live.answered is not None
    for following in (live, Following.of(live.answered.transcripts)):
        assert [step.state for step in following.rounds[0].steps] == ["done", "cut", "never"]
        assert following.rounds[0].plan is not None
        assert following.rounds[0].plan.state == "done"
    assert [span.failed for span in spans(live.answered.transcripts)] == [False] * 4


async def test_planning_that_is_stopped_or_fails_is_shown_as_the_conductors() -> None:
    begun = asyncio.Event()

    class Never:
        async def write(self, brief: Brief, n: int = 1) -> list[Generation]:
            begun.set()
            await asyncio.sleep(60)
            return []

    live = Following()
    pool = WorkerPool([Member(worker=Scripted("said"), card=Card(name="echo"))])
    task = asyncio.create_task(Conductor(Never(), pool).conduct(Call.plain("?"), live.on_event))
    await begun.wait()
    assert live.running
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert live.rounds[0].plan is not None
    assert live.rounds[0].plan.state == "cut"
    assert not live.running
    failing = Following()
    with pytest.raises(MalformedWorkflow):
        await Conductor(FixedPolicy("I would rather not."), pool).conduct(Call.plain("?"), failing.on_event)
    assert failing.answered is not None
    for following in (failing, Following.of(failing.answered.transcripts)):
        [only] = following.rounds
        assert only.plan is not None
        assert (only.plan.state, only.plan.said, only.workflow) == ("failed", "I would rather not.", None)


def test_the_parts_of_a_run_add_up_to_it() -> None:
    written = Generation(text="...", usage=Usage(prompt_tokens=90, completion_tokens=10, cost_usd=0.03), seconds=2.0)
    step = Step(worker=0, subtask="x")
    done = Completion(text="said", usage=Usage(prompt_tokens=9, completion_tokens=1, cost_usd=0.01), seconds=1.0)
    result = StepResult(step=step, worker="echo", completion=done, seconds=1.0)
    transcript = Transcript(
        question=ask("?"), generation=written, workflow=Workflow(steps=(step,)), results=(result,), answer="said"
    )
    whole = "Planning 2.00 s · 100 tokens · $0.0300 (75 % of the dollars); 1 step 1.50 s · 10 tokens · $0.0100."
    assert bill([transcript], 3.5) == whole
    assert bill([replace(transcript, generation=Generation(text=""))], 3.5) == "", "nobody planned"


@pytest.mark.parametrize(
    ("verdicts", "says"),
    [
        ((True, False), "a is right, b is wrong."),
        ((False, False), "Both are wrong."),
        ((None, None), "They gave different words. Which is right is not known for this question."),
    ],
)
def test_two_answers_are_compared_by_what_is_known(verdicts: tuple[bool | None, bool | None], says: str) -> None:
    first, second = (
        Outcome(
            model=name,
            answer=name,
            seconds=seconds,
            usage=Usage(cost_usd=usd),
            steps=steps,
            verdict=None if right is None else Verdict(correct=right, extracted=None),
        )
        for name, seconds, usd, steps, right in (("a", 3.0, 0.02, 2, verdicts[0]), ("b", 1.0, 0.01, 1, verdicts[1]))
    )
    assert compared(first, second) == [
        says,
        "a took 2 steps, b 1 step.",
        "a cost $0.0200, b $0.0100: a 2.0 times as much.",
        "a took 3.00 s, b 1.00 s: a 3.0 times as long.",
    ]
    nobody = replace(second, answer=None, usage=Usage(cost_usd=None))
    assert compared(first, nobody)[0] == "b gave no answer."
    assert compared(first, nobody)[2] == "a cost $0.0200, b price unknown: they can not be compared."


def test_texts_are_cut_and_cleaned() -> None:
    assert clipped("a\x1b[0m\ud800b" + "x" * 99, 7) == "a[0mb"
    assert line("a\nb   c", 4) == "a b…"
    assert len(line("x" * 10_000_000, 50)) == 50
    assert (counted(1, "step"), counted(2000, "step")) == ("1 step", "2,000 steps")
    assert (took(0.042), took(12.34), took(75)) == ("0.04 s", "12.3 s", "75 s")


def test_a_growing_run_is_read_on(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "seed-0"
    write_run(folder, iterations=2)
    run = TrainingRun(folder)
    assert run.read_on()
    assert [each.number for each in run.iterations] == [0, 1]
    assert not run.read_on()
    with (folder / "metrics.jsonl").open("a") as file:
        file.write('{"iteration": 2, "corr')
    assert not run.read_on(), "half a line is left for later"
    with (folder / "metrics.jsonl").open("a") as file:
        file.write('ect": 0.75, "cost_usd": null}\n')
    assert run.read_on()
    assert run.iterations[-1].numbers == {"correct": 0.75}
    assert run.iterations[-1].cost_usd is None
    add_iteration(folder, 3)
    run.read_on()
    assert sum(run.workers[3].values()) == 4
    assert len(run.early) == 1
    assert run.late[0].iteration == 3


@pytest.mark.parametrize(
    "bad",
    [
        "[]",
        "nonsense",
        "[" * 100_000,
        '{"iteration": "x"}',
        '{"iteration": 1, "correct": NaN, "valid": Infinity, "cost_usd": "1", "correct_by_kind": [1]}',
        '{"iteration": 1, "steps_by_kind": {"a": {}, "b": true, "c": 1e999}}',
        '{"iteration": 1, "correct": 1e300, "pool": [{}], "rollouts": [[1], [], null, [{"text": 5}], [{"text": "x"}]]}',
        '{"iteration": 1, "pool": ["a"], "rollouts": [[{"text": "model_id = [99999, 7, 0]"}]]}',
    ],
)
def test_broken_lines_are_left_out(tmp_path: Path, bad: str) -> None:
    folder = tmp_path / "a"
    write_run(folder, iterations=1)
    for name in ("metrics.jsonl", "groups.jsonl"):
        with (folder / name).open("a") as file:
            file.write(bad + "\n")
    add_iteration(folder, 5)
    run = TrainingRun(folder)
    run.read_on()
    assert {run.iterations[0].number, run.iterations[-1].number} == {0, 5}
    assert len(curves(run.iterations)) == 6
    assert mix(run.workers)
    assert TrainingRuns(tmp_path).last("a")[1] == run.iterations[-1]


@pytest.mark.parametrize(
    ("turn", "outcome"),
    [
        ({"correct": True, "reward": 0.2}, "right"),
        ({"correct": True, "reward": None}, "right"),
        ({"correct": False, "reward": 0.5}, "wrong"),
        ({"correct": None, "reward": 0.0}, "no answer"),
        ({"correct": None, "reward": None}, "not judged"),
        ({"reward": 1.0}, ""),
        ({"correct": "yes", "reward": 1.0}, "no answer"),
    ],
)
def test_what_came_of_a_workflow_is_read_from_the_verdict(tmp_path: Path, turn: dict[str, Any], outcome: str) -> None:
    folder = tmp_path / "a"
    write_run(folder, iterations=1)
    group = {"iteration": 0, "kind": "word", "pool": ["ada"], "rollouts": [[{"text": "model_id = [0]", **turn}]]}
    (folder / "groups.jsonl").write_text(json.dumps(group) + "\n")
    run = TrainingRun(folder)
    run.read_on()
    assert [example.outcome for example in (*run.early, *run.late)] == [outcome] * 2


def test_long_runs_are_thinned(tmp_path: Path) -> None:
    folder = tmp_path / "a"
    folder.mkdir()
    text = "".join(json.dumps({"iteration": n, "correct": 0.5, "cost_usd": 0.1}) + "\n" for n in range(10_000))
    (folder / "metrics.jsonl").write_text(text)
    run = TrainingRun(folder)
    run.read_on()
    assert len(run.iterations) == 10_000
    assert sum(len(chart) for chart in curves(run.iterations)) < 200 * POINTS * 6


def test_only_runs_below_the_folder_are_found(tmp_path: Path) -> None:
    write_run(tmp_path / "runs" / "a" / "seed-0", iterations=1)
    write_run(tmp_path / "secret", iterations=1)
    (tmp_path / "runs" / "link").symlink_to(tmp_path / "secret")
    runs = TrainingRuns(tmp_path / "runs")
    assert runs.names() == ["a/seed-0"]
    assert runs.run("../secret") is None
    assert runs.run("link") is None
    assert runs.run("a/seed-0") is runs.run("a/seed-0")
    assert TrainingRuns(tmp_path / "nowhere").names() == []
