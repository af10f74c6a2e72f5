"""The gym server over real sockets, with the official client and without one."""

import asyncio
import json
import re
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import openai
import pytest

from podium.errors import ConfigError
from podium.gym import World, specialists
from podium.gym.faults import FAULT_KINDS, Faults
from podium.gym.server import make_app, running, serve
from podium.types import Call, Message

WORLD = World()
POOL = specialists(WORLD)
PROBLEM = WORLD.problems(kinds=("knowledge",), n=1)[0]
BODY: dict[str, Any] = {"model": "brook", "messages": [{"role": "user", "content": PROBLEM.question}]}


@asynccontextmanager
async def _served(**options: Any) -> AsyncIterator[tuple[str, aiohttp.ClientSession]]:
    async with running(make_app(POOL, **options)) as url, aiohttp.ClientSession(url) as session:
        yield url, session


def _client(url: str, **options: Any) -> openai.AsyncOpenAI:
    return openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="any", max_retries=0, **options)


async def _stats(session: aiohttp.ClientSession, model: str = "brook") -> dict[str, Any]:
    async with session.get("/stats") as reply:
        stats: dict[str, Any] = (await reply.json())["models"][model]
        return stats


async def test_the_official_client_gets_what_the_specialist_says() -> None:
    async with _served() as (url, session), _client(url) as client:
        assert [model.id async for model in client.models.list()] == [worker.name for worker in POOL]
        messages: list[Any] = [
            {"role": "user", "content": f"{PROBLEM.question}\n\nYour task: Write a plan."},
            {"role": "assistant", "content": "Plan: 100 + 23"},
            {"role": "user", "content": [{"type": "text", "text": "Your task: Compute it."}]},
        ]
        reply = await client.chat.completions.create(model="atlas", messages=messages, seed=3)
        conversation = (
            *(Message(role=m["role"], content=m["content"]) for m in messages[:2]),
            Message(role="user", content="Your task: Compute it."),
        )
        expected = await POOL[0](Call(question=conversation, sample=(3,)))
        assert reply.choices[0].message.content == expected.text == "Plan: 100 + 23\nAnswer: 123"
        assert reply.choices[0].finish_reason == "stop"
        assert reply.usage is not None
        assert reply.usage.total_tokens == expected.usage.tokens
        stats = await _stats(session, "atlas")
        assert (stats["requests"], stats["completions"]) == (1, 1)
        assert stats["cost_usd"] == pytest.approx(expected.usage.cost_usd)


async def test_streaming_as_the_official_client_reads_it() -> None:
    async with _served() as (url, session), _client(url) as client:
        stream = await client.chat.completions.create(
            model="brook", messages=BODY["messages"], stream=True, stream_options={"include_usage": True}
        )
        chunks = [chunk async for chunk in stream]
        whole = await POOL[1](Call.plain(PROBLEM.question))
        assert chunks[0].choices[0].delta.role == "assistant"
        assert "".join(c.choices[0].delta.content or "" for c in chunks if c.choices) == whole.text
        assert [c.choices[0].finish_reason for c in chunks if c.choices][-1] == "stop"
        assert sum(c.choices[0].finish_reason is not None for c in chunks if c.choices) == 1
        assert chunks[-1].choices == []
        assert chunks[-1].usage is not None
        assert chunks[-1].usage.total_tokens == whole.usage.tokens
        assert (await _stats(session))["completions"] == 1
        without = await client.chat.completions.create(model="brook", messages=BODY["messages"], stream=True)
        assert all([chunk.choices and chunk.usage is None async for chunk in without])
    async with _served() as (_, session), session.post("/v1/chat/completions", json={**BODY, "stream": True}) as reply:
        assert reply.content_type == "text/event-stream"
        assert (await reply.text()).endswith("data: [DONE]\n\n")


async def test_choices_seeds_and_limits() -> None:
    async with _served() as (url, _), _client(url) as client:
        many = await client.chat.completions.create(model="brook", messages=BODY["messages"], n=8, seed=1)
        assert [choice.index for choice in many.choices] == list(range(8))
        assert len({choice.message.content for choice in many.choices}) > 1
        again = await client.chat.completions.create(model="brook", messages=BODY["messages"], n=8, seed=1)
        assert [c.message.content for c in many.choices] == [c.message.content for c in again.choices]
        cut = await client.chat.completions.create(model="brook", messages=BODY["messages"], max_completion_tokens=2)
        assert cut.choices[0].finish_reason == "length"


