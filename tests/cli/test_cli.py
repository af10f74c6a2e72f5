"""The command line: what it prints, what it writes, and that bad input gets a clear message and its own exit code."""

import inspect
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import get_type_hints

import pytest
from typer.testing import CliRunner, Result

from podium import __version__
from podium.cli import flags
from podium.cli.app import app
from podium.cli.forward import DECLARED, find
from podium.policies import spec

QUESTION = "What is the capital of Australia? A) Accra B) Canberra C) Helsinki D) Vienna"
POOL = '[[worker]]\nname = "a"\nmodel = "openai:gpt-5-mini"\n'


def podium(*arguments: str, stdin: str | None = None, env: dict[str, str | None] | None = None) -> Result:
    return CliRunner().invoke(app, list(arguments), input=stdin, env=env)


def pool_file(folder: Path, text: str = POOL) -> str:
    path = folder / "pool.toml"
    path.write_text(text)
    return str(path)


def test_ask_conducts_and_answers() -> None:
    result = podium("ask", QUESTION)
    assert result.exit_code == 0
    assert "delta" in result.output
    assert "Answer: B" in result.output


def test_ask_json_is_one_object_with_the_whole_run() -> None:
    result = podium("ask", QUESTION, "--json")
    run = json.loads(result.stdout)
    assert run["answer"].endswith("Answer: B")
    assert run["failure"] is None
    assert run["transcripts"][0]["results"][0]["worker"] == "delta"
    assert run["usage"]["cost_usd"] > 0


def test_ask_estimates_before_any_worker_is_paid(tmp_path: Path) -> None:
    text = "".join(
        f'[[worker]]\nname = "{name}"\nmodel = "openai:any"\nbase_url = "http://127.0.0.1:9"\n'
        f"max_tokens = 100\nprompt_usd_per_million = 1\ncompletion_usd_per_million = {usd}\n"
        for name, usd in (("a", 1), ("b", 1), ("c", 100))
    )
    asked = ("ask", "6 times 7?", "--pool", pool_file(tmp_path, text), "--policy", "cascade:a,b,c", "--estimate")
    result = podium(*asked, "--json", env={"OPENAI_API_KEY": "x"})
    assert result.exit_code == 0, result.output  # where a worker is asked, there is nobody
    found = json.loads(result.stdout)
    assert (found["calls"], found["calls_at_most"]) == (2.5, 3)
    assert 0.005 < found["usd"] < found["usd_at_most"] < 0.012
    assert found["workflow"]["steps"][2]["condition"] == "unless 2 agree"
    shown = podium(*asked, env={"OPENAI_API_KEY": "x"}).output
    assert "2.5 calls expected, 3 at most" in shown
    assert "(unless 2 agree)" in shown
    assert "retries aside" in shown
    again = podium(*asked[:5], "cascade:a,b,c@2", "--estimate", env={"OPENAI_API_KEY": "x"}).output
    assert "retries and further rounds aside" in again
    assert podium(*asked, "--rounds", "2").exit_code == 2


def test_ask_reads_standard_input() -> None:
    assert "Answer: B" in podium("ask", "-", stdin=QUESTION).output


POLICIES = "solo:delta solo:3 reflection:delta consensus:delta mixture found:constant found:cheap found:debate best"


def test_a_second_round_of_a_conductor_that_learned_one_is_refused_in_one_sentence() -> None:
    result = podium("ask", QUESTION, "--rounds", "2")
    assert result.exit_code == 2
    assert "never learned to look at its answer and plan anew" in " ".join(result.output.split())
    assert podium("ask", QUESTION, "--rounds", "2", "--policy", "best").exit_code == 0


@pytest.mark.parametrize("policy", POLICIES.split())
def test_every_policy_of_the_built_in_pool_answers(policy: str) -> None:
    result = podium("ask", QUESTION, "--policy", policy)
    assert result.exit_code == 0, result.output


def test_ask_draws_the_run(tmp_path: Path) -> None:
    picture = tmp_path / "run.svg"
    assert podium("ask", QUESTION, "--svg", str(picture)).exit_code == 0
    assert picture.read_text().startswith("<svg")


