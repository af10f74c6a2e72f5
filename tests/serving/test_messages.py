"""Anthropic's Messages API, asked by Anthropic's own client over a socket."""

import base64
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anthropic
import httpx
import pytest
from aiohttp import web
from anthropic import AsyncAnthropic
from anthropic.types import Message as TheirMessage

from podium.errors import WorkerUnavailable
from podium.pools.models import PoolCatalog
from podium.pools.open import open_pool
from podium.pools.opened import OpenPool
from podium.types import Card
from podium.workers.budget import Budget
from podium.workers.pool import Member, WorkerPool
from tests.serving.agents import PARAMETERS, Provider, agency
from tests.serving.live import TWO_STEPS, Live, Puppet, catalog_of, live, said
from tests.serving.test_tool_loops import BEFORE, PLANNED, QUESTION, planned, seen, turns
from tests.workers.test_chat import reply, serve

ASKED: Any = [{"role": "user", "content": QUESTION}]
TOOLS: Any = [{"name": "look", "description": "Looks.", "input_schema": PARAMETERS}]
PIXEL = base64.b64encode(b"\x89PNG\r\n\x1a\n pretend").decode()


@asynccontextmanager
async def claude(server: Live, key: str = "none", **more: Any) -> AsyncIterator[AsyncAnthropic]:
    async with AsyncAnthropic(base_url=server.url, api_key=key, max_retries=0, **more) as ai:
        yield ai


@asynccontextmanager
async def over(folder: Path) -> AsyncIterator[Live]:
    """A server over the one worker, ``w``, of the pool file in ``folder``."""
    async with (
        open_pool(folder / "pool.toml", budget=Budget(None, None, None), journal=None, run="test") as pool,
        live(PoolCatalog(pool, "solo:w"), folder) as server,
    ):
        yield server


def plain(*workers: Puppet) -> PoolCatalog:
    return catalog_of(said(TWO_STEPS), *(workers or (said("Plan."), said("The answer is 42."))))


async def answer(ai: AsyncAnthropic, stream: bool, **body: Any) -> TheirMessage:
    body = {"model": "podium", "max_tokens": 100, "messages": ASKED, **body}
    if not stream:
        whole: TheirMessage = await ai.messages.create(**body)
        return whole
    async with ai.messages.stream(**body) as streamed:
        return await streamed.get_final_message()


def texts(message: TheirMessage) -> list[str]:
    return [block.text for block in message.content if block.type == "text"]


@pytest.mark.parametrize("stream", [False, True])
async def test_messages_whole_and_streamed(tmp_path: Path, stream: bool) -> None:
    async with live(plain(), tmp_path) as server, claude(server) as ai:
        message = await answer(ai, stream, system="Be brief.")
        assert [block.type for block in message.content] == ["text"], "the first block is the answer for those who asked so"
        assert texts(message) == ["The answer is 42."]
        assert (message.stop_reason, message.stop_sequence, message.role, message.model) == (
            "end_turn",
            None,
            "assistant",
            "podium",
        )
        assert (message.usage.input_tokens, message.usage.output_tokens) == (10, 4)
        assert message.id.startswith("msg_")
        run = await server.accounts.runs.get(f"run_{message.id.removeprefix('msg_')}", key=None)
        assert run is not None
        assert (run.question, run.answer, run.workers) == (QUESTION, "The answer is 42.", ("w1", "w2"))


async def test_events_come_in_the_order_that_the_client_was_written_for(tmp_path: Path) -> None:
    async with live(plain(), tmp_path) as server, claude(server) as ai:
        thinking: Any = {"type": "enabled", "budget_tokens": 2000}
        stream = await ai.messages.create(model="podium", max_tokens=100, messages=ASKED, thinking=thinking, stream=True)
        kinds = [(event.type, getattr(event, "index", None)) async for event in stream]
        compact = [kind for number, kind in enumerate(kinds) if number == 0 or kinds[number - 1] != kind]
        assert compact == [
            ("message_start", None),
            *[(f"content_block_{what}", 0) for what in ("start", "delta", "stop")],
            *[(f"content_block_{what}", 1) for what in ("start", "delta", "stop")],
            ("message_delta", None),
            ("message_stop", None),
        ]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("display", ["summarized", "omitted"])
