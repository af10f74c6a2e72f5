"""Real databases for the server's tests: a new SQLite file or a new database on a PostgreSQL of our own, per test."""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

import psycopg
import pytest

from podium.serving.store.database import Database

_NUMBERS = count()


class ManualClock:
    """A clock that is moved by hand. It starts in the first second of a minute, in the middle of a month."""

    def __init__(self) -> None:
        self.time = datetime(2026, 2, 14, 12, 0, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.time

    def forward(self, seconds: float) -> None:
        self.time += timedelta(seconds=seconds)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


def _binaries() -> Path | None:
    """Where initdb and postgres are."""
    asked = shutil.which("pg_config")
    folders = (
        [Path(subprocess.run([asked, "--bindir"], capture_output=True, text=True, check=True).stdout.strip())] if asked else []
    )
    for name in ("initdb", "postgres"):
        found = shutil.which(name)
        folders += [Path(found).resolve().parent] if found else []
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((folder for folder in folders if (folder / "initdb").is_file() and (folder / "postgres").is_file()), None)


def _somebody() -> str | None:
    """Who PostgreSQL may run as: it refuses root. None is ourselves."""
    if os.geteuid() != 0:
        return None
    names = {entry.pw_name for entry in pwd.getpwall()}
    for name in ("postgres", "nobody"):
        if name in names:
            return name
    pytest.skip("PostgreSQL refuses to run as root, and there is no user postgres or nobody")


@pytest.fixture(scope="session")
def postgresql_server() -> Iterator[str]:
    """The folder of the socket of a PostgreSQL that is gone after the tests."""
    binaries = _binaries()
    if binaries is None:
        pytest.skip("PostgreSQL is missing: sudo apt-get install postgresql")
    user = _somebody()
    # Not pytest's own folder, which another user may not enter; and a socket's path must be short.
    folder = Path(tempfile.mkdtemp(prefix="podium-pg-", dir="/tmp"))
    try:
        if user is not None:
            shutil.chown(folder, user)
        data = str(folder / "data")
        initdb = [str(binaries / "initdb"), "-D", data, "-U", "podium", "-A", "trust", "-N", "-E", "UTF8", "--locale=C"]
        made = subprocess.run(initdb, user=user, cwd=folder, capture_output=True, text=True, check=False)
        assert made.returncode == 0, made.stderr
        options = ["-F", "-c", "listen_addresses=", "-c", f"unix_socket_directories={folder}", "-c", "max_connections=200"]
        with (folder / "log").open("w") as log:
            server = subprocess.Popen(
                [str(binaries / "postgres"), "-D", data, *options], user=user, cwd=folder, stdout=log, stderr=subprocess.STDOUT
            )
            try:
                _wait(folder, server)
                yield str(folder)
            finally:
                server.send_signal(signal.SIGINT)  # to a postmaster: end now, whoever is connected
                try:
                    server.wait(10)
                except subprocess.TimeoutExpired:
                    server.kill()
                    server.wait()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _wait(folder: Path, server: "subprocess.Popen[bytes]") -> None:
    deadline = datetime.now(UTC) + timedelta(seconds=60)
    while True:
        try:
            psycopg.connect(host=str(folder), user="podium", dbname="postgres").close()
        except psycopg.OperationalError:
            assert server.poll() is None, (folder / "log").read_text()
            assert datetime.now(UTC) < deadline, "PostgreSQL did not start in a minute"
        else:
            return


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of an empty database."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'podium.db'}"
    folder = request.getfixturevalue("postgresql_server")
    name = f"podium_{os.getpid()}_{next(_NUMBERS)}"
    with psycopg.connect(host=folder, user="podium", dbname="postgres", autocommit=True) as connection:
        connection.execute(psycopg.sql.SQL("CREATE DATABASE {}").format(psycopg.sql.Identifier(name)))
    return f"postgresql://podium@/{name}?host={folder}"


@pytest.fixture
async def database(url: str) -> AsyncIterator[Database]:
    """An empty database with its tables."""
    async with Database(url) as database:
        yield database