async def test_errors_are_typed_for_the_official_client() -> None:
    async with _served(api_key="secret") as (url, session):
        async with _client(url) as client:
            with pytest.raises(openai.AuthenticationError):
                await client.models.list()
        async with session.get("/healthz") as reply:
            assert reply.status == 200
        async with openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="secret", max_retries=0) as client:
            with pytest.raises(openai.NotFoundError) as missing:
                await client.chat.completions.create(model="gpt-7", messages=BODY["messages"])
            assert missing.value.code == "model_not_found"
            with pytest.raises(openai.BadRequestError) as refused:
                await client.chat.completions.create(
                    model="brook",
                    messages=BODY["messages"],
                    tools=[{"type": "function", "function": {"name": "f", "parameters": {}}}],
                )
            assert refused.value.param == "tools"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"[" * 100_000,
        b"\xff\xfe",
        b'{"model": "brook"}',
        b'{"messages": [{"role": "user", "content": "?"}]}',
        b'{"model": 3, "messages": [{"role": "user", "content": "?"}]}',
        b'{"model": "brook", "messages": []}',
        b'{"model": "brook", "messages": ["?"]}',
        b'{"model": "brook", "messages": [{"role": ["user"], "content": "?"}]}',
        b'{"model": "brook", "messages": [{"role": "user", "content": null}]}',
        b'{"model": "brook", "messages": [{"role": "user", "content": [{"type": "image_url"}]}]}',
        b'{"model": "brook", "messages": [{"role": "user", "content": "?"}], "n": 1000}',
        b'{"model": "brook", "messages": [{"role": "user", "content": "?"}], "seed": 1.5}',
        b'{"model": "brook", "messages": [{"role": "user", "content": "?"}], "max_tokens": true}',
    ],
)
async def test_bad_requests_are_refused_in_the_form_of_the_api(body: bytes) -> None:
    async with _served() as (_, session), session.post("/v1/chat/completions", data=body) as reply:
        assert reply.status == 400
        error = (await reply.json())["error"]
        assert error["message"]
        assert {"type", "param", "code"} <= error.keys()


async def test_other_refusals_have_the_form_of_the_api_too() -> None:
    async with _served(max_body_bytes=2_000) as (_, session):
        for method, path, data, status in (
            ("GET", "/v1/nothing", None, 404),
            ("GET", "/v1/chat/completions", None, 405),
            ("POST", "/v1/chat/completions", b"x" * 5_000, 413),
        ):
            async with session.request(method, path, data=data) as reply:
                assert reply.status == status
                assert (await reply.json())["error"]["message"]


async def test_lone_surrogates_are_answered() -> None:
    body = b'{"model": "brook", "messages": [{"role": "user", "content": "\\ud800 Plan: 1"}]}'
    async with _served() as (_, session), session.post("/v1/chat/completions", data=body) as reply:
        assert reply.status == 200


async def test_a_repeated_key_is_served_again_and_billed_once() -> None:
    async with _served() as (_, session):
        headers = {"Idempotency-Key": "one"}
        texts = []
        for _ in range(3):
            async with session.post("/v1/chat/completions", json=BODY, headers=headers) as reply:
                texts.append((await reply.json())["choices"])
        assert texts[0] == texts[1] == texts[2]
        both = await asyncio.gather(
            *(session.post("/v1/chat/completions", json=BODY, headers={"Idempotency-Key": "two"}) for _ in range(2))
        )
        assert [reply.status for reply in both] == [200, 200]
        stats = await _stats(session)
        assert (stats["requests"], stats["completions"], stats["replayed"]) == (5, 2, 3)
        async with session.post("/v1/chat/completions", json={**BODY, "seed": 9}, headers=headers) as reply:
            assert reply.status == 400
            assert (await reply.json())["error"]["code"] == "idempotency_key_reused"


async def test_rate_limit_and_server_error_reach_the_official_client_as_such() -> None:
    async with _served(faults=1.0, fault_kinds=["rate_limit"], retry_after_seconds=7) as (url, session), _client(url) as client:
        with pytest.raises(openai.RateLimitError) as limited:
            await client.chat.completions.create(model="brook", messages=BODY["messages"])
        assert limited.value.response.headers["Retry-After"] == "7"
        stats = await _stats(session)
        assert (stats["completions"], stats["cost_usd"], stats["faults"]) == (0, 0.0, {"rate_limit": 1})
    async with _served(faults=1.0, fault_kinds=["server_error"]) as (url, _), _client(url) as client:
        with pytest.raises(openai.InternalServerError):
            await client.chat.completions.create(model="brook", messages=BODY["messages"])


@pytest.mark.parametrize("stream", [False, True])
async def test_a_hang_holds_the_socket_until_the_client_leaves(stream: bool) -> None:
    async with _served(faults=1.0, fault_kinds=["hang"]) as (_, session):
        assert (await _stats(session))["faults"] == {}
        before = len(asyncio.all_tasks())
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.3), session.post("/v1/chat/completions", json={**BODY, "stream": stream}):
                pytest.fail("a hang must not reply")
        assert (await _stats(session))["faults"] == {"hang": 1}
        await asyncio.sleep(0.05)
        assert len(asyncio.all_tasks()) <= before, "the server goes on waiting for a client that has left"


