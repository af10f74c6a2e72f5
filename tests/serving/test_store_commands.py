"""``podium keys`` and ``podium runs`` on a real file: what they print, and that nothing in it can paint the terminal."""

import asyncio
import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
import typer
from sqlalchemy import update
from typer.testing import CliRunner, Result

from podium import jsonl
from podium.cli.store_commands import keys_app, runs_app
from podium.serving.store.database import Database
from podium.serving.store.keys import Key, Keys
from podium.serving.store.quotas import Quotas
from podium.serving.store.runs import Run, Runs
from podium.serving.store.tables import keys as table
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
    used = {"spent_usd": 0.5, "uncertain_usd": 0.25, "open_usd": 2.0, "unpriced": 0}
    assert web["month"] == used | {"freed_usd": 0.0, "confirmed_usd": 0.0}
    assert (web["id"], web["scopes"], web["revoked"]) == (fields["id"], ["ask"], None)
    assert (bare["monthly_usd"], bare["month"]["open_usd"]) == (None, 0.0)


def test_a_revoked_key_is_out(db: str) -> None:
    fields = made(db, "web")
    assert podium("keys", "revoke", "web", db=db).exit_code == 0
    assert podium("keys", "revoke", str(fields["id"]), db=db).exit_code == 0
    assert "revoked 20" in podium("keys", "list", db=db).stdout
    assert podium("keys", "revoke", "web", db=db).exit_code == 2


def test_a_key_is_changed_where_it_is_named(db: str) -> None:
    fields = made(db, "web", "--monthly-usd", "20", "--requests-per-minute", "60", "--scope", "ask", "--scope", "read")
    result = podium("keys", "change", "web", "--monthly-usd", "0.5", "--tokens-per-minute", "1000", db=db)
    assert result.exit_code == 0, result.output
    assert result.stdout.strip() == (
        f"changed {fields['id']} (web): scopes ask read; per month $0.50; per minute 60 requests, 1000 tokens; content kept"
    )
    flags = ["--monthly-usd", "none", "--requests-per-minute", "none", "--scope", "admin", "--no-store-content", "--json"]
    changed = json.loads(podium("keys", "change", str(fields["id"]), *flags, db=db).stdout)
    fields.pop("secret")
    assert changed == fields | {
        "monthly_usd": None,
        "requests_per_minute": None,
        "tokens_per_minute": 1000,
        "scopes": ["admin"],
        "store_content": False,
    }
    [listed] = json.loads(podium("keys", "list", "--json", db=db).stdout)
    listed.pop("month")
    assert listed == changed
    assert "per month no limit" in podium("keys", "change", "web", "--store-content", db=db).stdout


def test_old_runs_are_deleted_and_what_was_spent_stays(db: str) -> None:
    made(db, "web", "--monthly-usd", "20")
    second, first = asyncio.run(fill(db))

    async def fresh() -> None:
        async with Database(db) as database:
            await Runs(database).add(replace(first, id=f"run_{3:024x}", created=datetime.now(UTC)))

    asyncio.run(fresh())
    spent = json.loads(podium("keys", "list", "--json", db=db).stdout)[0]["month"]
    assert spent["spent_usd"] == 0.5
    for answer in ("n\n", ""):
        result = CliRunner().invoke(app, ["runs", "delete", "--older-than", "1", "--json", "--db", db], input=answer)
        assert result.exit_code == 2
        assert "Delete 2 runs from before 20" in result.stderr
        assert "nothing was deleted" in result.stderr
        assert result.stdout == ""
    assert len(json.loads(podium("runs", "list", "--json", db=db).stdout)) == 3
    mine = podium("runs", "delete", "--older-than", "1", "--key", "web", "--yes", db=db)
    assert mine.exit_code == 0, mine.output
    assert "deleted 1 run from before 20" in mine.stdout
    assert "(web)" in mine.stdout
    result = CliRunner().invoke(app, ["runs", "delete", "--older-than", "1", "--json", "--db", db], input="y\n")
    told = json.loads(result.stdout)
    assert (told["deleted"], told["key"]) == (1, None)
    assert datetime.fromisoformat(told["before"]) < datetime.now(UTC)
    assert "deleted 0 runs" in podium("runs", "delete", "--older-than", "1", db=db).stdout, "nothing to ask about"
    assert [run["id"] for run in json.loads(podium("runs", "list", "--json", db=db).stdout)] == [f"run_{3:024x}"]
    assert podium("runs", "show", second.id, db=db).exit_code == 2
    assert "deleted 1 run" in podium("runs", "delete", "--older-than", "0", "--yes", db=db).stdout
    assert json.loads(podium("keys", "list", "--json", db=db).stdout)[0]["month"] == spent


