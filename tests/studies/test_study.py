"""``podium evaluate STUDY.toml``: all arms on the same problems, one folder with everything."""

import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from podium.cli.app import app
from podium.policies.shipped import conductor_folder

STUDY = """
title = "All arms"
out = "{out}"
compare = "trained"
examples = ["untrained", "trained"]
matched = ["worker:delta", "reflection:brook"]
training = "{run}"
arms = ["worker:*", "context:brook", "reflection:brook", "mixture", "router:kind", "router:nearest", "router:linear",
        "router:contrastive", "router:agreement", "router:agreement-nearest", "router:classified", "random", "untrained",
        "trained", "constant", "best", "oracle"]
[problems]
gym = 6
seed = 3
[learning]
gym = 20
kinds = ["story", "choice", "knowledge", "code", "bundle", "versus"]
splits = ["train"]
seed = 4
"""


def podium(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


def a_run(folder: Path) -> Path:
    folder.mkdir()
    share = {"correct": 0.5, "valid": 1.0, "correct_given_valid": 0.5, "worker_entropy_bits": 2.0, "steps": 2.0}
    groups = {"flat_groups": 0.1, "failed_groups": 0.1, "solved_groups": 0.0, "forced_prefixes": 1.0, "cost_usd": 0.01}
    kinds = {"correct_by_kind": {"word": 0.5}, "steps_by_kind": {"word": 2.0}}
    lines = [json.dumps({"iteration": index, **share, **groups, **kinds}) for index in range(3)]
    (folder / "metrics.jsonl").write_text("\n".join(lines) + "\n")
    turn = {"text": 'model_id = [0]\nsubtasks = ["Do."]\naccess_list = [[]]', "correct": True, "reward": 1.0}
    (folder / "groups.jsonl").write_text(json.dumps({"iteration": 0, "pool": ["ada"], "rollouts": [[turn]]}) + "\n")
    (folder / "recipe.json").write_text(json.dumps({"syntax": {"access": "positions"}}))
    return folder


def test_every_arm_answers_and_the_folder_holds_it_all(tmp_path: Path) -> None:
    path, out = tmp_path / "study.toml", tmp_path / "out"
    path.write_text(STUDY.format(out=out, run=a_run(tmp_path / "run")))
    result = podium("evaluate", str(path), "--json")
    assert result.exit_code == 0, result.output
    table = json.loads(result.stdout.splitlines()[-1])
    accuracy = {arm["arm"]: arm["accuracy"] for arm in table["arms"]}
    [control] = [arm for arm in accuracy if arm.startswith("worker:delta x")]
    assert int(control.partition(" x")[2]) >= 2, "delta costs a fraction; reflection costs more and is left out"
    assert len(accuracy) == 24
    alone = [share for arm, share in accuracy.items() if arm.startswith("worker:") and " x" not in arm]
    assert len(alone) == 7
    assert min(accuracy["best"], accuracy["trained"], accuracy["oracle"]) > max(alone)
    assert accuracy["untrained"] < max(alone)
    assert accuracy["context:brook"] == accuracy["worker:brook"], "the gym's workers have nothing more to say"
    assert {c["other"] for c in table["comparisons"]} == set(accuracy) - {"trained"}
    assert json.loads((out / "table.json").read_text()) == table
    assert (out / "study.toml").read_text() == path.read_text()
    report = (out / "report.html").read_text()
    assert "router:classified" in report
    assert "How it was learned" in report
    assert "single: ada" in report
    assert "Who is asked, over training" in report
    assert report.count("<details") == 18

    lines = (out / "results.jsonl").read_text().splitlines()
    assert len(lines) == 22 * 54
    assert podium("evaluate", str(path)).exit_code == 0
    assert (out / "results.jsonl").read_text().splitlines() == lines, "nothing is asked again"
    assert len((out / "examples.jsonl").read_text().splitlines()) == 18


def test_results_of_other_weights_are_not_taken_for_these(tmp_path: Path) -> None:
    path, policy = tmp_path / "study.toml", tmp_path / "policy"
    shutil.copytree(conductor_folder("gym-start"), policy)
    text = f'title = "One"\nout = "{tmp_path / "out"}"\narms = ["trained:{policy}"]\n[problems]\ngym = 1\n'
    path.write_text(text)
    assert podium("evaluate", str(path)).exit_code == 0
    shutil.copy(conductor_folder("gym") / "model.safetensors", policy / "model.safetensors")
    result = podium("evaluate", str(path))
    assert result.exit_code == 2
    assert "from another set-up" in " ".join(result.output.split())
    assert podium("evaluate", str(path), "--out", str(tmp_path / "other")).exit_code == 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("gym = 6", "gym = 0"), "problems.gym: Input should be greater than or equal to 1"),
        (("gym = 6", "gym = 6\ncolour = 1"), "problems.colour: Extra inputs are not permitted"),
        (("gym = 6", 'gym = 6\nset = "gsm8k"'), "name one of gym"),
        (("gym = 6", 'gym = 6\nkinds = ["x"]'), "the gym has no kind 'x'"),
        (('compare = "trained"', 'compare = "nobody"'), "'nobody' is none of the arms"),
        (('"random"', '"worker:nobody"'), "no worker"),
        (('"random"', '"router:magic"'), "there is no router 'magic'"),
        (('"worker:*",', '"worker:delta",'), "the oracle chooses among the workers alone"),
        (('splits = ["train"]\nseed = 4', "seed = 3"), "problems are in [problems] and in [learning]"),
        (("title =", "tilte ="), "title: Field required"),
    ],
)
def test_what_can_not_be_done_is_said(change: tuple[str, str], message: str, tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_text(STUDY.replace(*change).format(out=tmp_path / "out", run=tmp_path))
    result = podium("evaluate", str(path))
    assert result.exit_code == 2, result.output
    assert message in " ".join(result.output.split())


def test_recorded_models_are_selected_from_and_voted_over(data: Path, tmp_path: Path) -> None:
    path, out = tmp_path / "study.toml", tmp_path / "out"
    common = f'replay = "{data / "replay"}"\nreplay_sets = ["gsm", "crux"]\nn = 120\n'
    path.write_text(
        f'title = "Recordings"\nout = "{out}"\ncompare = "vote"\n'
        'arms = ["worker:*", "vote", "router:kind", "router:nearest", "oracle"]\n'
        f'[problems]\n{common}half = "second"\n[learning]\n{common}half = "first"\n'
    )
    result = podium("evaluate", str(path), "--json")
    assert result.exit_code == 0, result.output
    arms = {arm["arm"]: arm for arm in json.loads(result.stdout.splitlines()[-1])["arms"]}
    assert len(arms) == 10
    assert arms["oracle"]["accuracy"] >= max(arm["accuracy"] for arm in arms.values())
    assert arms["vote"]["cost_usd"] is None, "what recordings once cost is unknown, not 0"
    assert "unknown" in (out / "report.html").read_text()


def test_routers_need_lessons(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_text(STUDY.split("[learning]")[0].format(out=tmp_path / "out", run=tmp_path))
    result = podium("evaluate", str(path))
    assert result.exit_code == 2
    assert "routers learn from training problems" in " ".join(result.output.split())
