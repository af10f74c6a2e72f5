"""The command line over real sockets: a pool file whose workers are the gym's own server."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from benchmarks.faults import gym_server, write_pool
from podium.cli.app import app
from podium.gym.verify import judge
from podium.gym.world import World
from podium.types import Call
from podium.workers.journal import Journal
from podium.workers.scripted import Scripted

PROBLEM = World().problems(kinds=("choice",), split="held_out_numbers", n=1)[0]


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with gym_server(0.0) as url:
        yield url


@pytest.fixture
def pool(server: str, tmp_path: Path) -> str:
    write_pool(tmp_path / "pool.toml", server)
    return str(tmp_path / "pool.toml")


def podium(*arguments: str) -> Result:
    return CliRunner(env={"COLUMNS": "200"}).invoke(app, list(arguments))


def test_ask_over_a_chat_pool_gives_what_the_built_in_pool_gives(pool: str) -> None:
    over_sockets = json.loads(podium("ask", PROBLEM.question, "--policy", "mixture:delta", "--pool", pool, "--json").stdout)
    built_in = json.loads(podium("ask", PROBLEM.question, "--policy", "solo:delta", "--json").stdout)
    assert over_sockets["transcripts"][0]["results"][3]["completion"]["text"] == built_in["answer"]
    assert judge(PROBLEM, built_in["answer"]).correct
    assert over_sockets["usage"]["cost_usd"] > 0


def test_the_live_view_streams(pool: str) -> None:
    result = podium("ask", PROBLEM.question, "--policy", "solo:delta", "--pool", pool)
    assert result.exit_code == 0, result.output
    assert "step 0 delta" in result.output


def test_pool_check_says_who_answers(pool: str) -> None:
    healths = json.loads(podium("pool", "check", "--pool", pool, "--json").stdout)
    assert len(healths) == 7
    assert all(health["answers"] and health["price_known"] for health in healths)
    assert "atlas" in podium("pool", "check", "--pool", pool).output


def test_pool_check_fails_where_one_does_not(pool: str) -> None:
    text = Path(pool).read_text().replace('model = "openai:atlas"', 'model = "openai:nobody"')
    Path(pool).write_text(text)
    result = podium("pool", "check", "--pool", pool)
    assert result.exit_code == 3
    assert "1 of 7 workers do not answer: atlas" in " ".join(result.output.split())


def test_a_policy_that_writes_no_workflow_exits_with_1_and_its_text(pool: str) -> None:
    result = podium("ask", PROBLEM.question, "--policy", "chat:delta", "--pool", pool)
    assert result.exit_code == 1
    assert "the policy wrote:" in result.output
    assert "MalformedWorkflow" in result.output


def test_a_journal_pays_once_and_the_ledger_shows_it(pool: str, tmp_path: Path) -> None:
    journal = str(tmp_path / "calls.db")
    arguments = ["ask", PROBLEM.question, "--policy", "solo:delta", "--pool", pool, "--journal", journal, "--json"]
    first, second = (json.loads(podium(*arguments).stdout) for _ in range(2))
    assert first["answer"] == second["answer"]
    assert first["usage"]["cost_usd"] == second["usage"]["cost_usd"] == first["paid_usd"] > 0
    assert (second["paid_usd"], second["uncertain_usd"]) == (0, 0)
    assert "$0.000000 of it paid now" in " ".join(podium(*arguments[:-1]).output.split())
    paid, replayed, *_ = json.loads(podium("pool", "ledger", journal, "--json").stdout)  # each question is a run
    assert (paid["calls"], paid["replays"], paid["unsettled"]) == (1, 0, 0)
    assert (replayed["calls"], replayed["replays"], replayed["unsettled"]) == (0, 1, 0)
    assert "delta" in podium("pool", "ledger", journal).output


@pytest.mark.parametrize(
    ("run", "shown"),
    [
        ("serve postgresql://ann:s3cret@db.example:5432/books?sslmode=require", "serve postgresql://db.example:5432/books"),
        ("serve postgresql+psycopg://ann:s3/cr@et@db.example/books", "serve postgresql+psycopg://db.example/books"),
        ("serve postgresql://db.example/books?password=s3cret", "serve postgresql://db.example/books"),
        ("serve podium.db", "serve podium.db"),
        ("a@b: ablation?", "a@b: ablation?"),
    ],
)
def test_the_ledger_shows_no_password_of_a_run_that_an_earlier_version_named(tmp_path: Path, run: str, shown: str) -> None:
    path = tmp_path / "calls.db"

    async def pay() -> None:
        with Journal(path, run=run) as journal:
            await journal.worker(Scripted("42"), "delta")(Call.plain("6 times 7?"))

    asyncio.run(pay())
    [row] = json.loads(podium("pool", "ledger", str(path), "--json").stdout)
    assert row["run"] == shown
    assert "s3" not in podium("pool", "ledger", str(path)).output


def test_evaluate_over_a_chat_pool(pool: str, tmp_path: Path) -> None:
    arguments = ["evaluate", "--gym", "8", "--pool", pool, "--arm", "worker:brook", "--arm", "solo:brook", "--json"]
    report = json.loads(podium(*arguments).stdout)
    assert [arm["n"] for arm in report["arms"]] == [8, 8]
    assert all(arm["world_faults"] == 0 for arm in report["arms"])


def test_a_file_with_failures_says_so_and_exits_with_their_code(pool: str, tmp_path: Path) -> None:
    path = tmp_path / "q.jsonl"
    path.write_text(json.dumps({"question": PROBLEM.question}))
    result = podium("ask", "--file", str(path), "--policy", "chat:delta", "--pool", pool)
    assert result.exit_code == 1
    assert "0 answered, 1 failed" in result.output
    line = json.loads((tmp_path / "q.answers.jsonl").read_text())
    assert line["failure"]["blame"] == "policy"
    assert line["usage"]["cost_usd"] > 0, "what the policy wrote was paid for"
