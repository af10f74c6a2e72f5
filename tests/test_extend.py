"""docs/extend.md: each addition is at most 20 lines, runs as it stands, and is found by its name afterwards."""

import re
from pathlib import Path
from typing import Any

import pytest

import podium
from podium import registry
from podium.policies import catalogue
from podium.policies.named import NamedPolicy
from podium.registry import GROUPS, registered
from podium.serving.store import kinds
from podium.serving.store.address import shown_address
from podium.tasks.benchmarks.registry import all_benchmarks
from podium.tasks.kinds import ProblemKind
from podium.workers import config
from podium.workers.kinds import WorkerKind

PAGE = (Path(__file__).parents[1] / "docs" / "extend.md").read_text()
BUILT_IN = (catalogue, config, kinds)


def block(title: str, language: str = "python") -> str:
    """The first code of the section."""
    section = PAGE.split(f"\n## {title}\n")[1].split("\n## ")[0]
    found = re.search(rf"^```{language}\n(.*?)^```", section, re.MULTILINE | re.DOTALL)
    assert found is not None, title
    return found[1]


@pytest.fixture(autouse=True)
def own_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    all_benchmarks()  # what is built in is registered once in a process, before the copy is taken
    monkeypatch.setattr(registry, "_added", {group: dict(registry._added[group]) for group in GROUPS})


def run(title: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(compile(block(title), f"docs/extend.md: {title}", "exec"), names)  # noqa: S102 - our own page
    return names


@pytest.mark.parametrize("title", ["A policy", "A kind of worker", "A verifier", "A benchmark", "A place of the database"])
def test_each_is_at_most_twenty_lines(title: str) -> None:
    assert len(block(title).splitlines()) <= 20


def test_a_policy(capsys: pytest.CaptureFixture[str]) -> None:
    run("A policy")
    assert registered("policies", NamedPolicy)["relay"].is_baseline
    assert capsys.readouterr().out.strip()


async def test_a_kind_of_worker(tmp_path: Path) -> None:
    run("A kind of worker")
    (tmp_path / "pool.toml").write_text(block("A kind of worker", "text"))
    assert "echo" in registered("workers", WorkerKind)
    async with podium.open_pool(tmp_path / "pool.toml") as pool:
        assert (await pool["parrot"](podium.Call.plain("hello"))).text == "HELLO"


def test_a_verifier(capsys: pytest.CaptureFixture[str]) -> None:
    names = run("A verifier")
    assert "backwards" in registered("verifiers", ProblemKind)
    assert {result.arm: result.verdict.correct for result in names["results"]} == {"right": True, "wrong": False}
    assert "| right |" in capsys.readouterr().out


def test_a_benchmark() -> None:
    run("A benchmark")
    assert [problem.target for problem in podium.load_problems("doubles", limit=2)] == ["4", "6"]


def test_a_place_of_the_database(tmp_path: Path) -> None:
    run("A place of the database")
    (tmp_path / "secret").write_text(f"sqlite:///{tmp_path / 'there.db'}\n")
    assert shown_address(f"secret://{tmp_path / 'secret'}") == str(tmp_path / "there.db")
