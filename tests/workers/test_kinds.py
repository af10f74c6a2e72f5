"""A kind of worker from outside: its own keys, and the limits, journal, budget, price and fallback of any other."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

import pytest

import podium
from podium.errors import ConfigError, WorkerRefused, WorkerUnavailable
from podium.registry import GROUPS, register
from podium.types import Call, Completion, ResponseOptions, Tool, Usage
from podium.workers.config import read_pool
from podium.workers.connections import Connections
from podium.workers.identity import worker_identities
from podium.workers.kinds import WorkerKind
from podium.workers.table import WorkerConfig

PRICE = "prompt_usd_per_million = 1\ncompletion_usd_per_million = 1\n"
calls: list[str] = []


class ParrotConfig(WorkerConfig):
    """The parrot's keys."""

    says: str = "hello"
    sleeps: float = 0.0
    faults: int = 0
    refuses: bool = False


class Parrot:
    """Says one thing, after some faults."""

    def __init__(self, table: ParrotConfig) -> None:
        self.table = table
        self.faults = table.faults

    async def __call__(self, call: Call) -> Completion:
        calls.append(self.table.name)
        if self.table.refuses:
            raise WorkerRefused("no")
        if self.faults:
            self.faults -= 1
            raise WorkerUnavailable("not now", retry_after=0.0)
        await asyncio.sleep(self.table.sleeps)
        return Completion(text=self.table.says, usage=Usage(prompt_tokens=1000, completion_tokens=1000))


def make(table: ParrotConfig, environ: Mapping[str, str], connections: Connections) -> Parrot:
    return Parrot(table)


@pytest.fixture(autouse=True)
def parrots(monkeypatch: pytest.MonkeyPatch) -> None:
    from podium import registry

    monkeypatch.setattr(registry, "_added", {group: dict(registry._added[group]) for group in GROUPS})
    register("workers", "parrot")(WorkerKind(about="says one thing", config=ParrotConfig, make=make))
    calls.clear()


def written(folder: Path, *tables: str) -> Path:
    path = folder / "pool.toml"
    path.write_text("".join(f'[[worker]]\nname = "{"abc"[n]}"\nkind = "parrot"\n{table}\n' for n, table in enumerate(tables)))
    return path


async def test_it_is_called_like_any_other(tmp_path: Path) -> None:
    async with podium.open_pool(written(tmp_path, 'says = "hi"')) as pool:
        completion = await pool["a"](Call.plain("?"))
    assert completion.text == "hi"
    assert completion.usage.cost_usd is None, "no price in the table: unknown, not 0"


async def test_its_price_is_that_of_its_table_and_budgets_hold(tmp_path: Path) -> None:
    path = written(tmp_path, PRICE)
    async with podium.open_pool(path, budget=podium.Budget(usd=1)) as pool:
        assert (await pool["a"](Call.plain("?"))).usage.cost_usd == pytest.approx(0.002)
    async with podium.open_pool(path, budget=podium.Budget(usd=1e-6)) as pool:
        with pytest.raises(podium.PodiumError, match="budget"):
            await pool["a"](Call.plain("?"))
    assert calls == ["a"], "a call above the cap is not made"
    with pytest.raises(ConfigError, match="price"):
        async with podium.open_pool(written(tmp_path, ""), budget=podium.Budget(usd=1)):
            pass


async def test_a_reply_is_paid_once_and_kept_by_what_decides_it(tmp_path: Path) -> None:
    journal = tmp_path / "calls.db"
    for table, paid in ((PRICE, 1), (PRICE, 1), (PRICE + "retries = 9\n", 1), (PRICE + 'says = "bye"\n', 2)):
        async with podium.open_pool(written(tmp_path, table), journal=journal) as pool:
            await pool["a"](Call.plain("?"))
        assert len(calls) == paid, table


async def test_faults_are_tried_again_and_the_fallback_answers(tmp_path: Path) -> None:
    tables = ('faults = 2\nretries = 2\nsays = "at last"', 'refuses = true\nfallback = "c"', 'says = "instead"')
    async with podium.open_pool(written(tmp_path, *tables)) as pool:
        assert (await pool["a"](Call.plain("?"))).text == "at last"
        assert (await pool["b"](Call.plain("?"))).text == "instead"


async def test_it_is_held_to_its_seconds_and_its_concurrency(tmp_path: Path) -> None:
    tables = ("sleeps = 60.0\ntimeout_seconds = 0.05\nretries = 0", "sleeps = 60.0\nconcurrency = 2")
    async with podium.open_pool(written(tmp_path, *tables)) as pool:
        with pytest.raises(WorkerUnavailable, match=r"within 0\.05 seconds"):
            await pool["a"](Call.plain("?"))
        under_way = [asyncio.create_task(pool["b"](Call.plain(str(n)))) for n in range(5)]
        await asyncio.sleep(0.05)
        assert calls.count("b") == 2
        for task in under_way:
            task.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)


async def test_tools_are_refused_and_not_left_out(tmp_path: Path) -> None:
    tool = Tool(name="f", description="", parameters="{}")
    async with podium.open_pool(written(tmp_path, "")) as pool:
        with pytest.raises(ConfigError, match="'parrot' calls no tools"):
            pool.workers.named("a").check(ResponseOptions(tools=(tool,)))


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ("sayz = 3", "worker 'a': unknown key 'sayz'; did you mean 'says'?"),
        ("says = 3", "worker 'a': says: it should be a valid string"),
        ('model = "openai:m"', "worker 'a': unknown key 'model'"),
        ("retries = -1", "worker 'a': retries"),
        ('fallback = "a"', "its own fallback"),
        ('api_key = "abc"', "keys never stand in the file"),
    ],
)
def test_mistakes(table: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        read_pool(written(tmp_path, table))
    assert says in str(caught.value)


@pytest.mark.parametrize(("kind", "says"), [('"parot"', "did you mean 'parrot'?"), ("3", "name of a kind of worker")])
def test_an_unknown_kind(kind: str, says: str, tmp_path: Path) -> None:
    path = tmp_path / "pool.toml"
    path.write_text(f'[[worker]]\nname = "a"\nkind = {kind}\n')
    with pytest.raises(ConfigError, match="worker 'a': kind: ") as caught:
        read_pool(path)
    assert says in str(caught.value)


def test_results_of_another_setting_are_told_apart(tmp_path: Path) -> None:
    first, same, other = (
        worker_identities(read_pool(written(tmp_path, table)))["a"] for table in ("", "retries = 1", 'says = "bye"')
    )
    assert first == same != other
