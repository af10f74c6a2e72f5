"""``podium keys`` and ``podium runs`` on a real file: what they print, and that nothing in it can paint the terminal."""

import asyncio
import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from podium import jsonl
from podium.cli.store_commands import keys_app, runs_app
from podium.serving.store.database import Database
from podium.serving.store.keys import Key, Keys
from podium.serving.store.quotas import Quotas
from podium.serving.store.runs import Run, Runs
from podium.types import Completion, Generation, Step, StepResult, Transcript, Usage, Workflow, ask

app = typer.Typer()
app.add_typer(keys_app, name="keys")
app.add_typer(runs_app, name="runs")

HOSTILE = "[bold]Six[/bold] \x1b[31mtimes\x1b[0m seven?\0"


def podium(*arguments: str, db: str | None = None) -> Result:
    return CliRunner().invoke(app, list(arguments), env={"PODIUM_DB": db, "COLUMNS": "300"})


@pytest.fixture
def db(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'podium.db'}"


def made(db: str, name: str, *flags: str) -> dict[str, object]:
    result = podium("keys", "create", name, *flags, "--json", db=db)
    assert result.exit_code == 0, result.output
    fields = json.loads(result.stdout)
    assert isinstance(fields, dict)
    return fields


async def fill(db: str) -> list[Run]:
    step = Step(worker=0, subtask=HOSTILE)
    done = StepResult(step=step, worker="calc", completion=Completion(text=HOSTILE))
    transcript = Transcript(
        question=ask(HOSTILE), generation=Generation(text="x"), workflow=Workflow(steps=(step,)), results=(done,), answer=HOSTILE
    )
    async with Database(db) as database:
        key = (await Keys(database).list())[0]
        first = Run(
            id=f"run_{1:024x}",
            key=key.id,
            model=HOSTILE,
            created=datetime(2026, 2, 14, 12, tzinfo=UTC),
            seconds=1.25,
            usage=Usage(prompt_tokens=9, cost_usd=0.5),
            steps=1,
            workers=("calc",),
            question=HOSTILE,
            answer="Forty-two",
            transcripts=(transcript,),
        )
        later = datetime(2026, 2, 14, 13, tzinfo=UTC)
        second = Run(
            id=f"run_{2:024x}", model="podium", created=later, seconds=0.5, usage=Usage(cost_usd=None), failure="BudgetExceeded"
        )
        for run in (first, second):
            await Runs(database).add(run)
        quotas = Quotas(database, "a")
        await quotas.settle(await quotas.admit(key, 1.0, 0), 0.5, 0.25, 0)
        await quotas.admit(key, 2.0, 0)
    return [second, first]


async def find(db: str, secret: str) -> Key:
    async with Database(db) as database:
        return await Keys(database).find(secret)


def test_a_made_key_works_and_its_secret_is_shown_once(db: str) -> None:
    limits = ("--monthly-usd", "20", "--requests-per-minute", "60", "--tokens-per-minute", "1000")
    result = podium("keys", "create", "web", *limits, "--scope", "ask", "--scope", "read", "--no-store-content", db=db)
    assert result.exit_code == 0, result.output
    assert "shown this once" in result.stdout
    secret = result.stdout.split()[-1]
    key = asyncio.run(find(db, secret))
    assert (key.name, key.scopes, key.monthly_usd, key.store_content) == ("web", frozenset({"ask", "read"}), 20.0, False)
    assert (key.requests_per_minute, key.tokens_per_minute) == (60, 1000)
    listed = podium("keys", "list", db=db).output + podium("keys", "list", "--json", db=db).output
    assert secret not in listed
    assert "60 requests, 1000 tokens" in listed


def test_keys_are_listed_with_this_months_spending(db: str) -> None:
    fields = made(db, "web", "--monthly-usd", "20")
    asyncio.run(fill(db))
    made(db, "bare")
    text = podium("keys", "list", db=db).stdout
    assert "$0.7500 of $20.00" in text
    assert "$2.0000" in text
    web, bare = json.loads(podium("keys", "list", "--json", db=db).stdout)
    assert web["month"] == {"spent_usd": 0.5, "uncertain_usd": 0.25, "open_usd": 2.0, "unpriced": 0}
    assert (web["id"], web["scopes"], web["revoked"]) == (fields["id"], ["ask"], None)
    assert (bare["monthly_usd"], bare["month"]["open_usd"]) == (None, 0.0)


