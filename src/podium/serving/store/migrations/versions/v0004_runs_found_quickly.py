"""What runs are found, sorted and summed by stands in small rows; their texts stand beside, with an index where there is one."""

import json
from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.exc import DBAPIError

revision = "0004"
down_revision = "0003"

_AT_ONCE = 200
_NAME = 200
_KEPT = ("id", "key", "model", "failure", "created_us", "day", "cost_nano", "session")

_TEXT_INDEX = {
    "sqlite": (
        "CREATE VIRTUAL TABLE run_words USING fts5(searched, content='run_texts', content_rowid='number', "
        "tokenize='trigram case_sensitive 1')",
        "CREATE TRIGGER run_texts_added AFTER INSERT ON run_texts BEGIN "
        "INSERT INTO run_words(rowid, searched) VALUES (new.number, new.searched); END",
        "CREATE TRIGGER run_texts_gone AFTER DELETE ON run_texts BEGIN "
        "INSERT INTO run_words(run_words, rowid, searched) VALUES ('delete', old.number, old.searched); END",
    ),
    "postgresql": (
        "CREATE EXTENSION IF NOT EXISTS pg_trgm",
        "CREATE INDEX run_texts_words ON run_texts USING gin (searched gin_trgm_ops)",
    ),
}


def upgrade() -> None:
    """Take the table of runs apart and carry every run over."""
    for name in ("runs_created", "runs_key_created", "runs_session"):
        op.drop_index(name, "runs")
    op.rename_table("runs", "runs_before")
    connection = op.get_bind()
    if connection.dialect.name == "postgresql":
        op.execute("ALTER INDEX runs_pkey RENAME TO runs_before_pkey")
    runs = op.create_table(
        "runs",
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column("key", sa.String(64), nullable=False),
        sa.Column("model", sa.Text, nullable=False),
        sa.Column("policy", sa.Text, nullable=False),
        sa.Column("failure", sa.String(64), nullable=False),
        sa.Column("created_us", sa.BigInteger, nullable=False),
        sa.Column("day", sa.Integer, nullable=False),
        sa.Column("took_us", sa.BigInteger, nullable=False),
        sa.Column("tokens", sa.BigInteger, nullable=False),
        sa.Column("steps", sa.Integer, nullable=False),
        sa.Column("cost_nano", sa.BigInteger),
        sa.Column("session", sa.String(64), nullable=False, server_default=""),
    )
    op.create_table(
        "run_texts",
        sa.Column("number", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True, autoincrement=True),
        sa.Column("id", sa.String(64), nullable=False, unique=True),
        sa.Column("searched", sa.Text, nullable=False),
        sa.Column("record", sa.Text, nullable=False),
        sa.Column("transcripts", sa.Text, nullable=False),
    )
    workers = op.create_table(
        "run_workers",
        sa.Column("run", sa.String(64), primary_key=True),
        sa.Column("worker", sa.String(200), primary_key=True),
        sa.Column("tokens", sa.BigInteger, nullable=False),
        sa.Column("cost_nano", sa.BigInteger),
    )
    _index_texts(connection)
    op.execute(
        "INSERT INTO run_texts (id, searched, record, transcripts) "
        "SELECT id, searched, record, transcripts FROM runs_before ORDER BY created_us, id"
    )
    last = ""
    while rows := _next(connection, last):
        connection.execute(sa.insert(runs), [_found_by(row) for row in rows])
        used = [each for row in rows for each in _used(row)]
        if used:
            connection.execute(sa.insert(workers), used)
        last = rows[-1]["id"]
    op.drop_table("runs_before")
    op.create_index("runs_created", "runs", ["created_us"])
    op.create_index("runs_key_created", "runs", ["key", "created_us"])
    op.create_index("runs_session", "runs", ["session", "created_us"])
    op.create_index("run_workers_worker", "run_workers", ["worker"])


def _index_texts(connection: sa.Connection) -> None:
    """An old SQLite has no trigrams, and a PostgreSQL's owner may forbid extensions: then every text is looked at."""
    try:
        with connection.begin_nested():
            for statement in _TEXT_INDEX[connection.dialect.name]:
                connection.exec_driver_sql(statement)
    except DBAPIError:
        return


def _next(connection: sa.Connection, last: str) -> list[Any]:
    query = sa.text(f"SELECT {', '.join(_KEPT)}, record FROM runs_before WHERE id > :last ORDER BY id LIMIT :most")  # noqa: S608
    return list(connection.execute(query, {"last": last, "most": _AT_ONCE}).mappings())


def _found_by(row: Any) -> dict[str, Any]:
    record = json.loads(row["record"])
    usage = record["usage"]
    return {name: row[name] for name in _KEPT} | {
        "policy": "",
        "took_us": round(record["seconds"] * 1e6),
        "tokens": usage.get("prompt_tokens", 0) + usage.get("completion_tokens", 0),
        "steps": record.get("steps", 0),
    }


def _used(row: Any) -> list[dict[str, Any]]:
    """The workers of a run. What each of several used was not written down then: unknown, not nothing."""
    names = list(dict.fromkeys(_plain(name)[:_NAME] for name in json.loads(row["record"]).get("workers", ())))
    alone = len(names) == 1 and row["model"] == names[0]
    tokens = _found_by(row)["tokens"] if alone else 0
    return [
        {"run": row["id"], "worker": name, "tokens": tokens, "cost_nano": row["cost_nano"] if alone else None} for name in names
    ]


def _plain(name: str) -> str:
    # PostgreSQL takes neither NUL nor half a surrogate pair.
    return "".join(character for character in name if character.isprintable())
