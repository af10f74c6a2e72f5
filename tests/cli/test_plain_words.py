"""What a command says to a person: the nearest policy, the form of a line, who was paid, that money is simulated."""

import json
import logging
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner, Result

from podium.acting.pool_file import read_pool
from podium.cli.app import app
from podium.errors import ConfigError
from podium.gym.specialists import specialists
from podium.gym.world import World
from podium.pools.ledger import read_ledger
from podium.tasks.benchmarks import hub
from podium.tasks.benchmarks.benchmark import HubSource
from podium.training.estimate import Estimate
from podium.types import Call, Usage
from podium.workers.connections import Connections
from podium.workers.journal import Journal
from podium.workers.kinds import build_worker
from podium.workers.scripted import Scripted

QUESTION = "What is the capital of Australia? A) Accra B) Canberra C) Helsinki D) Vienna"
BEST = ("ask", QUESTION, "--policy", "best")
TWO = (
    '[[worker]]\nname = "sharp"\nmodel = "openai:gpt-5-mini"\ntemperature = 0.0\n'
    '[[worker]]\nname = "bold"\nmodel = "openai:gpt-5-mini"\ntemperature = 1.0\n'
)


def podium(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments), env={"OPENAI_API_KEY": None})


def test_an_unknown_policy_lists_one_a_line_and_the_nearest() -> None:
    result = podium("ask", QUESTION, "--policy", "mixtur")
    assert result.exit_code == 2
    assert "did you mean 'mixture'?" in result.output
    begin = [line.split()[0] for line in result.output.splitlines() if line.startswith("  ")]
    assert {"solo:NAME", "mixture[:NAME]", "best", "stop:K[:ORDER]"} <= {*begin}
    arms = podium("evaluate", "--gym", "1", "--arm", "mixtur").output
    assert "worker:NAME" in arms


def test_a_file_of_plain_text_is_answered_with_the_form_of_a_line(tmp_path: Path) -> None:
    path = tmp_path / "plain.txt"
    path.write_text("What is 6 times 7?\n")
    result = podium("ask", "--file", str(path))
    assert result.exit_code == 2
    assert '{"question": "6 times 7?"}' in " ".join(result.output.split())
    assert "line 1" in result.output


def test_one_step_is_one_step() -> None:
    assert "1 step," in podium(*BEST).output
    assert "1 steps" not in podium(*BEST).output


def test_simulated_money_is_called_so() -> None:
    assert "simulated" in podium(*BEST, "--estimate").output
    assert json.loads(podium(*BEST, "--estimate", "--json").stdout)["is_simulated"]
    assert "simulated" in podium("tune", "--gym", "80", "--estimate").output
    dear = Estimate(
        rollouts=1, calls=1, calls_at_most=1, tokens=1, cost_usd=1.0, cost_usd_at_most=2.0, hours=None, assumptions=()
    )  # fmt: skip
    assert "simulated" not in dear.as_text()
    assert all(type(worker).__module__.startswith("podium.gym.") for worker in specialists(World())), "what an estimate goes by"


def test_real_money_is_not_called_simulated(tmp_path: Path) -> None:
    pool = tmp_path / "pool.toml"
    pool.write_text(TWO)
    result = CliRunner().invoke(
        app, ["ask", "q", "--pool", str(pool), "--policy", "solo:0", "--estimate"], env={"OPENAI_API_KEY": "x"}
    )
    assert result.exit_code == 0, result.output
    assert "simulated" not in result.output


@pytest.mark.parametrize(
    "command", [["ask", "q"], ["evaluate", "--gym", "1"], ["tune", "--gym", "80"]], ids=lambda words: words[0]
)
def test_a_journal_in_a_folder_that_is_not_there(command: list[str], tmp_path: Path) -> None:
    result = podium(*command, "--journal", str(tmp_path / "none" / "calls.db"))
    assert result.exit_code == 2
    said = " ".join(result.output.split())
    assert "--journal" in said
    assert "mkdir -p" in said
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize(
    "command", [["ask", "q"], ["evaluate", "--gym", "1"], ["tune", "--gym", "80"], ["serve"]], ids=lambda words: words[0]
)
def test_a_journal_that_would_never_be_written_is_refused(command: list[str], tmp_path: Path) -> None:
    result = podium(*command, "--journal", str(tmp_path / "calls.db"))
    assert result.exit_code == 2
    assert "without --pool none is paid for" in " ".join(result.output.split())


async def test_the_ledger_names_workers(tmp_path: Path) -> None:
    path, pool = tmp_path / "calls.db", tmp_path / "pool.toml"
    pool.write_text(TWO)

    async with Connections() as connections:
        tables = read_pool(pool).workers
        identities = [build_worker(table, {"OPENAI_API_KEY": "x"}, connections).identity for table in tables]
    with Journal(path, run="r") as journal:
        for identity in identities:
            scripted = Scripted("42", usage=Usage(prompt_tokens=1, completion_tokens=1, cost_usd=0.1))
            asked = await journal.worker(scripted, identity)(Call.plain("6 times 7?"))
            assert asked.text == "42"
    assert {each.name for each in await read_ledger(path, pool)} == {"sharp", "bold"}, "without a key, by the pool file"
    without = [each.name for each in await read_ledger(path)]
    assert all(name.startswith("openai:gpt-5-mini (") for name in without)
    assert len(set(without)) == 2, "two workers of one model are told apart"
    with pytest.raises(ConfigError, match="there is no journal"):
        await read_ledger(tmp_path / "none.db")


def test_retry_lines_of_a_library_are_silent(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    class Hub:
        @staticmethod
        def load_dataset(*names: object, **more: object) -> list[object]:
            logging.getLogger("huggingface_hub.utils._http").warning("Retrying in 1s [Retry 1/5].")
            raise OSError("no network")

    monkeypatch.setattr(hub, "importlib", SimpleNamespace(import_module=lambda name: Hub))
    monkeypatch.setattr(hub, "need", lambda extra: None)
    with pytest.raises(ConfigError, match="no network"):
        list(hub.hub_rows(HubSource(dataset="a/b", revision="c"), "test"))
    assert "Retrying" not in caplog.text


def test_the_shell_completes_commands() -> None:
    words = {"_PODIUM_COMPLETE": "complete_bash", "COMP_WORDS": "podium do", "COMP_CWORD": "1"}
    code = "import sys; sys.argv = ['podium']; from podium.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=os.environ | words)
    assert done.stdout.split() == ["doctor"]
