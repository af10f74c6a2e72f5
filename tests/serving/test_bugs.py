"""A run that ends with a bug is in the books like any other: it was paid for."""

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import Any

import openai
import pytest

from podium.errors import WorkerUnavailable
from podium.request_options import RequestOptions
from podium.serving.asking import ChoiceDone, conducted, failed
from podium.serving.conversation import ParsedRequest
from podium.serving.paused_step import Paused, Resumed
from podium.serving.store.clock import utc_now
from podium.types import Call, Completion
from tests.serving.live import TWO_STEPS, Live, Puppet, catalog_of, live, said, until
from tests.serving.test_access import a_key
from tests.serving.test_chat_api import client
from tests.serving.test_tenants import books
from tests.serving.test_tools import QUESTION, TOOLS, ToolUser, answered, told


def broken(call: Call) -> str:
    raise ZeroDivisionError("nobody thought of this")


async def stored(server: Live, count: int) -> list[Any]:
    async with asyncio.timeout(5):
        while len(runs := await server.accounts.runs.search(key=None)) < count:  # noqa: ASYNC110 - nothing announces it
            await asyncio.sleep(0.02)
    return runs


@pytest.mark.parametrize(("api", "n"), [("chat", 1), ("chat", 3), ("responses", 1)])
@pytest.mark.parametrize("stream", [False, True])
async def test_a_bug_of_a_worker(tmp_path: Path, stream: bool, api: str, n: int) -> None:
    catalog = catalog_of(said(TWO_STEPS), said("Plan."), Puppet(broken))
    async with live(catalog, tmp_path, with_keys=True) as server:
        secret = await a_key(server, "ann", monthly_usd=9.0)
        async with client(server, secret) as ai:
            with pytest.raises(openai.APIError, match="a bug") as caught:
                await all_of(ai, api, stream, n)
        assert caught.value.code == "internal_error"
        [run] = await stored(server, 1)
        assert run.failure == "ZeroDivisionError"
        spent = await books(server, secret)
        assert spent.spent_usd == pytest.approx(run.usage.cost_usd)
        assert spent.spent_usd >= 0.002, "the conductor and the planner were paid"
        await until(lambda: server.service.gate.inside == server.service.gate.waiting == 0)


async def all_of(ai: openai.AsyncOpenAI, api: str, stream: bool, n: int, **more: Any) -> None:
    if api == "chat":
        asked = {"messages": QUESTION, "n": n, **more}
        answer: Any = await ai.chat.completions.create(model="podium", stream=stream, **asked)
    else:
        answer = await ai.responses.create(model="podium", input=QUESTION, stream=stream)
    async for _ in answer:
        pass


@pytest.mark.parametrize("stream", [False, True])
async def test_a_step_that_met_a_bug_waits_again(tmp_path: Path, stream: bool) -> None:
    tries = []

    def first_time_breaks(call: Call) -> str:
        tries.append(call)
        return broken(call) if len(tries) == 1 else told(call)

    planner = said("Look.")
    async with live(catalog_of(said(TWO_STEPS), planner, ToolUser(first_time_breaks)), tmp_path) as server, client(server) as ai:
        first = await ai.chat.completions.create(model="podium", messages=QUESTION, tools=TOOLS)
        messages = answered(first.choices[0].message.model_dump(exclude_none=True, include={"role", "tool_calls"}), "noon")
        with pytest.raises(openai.APIError, match="a bug"):
            await all_of(ai, "chat", stream, 1, messages=messages, tools=TOOLS)
        await stored(server, 2)
        second = await ai.chat.completions.create(model="podium", messages=messages, tools=TOOLS)
        assert second.choices[0].message.content == "It is noon, planned: ['Look.']"
        assert len(planner.calls) == 1


async def test_whoever_works_at_the_desk_and_is_cancelled_or_breaks_leaves_a_run(tmp_path: Path) -> None:
    """Pages and the tool server too: what they do is not theirs to remember."""
    planner = Puppet(lambda call: "Plan.", seconds=30.0)
    catalog = catalog_of(said(TWO_STEPS), planner, said("x"))
    async with live(catalog, tmp_path) as server:

        async def work() -> None:
            asked = ParsedRequest(model="podium", call=Call.plain("6 times 7?"), options=RequestOptions())
            async with server.service.admitted(None, asked) as active:
                await conducted(active.conductors, active.call)

        working = asyncio.create_task(work())
        await until(lambda: planner.under_way == 1)
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)
        [run] = await server.accounts.runs.search(key=None)
        assert run.failure == "Cancelled"
        assert run.usage.cost_usd == pytest.approx(0.001)


async def test_a_step_whose_request_fails_waits_on_and_one_that_went_on_is_forgotten(tmp_path: Path) -> None:
    catalog = catalog_of(said(TWO_STEPS), said("Plan."), said("x"))
    async with live(catalog, tmp_path) as server:
        paused = server.accounts.paused
        await paused.keep(("call_1",), "", "a step", utc_now() + timedelta(minutes=1))
        asked = ParsedRequest(model="w2", call=Call.plain("6 times 7?"), options=RequestOptions())
        answered = ChoiceDone(choice=0, completion=Completion(text="42"))
        for done, left in ((failed(0, WorkerUnavailable("gone")), "a step"), (answered, None)):
            async with server.service.admitted(None, asked) as active:
                waits = Paused(model="w2", options=asked.options, question="", worker="w2", tool_calls=("call_1",), steps=())
                active.resumed = Resumed(worker="w2", call=asked.call, ids=("call_1",), kept=waits, results="", demanded="")
                finishing = asyncio.create_task(server.service.finish(active, [done]))
                await asyncio.sleep(0)
                finishing.cancel()  # its client leaves meanwhile
                await asyncio.gather(finishing, return_exceptions=True)
            await stored(server, 1 if left else 2)
            assert await paused.get(("call_1",), "") == left
