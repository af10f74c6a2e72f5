"""``podium pool probe`` and ``podium evaluate --compare``: what differs between workers, and how sure that is."""

import json
from pathlib import Path

from typer.testing import CliRunner, Result

from podium.cli.app import app


def podium(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


def test_the_gym_is_worth_training(tmp_path: Path) -> None:
    out = tmp_path / "probe.jsonl"
    command = ("pool", "probe", "--gym", "240", "--repeats", "4", "--out", str(out))
    result = podium(*command, "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout.splitlines()[-1])
    assert found["worth_training"] is True
    assert found["best_worker"] == "ember"
    assert found["best"] < found["best"] + found["headroom"] < found["oracle"]
    assert "kind" in found["by"] or found["by"] == "text"
    assert len(out.read_text().splitlines()) == 7 * 240 * 4
    shown = " ".join(podium(*command).output.split())
    assert "Worth training: choosing by" in shown
    assert len(out.read_text().splitlines()) == 7 * 240 * 4, "nothing is asked again"


def test_recordings_can_be_probed(data: Path) -> None:
    result = podium("pool", "probe", "--replay", str(data / "replay"), "-n", "60", "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout.splitlines()[-1])
    assert found["oracle"] > found["best"]
    assert found["worth_training"] is False
    assert found["verdict"].startswith("Not worth training as far as can be seen")


def test_what_to_probe_with_has_to_be_said() -> None:
    result = podium("pool", "probe")
    assert result.exit_code == 2
    assert "name one of" in result.output


def test_one_arm_against_the_others() -> None:
    command = ("evaluate", "--gym", "40", "--arm", "worker:ember", "--arm", "worker:atlas", "--compare", "best")
    found = json.loads(podium(*command, "--json").stdout.splitlines()[-1])
    assert [arm["arm"] for arm in found["arms"]] == ["worker:ember", "worker:atlas", "best"]
    ember, atlas = found["comparisons"]
    assert (ember["arm"], ember["other"], ember["problems"]) == ("best", "worker:ember", 40)
    assert ember["interval"]["low"] > 0
    assert ember["difference"] < atlas["difference"]
    markdown = podium(*command, "--markdown").stdout
    assert "| best less |" in markdown
    assert "p (Holm)" in markdown
    shown = podium(*command).stdout
    assert "it is better by" in shown
    assert "it: best, problem by problem" in shown
    [line] = [line for line in shown.splitlines() if "worker:ember" in line]
    interval = ember["interval"]
    assert f"{100 * ember['difference']:+.1f} ({100 * interval['low']:+.1f} to {100 * interval['high']:+.1f})" in line
