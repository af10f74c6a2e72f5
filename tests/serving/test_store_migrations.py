"""A database that an older Podium made becomes today's, and what was in it stays."""

import json
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa
from alembic import command
from alembic.config import Config

from podium.serving.store import database as database_module
from podium.serving.store.address import read_address
from podium.serving.store.corrections import Corrections
from podium.serving.store.database import Database
from podium.serving.store.keys import Keys, _hash
from podium.serving.store.quotas import Quotas
from podium.serving.store.runs import Runs, Sums
from tests.serving.schema import differences

NOW = datetime(2026, 2, 14, 12, 0, 1, tzinfo=UTC)
SECRET = "pod_old"  # noqa: S105 - nobody's
KEY: dict[str, Any] = {
    "id": "key_1",
    "name": "web",
    "hash": _hash(SECRET),
    "scopes": "ask",
    "monthly_nano": 2_000_000_000,
    "requests_per_minute": None,
    "tokens_per_minute": None,
    "store_content": False,
    "created_us": 1,
    "revoked_us": None,
}


def as_it_was(url: str, revision: str) -> None:
    """A database at ``revision``, with a key that has spent and uncertain money."""
    engine = sa.create_engine(read_address(url, must_exist=False))
    with engine.begin() as connection:
        config = Config(attributes={"connection": connection})
        config.set_main_option("script_location", str(database_module._MIGRATIONS))
        command.upgrade(config, revision)
        keys = sa.table("keys", *(sa.column(name) for name in KEY))  # as it was, not as the code has it now
        connection.execute(sa.insert(keys).values(KEY))
        connection.execute(sa.text("INSERT INTO months VALUES ('key_1', 202602, 1000000000, 600000000, 0)"))
    engine.dispose()


async def test_from_the_first_version(url: str) -> None:
    as_it_was(url, "0001")
    async with Database(url) as database:
        assert await database.read(differences) == []
        keys = Keys(database)
        key = await keys.find(SECRET)
        assert (key.name, key.monthly_usd, key.store_content, key.concurrency) == ("web", 2.0, False, None)
        assert (await keys.change("web", concurrency=2)).concurrency == 2
        quotas = Quotas(database, "one", now=lambda: NOW)
        made, _ = await Corrections(database, now=lambda: NOW).make("key_1", usd=None, was_spent=False, reason="bill", by="ann")
        assert made is not None
        assert made.usd == 0.6
        await quotas.admit(key, 1.0, 0)
        spent = (await quotas.spent())["key_1"]
        assert (spent.spent_usd, spent.uncertain_usd, spent.open_usd, spent.freed_usd) == (1.0, 0.0, 1.0, 0.6)


def a_run(number: int, **changes: Any) -> dict[str, Any]:
    """A row of the table of runs at revision 0003, as Podium wrote it then."""
    record = {
        "id": f"run_{number:024x}",
        "model": "calc",
        "created": "2026-02-14T12:00:00Z",
        "seconds": 1.5,
        "usage": {"prompt_tokens": 7, "completion_tokens": 2, "cost_usd": 0.25},
        "steps": 1,
        "workers": ["calc"],
        "question": "Why is the sky blue?",
        **changes,
    }
    row = {"id": record["id"], "key": "key_1", "model": record["model"], "failure": "", "created_us": number, "day": 20498}
    texts = {"searched": "why is the sky blue?\n", "record": json.dumps(record), "transcripts": ""}
    return row | texts | {"cost_nano": 250_000_000, "session": "s"}


async def test_runs_are_carried_over(url: str) -> None:
    as_it_was(url, "0003")
    engine = sa.create_engine(read_address(url, must_exist=True))
    rows = [a_run(number) for number in range(450)] + [a_run(450, model="podium", workers=["calc", "calc", "x" * 999 + "\0"])]
    with engine.begin() as connection:
        before = sa.table("runs", *(sa.column(name) for name in rows[0]))
        connection.execute(sa.insert(before), rows)
    engine.dispose()
    async with Database(url) as database:
        runs = Runs(database)
        assert await runs.sums(key="key_1") == Sums(runs=451, usd=112.75, unpriced=0, tokens=451 * 9, seconds=676.5)
        assert len(await runs.search(key=None, text="SKY IS", limit=999)) == 0
        found = await runs.search(key=None, text="SKY", limit=999, session="s")
        assert [int(run.id[-6:], 16) for run in found] == list(range(450, -1, -1))
        used = await runs.sums_by("worker", key=None)
        assert (used["calc"].runs, used["calc"].usd, used["calc"].unpriced) == (451, 112.5, 1)
        assert [(name[:3], sums.unpriced) for name, sums in used.items()][1:] == [("xxx", 1)]
