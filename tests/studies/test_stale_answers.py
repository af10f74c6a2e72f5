"""What was answered by something else is not taken for an answer of now: real studies, resumed after a change."""

import asyncio
import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import podium
from benchmarks.faults import gym_server, write_pool
from podium.cli.app import app
from podium.errors import ConfigError
from podium.policies import fixed
from podium.policies.catalogue import named_policies
from podium.policies.named import NamedPolicy
from podium.pools.conducting import conductor
from podium.pools.open import open_pool
from podium.studies import setups
from podium.studies.setups import setups_of
from podium.training.recipe import fingerprint
from podium.workers.budget import Budget
from podium.workers.identity import content_hash
from podium.workers.recorded import Recorded
from tests.training.gym_runs import small_config


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with gym_server(0.0) as url:
        yield url


def evaluated(*arguments: str) -> Result:
    return CliRunner(env={"COLUMNS": "200"}).invoke(app, ["evaluate", *arguments])


def is_refused(result: Result) -> bool:
    said = " ".join(result.output.split())
    return result.exit_code == 2 and "set-up" in said and "write to another file or folder" in said


def study(folder: Path, arms: str, more: str = "", learning: str = "") -> str:
    path = folder / "study.toml"
    text = f'title = "One"\nout = "{folder / "out"}"\narms = [{arms}]\n{more}[problems]\ngym = 1\nkinds = ["choice"]\n'
    path.write_text(text + (f'[learning]\ngym = 2\nkinds = ["choice"]\nsplits = ["train"]\n{learning}\n' if learning else ""))
    return str(path)


def lines(folder: Path) -> list[str]:
    return (folder / "out" / "results.jsonl").read_text().splitlines()


@pytest.mark.parametrize(
    ("pattern", "changed", "refused"),
    [
        (r'model = "openai:brook"', 'model = "openai:cedar"', True),
        (r'(name = "brook"\n.*\nbase_url = ")([^"]*)"', r'\1\2"\ntemperature = 0.5', True),
        (r'(name = "brook"\n.*\nbase_url = ")([^"]*)/v1"', r'\1\2/v1/"', True),
        (r'(name = "brook"\n.*\n.*\nmax_tokens = )256', r"\g<1>255", True),
        (r'(name = "cedar"\n.*\n.*\nmax_tokens = )256', r"\g<1>255", False),
        (r"retries = 8", "retries = 7", False),
    ],
)
def test_another_model_behind_a_workers_name(server: str, tmp_path: Path, pattern: str, changed: str, refused: bool) -> None:
    pool = tmp_path / "pool.toml"
    write_pool(pool, server)
    path = study(tmp_path, '"worker:brook"', f'pool = "{pool}"\n')
    assert evaluated(path).exit_code == 0
    before = lines(tmp_path)
    text, count = re.subn(pattern, changed, pool.read_text())
    assert count
    pool.write_text(text)
    result = evaluated(path)
    assert is_refused(result) if refused else result.exit_code == 0, result.output
    assert lines(tmp_path) == before
    assert evaluated(path, "--out", str(tmp_path / "other")).exit_code == 0


def test_a_policy_over_a_pool_that_changed(server: str, tmp_path: Path) -> None:
    pool = tmp_path / "pool.toml"
    write_pool(pool, server)
    path = study(tmp_path, '"mixture:brook"', f'pool = "{pool}"\n')
    assert evaluated(path).exit_code == 0
    pool.write_text(pool.read_text().replace('model = "openai:cedar"', 'model = "openai:brook"'))
    assert is_refused(evaluated(path))


def test_a_router_that_learned_from_something_else(tmp_path: Path) -> None:
    path = study(tmp_path, '"router:kind"', learning="seed = 4")
    assert evaluated(path).exit_code == 0
    assert evaluated(path).exit_code == 0, "the same again is no change"
    study(tmp_path, '"router:kind"', learning="seed = 5")
    assert is_refused(evaluated(path))


