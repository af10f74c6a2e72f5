"""Podium in Inspect: ``podium/POLICY`` is a model, ``podium/conduct`` a solver, a study becomes logs. Inspect runs them."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from podium.cli.app import app

pytest.importorskip("inspect_ai", reason="inspect-ai is not installed: pip install 'podium[inspect]'")

TASK = """
import sys
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelAPI, ModelOutput, get_model, modelapi
from inspect_ai.scorer import includes
from podium.gym.world import World

@modelapi(name="lines")
class Lines(ModelAPI):
    '''Says its own name; as "conductor" it writes a workflow of two steps, as "mute" none.'''
    async def generate(self, input, tools, tool_choice, config):
        said = {
            "conductor": 'model_id = [0, 1]\\nsubtasks = ["Plan it.", "Do it."]\\naccess_list = [[], "all"]',
            "mute": "I would rather not.",
        }.get(self.model_name, f"said by {self.model_name} after {len(input)} messages")
        return ModelOutput.from_content(self.model_name, said)

problems = World().problems(split="held_out_numbers", n=4, kinds=("story", "choice"))
samples = [Sample(id=p.id, input=p.question, target=p.target) for p in problems]
"""


def run(folder: Path, code: str) -> list[dict[str, Any]]:
    """Evaluate in a process of its own, as a user would; the logs as Inspect reads them back."""
    read = """
import json
from inspect_ai.log import list_eval_logs, read_eval_log
for file in sorted(list_eval_logs("logs"), key=lambda each: each.name):
    log = read_eval_log(file, resolve_attachments=True)
    print("LOG " + log.model_dump_json(include={"status", "results", "error", "samples", "stats", "eval"}))
"""
    done = subprocess.run([sys.executable, "-c", TASK + code + read], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return [json.loads(line.removeprefix("LOG ")) for line in done.stdout.splitlines() if line.startswith("LOG ")]


def spans(log: dict[str, Any], kind: str) -> list[str]:
    return [e["name"] for e in log["samples"][0]["events"] if e["event"] == "span_begin" and e.get("type") == kind]


def test_a_pool_is_a_model_with_a_span_for_the_plan_and_each_step(tmp_path: Path) -> None:
    [log] = run(tmp_path, 'eval(Task(dataset=samples, scorer=includes()), model="podium/vote", display="none", log_dir="logs")')
    assert log["status"] == "success"
    assert spans(log, "podium.plan") == ["plan, round 1"]
    assert sorted(spans(log, "podium.step")) == ["atlas", "brook", "cedar", "delta", "ember", "fjord", "grove", "vote"]
    usage = log["stats"]["model_usage"]["podium/vote"]
    assert usage["total_cost"] > 0
    assert usage["input_tokens"] > 100


def test_a_cap_ends_the_evaluation_and_pictures_and_tools_are_refused(tmp_path: Path) -> None:
    code = """
from inspect_ai.model import ChatMessageUser, ContentImage
from inspect_ai.tool import tool
pictured = [Sample(input=[ChatMessageUser(content=[ContentImage(image="data:image/png;base64,iVBORw0KGgo=")])], target="4")]
eval(Task(dataset=samples, scorer=includes()), model="podium/best", model_args={"max_usd": 1e-6}, display="none", log_dir="logs")
eval(Task(dataset=pictured, scorer=includes()), model="podium/best", display="none", log_dir="logs")
"""
    capped, pictured = run(tmp_path, code)
    assert capped["status"] == "error"
    assert "BudgetExceeded" in capped["error"]["message"]
    assert pictured["status"] == "error"
    assert "image" in pictured["error"]["message"]


def test_a_conductor_over_inspects_own_models(tmp_path: Path) -> None:
    code = """
from podium.integrations.inspect_solver import conduct
for model in ("lines/conductor", "lines/mute"):
    eval(Task(dataset=samples, solver=conduct(workers=["lines/a", "lines/b"]), scorer=includes()), model=model, display="none",
         log_dir="logs")
"""
    conducted, mute = sorted(run(tmp_path, code), key=lambda log: log["eval"]["model"])
    assert conducted["status"] == "success"
    assert spans(conducted, "podium.step") == ["0 lines/a", "1 lines/b"]
    answers = {sample["output"]["choices"][0]["message"]["content"] for sample in conducted["samples"]}
    assert answers == {"said by b after 3 messages"}, "what the first worker was asked and said, then its own subtask"
    assert mute["status"] == "success", "a text that is no workflow is a wrong answer, not an outage"
    assert {sample["scores"]["includes"]["value"] for sample in mute["samples"]} == {"I"}


def test_a_study_becomes_logs(tmp_path: Path) -> None:
    study = tmp_path / "study.toml"
    study.write_text(f'title = "Two"\nout = "{tmp_path / "out"}"\narms = ["worker:brook", "best"]\n[problems]\ngym = 5\n')
    runner = CliRunner()
    measured = runner.invoke(app, ["evaluate", str(study), "--json"])
    assert measured.exit_code == 0, measured.output
    accuracy = {arm["arm"]: arm["accuracy"] for arm in json.loads(measured.stdout.splitlines()[-1])["arms"]}
    exported = runner.invoke(app, ["export", str(tmp_path / "out"), "--out", str(tmp_path / "logs")])
    assert exported.exit_code == 0, exported.output
    logs = run(tmp_path, "")
    assert [log["eval"]["model"] for log in logs] == ["podium/worker:brook", "podium/best"]
    for log, arm in zip(logs, accuracy, strict=True):
        [score] = log["results"]["scores"]
        assert score["metrics"]["accuracy"]["value"] == accuracy[arm]
        samples = log["samples"]
        assert len(samples) == 5 * 9, "five of each of the gym's nine kinds"
        right = sum(sample["scores"]["podium"]["value"] == "C" for sample in samples)
        assert right / 45 == pytest.approx(accuracy[arm])
    wrong = runner.invoke(app, ["export", str(tmp_path)])
    assert wrong.exit_code == 2
    assert "no folder of a study" in wrong.output
