"""A database that an older Podium made becomes today's, and what was in it stays."""

from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.runtime.migration import MigrationContext

from podium.serving.store import database as database_module
from podium.serving.store.address import read_address
from podium.serving.store.corrections import Corrections
from podium.serving.store.database import Database
from podium.serving.store.keys import Keys, _hash
from podium.serving.store.quotas import Quotas
from podium.serving.store.tables import metadata

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
        assert await database.read(lambda c: compare_metadata(MigrationContext.configure(c), metadata)) == []
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