async def test_steps_before_the_answer_are_thinking_and_come_back_unread(tmp_path: Path, stream: bool, display: str) -> None:
    solver = said("42")
    async with live(plain(said("Multiply."), solver), tmp_path) as server, claude(server) as ai:
        thinking: Any = {"type": "enabled", "budget_tokens": 2000, "display": display}
        message = await answer(ai, stream, thinking=thinking)
        thoughts = [block for block in message.content if block.type == "thinking"]
        if display == "omitted":
            assert not thoughts
        else:
            assert message.content[0] is thoughts[0]
            assert "step 0, w1: Multiply." in thoughts[0].thinking
            assert "42" not in thoughts[0].thinking
            assert thoughts[0].signature
        assert solver.calls[0].response_options.effort == "low"
        again: Any = [*ASKED, message.to_param(), {"role": "user", "content": "Sure?"}]
        assert texts(await answer(ai, stream, messages=again, model="w2")) == ["42"]
        assert [turn.content for turn in solver.calls[-1].question] == [QUESTION, "42", "Sure?"]


async def claude_agent(ai: AsyncAnthropic, model: str, messages: list[Any], *, stream: bool, most: int = 14) -> str:
    """Ask and run tools until there is an answer."""
    for _ in range(most):
        message = await answer(ai, stream, model=model, messages=messages, tools=TOOLS)
        messages.append(message.to_param())
        calls = [block for block in message.content if block.type == "tool_use"]
        assert (message.stop_reason == "tool_use") == bool(calls)
        if not calls:
            return texts(message)[0]
        results = [
            {"type": "tool_result", "tool_use_id": call.id, "content": f"result {call.input['n']}.{call.input['k']}"}
            for call in calls
        ]
        messages.append({"role": "user", "content": results})
    raise AssertionError(f"no answer after {most} rounds")


@pytest.mark.parametrize(("stream", "at_once"), [(False, 3), (True, 1), (True, 3)])
@pytest.mark.parametrize("model", ["solver", "podium"])
async def test_four_rounds_of_tools(tmp_path: Path, model: str, stream: bool, at_once: int) -> None:
    provider = Provider(rounds=4, at_once=at_once, text="Let me look.")
    async with agency(provider, tmp_path) as catalog, live(catalog, tmp_path) as server, claude(server) as ai:
        messages = list(ASKED)
        assert await claude_agent(ai, model, messages, stream=stream) == seen(4, at_once)
        assert provider.wires == [BEFORE[model] + turns(n, at_once, "Let me look.") for n in range(5)]
        assert planned(provider) == PLANNED[model]
        messages.append({"role": "user", "content": "And in the other one?"})
        assert await claude_agent(ai, model, messages, stream=stream) == seen(4, at_once), "the second time"


async def test_results_beside_words_failures_and_pictures(tmp_path: Path) -> None:
    eyes = said("I see.")
    pool = WorkerPool([Member(worker=eyes, card=Card(name="eyes", sees=True))])
    messages: Any = [
        {"role": "user", "content": [
            {"type": "text", "text": "Look: "},
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}},
            {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}},
            {"type": "document", "title": "note", "source": {"type": "text", "media_type": "text/plain", "data": "Milk."}},
            {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": PIXEL}},
        ]},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "look", "input": {"n": 1}},
                                          {"type": "tool_use", "id": "b", "name": "look", "input": {}}]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "a", "content": "no", "is_error": True},
            {"type": "tool_result", "tool_use_id": "b", "content": [
                {"type": "text", "text": "shot "},
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}}]},
            {"type": "text", "text": "Well?"}]},
    ]  # fmt: skip
    async with live(PoolCatalog(OpenPool(workers=pool), "solo:eyes"), tmp_path) as server, claude(server) as ai:
        assert texts(await answer(ai, False, model="eyes", messages=messages, tools=TOOLS)) == ["I see."]
    asked, called, failed, shot, last = eyes.calls[0].question
    assert [(each.media_type, each.at) for each in asked.attachments[:2]] == [("image/png", 6), ("image/*", 6)]
    assert "<document name='note'>\nMilk.\n</document>" in asked.content
    assert [call.arguments for call in called.tool_calls] == ['{"n": 1}', "{}"]
    assert failed.content == "(the tool failed)\nno"
    assert (shot.content, shot.attachments[0].at) == ("shot ", 5)
    assert (last.role, last.content) == ("user", "Well?")


