"""Studies over recordings that are incomplete, odd, or of one question: what is missing is said, and all arms stay comparable."""

import gzip
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from podium.cli.app import app

NAMES = ("ada", "bee", "cat")


def podium(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


def write(file: Path, lines: Iterable[dict[str, Any]]) -> None:
    file.parent.mkdir(exist_ok=True)
    with gzip.open(file, "wt", encoding="utf-8") as out:
        out.writelines(json.dumps(line) + "\n" for line in lines)


def recordings(folder: Path, *, questions: int = 20, lacking: dict[str, int] | None = None) -> Path:
    """Everybody is right on everything, but for what ``lacking`` says is missing at the end."""
    folder.mkdir()
    asked = [{"dataset": "crux", "id": f"q{i}", "question": f"assert f({i}) == ??", "answer": str(i)} for i in range(questions)]
    write(folder / "questions.jsonl.gz", asked)
    for name in NAMES:
        kept = range(questions - (lacking or {}).get(name, 0))
        said = ({"dataset": "crux", "id": f"q{i}", "output": json.dumps({"reasoning": "x", "answer": str(i)})} for i in kept)
        write(folder / "outputs" / f"{name}.jsonl.gz", said)
    return folder


def study(tmp_path: Path, folder: Path, *, arms: str = '"worker:*", "vote", "oracle"', more: str = "") -> tuple[Result, Path]:
    out = tmp_path / "out"
    path = tmp_path / "study.toml"
    path.write_text(
        f'title = "Recordings"\nout = "{out}"\ncompare = "vote"\narms = [{arms}]\n{more}\n'
        f'[problems]\nreplay = "{folder}"\nreplay_sets = ["crux"]\n'
    )
    return podium("evaluate", str(path)), out


def test_who_lacks_what_is_said_and_all_are_compared_on_what_all_have(tmp_path: Path) -> None:
    result, out = study(tmp_path, recordings(tmp_path / "replay", lacking={"bee": 3, "cat": 5}))
    assert result.exit_code == 0, result.output
    told = " ".join(result.stderr.split())
    assert "recordings with gaps: bee lacks 3 of 20, cat lacks 5 of 20. All arms are compared on the 15 that all answer." in told
    table = json.loads((out / "table.json").read_text())
    assert {(arm["arm"], arm["n"], arm["world_faults"]) for arm in table["arms"]} == {
        *((f"worker:{name}", 15, 0) for name in NAMES),
        ("vote", 15, 0),
        ("oracle", 15, 0),
    }
    assert all(each["problems"] == 15 and each["left_out"] == 0 for each in table["comparisons"])
    report = (out / "report.html").read_text()
    assert "Recordings with gaps" in report
    assert "<th>n</th>" in report.replace(' scope="col"', "")


def test_complete_recordings_are_not_talked_about(tmp_path: Path) -> None:
    result, out = study(tmp_path, recordings(tmp_path / "replay"))
    assert result.exit_code == 0, result.output
    assert "gaps" not in result.output + (out / "report.html").read_text()


@pytest.mark.parametrize(
    ("lacking", "said"),
    [
        ({"bee": 20}, "the recording 'bee' answers none of the 20 questions"),
        ({"ada": 19, "bee": 19, "cat": 19}, ""),
    ],
)
def test_an_empty_recording_is_named_before_anything_is_asked(tmp_path: Path, lacking: dict[str, int], said: str) -> None:
    result, out = study(tmp_path, recordings(tmp_path / "replay", lacking=lacking))
    assert result.exit_code == (2 if said else 0), result.output
    assert said in " ".join(result.output.split())
    assert not said or not (out / "results.jsonl").exists()


def test_recordings_without_a_question_in_common_are_named(tmp_path: Path) -> None:
    folder = recordings(tmp_path / "replay", lacking={"ada": 10})
    last = ({"dataset": "crux", "id": f"q{i}", "output": "Answer: 1"} for i in range(10, 20))
    write(folder / "outputs" / "cat.jsonl.gz", last)
    result, _ = study(tmp_path, folder)
    assert result.exit_code == 2
    assert "no question is answered by all recordings (ada lacks 10 of 20, cat lacks 10 of 20)" in " ".join(result.output.split())


def test_ids_of_two_types_are_named(tmp_path: Path) -> None:
    folder = recordings(tmp_path / "replay")
    asked = [{"dataset": "crux", "id": i, "question": f"assert f({i}) == ??", "answer": str(i)} for i in range(20)]
    write(folder / "questions.jsonl.gz", asked)
    write(folder / "outputs" / "bee.jsonl.gz", [{"dataset": "crux", "id": "3", "output": "Answer: 3"}])
    write(folder / "outputs" / "ada.jsonl.gz", [{"dataset": "crux", "id": 3, "output": "Answer: 3"}])
    result, _ = study(tmp_path, folder)
    assert result.exit_code == 2
    assert "write the ids of a dataset in one type" in " ".join(result.output.split())


@pytest.mark.parametrize("questions", [1, 2])
def test_a_study_of_one_question_has_honest_intervals(tmp_path: Path, questions: int) -> None:
    result, out = study(tmp_path, recordings(tmp_path / "replay", questions=questions))
    assert result.exit_code == 0, result.output
    for each in json.loads((out / "table.json").read_text())["comparisons"]:
        assert each["interval"]["low"] < -0.5 < 0.5 < each["interval"]["high"]


def test_probing_gaps_says_so_too(tmp_path: Path) -> None:
    folder = recordings(tmp_path / "replay", lacking={"bee": 3})
    result = podium("pool", "probe", "--replay", str(folder), "--replay-set", "crux", "--json")
    assert result.exit_code == 0, result.output
    assert "bee lacks 3 of 20" in " ".join(result.stderr.split())
    assert json.loads(result.stdout.splitlines()[-1])["problems"] == 17
