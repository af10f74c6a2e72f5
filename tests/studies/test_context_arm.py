"""The arm ``context`` over a real provider's API: the worker may write five times as much, and budgets know it."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from podium.pools.open import open_pool
from podium.studies.arms import ROOM, make_arm
from podium.types import Call, ResponseOptions, Sampling
from podium.workers.budget import Budget


async def test_it_may_write_five_times_as_much_and_a_client_never_more_than_the_worker(tmp_path: Path) -> None:
    told: list[int] = []
    reserved: list[float] = []
    budget = Budget(usd=1)

    async def answer(request: web.Request) -> web.Response:
        body: dict[str, Any] = await request.json()
        told.append(body["max_tokens"])
        reserved.append(budget.reserved_usd)
        choice = {"index": 0, "message": {"role": "assistant", "content": "42"}, "finish_reason": "stop"}
        return web.json_response({"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]})

    app = web.Application()
    app.router.add_post("/v1/chat/completions", answer)
    async with TestServer(app) as server:
        pool = tmp_path / "pool.toml"
        pool.write_text(
            f'[[worker]]\nname = "small"\nmodel = "openai:m"\nbase_url = "{server.make_url("/v1")}"\nmax_tokens = 100\n'
            "prompt_usd_per_million = 0\ncompletion_usd_per_million = 10\n"
        )
        async with open_pool(pool, budget=budget, run="x") as opened:
            greedy = replace(Call.plain("?"), response_options=ResponseOptions(sampling=Sampling(max_tokens=9000)))
            for name, call in (("worker:small", Call.plain("?")), ("context:small", Call.plain("?")), ("worker:small", greedy)):
                await make_arm(name, opened)(call)
    assert told == [100, ROOM * 100, 100]
    assert reserved == pytest.approx([0.001, ROOM * 0.001, 0.001])