BAD_INPUT: dict[str, tuple[list[str], str]] = {
    "no such pool file": (["ask", "q", "--pool", "{dir}/none.toml"], "none.toml: there is no such file"),
    "pool is a folder": (["ask", "q", "--pool", "{dir}"], "is a directory"),
    "budget 0": (["ask", "q", "--budget-usd", "0"], "allows no call"),
    "negative budget": (["ask", "q", "--budget-seconds", "-1"], "allows no call"),
    "budget nan": (["ask", "q", "--budget-usd", "nan"], "allows no call"),
    "empty question": (["ask", "  "], "the question is empty"),
    "no question": (["ask"], "either one question"),
    "question and file": (["ask", "q", "--file", "f"], "either one question"),
    "no such file": (["ask", "--file", "{dir}/none.jsonl"], "none.jsonl"),
    "binary file": (["ask", "--file", sys.executable], "or one in UTF-16: save it as UTF-8"),
    "unknown policy": (["ask", "q", "--policy", "magic"], "there is no policy 'magic'"),
    "no round": (["ask", "q", "--policy", "solo:0@0"], "a number of rounds, 1 to 20"),
    "rounds without end": (["ask", "q", "--policy", "solo:0@21"], "a number of rounds, 1 to 20"),
    "svg over a folder": (["ask", QUESTION, "--svg", "{dir}"], "it is a folder"),
    "unknown worker": (["ask", "q", "--policy", "solo:nobody"], "no worker is named 'nobody'"),
    "worker out of range": (["ask", "q", "--policy", "solo:9"], "there is no worker 9; workers are 0 to 6"),
    "no worker named": (["ask", "q", "--policy", "solo"], "needs a worker"),
    "not a gym question": (["ask", "Why is the sky blue?"], "answers questions of its gym only"),
    "prompting the gym": (["ask", "q", "--policy", "chat"], "can not be prompted"),
    "svg into nowhere": (["ask", QUESTION, "--svg", "{dir}/none/x.svg"], "can not write"),
    "out into nowhere": (["ask", "--file", "{dir}/q.jsonl", "--out", "{dir}/none/x.jsonl"], "none/x.jsonl"),
    "evaluate nothing": (["evaluate"], "name one of: --file"),
    "evaluate two things": (["evaluate", "--gym", "4", "--set", "math500"], "name one of: --file"),
    "unknown set": (["evaluate", "--set", "none", "--data-dir", "{dir}"], "there is no set 'none'"),
    "unknown split of a set": (["data", "show", "math500", "--split", "x", "--data-dir", "{dir}"], "has no split 'x'"),
    "no data there": (["data", "show", "math500", "--data-dir", "{dir}"], "fetch the set or load it from the hub"),
    "unknown split": (["evaluate", "--gym", "4", "--split", "x"], "there is no split 'x'"),
    "unknown arm": (["evaluate", "--gym", "4", "--arm", "x"], "arm 'x'"),
    "no ledger": (["pool", "ledger", "{dir}/none.db"], "there is no journal"),
    "unknown kind": (["gym", "problems", "--kind", "x"], "unknown kind 'x'"),
    "no replay folder": (["demo", "--replay", "{dir}/none"], "none"),
}


@pytest.mark.parametrize(("arguments", "message"), BAD_INPUT.values(), ids=BAD_INPUT.keys())
def test_bad_input_gets_a_clear_message_and_exit_code_2(arguments: list[str], message: str, tmp_path: Path) -> None:
    (tmp_path / "q.jsonl").write_text(json.dumps({"question": QUESTION}))
    result = podium(*(argument.format(dir=tmp_path) if "{dir}" in argument else argument for argument in arguments))
    shown = " ".join(result.output.split())
    assert result.exit_code == 2, shown
    assert message in shown
    assert "Traceback" not in shown


def test_the_flag_takes_as_many_rounds_as_a_policys_own_words() -> None:
    """The number stands in both places, as the flags load no policy."""
    assert flags.MOST_ROUNDS == spec.MOST_ROUNDS
    assert podium("ask", "q", "--rounds", str(spec.MOST_ROUNDS + 1)).exit_code == 2


BAD_POOLS = {
    "unknown key": (POOL + 'colour = "red"\n', "colour"),
    "empty pool": ("", "the pool is empty"),
    "empty table": ("[conductor]\nworker = 'a'\n", "the pool is empty"),
    "missing variable": (POOL, "the environment variable OPENAI_API_KEY is not set"),
    "a key in the file": (POOL + 'api_key = "sk-abcdefghijklmnopqrstuvwxyz"\n', "api_key_env"),
    "no TOML": ("[[worker", "is not TOML"),
}


