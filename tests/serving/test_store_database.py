"""The database: transactions, migrations by many at once, and errors that say what to do and keep the password."""

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import Connection, insert, select, text, update

from podium.errors import ConfigError
from podium.serving.store.database import Database
from podium.serving.store.tables import paused
from tests.serving.schema import differences


def put(connection: Connection, name: str, number: int) -> None:
    connection.execute(insert(paused).values(id=name, state="", expires_us=number))


def number(connection: Connection) -> int:
    return int(connection.execute(select(paused.c.expires_us)).scalar_one())


async def test_the_migrations_make_exactly_the_tables_of_the_code(database: Database) -> None:
    assert await database.read(differences) == []


async def test_migrating_again_changes_nothing(database: Database, url: str) -> None:
    await database.run(lambda connection: put(connection, "a", 1))
    await database.migrate()
    async with Database(url) as other:
        assert await other.read(number) == 1


async def test_replicas_may_migrate_an_empty_database_at_once(url: str) -> None:
    databases = [Database(url) for _ in range(6)]
    await asyncio.gather(*(database.migrate() for database in databases))
    await asyncio.gather(*(database.run(lambda c, n=n: put(c, str(n), n)) for n, database in enumerate(databases)))  # type: ignore[misc]
    for database in databases:
        await database.close()


async def test_one_process_may_migrate_several_databases_at_once(tmp_path: Path) -> None:
    databases = [Database(f"sqlite:///{tmp_path / str(number)}.db") for number in range(6)]
    await asyncio.gather(*(database.migrate() for database in databases))
    for database in databases:
        await database.run(lambda connection: put(connection, "a", 1))
        await database.close()


async def test_processes_may_migrate_an_empty_database_at_once(url: str) -> None:
    code = (
        "import asyncio, sys\nfrom podium.serving.store.database import Database\n"
        "async def main():\n    async with Database(sys.argv[1]): pass\nasyncio.run(main())"
    )
    started = [await asyncio.create_subprocess_exec(sys.executable, "-c", code, url) for _ in range(3)]
    assert [await process.wait() for process in started] == [0, 0, 0]


async def test_read_modify_write_loses_nothing(database: Database, url: str) -> None:
    """Two databases on one file or server, 200 increments side by side."""
    await database.run(lambda connection: put(connection, "a", 0))

    def increment(connection: Connection) -> None:
        now = connection.execute(select(paused.c.expires_us).with_for_update()).scalar_one()
        connection.execute(update(paused).values(expires_us=now + 1))

    async with Database(url) as other:
        await asyncio.gather(*((database if n % 2 else other).run(increment) for n in range(200)))
    assert await database.read(number) == 200


async def test_a_failure_rolls_everything_back(database: Database) -> None:
    def broken(connection: Connection) -> None:
        put(connection, "a", 1)
        raise KeyError("stop")

    with pytest.raises(KeyError):
        await database.run(broken)
    assert await database.read(lambda connection: connection.execute(select(paused)).all()) == []


async def test_a_write_is_made_though_its_caller_is_cancelled(url: str) -> None:
    async with Database(url) as database:
        waiting = [asyncio.create_task(database.run(lambda c, n=n: put(c, str(n), n))) for n in range(30)]  # type: ignore[misc]
        await asyncio.sleep(0)
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
    async with Database(url) as database:
        assert len(await database.read(lambda connection: connection.execute(select(paused)).all())) == 30


async def test_a_database_of_a_newer_podium_is_refused(database: Database, url: str) -> None:
    await database.run(lambda connection: connection.execute(text("UPDATE alembic_version SET version_num = '9999'")))
    with pytest.raises(ConfigError, match=r"newer Podium \(revision 9999\)"):
        await database.migrate()


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("secret", "can not be read"),
        ("mysql://user:secret@host/base", "mysql is no kind of database"),
        ("postgresql+asyncpg://user:secret@host/base", "is no kind of database"),
        ("sqlite://", "names no file"),
        ("sqlite:////no/such/folder/secret.db", "No such file or directory"),
        ("postgresql://user:secret@host:port/base", "can not be read"),
        ("postgresql://user:pass@rest@secret@127.0.0.1:1/base", "write one that belongs to user or password as %40"),
        ("postgresql://user:secret@127.0.0.1:1/base?application_name=secret", "postgresql://127.0.0.1:1/base"),
    ],
)
async def test_a_wrong_url_is_the_users_error_and_keeps_the_password(url: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said) as caught:
        async with Database(url):
            pass
    if "/secret.db" not in url:
        assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None or isinstance(caught.value.__cause__, OSError)


async def test_a_file_that_is_no_database_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("no database, but 100 bytes long so that SQLite looks at it. " * 20)
    before = path.read_bytes()
    with pytest.raises(ConfigError, match="not a database"):
        async with Database(f"sqlite:///{path}"):
            pass
    assert path.read_bytes() == before


async def test_a_new_file_is_for_its_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "podium.db"
    with pytest.raises(ConfigError, match="there is no database"):
        Database(f"sqlite:///{path}", must_exist=True)
    async with Database(f"sqlite:///{path}"):
        modes = {file.name: file.stat().st_mode & 0o777 for file in tmp_path.iterdir()}
    assert modes == {"podium.db": 0o600, "podium.db-wal": 0o600, "podium.db-shm": 0o600}


def test_the_migrations_are_importable_and_do_nothing_then() -> None:
    code = "import podium.serving.store.migrations.env, podium.serving.store.migrations.versions.v0001_first"
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)
