"""Files that 0.1 left (made with that version, see tests/v01) open, or are refused in one sentence that says what to do."""

import json
import shutil
import sqlite3
from pathlib import Path

import pytest
import torch
from typer.testing import CliRunner

from podium.cli.app import app
from podium.errors import Blame, CheckpointError, ConfigError, PodiumError
from podium.evaluation.evaluate import read_results
from podium.evaluation.metrics import summarise
from podium.gym import World, specialists
from podium.page.training_files import TrainingRuns
from podium.policies import qwen2
from podium.pools.conducting import conductor
from podium.pools.open import open_pool
from podium.training.checkpoint import RunFolder
from podium.workers.pool import Member

V01 = Path(__file__).parents[1] / "v01"
POOL = """
[[worker]]
name = "strong"
model = "openai:gpt-5-mini"
base_url = "http://127.0.0.1:9911/v1"
prompt_usd_per_million = 1.0
completion_usd_per_million = 2.0
"""
"""The pool of the old journal; nobody listens at that address any more."""


def podium(*arguments: str | Path, code: int = 0) -> str:
    """What the command prints, on one line."""
    done = CliRunner(env={"COLUMNS": "250", "OPENAI_API_KEY": "none"}).invoke(app, [str(argument) for argument in arguments])
    assert done.exit_code == code, done.output
    return " ".join(done.output.split())


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """The folder of a training run of 0.1: its texts, and weights of the size that they name."""
    folder = tmp_path / "runs" / "old" / "seed-0"
    torch.manual_seed(0)
    sizes = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    qwen2.save(qwen2.Qwen2(qwen2.Qwen2Config(vocab_size=400, num_key_value_heads=2, **sizes)), folder / "policy")
    shutil.copytree(V01 / "run", folder, dirs_exist_ok=True)
    return folder


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    path = tmp_path / "calls.db"
    connection = sqlite3.connect(path)
    connection.executescript((V01 / "journal.sql").read_text())
    connection.close()
    return path


def test_replies_that_a_journal_holds_are_not_paid_again(journal: Path, tmp_path: Path) -> None:
    (tmp_path / "pool.toml").write_text(POOL)
    flags = ("--pool", tmp_path / "pool.toml", "--policy", "solo:strong", "--journal", journal, "--json")
    for _ in range(2):
        assert json.loads(podium("ask", "What is 6 times 7?", *flags))["answer"] == "It is 42."
    rows = json.loads(podium("pool", "ledger", journal, "--json"))
    assert sum(row["calls"] for row in rows) == 4
    assert sum(row["replays"] for row in rows) == 2
    assert sum(row["cost_usd"] for row in rows) == pytest.approx(3 * 19e-6 + 1.9e-6)


def test_a_training_run_is_not_gone_on_with_and_stays_as_it_is(run: Path, tmp_path: Path) -> None:
    recipe = tmp_path / "recipe.py"
    recipe.write_text("from tests.training.gym_runs import small_config\n\n\ndef config(seed): return small_config(seed=seed)\n")
    before = {file: file.read_bytes() for file in run.rglob("*") if file.is_file()}
    said = podium("train", recipe, "--out", run.parent, code=2)
    assert said.endswith(
        f"{run} holds a run of Podium 0.1, which this one can not go on with; name another folder. What was trained there can "
        f"still be asked: trained:{run / 'policy'}"
    )
    assert before == {file: file.read_bytes() for file in run.rglob("*") if file.is_file()}
    (run / "recipe.json").write_text('{"format": 99}')
    with pytest.raises(CheckpointError, match="of another version of Podium"):
        RunFolder(run, {})


async def test_what_was_trained_conducts_and_its_run_is_shown(run: Path) -> None:
    known = [Member(worker=w, card=w.card) for w in specialists(World()) if w.name in ("atlas", "brook", "cedar", "ember")]
    async with open_pool(known) as pool:
        made = conductor(pool, f"trained:{run / 'policy'}")
        with pytest.raises(PodiumError) as failed:  # three steps of imitation teach nobody to write workflows
            await made.ask("What is 6 times 7?")
        assert failed.value.blame is Blame.POLICY
    async with open_pool() as pool:
        with pytest.raises(ConfigError, match="was trained to conduct atlas, brook, cedar, ember"):
            conductor(pool, f"trained:{run / 'policy'}")
    runs = TrainingRuns(run.parents[1])
    (shown,) = (runs.run(name) for name in runs.names())
    assert shown is not None
    assert shown.read_on()
    assert [line.number for line in shown.iterations] == [0, 1]
    assert [line.numbers["correct"] for line in shown.iterations] == [0.0, 0.0]
    assert len(shown.early) == 1


def test_results_are_read_and_not_mixed_with_those_of_today(tmp_path: Path) -> None:
    results = Path(shutil.copy(V01 / "results.jsonl", tmp_path))
    (row, *_) = summarise(read_results(results))
    assert (row.arm, row.n) == ("worker:brook", 3)
    # As if a question that the gym asks today had been answered then.
    [today, *_] = World().problems(split="held_out_numbers", n=4)
    results.write_text(results.read_text().replace("190c4f547aa702f9", today.id))
    before = results.read_bytes()
    said = podium("evaluate", "--gym", "4", "--arm", "worker:brook", "--out", results, code=2)
    assert "answers of 'worker:brook' from an unknown set-up" in said
    assert "write to another file or folder, or remove it" in said
    assert results.read_bytes() == before


def test_a_file_of_answers_is_kept_and_its_questions_are_asked_of_who_answers_now(tmp_path: Path) -> None:
    answers = Path(shutil.copy(V01 / "answers.jsonl", tmp_path))
    (tmp_path / "questions.jsonl").write_text('{"question": "What is 6 times 7?"}\n')
    flags = ("--file", tmp_path / "questions.jsonl", "--policy", "solo:brook", "--out", answers)
    for _ in range(2):
        assert "1 answered, 0 failed" in podium("ask", *flags)
    lines = answers.read_text().splitlines()
    assert lines[0] == (V01 / "answers.jsonl").read_text().rstrip("\n")
    assert len(lines) == 2