def test_a_name_that_somebody_put_into_the_database_can_not_paint_the_terminal(db: str) -> None:
    fields = made(db, "web")
    asyncio.run(fill(db))

    async def spoil() -> None:
        async with Database(db) as database:
            await database.run(lambda connection: connection.execute(update(table).values(name=HOSTILE)))

    asyncio.run(spoil())
    key = str(fields["id"])
    for arguments in (
        ["keys", "change", key, "--monthly-usd", "1"],
        ["runs", "delete", "--older-than", "1", "--key", key],
        ["runs", "delete", "--older-than", "1", "--key", key, "--yes"],
        ["keys", "change", HOSTILE, "--monthly-usd", "1"],
        ["keys", "change", key, "--monthly-usd", HOSTILE],
        ["keys", "change", key, "--scope", HOSTILE],
        ["runs", "delete", "--older-than", "1", "--key", f"{HOSTILE}?"],
        ["keys", "revoke", HOSTILE],
        ["keys", "revoke", key],
        ["keys", "change", key, "--monthly-usd", "1"],
    ):
        said = podium(*arguments, db=db).output
        assert "[bold]Six[/bold] [31mtimes" in said or key in said, arguments
        assert not {"\x1b", "\0"} & set(said), arguments


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
        (["keys", "change", "first"], "nothing to change"),
        (["keys", "change", "nobody", "--monthly-usd", "1"], "there is no key called nobody"),
        (["keys", "change", "gone", "--monthly-usd", "1"], "the key gone was revoked"),
        (["keys", "change", "first", "--monthly-usd", "lots"], "--monthly-usd is a number, as in --monthly-usd 20, or none"),
        (["keys", "change", "first", "--monthly-usd", "-1"], "no amount of dollars"),
        (["keys", "change", "first", "--requests-per-minute", "1.5"], "--requests-per-minute is a number"),
        (["keys", "change", "first", "--tokens-per-minute", "0"], "tokens per minute is no limit"),
        (["keys", "change", "first", "--scope", "root"], "root"),
        (["keys", "change", "\udcff", "--monthly-usd", "1"], "there is no key called"),
        (["keys", "revoke", "\udcff"], "there is no key called"),
        (["runs", "delete"], "--older-than"),
        (["runs", "delete", "--older-than", "-1"], "--older-than"),
        (["runs", "delete", "--older-than", "1", "--key", "nobody", "--yes"], "no key called nobody"),
        (["runs", "show", "run_0"], "there is no run run_0"),
        (["runs", "list", "--key", "nobody"], "no key called nobody"),
        (["keys", "list", "--db", "mysql://user:secret@host/base"], "mysql is no kind of database"),
    ],
)
def test_a_mistake_is_told_in_one_line(db: str, arguments: list[str], said: str) -> None:
    made(db, "first")
    made(db, "gone")
    assert podium("keys", "revoke", "gone", db=db).exit_code == 0
    result = podium(*arguments, db=db)
    assert result.exit_code == 2, result.output
    assert said in result.output
    assert "secret" not in result.output