@pytest.mark.parametrize(("text", "message"), BAD_POOLS.values(), ids=BAD_POOLS.keys())
@pytest.mark.parametrize("command", ["ask", "check"])
def test_bad_pool_files(command: str, text: str, message: str, tmp_path: Path) -> None:
    arguments = ["ask", "q", "--policy", "solo:a"] if command == "ask" else ["pool", "check"]
    result = podium(*arguments, "--pool", pool_file(tmp_path, text), env={"OPENAI_API_KEY": None})
    shown = " ".join(result.output.split())
    assert result.exit_code == 2, shown
    assert message in shown
    assert "sk-abcdef" not in shown


def test_a_two_megabyte_question_is_refused() -> None:
    result = podium("ask", "-", stdin="word " * 400_000)
    assert result.exit_code == 2
    assert "at most 1000000" in " ".join(result.output.split())


def test_a_dollar_budget_needs_a_price(tmp_path: Path) -> None:
    pool = pool_file(tmp_path, '[[worker]]\nname = "a"\nmodel = "openai:none-such"\nbase_url = "http://127.0.0.1:9/v1"\n')
    result = podium("ask", "q", "--policy", "solo:a", "--pool", pool, "--budget-usd", "1")
    assert result.exit_code == 2
    assert "prompt_usd_per_million" in result.output


def test_a_world_fault_exits_with_3(tmp_path: Path) -> None:
    text = '[[worker]]\nname = "a"\nmodel = "openai:x"\nbase_url = "http://127.0.0.1:9/v1"\nretries = 0\n'
    result = podium("ask", "q", "--policy", "solo:a", "--pool", pool_file(tmp_path, text))
    assert result.exit_code == 3
    assert "WorkerUnreachable" in result.output


def questions(folder: Path, n: int = 8) -> Path:
    path = folder / "questions.jsonl"
    path.write_text(podium("gym", "problems", "-n", str(n)).stdout)
    return path


def test_a_file_of_questions_is_answered_and_resumed(tmp_path: Path) -> None:
    path = questions(tmp_path)
    out = tmp_path / "answers.jsonl"
    first = podium("ask", "--file", str(path), "--out", str(out), "--json")
    said = json.loads(first.stdout)
    assert said["cost_usd"] == pytest.approx(said["paid_usd"])
    assert said["paid_usd"] > 0
    counts = {"answered": 8, "failed": 0, "missing": 0, "out": str(out)}
    assert said == {**counts, "cost_usd": said["cost_usd"], "paid_usd": said["paid_usd"]}
    lines = out.read_text().splitlines()
    assert len(lines) == 8
    # A killed run leaves fewer lines, the last one torn: the rerun mends that and asks only what is missing.
    out.write_text("\n".join(lines[:5]) + "\n" + lines[5][:40])
    again = podium("ask", "--file", str(path), "--out", str(out), "--json")
    resumed = json.loads(again.stdout)
    assert resumed["answered"] == 8
    assert resumed["cost_usd"] == pytest.approx(said["cost_usd"])
    assert 0 < resumed["paid_usd"] < said["paid_usd"]
    assert sorted(out.read_text().splitlines())[0] in lines
    assert len(out.read_text().splitlines()) == 8


def test_answers_of_another_policy_are_not_taken_for_these(tmp_path: Path) -> None:
    path, out = questions(tmp_path, 4), tmp_path / "answers.jsonl"
    podium("ask", "--file", str(path), "--out", str(out))
    podium("ask", "--file", str(path), "--out", str(out), "--policy", "solo:brook")
    assert len(out.read_text().splitlines()) == 8


def test_evaluate_prints_a_table_and_resumes(tmp_path: Path) -> None:
    out = tmp_path / "results.jsonl"
    arguments = ["evaluate", "--gym", "40", "--arm", "worker:brook", "--arm", "best", "--out", str(out), "--json"]
    report = json.loads(podium(*arguments).stdout)
    alone, best = report["arms"]
    assert (alone["arm"], best["arm"]) == ("worker:brook", "best")
    assert best["accuracy"] > alone["accuracy"]
    assert best["world_faults"] == 0
    assert len(best["kinds"]) == 6
    assert len(out.read_text().splitlines()) == 80
    assert report["paid_usd"] > 0
    assert json.loads(podium(*arguments).stdout) == report | {"paid_usd": 0.0}
    assert len(out.read_text().splitlines()) == 80
    assert "| arm |" in podium(*arguments[:-1], "--markdown").stdout


