"""A PostgreSQL that takes reads and refuses writes, as a server does that has lost its place to another one."""

import asyncio
import os
from functools import partial
from itertools import count

import psycopg
import pytest
from sqlalchemy import select

from podium.errors import StoreUnavailable
from podium.serving import accounts as books
from podium.serving.accounts import Accounts
from podium.serving.store.database import Database
from podium.serving.store.patience import patiently
from podium.serving.store.tables import leases
from podium.types import Usage

NAMES = count()


class Failover:
    """A database whose writes can be refused."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._name = f"failover_{os.getpid()}_{next(NAMES)}"
        self._do("CREATE DATABASE {}")

    @property
    def url(self) -> str:
        return f"postgresql://podium@/{self._name}?host={self._folder}"

    def refuses(self, *, writes: bool) -> None:
        """Where writes are refused, connections that are open end, and new ones only read, for as long as they are open."""
        self._do("ALTER DATABASE {} SET default_transaction_read_only = " + ("on" if writes else "off"))
        if not writes:
            return
        with psycopg.connect(host=self._folder, user="podium", dbname="postgres", autocommit=True) as connection:
            connection.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", (self._name,))

    def _do(self, statement: str) -> None:
        with psycopg.connect(host=self._folder, user="podium", dbname="postgres", autocommit=True) as connection:
            connection.execute(psycopg.sql.SQL(statement).format(psycopg.sql.Identifier(self._name)))


async def test_writes_that_are_refused_are_made_when_they_can_be_and_the_replica_stays_alive(
    postgresql_server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(books, "BEAT_SECONDS", 0.05)
    place = Failover(postgresql_server)
    async with Database(place.url) as database:
        accounts = Accounts(database=database, replica="r", with_keys=True, store_content=True, request_usd=1.0)
        async with accounts.open():
            key, _ = await accounts.keys.create("ann", monthly_usd=5.0)
            admission = await accounts.admit(key, usd=1.0, seconds=None, tokens=10)
            assert admission.lease is not None
            admission.budget.charge(Usage(prompt_tokens=1, completion_tokens=1, cost_usd=0.25))
            place.refuses(writes=True)
            with pytest.raises(StoreUnavailable):
                await accounts.quotas.beat()
            closing = asyncio.ensure_future(accounts.close(admission))
            await asyncio.sleep(0.3)  # several beats, all refused
            assert not closing.done()
            place.refuses(writes=False)
            await closing
            # A heartbeat's connection that was opened meanwhile still refuses, once: asked again, as a client is told to.
            other = await patiently(partial(accounts.admit, key, usd=1.0, seconds=None, tokens=10))
            newest = select(leases.c.beat_us)
            begun = await database.read(lambda connection: connection.execute(newest).scalar_one())
            async with asyncio.timeout(30):  # the replica still says that it is alive
                while await database.read(lambda connection: connection.execute(newest).scalar_one()) == begun:  # noqa: ASYNC110
                    await asyncio.sleep(0.02)
            await accounts.close(other)
            assert (await accounts.quotas.spent())[key.id].spent_usd == 0.25
