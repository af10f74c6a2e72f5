"""What an iteration was like, when a run has collapsed, and the curves of it all."""

import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from podium.errors import Blame, CheckpointError
from podium.training.curves import draw_curves
from podium.training.monitor import CollapseRule, Iteration, entropy_bits, measured, pattern
from podium.training.rollout import Rollout, RolloutGroup, Turn
from podium.training.worker_draws import NOT_SAMPLED
from podium.types import (
    Brief,
    Card,
    Completion,
    Failure,
    Generation,
    Problem,
    Step,
    StepResult,
    Transcript,
    Usage,
    Verdict,
    Workflow,
    ask,
)

CARDS = (Card(name="a"), Card(name="b"))
PLAN = Workflow(steps=(Step(worker=0, subtask="x"), Step(worker=1, subtask="y", access=(0,))))
SHORT = Workflow(steps=(Step(worker=1, subtask="x"),))


def turn(workflow: Workflow | None, reward: float | None, *, correct: bool | None = None) -> Turn:
    reply = Completion(text="", usage=Usage(prompt_tokens=1, completion_tokens=1, cost_usd=0.1))
    results = tuple(
        StepResult(step=step, worker=CARDS[step.worker].name, completion=reply) for step in (workflow.steps if workflow else ())
    )
    transcript = Transcript(
        question=ask("q"), generation=Generation(text="t", token_ids=(1, 2)), workflow=workflow, results=results, answer="x"
    )
    failure = Failure(kind="WorkerTimeout", blame=Blame.WORLD, message="late", where="a") if reward is None else None
    verdict = None if correct is None else Verdict(correct=correct, extracted="x")
    return Turn(
        prompt_ids=(1,), generation=transcript.generation, transcript=transcript, verdict=verdict, failure=failure, reward=reward
    )


def group(*turns: Turn, kind: str = "word", forced_prefix: str = "") -> RolloutGroup:
    problem = Problem(question="q", target="t", kind=kind, source="test")
    rollouts = tuple(Rollout(turns=(one,)) for one in turns)
    return RolloutGroup(
        problem=problem, brief=Brief(question=ask("q"), cards=CARDS), forced_prefix=forced_prefix, rollouts=rollouts
    )


def seen(iteration: int = 0, /, **changed: float) -> Iteration:
    base = measured(iteration, [group(turn(PLAN, 1.0, correct=True), turn(SHORT, 0.5, correct=False))])
    return replace(base, **changed)  # type: ignore[arg-type]


def test_measures_by_hand() -> None:
    groups = [
        group(turn(PLAN, 1.0, correct=True), turn(PLAN, 0.5, correct=False), turn(None, 0.0), turn(PLAN, None)),
        group(turn(SHORT, 1.0, correct=True), turn(SHORT, 1.0, correct=True), kind="choice", forced_prefix="o\n"),
    ]
    found = measured(7, groups)
    assert found.rollouts == 6
    assert found.correct == pytest.approx(3 / 5)
    assert found.valid == pytest.approx(4 / 5)
    assert found.correct_given_valid == pytest.approx(3 / 4)
    assert found.steps == pytest.approx(6 / 4)
    assert found.steps_by_kind == {"choice": 1.0, "word": 2.0}
    assert found.correct_by_kind == {"choice": 1.0, "word": pytest.approx(1 / 3, abs=1e-4)}
    assert found.worker_entropy_bits == pytest.approx(entropy_bits(Counter(a=2, b=4)))
    assert found.distinct_plans == 2
    assert (found.flat_groups, found.solved_groups, found.failed_groups) == (0.5, 0.5, 0.0)
    assert found.void == pytest.approx(1 / 6)
    assert found.forced_prefixes == 0.5
    assert found.calls == 8  # void rollouts were paid for as well
    assert found.cost_usd == pytest.approx(0.8)
    assert json.loads(json.dumps(found.as_json()))["iteration"] == 7


def test_workers_that_were_drawn_do_not_hide_that_the_policy_asks_only_one() -> None:
    own, drawn = turn(SHORT, 0.5, correct=False), turn(PLAN, 1.0, correct=True)
    drawn = replace(drawn, generation=replace(drawn.generation, logprobs=(-0.1, NOT_SAMPLED)))
    found = measured(0, [group(own, own, own, drawn)])
    assert found.worker_entropy_bits == 0.0
    assert found.correct == 0.25


def test_an_iteration_without_anything_has_no_division_by_zero() -> None:
    assert measured(0, []).correct == 0.0
    assert measured(0, [group(turn(PLAN, None))]).void == 1.0


def test_a_plan_without_its_words() -> None:
    assert pattern(PLAN) == "0 > 1(0)"


@pytest.mark.parametrize(
    ("signs", "word"),
    [
        ({"worker_entropy_bits": 0.05, "correct": 0.4}, "one worker"),
        ({"valid": 0.2}, "lower the learning rate"),
        ({"flat_groups": 1.0, "correct": 0.0}, "too hard"),
    ],
)
def test_a_collapse_has_to_last_and_is_named(signs: dict[str, float], word: str) -> None:
    rule = CollapseRule(patience=3)
    healthy = {"worker_entropy_bits": 2.0, "valid": 0.9, "correct": 0.4, "flat_groups": 0.2}
    ill = seen(**{**healthy, **signs})
    assert [rule.reason(one) for one in (ill, ill, seen(**healthy), ill, ill)] == [None] * 5
    reason = rule.reason(ill)
    assert reason is not None
    assert word in reason


def test_a_run_that_has_won_has_not_collapsed() -> None:
    rule = CollapseRule(patience=1)
    assert rule.reason(seen(worker_entropy_bits=0.0, correct=0.97, valid=1.0, flat_groups=1.0)) is None


def test_curves_are_a_picture_of_every_measure(tmp_path: Path) -> None:
    lines = [seen(i, correct=i / 9).as_json() for i in range(10)]
    (tmp_path / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    draw_curves(tmp_path / "metrics.jsonl", tmp_path / "curves.svg")
    text = (tmp_path / "curves.svg").read_text()
    ElementTree.fromstring(text)
    for word in ("correct given valid", "worker entropy", "steps, by kind", "dollars", "flat groups", "word"):
        assert word in text
    right_edges = [float(x) for x in re.findall(r'<circle cx="([\d.]+)"', text)]
    assert max(right_edges) <= 340


@pytest.mark.parametrize("text", ["", "{", '{"iteration": 0}\n', "[]\n"])
def test_what_is_no_metrics_file_is_said(tmp_path: Path, text: str) -> None:
    (tmp_path / "metrics.jsonl").write_text(text)
    with pytest.raises(CheckpointError, match="holds no metrics"):
        draw_curves(tmp_path / "metrics.jsonl", tmp_path / "curves.svg")


def test_metrics_of_another_version_are_refused(tmp_path: Path) -> None:
    line = measured(0, [group(turn(SHORT, 1.0, correct=True))]).as_json()
    line["opened"] = line.pop("forced_prefixes")
    (tmp_path / "metrics.jsonl").write_text(json.dumps(line) + "\n")
    with pytest.raises(CheckpointError, match=r"another version of podium .it has no forced_prefixes"):
        draw_curves(tmp_path / "metrics.jsonl", tmp_path / "curves.svg")
