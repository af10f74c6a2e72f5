"""The tables of a journal's file: made new, checked, and brought up to date from an older version.

A file of version 1 knows the dollars that a call may cost at most, but not the tokens. It is brought up to date in place when
it is opened for writing; one that is only read is left as it is. The tokens of its calls without a reply stay unknown, which is
not 0, and so do those that an older Podium adds to the same file meanwhile, because it does not name the new columns.
"""

import sqlite3
from pathlib import Path

from podium.errors import ConfigError

APPLICATION_ID = 0x506F6431
"""In the header of every journal ("Pod1"): tells it from any other SQLite file."""

SCHEMA_VERSION = 2

SCHEMA = (
    """CREATE TABLE calls (
        key TEXT PRIMARY KEY, worker TEXT NOT NULL, run TEXT NOT NULL,
        owner TEXT NOT NULL, ticket INTEGER NOT NULL, bound_usd REAL, claimed_at REAL NOT NULL,
        completion TEXT, prompt_tokens INTEGER, completion_tokens INTEGER, cost_usd REAL, bound_tokens INTEGER)""",
    """CREATE TABLE counts (
        run TEXT NOT NULL, worker TEXT NOT NULL, replays INTEGER NOT NULL, failures INTEGER NOT NULL,
        unsettled INTEGER NOT NULL, unbounded INTEGER NOT NULL, uncertain_usd REAL NOT NULL,
        token_bounded INTEGER NOT NULL DEFAULT 0, uncertain_tokens INTEGER NOT NULL DEFAULT 0,
        PRIMARY KEY (run, worker))""",
)
"""``unbounded`` of the ``unsettled`` calls have no bound in dollars; ``token_bounded`` of them have one in tokens."""

FROM_1 = (
    "ALTER TABLE calls ADD COLUMN bound_tokens INTEGER",
    "ALTER TABLE counts ADD COLUMN token_bounded INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE counts ADD COLUMN uncertain_tokens INTEGER NOT NULL DEFAULT 0",
)
FROM_1_TO_READ = (
    "CREATE TEMP VIEW calls AS SELECT *, NULL AS bound_tokens FROM main.calls",
    "CREATE TEMP VIEW counts AS SELECT *, 0 AS token_bounded, 0 AS uncertain_tokens FROM main.counts",
)


def prepare(database: sqlite3.Connection, path: Path, *, may_write: bool) -> None:
    """Make the empty file at ``path`` a journal, or an older journal a current one; without ``may_write`` only look.

    Raises :class:`ConfigError` for a file that is no journal, or one of a version that is not known here.
    """
    application, version = _number(database, "PRAGMA application_id"), _number(database, "PRAGMA user_version")
    if may_write and application == 0 and _number(database, "SELECT COUNT(*) FROM sqlite_master") == 0:
        database.execute("PRAGMA journal_mode = WAL")
        _change(database, (*SCHEMA, f"PRAGMA application_id = {APPLICATION_ID}"))
    elif application != APPLICATION_ID:
        raise ConfigError(f"{path} is not a Podium journal; name another path, or move that file away")
    elif version == 1 and may_write:
        _change(database, FROM_1)
    elif version == 1:
        for statement in FROM_1_TO_READ:
            database.execute(statement)
    elif version != SCHEMA_VERSION:
        raise ConfigError(
            f"the journal {path} has schema version {version}, this Podium reads version {SCHEMA_VERSION}; "
            "open it with the Podium that wrote it, or name another path"
        )


def _change(database: sqlite3.Connection, statements: tuple[str, ...]) -> None:
    """All or nothing: whoever is killed on the way leaves the file as it was."""
    database.execute("BEGIN IMMEDIATE")
    for statement in statements:
        database.execute(statement)
    database.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
    database.execute("COMMIT")


def _number(database: sqlite3.Connection, question: str) -> int:
    (number,) = database.execute(question).fetchone()
    return int(number)
