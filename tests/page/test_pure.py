"""What the page computes without a browser: places of steps, the state of a run, growing files."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from podium.conduct import Conductor
from podium.errors import WorkerRefused
from podium.page.following import Following
from podium.page.layout import GAP, ROW, layout, lines
from podium.page.mix import POINTS, curves, mix
from podium.page.shown import clipped, line, took
from podium.page.timeline import spans
from podium.page.training_files import TrainingRun, TrainingRuns
from podium.policies.fixed import FixedPolicy
from podium.protocols import Worker
from podium.types import Call, Card, Completion, Step, Workflow
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
    assert [span.name for span in spans(completion.transcripts)] == ["0 echo", "1 echo", "2 echo"]


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
        assert [step.state for step in following.rounds[0].steps] == ["stopped", "failed", "stopped", "failed"]
    assert [span.failed for span in spans([transcript])] == [False, True, False, True]
    assert [result.was_needed for result in transcript.results] == [False, True, False, True]
    assert as_svg(transcript).count('stroke="#b91c1c"') == 2


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
