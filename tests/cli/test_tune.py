"""``podium tune`` on the command line: in the gym, over sockets, interrupted and gone on with, and with whatever cannot work."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from benchmarks.faults import gym_server, stats, write_pool
from podium.cli.app import app
from podium.gym.kinds import KINDS
from podium.gym.world import World

PROBLEM = World().problems(split="held_out_numbers", n=1)[0]


def podium(*arguments: str) -> Result:
    return CliRunner(env={"COLUMNS": "200"}).invoke(app, list(arguments))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A policy tuned in the gym."""
    out = tmp_path_factory.mktemp("tuned") / "mine"
    result = podium("tune", "--gym", "120", "--max-calls", "300", "--out", str(out))
    assert result.exit_code == 0, result.output
    assert "search: " in result.output
    assert re.search("best so far " + ", ".join(rf"{kind} \d+ %" for kind in sorted(KINDS)), result.output)
    assert f"use it: --policy tuned:{out}" in " ".join(result.output.split())
    return out


def test_the_folder_can_be_read_by_people(folder: Path) -> None:
    assert sorted(path.name for path in folder.iterdir()) == ["frontier.svg", "policy.json", "questions.jsonl", "report.md"]
    report = (folder / "report.md").read_text()
    assert "## The sealed test" in report
    assert {"### choice", "### code", "### knowledge", "### story"} <= {*report.splitlines()}


def test_ask_with_a_tuned_policy(folder: Path) -> None:
    run = json.loads(podium("ask", PROBLEM.question, "--policy", f"tuned:{folder}", "--json").stdout)
    assert run["failure"] is None
    assert "Kind: " in run["transcripts"][0]["generation"]["text"]


def test_evaluate_a_tuned_policy(folder: Path) -> None:
    report = json.loads(podium("evaluate", "--gym", "8", "--arm", f"tuned:{folder}", "--json").stdout)
    [arm] = [arm for arm in report["arms"] if arm["arm"] == f"tuned:{folder}"]
    assert (arm["n"], arm["world_faults"]) == (8, 0)


def test_a_tuned_policy_in_a_pool_without_its_workers(folder: Path, tmp_path: Path) -> None:
    pool = tmp_path / "pool.toml"
    pool.write_text('[[worker]]\nname = "other"\nmodel = "openai:other"\nbase_url = "http://127.0.0.1:9/v1"\n')
    result = podium("ask", "6 times 7?", "--pool", str(pool), "--policy", f"tuned:{folder}")
    assert result.exit_code == 2
    assert "tune again" in result.output