async def test_stop_sequences(tmp_path: Path) -> None:
    async with live(plain(), tmp_path) as server, claude(server) as ai:
        for stream in (False, True):
            message = await answer(ai, stream, stop_sequences=["is", " 42"])
            assert texts(message) == ["The answer "]
            assert (message.stop_reason, message.stop_sequence) == ("stop_sequence", "is")


async def test_count_tokens_grows_with_what_is_asked_and_asks_nobody(tmp_path: Path) -> None:
    solver = said("42")
    async with live(plain(said("P"), solver), tmp_path) as server, claude(server) as ai:
        few = (await ai.messages.count_tokens(model="podium", messages=ASKED)).input_tokens
        many: Any = [{"role": "user", "content": QUESTION * 100}]
        assert few * 50 < (await ai.messages.count_tokens(model="podium", messages=many, system="x")).input_tokens
        assert few < (await ai.messages.count_tokens(model="podium", messages=ASKED, tools=TOOLS)).input_tokens
        with pytest.raises(anthropic.NotFoundError):
            await ai.messages.count_tokens(model="claude", messages=ASKED)
        assert not solver.calls


@pytest.mark.parametrize(
    ("body", "error", "says"),
    [
        ({"model": "claude"}, anthropic.NotFoundError, "there is no model"),
        ({"messages": []}, anthropic.BadRequestError, "messages"),
        ({"messages": [{"role": "user", "content": ""}]}, anthropic.BadRequestError, "no content"),
        ({"messages": [{"role": "user", "content": [{"type": "blob"}]}]}, anthropic.BadRequestError, "no known type"),
        ({"tools": [{"type": "thing_1", "name": "x"}]}, anthropic.BadRequestError, "no known type"),
        ({"tool_choice": {"type": "tool", "name": "x"}}, anthropic.BadRequestError, "there is no tool 'x'"),
        ({"messages": [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "x"}]}]},
         anthropic.BadRequestError, "result of 'x'"),
        ({"messages": [*ASKED, {"role": "assistant", "content": "The"}]}, anthropic.BadRequestError, "ends with a message"),
        ({"extra_body": {"foo": 1}}, anthropic.BadRequestError, "foo"),
        ({"extra_body": {"podium": {"budget_usd": 1e-9}}}, anthropic.APIStatusError, "budget"),
        ({"messages": [{"role": "user", "content": [
            {"type": "document", "source": {"type": "url", "url": "https://example.org/a.pdf"}}]}]},
         anthropic.BadRequestError, "opens no addresses"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("stream", [False, True])
async def test_errors_are_anthropics(tmp_path: Path, body: Any, error: Any, says: str, stream: bool) -> None:
    async with live(plain(), tmp_path) as server, claude(server) as ai:
        with pytest.raises(error, match=says) as raised:
            await answer(ai, stream, **body)
        said: Any = raised.value.body
        assert said["type"] == "error"
        assert says in said["error"]["message"]
        kinds = {400: "invalid_request_error", 402: "billing_error", 404: "not_found_error"}
        assert said["error"]["type"] == kinds[raised.value.status_code]


@pytest.mark.parametrize("stream", [False, True])
async def test_a_worker_that_is_away_and_one_that_breaks_off(tmp_path: Path, stream: bool) -> None:
    def away(_: object) -> str:
        raise WorkerUnavailable("503 from somewhere")

    async with live(plain(said("Plan."), Puppet(away)), tmp_path) as server, claude(server) as ai:
        with pytest.raises(anthropic.APIStatusError, match="503 from somewhere") as raised:
            await answer(ai, stream)
        assert raised.value.status_code == (200 if stream else 503), "a stream has begun by then"


@pytest.mark.parametrize("header", ["x-api-key", "authorization"])
async def test_keys_quotas_and_headers_are_those_of_the_other_apis(tmp_path: Path, header: str) -> None:
    async with live(plain(), tmp_path, with_keys=True) as server, httpx.AsyncClient() as http:
        _, secret = await server.accounts.keys.create("web", requests_per_minute=2)
        body = {"model": "podium", "max_tokens": 9, "messages": ASKED}
        given = {header: secret if header == "x-api-key" else f"Bearer {secret}", "X-Podium-Policy": "solo:w1"}
        first = await http.post(f"{server.url}/v1/messages", json=body, headers=given)
        assert first.status_code == 200, first.text
        assert first.json()["content"] == [{"type": "text", "text": "Plan."}]
        assert first.headers["x-podium-run"] == first.json()["podium"]["run"] == first.headers["request-id"]
        nobody = await http.post(f"{server.url}/v1/messages", json=body, headers={header: "Bearer pod_x"})
        assert (nobody.status_code, nobody.json()["error"]["type"]) == (401, "authentication_error")
        async with claude(server, secret) as ai:
            await answer(ai, False)
            with pytest.raises(anthropic.RateLimitError):
                await answer(ai, False)
        large = await http.post(f"{server.url}/v1/messages", content=b" " * (17 << 20), headers=given)
        assert (large.status_code, large.json()["error"]["type"]) == (413, "request_too_large")


async def test_what_is_left_out_is_named_and_long_tool_names_come_back_whole(tmp_path: Path) -> None:
    name = "mcp__" + "a" * 100
    asked: list[dict[str, Any]] = []

    async def upstream(_: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        asked.append(body)
        function = {"name": body["tools"][0]["function"]["name"], "arguments": '"not an object"'}
        return web.json_response(
            reply(None, finish="tool_calls", tool_calls=[{"id": "1", "type": "function", "function": function}])
        )

    async with serve(upstream) as provider:
        (tmp_path / "pool.toml").write_text(f'[[worker]]\nname = "w"\nmodel = "openai:w"\nbase_url = "{provider.url}"\n')
        async with over(tmp_path) as server, claude(server) as ai:
            tools: Any = [{"name": name, "input_schema": PARAMETERS}, {"type": "web_search_20250305", "name": "web_search"}]
            raw = await ai.messages.with_raw_response.create(
                model="w", max_tokens=9, messages=ASKED, tools=tools, extra_body={"top_k": 5}
            )
            assert raw.headers["x-podium-ignored"] == "top_k, tools.web_search_20250305"
            call: Any = (await raw.parse()).content[-1]
            assert (call.name, call.input) == (name, {"input": "not an object"})
            assert len(asked[0]["tools"][0]["function"]["name"]) == 64


async def test_cache_marks_reach_a_provider_that_takes_them(tmp_path: Path) -> None:
    asked: list[dict[str, Any]] = []
    usage = {"input_tokens": 5, "cache_read_input_tokens": 1000, "cache_creation_input_tokens": 0, "output_tokens": 2}

    async def upstream(_: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        asked.append(body)
        head = {"id": "m", "type": "message", "role": "assistant", "model": "claude-opus-4-8"}
        said = [{"type": "text", "text": "Yes."}]
        return web.json_response({**head, "content": said, "stop_reason": "end_turn", "stop_sequence": None, "usage": usage})

    keep: Any = {"cache_control": {"type": "ephemeral", "ttl": "1h"}}
    messages: Any = [
        {"role": "user", "content": [{"type": "text", "text": "A long text.", **keep}, {"type": "text", "text": " Is it?"}]},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "look", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "result", **keep}]},
    ]
    async with serve(upstream) as provider:
        (tmp_path / "pool.toml").write_text(
            f'[[worker]]\nname = "w"\nmodel = "anthropic:claude-opus-4-8"\nbase_url = "{provider.url.removesuffix("/v1")}"\n'
        )
        async with over(tmp_path) as server, claude(server) as ai:
            system: Any = [{"type": "text", "text": "Be brief.", **keep}]
            tools: Any = [{**TOOLS[0], **keep}]
            message = await answer(ai, False, model="w", messages=messages, system=system, tools=tools)
            assert (message.usage.input_tokens, message.usage.cache_read_input_tokens) == (5, 1000)
    [body] = asked
    mark = {"type": "ephemeral", "ttl": "1h"}
    assert body["system"][-1]["cache_control"] == mark
    assert body["tools"][-1]["cache_control"] == mark
    first = body["messages"][0]["content"]
    assert [(block["text"], block.get("cache_control")) for block in first] == [("A long text.", mark), (" Is it?", None)]
    assert body["messages"][2]["content"][-1]["cache_control"] == mark
    assert json.dumps(body).count('"cache_control"') == 4


async def test_the_list_of_models_is_read_by_both_clients(tmp_path: Path) -> None:
    async with live(plain(), tmp_path) as server, claude(server) as ai:
        found = [model async for model in ai.models.list()]
        assert [model.id for model in found][:2] == ["podium", "podium-fast"]
        assert found[0].type == "model"
        assert (await ai.models.retrieve("w1")).display_name == "w1"
