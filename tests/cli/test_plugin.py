"""A package from outside, installed: its worker, policy, benchmark and verifier are there without a line changed in Podium."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.broken_plugin import broken

PLUGIN = Path(__file__).parents[2] / "examples" / "plugin"
POOL = """
[[worker]]
name = "small"
kind = "roman"
largest = 10
prompt_usd_per_million = 1
completion_usd_per_million = 1

[[worker]]
name = "large"
kind = "roman"
prompt_usd_per_million = 1
completion_usd_per_million = 1
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the example installed as anybody would, without a network."""
    folder = tmp_path_factory.mktemp("plugin")
    shutil.copytree(PLUGIN, folder / "source")  # the build leaves files beside the source
    flags = ["--no-deps", "--no-index", "--no-build-isolation", "--disable-pip-version-check", "--quiet"]
    command = [sys.executable, "-m", "pip", "install", *flags, "--target", str(folder / "site"), str(folder / "source")]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    return folder / "site"


@pytest.fixture
def pool(tmp_path: Path) -> Path:
    path = tmp_path / "pool.toml"
    path.write_text(POOL)
    return path


def podium(site: Path, *arguments: str | Path, code: int = 0) -> str:
    """What the command prints: on standard output, or where it fails on standard error."""
    env = {**os.environ, "PYTHONPATH": str(site), "COLUMNS": "250"}
    command = [sys.executable, "-m", "podium", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, env=env, timeout=120, check=False)
    assert done.returncode == code, done.stderr
    return done.stderr if code else done.stdout


def test_its_policy_is_in_the_help(site: Path) -> None:
    assert "relay" in podium(site, "ask", "--help")


def test_its_benchmark_is_listed_shown_and_checked(site: Path) -> None:
    sets = {one["name"]: one for one in json.loads(podium(site, "data", "list", "--json"))}
    assert sets["roman-numerals"]["kind"] == "roman-numeral"
    assert "gsm8k" in sets
    assert "Roman numeral" in podium(site, "data", "show", "roman-numerals", "-n", "1")
    (checked,) = json.loads(podium(site, "data", "check", "roman-numerals", "--json"))
    assert (checked["passed"], checked["tried"]) == (True, 50)


def test_its_workers_answer_under_its_policy_with_price_budget_and_journal(site: Path, pool: Path, tmp_path: Path) -> None:
    flags = ("--pool", pool, "--policy", "relay", "--budget-usd", "1", "--journal", tmp_path / "calls.db", "--json")
    first, second = (json.loads(podium(site, "ask", "Write 1994 as a Roman numeral.", *flags)) for _ in range(2))
    assert first["answer"] == second["answer"] == "MCMXCIV"
    assert first["usage"]["cost_usd"] > 0
    rows = json.loads(podium(site, "pool", "ledger", tmp_path / "calls.db", "--json"))
    assert sum(row["calls"] for row in rows) == 2, "each of the two workers is paid once"
    assert sum(row["replays"] for row in rows) == 2


def test_it_is_evaluated(site: Path, pool: Path) -> None:
    arms = ("--arm", "relay", "--arm", "worker:small", "--arm", "vote")
    table = podium(site, "evaluate", "--set", "roman-numerals", "-n", "20", "--pool", pool, *arms, "--json")
    rows = {row["arm"]: row for row in json.loads(table)["arms"]}
    assert rows["relay"]["accuracy"] == 1.0
    assert rows["worker:small"]["accuracy"] < 0.5


def test_its_baseline_is_offered_on_the_page(site: Path, pool: Path) -> None:
    code = (
        "import asyncio, sys, podium\n"
        "from podium.pools.models import PoolCatalog\n"
        "async def main():\n"
        "    async with podium.open_pool(sys.argv[1]) as pool:\n"
        "        print(PoolCatalog(pool, 'relay').baselines['relay'])\n"
        "        print(len(podium.load_problems('roman-numerals', limit=7)))\n"
        "asyncio.run(main())"
    )
    env = {**os.environ, "PYTHONPATH": str(site)}
    done = subprocess.run([sys.executable, "-c", code, pool], capture_output=True, text=True, env=env, check=True, timeout=120)
    assert done.stdout.split("\n")[:2] == ["every worker in turn, each sees those before it", "7"]


def test_the_database_is_where_it_says(site: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    db = ("--db", f"secret://{secret}")
    assert "write the database's URL into that file" in podium(site, "keys", "create", "web", *db, code=2)
    secret.write_text(f"sqlite:///{tmp_path / 'there.db'}\n")
    assert json.loads(podium(site, "keys", "create", "web", *db, "--json"))["name"] == "web"
    assert (tmp_path / "there.db").exists()
    assert "web" in podium(site, "keys", "list", *db)
    assert "web" in podium(site, "keys", "list", "--db", f"sqlite:///{tmp_path / 'there.db'}")
    assert "secret://FILE (the URL in a file)" in podium(site, "serve", "--help")
    assert "or secret://FILE" in podium(site, "keys", "list", "--db", "vault://x", code=2)


def test_a_mistake_in_its_table_is_named(site: Path, pool: Path) -> None:
    pool.write_text('[[worker]]\nname = "a"\nkind = "roman"\nlargst = 3\n')
    said = podium(site, "ask", "12?", "--pool", pool, "--policy", "relay", code=2)
    assert "worker 'a': unknown key 'largst'; did you mean 'largest'?" in said
    assert "Traceback" not in said


def test_a_broken_package_is_named_and_no_traceback_is_shown(tmp_path: Path) -> None:
    site = broken(tmp_path, "[podium.policies]\nx = podium_none:X\n")
    said = podium(site, "ask", "1?", "--policy", "best", code=2)
    assert "podium-broken adds 'x' to policies, but can not be loaded" in said
    assert "Traceback" not in said
    said = podium(site, "ask", "--help")
    assert "podium-broken" in said
    assert "--journal" in said, "the help of a command is still there"