def test_results_that_do_not_say_what_answered(tmp_path: Path) -> None:
    path = study(tmp_path, '"worker:brook"')
    assert evaluated(path).exit_code == 0
    old = [{key: value for key, value in json.loads(line).items() if key != "setup"} for line in lines(tmp_path)]
    (tmp_path / "out" / "results.jsonl").write_text("".join(json.dumps(row) + "\n" for row in old))
    result = evaluated(path)
    assert is_refused(result)
    assert "an unknown set-up" in " ".join(result.output.split())


def test_the_command_without_a_study_knows_it_too(server: str, tmp_path: Path) -> None:
    pool, out = tmp_path / "pool.toml", tmp_path / "results.jsonl"
    write_pool(pool, server)
    command = ["--gym", "1", "--pool", str(pool), "--arm", "worker:brook", "--out", str(out)]
    assert evaluated(*command).exit_code == 0
    pool.write_text(pool.read_text().replace('model = "openai:brook"', 'model = "openai:cedar"'))
    assert is_refused(evaluated(*command))


def test_a_probe_knows_who_answered_it(server: str, tmp_path: Path) -> None:
    pool, out = tmp_path / "pool.toml", tmp_path / "probe.jsonl"
    write_pool(pool, server)

    def probed() -> Result:
        command = ["pool", "probe", "--gym", "2", "--repeats", "1", "--pool", str(pool), "--out", str(out)]
        return CliRunner(env={"COLUMNS": "200"}).invoke(app, command)

    assert probed().exit_code == 0
    before = out.read_text()
    assert probed().exit_code == 0
    assert out.read_text() == before, "the same again is no change"
    pool.write_text(pool.read_text().replace('model = "openai:brook"', 'model = "openai:cedar"'))
    assert is_refused(probed())
    assert out.read_text() == before


def test_a_file_of_questions_is_asked_again_where_another_model_answers(server: str, tmp_path: Path) -> None:
    pool, out = tmp_path / "pool.toml", tmp_path / "answers.jsonl"
    write_pool(pool, server)
    (tmp_path / "questions.jsonl").write_text(json.dumps({"question": "6 times 7?"}) + "\n")

    def answers(*more: str) -> int:
        command = ["ask", "--file", str(tmp_path / "questions.jsonl"), "--pool", str(pool), "--policy", "mixture:brook"]
        result = CliRunner(env={"COLUMNS": "200"}).invoke(app, [*command, "--out", str(out), *more])
        assert result.exit_code in (0, 1), result.output
        return sum(json.loads(line)["answer"] is not None for line in out.read_text().splitlines())

    assert [answers(), answers()] == [1, 1]
    pool.write_text(pool.read_text().replace("retries = 8", "retries = 7"))
    assert answers() == 1, "what does not change an answer does not have it paid again"
    pool.write_text(pool.read_text().replace('model = "openai:cedar"', 'model = "openai:brook"'))
    assert answers() == 2


def test_the_wording_of_baselines_and_only_the_workers_that_they_ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pool = tmp_path / "pool.toml"
    write_pool(pool, "http://127.0.0.1:9")
    names = ["worker:brook", "solo:brook", "reflection:brook", "consensus:brook", "mixture:brook", "vote", "random", "chat:brook"]

    async def found() -> dict[str, str]:
        async with open_pool(pool, budget=Budget(), run="x") as opened:
            return setups_of(names, opened, pool=pool)

    first = asyncio.run(found())
    pool.write_text(pool.read_text().replace('model = "openai:cedar"', 'model = "openai:brook"'))
    second = asyncio.run(found())
    assert [name for name in names if first[name] == second[name]] == names[:4]
    pool.write_text(pool.read_text().replace('name = "cedar"', 'name = "cedar"\nabout = "knows much"'))
    third = asyncio.run(found())
    assert [name for name in names if second[name] == third[name]] == names[:-1], "no baseline is told of it"
    monkeypatch.setattr(fixed, "_ANSWER", "Answer the question.")
    fourth = asyncio.run(found())
    assert [name for name in names if third[name] == fourth[name]] == ["worker:brook"]


