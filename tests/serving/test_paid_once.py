"""What was paid for is written down once, also where the database goes away after the call or a lease is closed meanwhile."""

import asyncio
import contextlib
import os
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
from aiohttp import web

from podium.errors import StoreUnavailable
from podium.pools.models import PoolCatalog
from podium.pools.open import open_pool
from podium.serving.store import patience
from podium.serving.store.patience import patiently
from podium.types import Call
from podium.workers.budget import Budget
from tests.serving.live import TWO_STEPS, catalog_of, live, said
from tests.serving.test_access import a_key
from tests.serving.test_chat_api import ASKED

NAMES = count()


class DatabaseProxy:
    """A socket before PostgreSQL's own that can be shut: then its clients find the database away."""

    def __init__(self, behind: str, folder: str) -> None:
        self._behind = f"{behind}/.s.PGSQL.5432"
        self._path = f"{folder}/.s.PGSQL.5432"
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.StreamWriter] = set()

    async def open(self) -> None:
        self._server = await asyncio.start_unix_server(self._through, self._path)

    async def shut(self) -> None:
        assert self._server is not None
        self._server.close()
        Path(self._path).unlink(missing_ok=True)
        for writer in list(self._open):
            writer.transport.abort()

    async def _through(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        theirs, ours = await asyncio.open_unix_connection(self._behind)
        self._open |= {writer, ours}

        async def copy(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
            with contextlib.suppress(OSError):
                while piece := await source.read(65536):
                    target.write(piece)
                    await target.drain()
            target.close()

        await asyncio.gather(copy(reader, ours), copy(theirs, writer))
        self._open -= {writer, ours}


@asynccontextmanager
async def proxied_database(postgresql_server: str) -> AsyncIterator[tuple[DatabaseProxy, str]]:
    """A proxy that is open, and the URL of an empty database behind it."""
    name = f"paid_{os.getpid()}_{next(NAMES)}"
    with psycopg.connect(host=postgresql_server, user="podium", dbname="postgres", autocommit=True) as connection:
        connection.execute(psycopg.sql.SQL("CREATE DATABASE {}").format(psycopg.sql.Identifier(name)))
    with tempfile.TemporaryDirectory(prefix="podium-proxy-", dir="/tmp") as folder:
        before = DatabaseProxy(postgresql_server, folder)
        await before.open()
        try:
            yield before, f"postgresql://podium@/{name}?host={folder}"
        finally:
            await before.shut()


async def asked(url: str, secret: str) -> httpx.Response:
    async with httpx.AsyncClient(timeout=60, headers={"Authorization": f"Bearer {secret}"}) as http:
        return await http.post(f"{url}/v1/chat/completions", json={"model": "podium", "messages": ASKED})


@pytest.mark.parametrize("which", [0, 1, 2])
async def test_a_database_that_is_away_after_a_call_costs_nobody_their_answer(
    postgresql_server: str, tmp_path: Path, which: int
) -> None:
    """It goes away while the call number ``which`` is under way and comes back 1.5 seconds later."""
    async with proxied_database(postgresql_server) as (database, url):
        workers = [said(TWO_STEPS), said("Plan."), said("42")]
        speak = workers[which].says
        closed: list[asyncio.Task[None]] = []

        async def away() -> None:
            await database.shut()
            await asyncio.sleep(1.5)
            await database.open()

        def says(call: Call) -> str:
            if not closed:
                closed.append(asyncio.create_task(away()))
            return speak(call)

        workers[which].says = says
        workers[which].seconds = 0.05
        async with live(catalog_of(*workers), tmp_path, with_keys=True, url=url) as server:
            secret = await a_key(server, "ann", monthly_usd=5.0)
            reply = await asked(server.url, secret)
            assert (reply.status_code, reply.json()["choices"][0]["message"]["content"]) == (200, "42")
            await closed[0]
            (spent,) = (await server.accounts.quotas.spent()).values()
            kept = await server.accounts.runs.search(key=None)
        assert [len(worker.calls) for worker in workers] == [1, 1, 1]
        assert spent.spent_usd == pytest.approx(0.003)
        assert (spent.uncertain_usd, spent.open_usd) == (0, 0)
        assert len(kept) == 1


async def test_a_database_that_is_away_for_long_is_told_when_it_is_back(
    postgresql_server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("podium.serving.accounts.BEAT_SECONDS", 0.2)
    async with (
        proxied_database(postgresql_server) as (database, url),
        live(catalog_of(said("?")), tmp_path, with_keys=True, url=url) as server,
    ):
        await a_key(server, "ann", monthly_usd=5.0)
        [key] = await server.accounts.keys.list()
        admission = await server.accounts.admit(key, usd=0.5, seconds=None, tokens=1)
        reservation = admission.budget.reserve(0.2, 10)
        admission.budget.release(reservation, uncertain=True)
        monkeypatch.setattr(patience.patiently, "__defaults__", (0.3,))
        await database.shut()
        await server.accounts.close(admission)
        await database.open()
        async with asyncio.timeout(20):
            while True:
                spent = (await server.accounts.quotas.spent()).get(key.id)
                if spent is not None and not spent.open_usd:
                    break
                await asyncio.sleep(0.05)
    assert spent.spent_usd == 0
    assert spent.uncertain_usd == pytest.approx(0.2)


async def test_a_lease_that_is_closed_during_the_last_call_costs_nobody_their_answer(tmp_path: Path) -> None:
    solver = said("42")
    async with live(catalog_of(said(TWO_STEPS), said("Plan."), solver), tmp_path, with_keys=True) as server:
        reaped: list[asyncio.Task[int]] = []

        def says(call: Call) -> str:
            reaped.append(asyncio.create_task(server.accounts.quotas.reap(-3600)))
            return "42"

        solver.says, solver.seconds = says, 0.5
        secret = await a_key(server, "ann", monthly_usd=5.0)
        reply = await asked(server.url, secret)
        assert await reaped[0] == 1
        assert (reply.status_code, reply.json()["choices"][0]["message"]["content"]) == (200, "42")
        (spent,) = (await server.accounts.quotas.spent()).values()
    assert spent.spent_usd == pytest.approx(0.003)
    assert (spent.uncertain_usd, spent.open_usd) == (0, 0)


async def test_patience_ends() -> None:
    tried = 0

    async def away() -> None:
        nonlocal tried
        tried += 1
        raise StoreUnavailable("away")

    with pytest.raises(StoreUnavailable):
        await patiently(away, seconds=0.2)
    assert tried > 1


@pytest.mark.filterwarnings("ignore:Failed to extract usage")
@pytest.mark.parametrize("tokens", [10**15, -5, 1e15, float("nan"), "many", None, [1]])
async def test_absurd_usage_is_booked_at_the_bound_and_the_lease_is_closed(tmp_path: Path, tokens: Any) -> None:
    """A provider's report that can not be true: the answer, or a bad reply of the world's; never a bug, never free."""

    async def answer(request: web.Request) -> web.Response:
        usage = {"prompt_tokens": tokens, "completion_tokens": 2, "total_tokens": tokens}
        message = {"role": "assistant", "content": "42"}
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        body = {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}
        return web.json_response(body)

    app = web.Application()
    app.router.add_post("/v1/chat/completions", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    pool = tmp_path / "pool.toml"
    pool.write_text(
        f'[[worker]]\nname = "w"\nmodel = "openai:m"\nbase_url = "http://127.0.0.1:{runner.addresses[0][1]}/v1"\nretries = 0\n'
        "max_tokens = 100\nprompt_usd_per_million = 10\ncompletion_usd_per_million = 10\n"
    )
    async with (
        open_pool(pool, budget=Budget(), journal=tmp_path / "calls.db", run="serve") as opened,
        live(PoolCatalog(opened, "solo:w"), tmp_path, with_keys=True) as server,
    ):
        reply = await asked(server.url, await a_key(server, "ann", monthly_usd=5.0))
        (spent,) = (await server.accounts.quotas.spent()).values()
    await runner.cleanup()
    assert reply.status_code in (200, 503), reply.text
    assert spent.open_usd == 0
    assert 0.001 < spent.spent_usd + spent.uncertain_usd < 0.01
