"""From recorded answers with grades to a rule that is served: a study learns it, keeps it, and everybody can use it."""

import gzip
import json
import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from benchmarks.conditions import graded
from podium.cli.app import app
from podium.errors import ConfigError
from podium.pools.graded import datasets_of, graded_problems, is_graded
from podium.pools.problems import ProblemSource
from podium.studies.recordings import answered_by_all
from podium.tasks.graded import GradedVerifier
from podium.workers.recorded import load_replay


def podium(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


def write(file: Path, lines: Iterable[dict[str, Any]]) -> None:
    file.parent.mkdir(exist_ok=True, parents=True)
    with gzip.open(file, "wt", encoding="utf-8") as out:
        out.writelines(json.dumps(line) + "\n" for line in lines)


def recordings(folder: Path, *, models: int = 4, each: int = 40) -> Path:
    """Of "pairs" two models agree when right and differ when wrong, and the last is nearly always right; "solo" one knows."""
    rng = random.Random(0)
    asked = [
        {"dataset": task, "id": i, "question": f"{task} {i}?", "answer": "r"} for task in ("pairs", "solo") for i in range(each)
    ]
    write(folder / "questions.jsonl.gz", asked)
    lucky = {row["id"]: rng.random() < 0.6 for row in asked}
    for model in range(models):
        lines = []
        for row in asked:
            knows = {0: lucky[row["id"]], 1: lucky[row["id"]], models - 1: rng.random() < 0.95}.get(model, False)
            right = model == 2 if row["dataset"] == "solo" else knows
            answer = "two\nlines" if right else f"wrong {model}"
            samples = [{"answer": answer, "score": float(right), "characters": 9}, {"answer": None, "score": 0.0}]
            lines.append({"dataset": row["dataset"], "id": row["id"], "samples": samples})
        write(folder / "outputs" / f"m{model}.jsonl.gz", lines)
    return folder


async def test_grades_are_what_is_right(tmp_path: Path) -> None:
    folder = recordings(tmp_path / "graded")
    assert is_graded(folder)
    assert datasets_of(folder) == ["pairs", "solo"]
    problems = graded_problems(folder)
    assert ProblemSource(replay=folder).problems() == problems
    assert {(problem.kind, problem.source) for problem in problems} == {("graded", "pairs"), ("graded", "solo")}
    workers, verifier = dict(load_replay(folder)), GradedVerifier()
    [last] = [problem for problem in problems if problem.question == "solo 3?"]
    said = {name: worker._answers["solo 3?"] for name, worker in workers.items()}
    assert [(await verifier(last, text)).correct for text in said.values()] == [False, False, True, False]
    assert not (await verifier(last, "something new")).correct
    assert not (await verifier(last, "")).correct


def test_a_gap_in_graded_recordings_is_told(tmp_path: Path) -> None:
    folder = recordings(tmp_path / "graded", each=10)
    file = folder / "outputs" / "m1.jsonl.gz"
    with gzip.open(file, "rt") as lines:
        kept = [json.loads(line) for line in lines][:13]
    write(file, kept)
    told: list[str] = []
    common, gaps = answered_by_all(graded_problems(folder), load_replay(folder), on_gaps=told.append)
    assert (len(common), gaps) == (13, {"m1": 7})
    assert told == ["recordings with gaps: m1 lacks 7 of 20. All arms are compared on the 13 that all answer."]


def test_lines_that_are_neither_output_nor_grades_are_refused(tmp_path: Path) -> None:
    lines: list[dict[str, Any]] = [{}, {"samples": []}, {"output": "x", "samples": [{"answer": "x", "score": 1}]}]
    for number, line in enumerate(lines):
        folder = tmp_path / str(number)
        write(folder / "questions.jsonl.gz", [{"dataset": "a", "id": 1, "question": "q?", "answer": "r"}])
        write(folder / "outputs" / "m.jsonl.gz", [{"dataset": "a", "id": 1, **line}])
        with pytest.raises(ConfigError, match="line 1"):
            load_replay(folder)


def test_a_study_learns_a_rule_and_everybody_can_use_it(tmp_path: Path) -> None:
    folder, study, kept = recordings(tmp_path / "graded"), tmp_path / "study.toml", tmp_path / "kept"
    study.write_text(
        f'title = "Stopping"\nout = "{tmp_path / "out"}"\ncompare = "router:rule"\n'
        'arms = ["worker:*", "vote", "stop:2:learned", "router:rule"]\n'
        f'[problems]\nreplay = "{folder}"\nhalf = "second"\n[learning]\nreplay = "{folder}"\nhalf = "first"\n'
    )
    done = podium("evaluate", str(study), "--save", str(kept))
    assert done.exit_code == 0, done.output
    arms = {row["arm"]: row for row in json.loads((tmp_path / "out" / "table.json").read_text())["arms"]}
    assert arms["router:rule"]["accuracy"] > max(arms[f"worker:m{model}"]["accuracy"] for model in range(4))
    rules = json.loads((kept / "router-rule" / "learned.json").read_text())["rules"]
    assert rules["solo"]["order"][-1] == "m2"
    assert (tmp_path / "out" / "report.html").exists()
    for number, policy in enumerate(("learned:" + str(kept / "router-rule"), "learned:" + str(kept / "stop-2-learned"))):
        asked = podium("ask", "pairs 7?", "--pool", str(folder), "--policy", policy, "--json")
        assert asked.exit_code == 0, asked.output
        again = tmp_path / f"again{number}.toml"
        again.write_text(
            f'title = "Again"\nout = "{tmp_path / str(number)}"\narms = ["{policy}"]\n[problems]\nreplay = "{folder}"\nn = 9\n'
        )
        assert podium("evaluate", str(again)).exit_code == 0
    assert "name a study file" in podium("evaluate", "--gym", "1", "--save", str(kept)).output


def test_the_benchmark_reads_any_folder_of_that_form(tmp_path: Path) -> None:
    for models in (4, 6):
        found = graded(recordings(tmp_path / str(models), models=models))
        assert found["graded_cascade"] > found["graded_best"]
        assert found["graded_gain_low"] > 0
        assert found["graded_executed"] == 1.0
        assert found["graded_one_call_calls"] <= found["graded_calls"] <= 3
        assert found["graded_oracle"] >= found["graded_cascade"]