def test_a_revoked_key_is_out(db: str) -> None:
    fields = made(db, "web")
    assert podium("keys", "revoke", "web", db=db).exit_code == 0
    assert podium("keys", "revoke", str(fields["id"]), db=db).exit_code == 0
    assert "revoked 20" in podium("keys", "list", db=db).stdout
    assert podium("keys", "revoke", "web", db=db).exit_code == 2


def test_runs_are_listed_and_narrowed(db: str) -> None:
    made(db, "web")
    runs = asyncio.run(fill(db))
    text = podium("runs", "list", db=db).stdout
    assert "[bold]Six[/bold] [31mtimes[0m seven?" in text
    assert "\x1b" not in text
    assert "unknown" in text
    assert "BudgetExceeded" in text
    listed = json.loads(podium("runs", "list", "--json", db=db).stdout)
    assert [run["id"] for run in listed] == [run.id for run in runs]
    for flags, left in ((["--failed"], [0]), (["--key", "web"], [1]), (["--text", "FORTY"], [1]), (["--n", "1"], [0])):
        found = json.loads(podium("runs", "list", *flags, "--json", db=db).stdout)
        assert [run["id"] for run in found] == [runs[index].id for index in left], flags


def test_one_run_is_shown_with_its_workflow(db: str) -> None:
    made(db, "web")
    second, first = asyncio.run(fill(db))
    text = podium("runs", "show", first.id, db=db).stdout
    assert "step 0  calc" in text
    assert "Forty-two" in text
    assert "[bold]Six" in text
    assert "\x1b" not in text
    assert "\0" not in text
    assert jsonl.loads(Run, podium("runs", "show", first.id, "--json", db=db).stdout) == first
    bare = podium("runs", "show", second.id, db=db).stdout
    assert "not kept" in bare
    assert "BudgetExceeded" in bare


def test_every_run_is_exported_once_and_no_file_is_overwritten(db: str, tmp_path: Path) -> None:
    made(db, "web")
    second, first = asyncio.run(fill(db))

    async def more() -> None:
        async with Database(db) as database:
            for number in range(3, 420):
                await Runs(database).add(replace(second, id=f"run_{number:024x}"))

    asyncio.run(more())
    out = tmp_path / "runs.jsonl"
    assert podium("runs", "export", "--out", str(out), db=db).exit_code == 0
    exported = jsonl.read_records(Run, out)
    assert len({run.id for run in exported}) == len(exported) == 419
    assert exported[-1] == first
    assert out.stat().st_mode & 0o777 == 0o600
    again = podium("runs", "export", "--out", str(out), db=db)
    assert again.exit_code == 2
    assert "File exists" in again.output
    mine = tmp_path / "mine.jsonl"
    assert podium("runs", "export", "--out", str(mine), "--key", "web", db=db).exit_code == 0
    assert jsonl.read_records(Run, mine) == [first]


def test_without_a_flag_the_database_is_in_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    missing = podium("runs", "list")
    assert missing.exit_code == 2
    assert "there is no database" in missing.output
    assert list(tmp_path.iterdir()) == []
    assert podium("keys", "create", "web").exit_code == 0
    assert (tmp_path / "podium.db").is_file()
    assert "web" in podium("keys", "list", "--db", f"sqlite:///{tmp_path}/podium.db").stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["keys", "create", "key_1"], "a key's name"),
        (["keys", "create", "web", "--monthly-usd", "1e12"], "no amount of dollars"),
        (["keys", "create", "web", "--scope", "root"], "root"),
        (["runs", "show", "run_0"], "there is no run run_0"),
        (["runs", "list", "--key", "nobody"], "no key called nobody"),
        (["keys", "list", "--db", "mysql://user:secret@host/base"], "mysql is no kind of database"),
    ],
)
def test_a_mistake_is_told_in_one_line(db: str, arguments: list[str], said: str) -> None:
    made(db, "first")
    result = podium(*arguments, db=db)
    assert result.exit_code == 2, result.output
    assert said in result.output
    assert "secret" not in result.output
