"""``podium evaluate CHECK.toml``: trained Conductors beside the known optimum."""

import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from podium.cli.app import app
from podium.policies.shipped import conductor_folder

CHECK = 'runs = "{dir}/runs"\nper_kind = 4\nsplits = ["held_out_numbers", "held_out_templates"]\nseed = 1\n'


def podium(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


def a_run(folder: Path, policy: str) -> None:
    shutil.copytree(conductor_folder(policy), folder / "policy")
    shutil.copytree(conductor_folder("gym-start"), folder / "start")
    line = {"rollouts": 256, "seconds": {"collect": 30.0, "learn": 30.0}}
    (folder / "metrics.jsonl").write_text(json.dumps(line) + "\n")


def test_a_check_stands_beside_the_optimum(tmp_path: Path) -> None:
    for seed in range(2):
        a_run(tmp_path / "runs" / f"seed-{seed}", "gym")
    a_run(tmp_path / "recursive" / "seed-0", "gym")
    path = tmp_path / "check.toml"
    path.write_text(CHECK.format(dir=tmp_path) + f'recursive = "{tmp_path}/recursive"\n')
    result = podium("evaluate", str(path), "--json")
    assert result.exit_code == 0, result.output
    report = json.loads(result.stdout.splitlines()[-1])
    assert len(report["seeds"]) == 2
    assert report["seeds"][0]["of_optimum"] == report["seeds"][1]["of_optimum"] == report["medians"]["of_optimum"] > 0.8
    assert report["seeds"][0]["rollouts"] == 256
    assert report["seeds"][0]["minutes"] == 1.0
    assert report["medians"]["correct_given_valid_rise"] > 0.3
    second = report["recursive"]["medians"]
    assert 1 <= second["recursion_calls"] < 3
    assert second["recursion_over_start"] > 0.3, "one round of the start in that folder answers next to nothing"
    assert second["recursion_over_start_low"] < second["recursion_over_start"] < second["recursion_over_start_high"]
    table = podium("evaluate", str(path))
    assert table.exit_code == 0
    assert "of optimum" in table.output


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('runs = "x"', "describes no gym check"),
        ("runs = 3 4", "is not TOML"),
        (CHECK + "colour = 1\n", "unknown key 'colour'"),
        (CHECK.replace("4", "0"), "greater than or equal to 1"),
        (CHECK.replace("held_out_numbers", "elsewhere"), "Input should be 'train'"),
        (CHECK, "no trained policy under"),
    ],
)
def test_bad_checks_are_said(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "check.toml"
    path.write_text(text.replace("{dir}", str(tmp_path)))
    result = podium("evaluate", str(path))
    assert result.exit_code == 2
    assert message in " ".join(result.output.split())
