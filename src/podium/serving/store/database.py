"""One database, used from asyncio: SQLAlchemy Core on a few threads of its own.

A function runs in one transaction. On SQLite all writers stand in one line (one thread here, ``BEGIN IMMEDIATE`` against
other processes), so read-modify-write is atomic, and readers never wait for them (WAL). On PostgreSQL writers run side by
side and lock the rows they change.

Left out on purpose: async drivers (two more dependencies, and slower for SQLite) and an ORM.
"""

import asyncio
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, create_engine, event, inspect, text
from sqlalchemy.engine.interfaces import DBAPIConnection, ExceptionContext
from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.pool import ConnectionPoolEntry

from podium.errors import ConfigError, StoreUnavailable
from podium.serving.store.address import read_address, shown

Result = TypeVar("Result")

_READERS = 4
_WRITERS = 8
"""Threads; SQLite has one writer."""
_ATTEMPTS = 5
"""How often a transaction is tried where the database ends it for another one's sake."""
_TRY_AGAIN = ("40001", "40P01")
"""PostgreSQL's codes for that: could not serialise, deadlock."""
_READ_ONLY = "25006"
"""PostgreSQL's code for a write where only reads are taken."""
_BUSY_SECONDS = 30.0
"""How long SQLite waits for the writers of other processes."""
_MIGRATION_LOCK = 0x706F_6469_756D
"""The number of PostgreSQL's advisory lock under which one replica migrates while the others wait."""
_MIGRATIONS = Path(__file__).parent / "migrations"
_ALEMBIC = threading.Lock()
"""Alembic keeps the migration under way in a global variable, so there is one at a time in a process."""


class Database:
    """A database by its URL. Example: ``async with Database("sqlite:///podium.db") as database: ...``, which migrates it.

    With ``must_exist`` a SQLite file that is not there is an error instead of a new database. Raises
    :class:`ConfigError` for a URL that can not be used. No message holds a password.
    """

    def __init__(self, url: str, *, must_exist: bool = False) -> None:
        address = read_address(url, must_exist=must_exist)
        self._name = shown(address)
        self._sqlite = address.get_backend_name() == "sqlite"
        writers = 1 if self._sqlite else _WRITERS
        # Errors of SQLAlchemy quote the statement's parameters, and those hold hashes and what users wrote.
        self._engine = create_engine(
            address,
            pool_size=_READERS + writers,
            max_overflow=0,
            pool_pre_ping=not self._sqlite,
            hide_parameters=True,
            connect_args={"timeout": _BUSY_SECONDS} if self._sqlite else {"connect_timeout": 10},
        )
        if self._sqlite:
            event.listen(self._engine, "connect", _open_sqlite)
            event.listen(self._engine, "begin", _begin_sqlite)
        else:
            event.listen(self._engine, "handle_error", _leave_a_standby)
        self._reading = self._engine.execution_options(podium_reads=True)
        self._writers = ThreadPoolExecutor(writers, thread_name_prefix="podium-write")
        self._readers = ThreadPoolExecutor(_READERS, thread_name_prefix="podium-read")

    async def run(self, work: Callable[[Connection], Result]) -> Result:
        """``work(connection)`` in a transaction that may write; rolled back where it raises, whose exception travels on.

        A write that was asked for is made, also where the caller is cancelled while it waits: what was paid is booked.
        Raises :class:`StoreUnavailable` where the database does not answer.
        """
        with _answering():
            return await asyncio.shield(self._submit(self._writers, self._engine, work))

    async def read(self, work: Callable[[Connection], Result]) -> Result:
        """As :meth:`run` for work that only reads: on SQLite it does not wait for writers."""
        with _answering():
            return await self._submit(self._readers, self._reading, work)

    async def migrate(self) -> None:
        """Bring the tables up to date; other replicas may do so at the same time.

        Raises :class:`ConfigError` where the database can not be reached or used, or is of a newer Podium.
        """
        try:
            await asyncio.shield(self._submit(self._writers, self._engine, self._upgrade))
        except DBAPIError as error:
            reason = " ".join(str(error.orig).split())
            password = self._engine.url.password
            reason = reason.replace(str(password), "***") if password else reason
            raise ConfigError(f"the database {self._name} can not be used: {reason}; check the URL and its rights") from None

    async def close(self) -> None:
        """Finish the writes that were asked for and close the connections."""
        for executor in (self._readers, self._writers):
            await asyncio.to_thread(executor.shutdown)
        self._engine.dispose()

    async def __aenter__(self) -> "Database":
        try:
            await self.migrate()
        except BaseException:
            await self.close()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def _submit(self, executor: Executor, engine: Engine, work: Callable[[Connection], Result]) -> asyncio.Future[Result]:
        def transaction() -> Result:
            for attempt in range(_ATTEMPTS):
                try:
                    with engine.begin() as connection:
                        return work(connection)
                except OperationalError as error:
                    # PostgreSQL ends one of two transactions that wait for each other; tried again, it finds the other one gone.
                    if getattr(error.orig, "sqlstate", None) not in _TRY_AGAIN or attempt == _ATTEMPTS - 1:
                        raise
            raise AssertionError("the last attempt returns or raises")

        return asyncio.get_running_loop().run_in_executor(executor, transaction)

    def _upgrade(self, connection: Connection) -> None:
        if not self._sqlite:
            connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _MIGRATION_LOCK})
        config = Config(attributes={"connection": connection})
        config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
        known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
        if inspect(connection).has_table("alembic_version"):
            found = set(connection.execute(text("SELECT version_num FROM alembic_version")).scalars())
            if found - known:
                raise ConfigError(
                    f"the database {self._name} is of a newer Podium (revision {', '.join(sorted(found - known))}): "
                    "install that version, or use another database"
                )
        with _ALEMBIC:
            command.upgrade(config, "head")


@contextmanager
def _answering() -> Iterator[None]:
    try:
        yield
    except DBAPIError as error:
        if not (isinstance(error, OperationalError) or error.connection_invalidated):
            raise
        raise StoreUnavailable("the database does not answer; try again in a moment") from error


def _leave_a_standby(context: ExceptionContext) -> None:
    """A server that lost its place to another one takes reads only: its connections are given up, as those that were cut are."""
    if getattr(context.original_exception, "sqlstate", None) == _READ_ONLY:
        context.is_disconnect = True


def _open_sqlite(connection: DBAPIConnection, _entry: ConnectionPoolEntry) -> None:
    # The driver would begin transactions by itself, and not IMMEDIATE.
    connection.isolation_level = None
    cursor = connection.cursor()
    _enter_wal(cursor)
    cursor.execute("PRAGMA synchronous=NORMAL")  # after a power cut the last commits may be gone, the file stays whole
    cursor.execute("PRAGMA foreign_keys=ON")
    cursor.close()


def _enter_wal(cursor: object) -> None:
    # Once in a file's life this changes the file, and SQLite does not always wait for others then: of 200 new files that
    # six connections opened at once, 15 opens failed with "database is locked".
    assert isinstance(cursor, sqlite3.Cursor)  # noqa: S101 - narrows the type
    deadline = time.monotonic() + _BUSY_SECONDS
    while True:
        try:
            cursor.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)
        else:
            return


def _begin_sqlite(connection: Connection) -> None:
    reads = connection.get_execution_options().get("podium_reads", False)
    connection.exec_driver_sql("BEGIN" if reads else "BEGIN IMMEDIATE")