@pytest.mark.parametrize("spec", ["tuned", "tuned:", "tuned:/nowhere/at/all"])
def test_a_policy_that_is_not_there_says_what_to_do(spec: str) -> None:
    result = podium("ask", PROBLEM.question, "--policy", spec)
    assert result.exit_code == 2
    assert "podium tune" in " ".join(result.output.split())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--gym", "20"), "there are 20 problems; tuning needs 40"),
        (("--gym", "120", "--max-calls", "50"), "tuning needs 200 or more"),
        (("--gym", "120", "--max-calls", "0"), "tuning needs 200 or more"),
        (("--gym", "120", "--max-usd", "0"), "allows no call"),
        ((), "name one of: --file"),
        (("--file", "blank.jsonl"), "have no target"),
        (("--file", "twice.jsonl"), "more than once"),
    ],
)
def test_what_can_not_work_is_said_and_exits_with_2(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    lines = [json.dumps({"question": f"{n} times 7?", "target": str(n * 7)}) for n in range(60)]
    Path("blank.jsonl").write_text("\n".join([*lines, '{"question": "6 times 8?"}']))
    Path("twice.jsonl").write_text("\n".join([*lines, '{"question": "3 times 7?", "target": "twenty-one"}']))
    result = podium("tune", *arguments, "--out", "mine")
    assert result.exit_code == 2, result.output
    assert said in " ".join(result.output.split())


@pytest.mark.parametrize("pool", [True, False])
def test_out_may_not_be_a_file(tmp_path: Path, pool: bool) -> None:
    (tmp_path / "taken").write_text("mine")
    write_pool(tmp_path / "pool.toml", "http://127.0.0.1:9")
    more = ("--pool", str(tmp_path / "pool.toml")) if pool else ()
    result = podium("tune", "--gym", "120", "--out", str(tmp_path / "taken"), *more)
    assert result.exit_code == 2
    assert "name another one" in " ".join(result.output.split())


def test_without_a_library_it_says_what_to_install(tmp_path: Path) -> None:
    blocked = (
        "import importlib.util, sys\n"
        "found, absent = importlib.util.find_spec, sys.argv.pop()\n"
        "importlib.util.find_spec = lambda name, *more: None if name == absent else found(name, *more)\n"
        "from podium.cli import main\n"
        "sys.argv = ['podium', *sys.argv[1:]]\n"
        "main()\n"
    )
    (tmp_path / "policy.json").write_text("{}")
    conducted = ["tune", "--gym", "120", "--conductor", "brook"]
    for words, library, extra in (
        (["tune", "--gym", "120"], "sklearn", "stats"),
        (["ask", PROBLEM.question, "--policy", f"tuned:{tmp_path}"], "sklearn", "stats"),
        (conducted, "gepa", "gepa"),
    ):
        command = [sys.executable, "-c", blocked, *words, library]
        done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
        assert done.returncode == 2, done.stderr
        assert f"podium[{extra}]" in done.stderr
        assert "Traceback" not in done.stderr


def test_gepa_is_loaded_only_where_a_conductor_is_tuned(tmp_path: Path) -> None:
    code = "import sys, podium.cli.app, podium.tuning.tune; sys.exit('gepa' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def small_pool(path: Path, url: str) -> None:
    """Three of the gym's workers."""
    write_pool(path, url)
    tables = path.read_text().split("[[worker]]")
    path.write_text(
        "".join(f"[[worker]]{table}" for table in tables if any(f'"{n}"' in table for n in ("brook", "cedar", "ember")))
    )


def test_over_a_journal_a_second_run_makes_no_calls_and_writes_the_same(tmp_path: Path) -> None:
    with gym_server(0.0) as url:
        small_pool(tmp_path / "pool.toml", url)
        out = tmp_path / "mine"
        arguments = ["tune", "--gym", "80", "--max-calls", "200", "--pool", str(tmp_path / "pool.toml"), "--out", str(out)]
        first = json.loads(podium(*arguments, "--max-usd", "1", "--json").stdout)
        asked, policy = stats(url)["completions"], (out / "policy.json").read_bytes()
        assert first["cost_usd"] > 0
        assert first["folder"] == str(out)
        assert [one["name"] for one in first["tested"]] == ["tuned", f"worker:{first['best_worker']}", "constant"]
        assert asked == first["calls"]
        (out / "policy.json").unlink()
        second = podium(*arguments, "--max-usd", "1")
        assert second.exit_code == 0, second.output
        assert stats(url)["completions"] == asked
        assert (out / "policy.json").read_bytes() == policy


def test_interrupted_it_goes_on_and_pays_nothing_twice(tmp_path: Path) -> None:
    with gym_server(0.0, latency=0.15) as url:  # so slow that it can not be over before it is interrupted
        small_pool(tmp_path / "pool.toml", url)
        out = tmp_path / "mine"
        arguments = ["tune", "--gym", "80", "--max-calls", "200", "--pool", str(tmp_path / "pool.toml"), "--out", str(out)]
        command = [sys.executable, "-m", "podium", *arguments]
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment) as running:
            while running.poll() is None and stats(url)["completions"] < 20:
                time.sleep(0.01)
            running.send_signal(signal.SIGINT)
            _, said = running.communicate(timeout=60)
        assert running.returncode == 130, said
        assert "Traceback" not in said
        assert not (out / "policy.json").exists()
        found = json.loads(podium(*arguments, "--json").stdout)
        rows = json.loads(podium("pool", "ledger", str(out / "calls.db"), "--json").stdout)
        unsettled = sum(row["unsettled"] for row in rows)
        assert found["calls"] <= stats(url)["completions"] <= found["calls"] + unsettled


def test_a_conductor_is_tuned_over_sockets_and_a_second_run_makes_no_calls(tmp_path: Path) -> None:
    """The gym's workers can neither conduct nor propose nor reflect: that costs calls, and spoils nothing."""
    with gym_server(0.0) as url:
        small_pool(tmp_path / "pool.toml", url)
        out = tmp_path / "mine"
        arguments = ["tune", "--gym", "80", "--max-calls", "800", "--pool", str(tmp_path / "pool.toml"), "--out", str(out)]
        arguments += ["--conductor", "brook", "--max-usd", "1", "--json"]
        first = podium(*arguments)
        assert first.exit_code == 0, first.output
        found = json.loads(first.stdout)
        assert found["calls"] == stats(url)["completions"]
        assert (found["advised"]["conductor"], found["advised"]["share"], found["advised"]["compared"]) == ("brook", 0.0, 1)
        assert found["advised"]["dropped"] > 0
        assert (found["proposals"]["by"], found["proposals"]["tried"]) == ("brook", 0)
        assert [one["name"] for one in found["tested"]][3:] == ["prompted", "chat:brook"]
        written = {path.name: path.read_bytes() for path in out.iterdir() if path.suffix in (".json", ".jsonl", ".md")}
        assert "conductor.json" in written
        again = podium(*arguments)
        assert json.loads(again.stdout) == found
        assert stats(url)["completions"] == found["calls"], "nothing is paid twice"
        assert {name: (out / name).read_bytes() for name in written} == written
        asked = podium("ask", "6 times 7?", "--pool", str(tmp_path / "pool.toml"), "--policy", f"prompted:{out}")
        assert asked.exit_code == 1, "what the worker writes is no workflow"


def test_what_can_not_be_conducted_is_said(tmp_path: Path) -> None:
    write_pool(tmp_path / "pool.toml", "http://127.0.0.1:9")
    arguments = ("tune", "--gym", "80", "--pool", str(tmp_path / "pool.toml"), "--out", str(tmp_path / "mine"))
    for more, said in (
        (("--conductor", "nobody"), "no worker is named 'nobody'"),
        (("--conductor", "brook", "--max-calls", "300"), "it needs 800 or more"),
        (("--reflector", "brook"), "name the conductor, too"),
        (("--replay", "recordings", "--conductor", "brook"), "--replay asks nobody"),
    ):
        result = podium(*arguments, *more)
        assert result.exit_code == 2
        assert said in " ".join(result.output.split())