def test_evaluate_a_file(tmp_path: Path) -> None:
    path = tmp_path / "q.jsonl"
    question = "A class of 95 pupils is split into teams of 6. How many full teams are there? Give the number."
    path.write_text(json.dumps({"question": question, "target": 15}))
    result = podium("evaluate", "--file", str(path), "--arm", "best", "--json")
    assert json.loads(result.stdout)["arms"][0]["accuracy"] == 1.0


def test_a_spent_budget_stops_cleanly_and_keeps_what_was_answered(tmp_path: Path) -> None:
    path, out = questions(tmp_path, 40), tmp_path / "answers.jsonl"
    result = podium("ask", "--file", str(path), "--out", str(out), "--budget-usd", "0.003", "--concurrency", "2")
    assert result.exit_code == 2
    assert "BudgetExceeded" in result.output
    answered = out.read_text().splitlines()
    assert 1 <= len(answered) < 40
    assert podium("ask", "--file", str(path), "--out", str(out)).exit_code == 0
    assert len(out.read_text().splitlines()) == 40


def test_demo_shows_the_trained_conductor_and_trains_a_fresh_one() -> None:
    result = podium("demo", "--problems", "8", "--minutes", "0.2")
    assert result.exit_code == 0, result.output
    for shown in ("trained Conductor", "known-best", "best constant", "step 1", "Training a fresh one"):
        assert shown in result.output
    # On a machine this busy not even one iteration may fit, and then it says so.
    assert "after" in result.output or "a single iteration" in " ".join(result.output.split())


def test_demo_conducts_recorded_models(data: Path) -> None:
    result = podium("demo", "--problems", "4", "--minutes", "0", "--replay", str(data / "replay"))
    assert result.exit_code == 0, result.output
    assert "majority vote" in result.output


def test_version_and_help() -> None:
    assert podium("--version").output.strip() == __version__
    for command in (
        ["ask"],
        ["evaluate"],
        ["demo"],
        ["train"],
        ["pool", "check"],
        ["pool", "ledger"],
        ["gym", "problems"],
        ["gym", "serve"],
    ):
        assert podium(*command, "--help").exit_code == 0


def test_the_command_is_installed() -> None:
    command = Path(sys.executable).parent / "podium"
    done = subprocess.run([command, "ask", QUESTION], capture_output=True, text=True, env=os.environ | {"NO_COLOR": "1"})
    assert done.returncode == 0, done.stderr
    assert "Answer: B" in done.stdout


def test_a_reader_that_leaves_does_not_stop_the_run(tmp_path: Path) -> None:
    picture = tmp_path / "run.svg"
    command = [sys.executable, "-m", "podium", "ask", QUESTION, "--policy", "mixture", "--svg", str(picture)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        assert run.stderr is not None
        run.stdout.close()
        assert run.stderr.read() == ""
    assert run.returncode == 0
    assert picture.exists(), "the run went on to its end"


def test_data_list_names_every_set() -> None:
    names = {row["name"] for row in json.loads(podium("data", "list", "--json").stdout)}
    assert {"math500", "gsm8k", "mmlu", "humaneval", "livecodebench", "countdown"} <= names
    assert "math500" in podium("data", "list").output


def test_data_show_feeds_evaluate(tmp_path: Path) -> None:
    path = tmp_path / "countdown.jsonl"
    path.write_text(podium("data", "show", "countdown", "-n", "2", "--json").stdout)
    report = podium("evaluate", "--file", str(path), "--arm", "worker:brook", "--json")
    assert json.loads(report.stdout)["arms"][0]["n"] == 2, report.output


def test_data_check_and_evaluate_on_a_real_set(data: Path) -> None:
    checked = json.loads(podium("data", "check", "gsm8k", "theoremqa", "--data-dir", str(data), "--sample", "5", "--json").stdout)
    assert all(row["passed"] for row in checked)
    report = podium("evaluate", "--set", "gsm8k", "--data-dir", str(data), "-n", "4", "--arm", "worker:brook", "--json")
    assert json.loads(report.stdout)["arms"][0]["n"] == 4


@pytest.mark.parametrize(("declared", "place"), DECLARED, ids=lambda value: value if isinstance(value, str) else "")
def test_who_carries_a_command_out_takes_the_flags_it_declares(declared: Callable[..., None], place: str) -> None:
    """The flags are passed on by name, which no type checker follows."""
    takes = inspect.signature(find(place)).parameters.values()
    assert {each.name for each in takes} == set(inspect.signature(declared).parameters)
    assert all(each.kind is inspect.Parameter.KEYWORD_ONLY and each.default is inspect.Parameter.empty for each in takes)
    assert get_type_hints(find(place)) == get_type_hints(declared)