async def test_a_hang_does_not_keep_the_server_from_stopping() -> None:
    async with asyncio.timeout(5), aiohttp.ClientSession() as session:
        async with running(make_app(POOL, faults=1.0, fault_kinds=["hang"])) as url:
            waiting = asyncio.create_task(session.post(f"{url}/v1/chat/completions", json=BODY))
            await asyncio.sleep(0.1)
            assert not waiting.done()
        reply = await waiting
        assert reply.status == 503


async def test_a_cut_connection_ends_in_the_body() -> None:
    async with _served(faults=1.0, fault_kinds=["cut"]) as (_, session):
        for stream in (False, True):
            async with session.post("/v1/chat/completions", json={**BODY, "stream": stream}) as reply:
                assert reply.status == 200
                with pytest.raises(aiohttp.ClientError):
                    await reply.read()
        assert (await _stats(session))["completions"] == 0


async def test_truncated_json_is_a_whole_reply_of_half_a_text() -> None:
    async with _served(faults=1.0, fault_kinds=["truncated"]) as (_, session):
        async with session.post("/v1/chat/completions", json=BODY) as reply:
            assert reply.status == 200
            text = await reply.text()
            with pytest.raises(json.JSONDecodeError):
                json.loads(text)
        async with session.post("/v1/chat/completions", json={**BODY, "stream": True}) as reply:
            assert "[DONE]" not in await reply.text()


async def test_an_empty_answer_looks_like_a_good_one() -> None:
    async with _served(faults=1.0, fault_kinds=["empty"]) as (url, session), _client(url) as client:
        reply = await client.chat.completions.create(model="brook", messages=BODY["messages"])
        assert (reply.choices[0].message.content, reply.choices[0].finish_reason) == ("", "stop")
        stream = await client.chat.completions.create(model="brook", messages=BODY["messages"], stream=True)
        assert "".join([c.choices[0].delta.content or "" async for c in stream]) == ""
        assert (await _stats(session))["cost_usd"] == 0.0


async def test_a_share_of_faults_is_counted_and_never_billed() -> None:
    kinds = [kind for kind in FAULT_KINDS if kind != "hang"]
    async with _served(faults=0.3, fault_kinds=kinds, seed=4) as (_, session):
        good = 0
        for i in range(200):
            try:
                async with session.post("/v1/chat/completions", json={**BODY, "seed": i}) as reply:
                    good += bool(json.loads(await reply.text())["choices"][0]["message"]["content"])
            except (aiohttp.ClientError, KeyError, json.JSONDecodeError):
                continue
        stats = await _stats(session)
        assert stats["requests"] == 200
        assert stats["completions"] == good
        assert sum(stats["faults"].values()) == 200 - good
        assert 40 <= 200 - good <= 80
        assert set(stats["faults"]) == set(kinds)


def test_faults_are_seeded_and_checked() -> None:
    def drawn(seed: int) -> list[str | None]:
        faults = Faults(share=0.3, seed=seed)
        return [faults.next() for _ in range(300)]

    assert drawn(1) == drawn(1) != drawn(2)
    assert {kind for kind in drawn(1) if kind} == set(FAULT_KINDS)
    with pytest.raises(ConfigError, match="share"):
        Faults(share=1.5)
    for kinds in (["flood"], []):
        with pytest.raises(ConfigError, match="kind of fault"):
            Faults(kinds=kinds)
    with pytest.raises(ConfigError):
        make_app(POOL, latency_scale=-1)


async def test_a_client_that_leaves_is_not_billed() -> None:
    async with _served(latency_scale=0.2) as (_, session):  # about 0.3 seconds
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1), session.post("/v1/chat/completions", json=BODY):
                pytest.fail("the latency was not waited for")
        await asyncio.sleep(0.5)
        stats = await _stats(session)
        assert (stats["requests"], stats["completions"], stats["cost_usd"]) == (1, 0, 0.0)


async def test_serve_tells_its_port_and_stops_when_cancelled() -> None:
    ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    task = asyncio.create_task(serve(make_app(POOL), port=0, on_ready=ready.set_result))
    url = await ready
    port = int(re.sub(r".*:", "", url))
    async with aiohttp.ClientSession() as session, session.get(f"{url}/healthz") as reply:
        assert (await reply.json()) == {"status": "ok"}
    with pytest.raises(ConfigError, match="choose another port"):
        await serve(make_app(POOL), port=port)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    with socket.socket() as free:
        assert free.connect_ex(("127.0.0.1", port)) != 0