def test_a_learned_folder_that_was_replaced_in_its_place(tmp_path: Path) -> None:
    pool, folder = tmp_path / "pool.toml", tmp_path / "made"
    write_pool(pool, "http://127.0.0.1:9")
    folder.mkdir()
    names = [
        f"{kind}:{folder}{more}" for kind in ("tuned", "prompted", "learned", "trained") for more in ("", "@2", "+access=all")
    ]
    names += [f"tuned:{folder}:allow-missing", f"prompted:{folder}:allow-missing"]

    async def found() -> dict[str, str]:
        async with open_pool(pool, budget=Budget(), run="x") as opened:
            return setups_of([*names, "vote:brook"], opened, pool=pool)

    (folder / "policy.json").write_text("1")
    first = asyncio.run(found())
    assert asyncio.run(found()) == first
    (folder / "policy.json").write_text("2")
    second = asyncio.run(found())
    assert [name for name in first if first[name] == second[name]] == ["vote:brook"]


def test_a_policy_of_ones_own_whose_code_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pool = tmp_path / "pool.toml"
    write_pool(pool, "http://127.0.0.1:9")

    async def found() -> dict[str, str]:
        async with open_pool(pool, budget=Budget(), run="x") as opened:
            return setups_of(["mine"], opened, pool=pool)

    def registers(position: int) -> None:
        made: dict[str, object] = {"__name__": "typed_in"}
        exec(f"def make(asked):\n    return asked.worker({position!r})\n", made)  # noqa: S102 - a notebook's cell
        policy = NamedPolicy(form="mine", about="my own", make=made["make"])  # type: ignore[arg-type]
        monkeypatch.setattr(setups, "named_policies", lambda own: {**named_policies(own), "mine": policy})

    registers(0)
    first = asyncio.run(found())
    registers(0)
    assert asyncio.run(found()) == first
    registers(1)
    assert asyncio.run(found()) != first


def test_in_python_too_another_model_inherits_no_answers(server: str, tmp_path: Path) -> None:
    pool, out, problems = tmp_path / "pool.toml", tmp_path / "results.jsonl", podium.load_problems("gym", limit=1)
    write_pool(pool, server)

    async def evaluated(**more: dict[str, str]) -> None:
        async with podium.open_pool(pool) as opened:
            arms = {"alone": opened["brook"], "ours": conductor(opened, "vote")}
            await podium.evaluate(arms, problems, out=out, **more)  # type: ignore[arg-type]

    asyncio.run(evaluated())
    before = out.read_text()
    asyncio.run(evaluated())
    assert out.read_text() == before
    with pytest.raises(ConfigError, match="set-up"):
        asyncio.run(evaluated(setups={"ours": "other weights"}))
    pool.write_text(pool.read_text().replace('model = "openai:cedar"', 'model = "openai:brook"'))
    with pytest.raises(ConfigError, match="'ours' from another set-up"):
        asyncio.run(evaluated())
    assert out.read_text() == before


def test_recordings_and_folders_are_known_by_what_they_hold(tmp_path: Path) -> None:
    folder = tmp_path / "recorded"
    folder.mkdir()
    (folder / "a.jsonl").write_text("1")
    first = content_hash(folder)
    (folder / "a.jsonl").write_text("2")
    second = content_hash(folder)
    shutil.move(folder / "a.jsonl", folder / "b.jsonl")
    assert len({first, second, content_hash(folder)}) == 3
    assert Recorded({"a": "b"}, "x").identity != Recorded({"a": "c"}, "x").identity


def test_a_training_run_knows_who_answered_it(server: str, tmp_path: Path) -> None:
    pool = tmp_path / "pool.toml"
    write_pool(pool, server)
    config = replace(small_config(), pool=pool, start=tmp_path / "start", warm_start=None)
    (tmp_path / "start").mkdir()
    (tmp_path / "start" / "model.safetensors").write_bytes(b"1")
    first = fingerprint(config)
    assert fingerprint(config) == first
    (tmp_path / "start" / "model.safetensors").write_bytes(b"2")
    second = fingerprint(config)
    pool.write_text(pool.read_text().replace('model = "openai:brook"', 'model = "openai:cedar"'))
    third = fingerprint(config)
    assert [key for key in first if first[key] != second[key]] == ["weights"]
    assert [key for key in second if second[key] != third[key]] == ["pool"]
