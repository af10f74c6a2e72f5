"""What a session has cost, where a client leaves and its call goes on for another request: counted once."""

import asyncio
from pathlib import Path

import pytest

from podium.request_options import RequestOptions
from podium.serving.conversation import ParsedRequest
from podium.serving.wire import ClientLeft
from podium.types import Call, Card
from podium.workers.metered import Metered
from tests.serving.live import TWO_STEPS, Puppet, catalog_of, live, said, until


async def test_a_call_that_outlives_its_request_is_not_counted_twice(tmp_path: Path) -> None:
    puppet = Puppet(lambda call: "42", seconds=0.3)
    catalog = catalog_of(said(TWO_STEPS), puppet)
    worker = Metered(puppet, Card(name="w1", prompt_usd=1e-6, completion_usd=1e-5), 100, [])
    parsed = ParsedRequest(model="w1", call=Call.plain("?"), options=RequestOptions(session_usd=1.0))
    async with live(catalog, tmp_path) as server:
        with pytest.raises(ClientLeft):  # noqa: PT012 - the block is what the client leaves
            async with server.service.admitted(None, parsed, {"x-podium-session": "s"}) as active:
                shared = asyncio.create_task(worker(Call.plain("?")))  # as where an equal request has joined the call
                await until(lambda: puppet.under_way == 1)
                assert active.session is not None
                session, at_most = active.session.id, active.session.costs_usd
                raise ClientLeft
        await shared
        _, spent = await server.accounts.sessions.get(session)
        assert at_most is not None
        assert spent == pytest.approx(at_most), "the most that it could cost, and not what it did cost besides"
