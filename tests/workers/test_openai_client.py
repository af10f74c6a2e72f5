"""The shorter way through OpenAI's SDK beside the SDK's own, against a real server: the same request, the same outcome."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest
from aiohttp import web
from openai import AsyncOpenAI, AsyncStream, Omit, OpenAIError, omit
from pydantic import BaseModel

from podium.workers.openai_client import OpenAIClient

GOOD: dict[str, Any] = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1,
    "model": "m",
    "choices": [
        {"index": 0, "message": {"role": "assistant", "content": "42", "reasoning_content": "6*7"}, "finish_reason": "stop"}
    ],
    "usage": {"prompt_tokens": 9, "completion_tokens": 1, "total_tokens": 10},
}
CALLED = {"id": "call_1", "type": "function", "function": {"name": "look", "arguments": '{"at": 1}'}}
PIECE = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
EVENT = f"data: {json.dumps(PIECE | {'choices': [{'index': 0, 'delta': {'content': '4'}, 'finish_reason': None}]})}\n\n"
REPLIES: dict[str, tuple[int, str, str]] = {
    "good": (200, "application/json", json.dumps(GOOD)),
    "tool call": (
        200,
        "application/json",
        json.dumps(GOOD | {"choices": [{"index": 0, "message": {"role": "assistant", "tool_calls": [CALLED]}}]}),
    ),
    "fields missing": (200, "application/json", json.dumps({"choices": [{"message": {"content": "42"}}]})),
    "fields of other types": (200, "application/json", json.dumps(GOOD | {"created": None, "usage": "much", "choices": None})),
    "a list": (200, "application/json", "[1, 2]"),
    "stream": (200, "text/event-stream", f"{EVENT}{EVENT}data: [DONE]\n\n"),
    "stream of odd pieces": (
        200,
        "text/event-stream",
        'data: {"choices": [{"delta": {"content": 4}}]}\n\ndata: {"choices": null}\n\ndata: []\n\n: hi\n\ndata: "x"\n\n',
    ),
    "stream with an error": (200, "text/event-stream", EVENT + 'data: {"error": {"message": "no"}}\n\n'),
    "html": (200, "text/html", "<html>Welcome</html>"),
    "empty": (200, "application/json", ""),
    "cut": (200, "application/json", json.dumps(GOOD)[:50]),
    "json called text": (200, "text/plain", json.dumps({"error": "odd"})),
    "no content": (204, "application/json", ""),
    "redirect": (307, "text/plain", ""),
    "bad request": (400, "application/json", json.dumps({"error": {"message": "no", "code": "bad", "type": "x", "param": None}})),
    "wrong key": (401, "application/json", json.dumps({"error": {"message": "who are you"}})),
    "missing": (404, "text/html", "<html>nothing</html>"),
    "busy": (429, "application/json", json.dumps({"error": {"message": "later"}})),
    "broken": (500, "text/plain", "oops"),
    "overloaded": (529, "application/json", "{}"),
}
FIELDS: dict[str, Any] = {
    "model": "m",
    "messages": [{"role": "user", "content": "6 times 7? \u00e9 \U0001f600 \x00"}],
    "temperature": 0.5,
    "max_tokens": omit,
    "stop": ["END"],
    "stream": False,
    "tools": [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}],
    "extra_headers": {"Idempotency-Key": "k1", "User-Agent": "podium"},
    "extra_body": {"top_k": 4, "temperature": 0.7},
}


class Server:
    """Answers everything with ``reply`` and remembers what it was asked."""

    def __init__(self) -> None:
        self.reply = REPLIES["good"]
        self.asked: list[tuple[str, dict[str, str], Any]] = []
        self.url = ""

    async def answer(self, request: web.Request) -> web.Response:
        headers = {name.lower(): value for name, value in request.headers.items()}
        self.asked.append((request.path_qs, headers, await request.json()))
        status, kind, text = self.reply
        return web.Response(status=status, text=text, content_type=kind, headers={"Retry-After": "7", "Location": "/elsewhere"})


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    made = Server()
    app = web.Application()
    app.router.add_post("/v1/chat/completions", made.answer)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    made.url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    yield made
    await runner.cleanup()


@asynccontextmanager
async def sdk(kind: type[AsyncOpenAI], url: str, **options: Any) -> AsyncIterator[AsyncOpenAI]:
    async with httpx2.AsyncClient() as http:
        headers: Any = {"OpenAI-Organization": Omit(), "X-Of": "ours"}
        yield kind(api_key="sk-1", base_url=url, http_client=http, max_retries=0, default_headers=headers, **options)


async def outcome(kind: type[AsyncOpenAI], url: str, *, stream: bool = False, **options: Any) -> Any:
    """The reply as data, or the error's type, words, status, body and Retry-After."""
    async with sdk(kind, url, **options) as client:
        try:
            reply = await client.chat.completions.create(**(FIELDS | {"stream": stream}))
            if isinstance(reply, AsyncStream):
                async with reply:
                    return [_plain(chunk) async for chunk in reply]
        except (OpenAIError, ValueError, TypeError) as error:
            response = getattr(error, "response", None)
            after = None if response is None else response.headers.get("retry-after")
            known = [getattr(error, name, None) for name in ("status_code", "code", "type", "body")]
            return type(error), str(error), known, after, type(error.__cause__)
    return _plain(reply)


def _plain(reply: object) -> object:
    return reply.model_dump(warnings=False) if isinstance(reply, BaseModel) else reply


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("name", REPLIES)
async def test_the_outcome_is_the_sdks(server: Server, name: str, stream: bool) -> None:
    server.reply = REPLIES[name]
    shorter = await outcome(OpenAIClient, server.url, stream=stream)
    assert shorter == await outcome(AsyncOpenAI, server.url, stream=stream)


@pytest.mark.parametrize("organization", [None, "org-1"])
async def test_the_request_is_the_sdks(server: Server, organization: str | None) -> None:
    for kind in (OpenAIClient, AsyncOpenAI):
        await outcome(kind, server.url, organization=organization)
    [(path, headers, body), (other_path, other_headers, other_body)] = server.asked
    assert (path, body) == (other_path, other_body)
    assert body["temperature"] == 0.7, "what is sent as it is comes last"
    for unlike in ("content-length", "x-stainless-retry-count", "x-stainless-read-timeout"):
        headers.pop(unlike, None)
        other_headers.pop(unlike, None)
    assert headers == other_headers
    assert headers["authorization"] == "Bearer sk-1"


async def test_nobody_there_and_nobody_answering(server: Server, unused_tcp_port: int) -> None:
    gone = f"http://127.0.0.1:{unused_tcp_port}/v1"
    assert await outcome(OpenAIClient, gone) == await outcome(AsyncOpenAI, gone)
    slow = httpx2.Timeout(5, read=1e-9)
    assert await outcome(OpenAIClient, server.url, timeout=slow) == await outcome(AsyncOpenAI, server.url, timeout=slow)


async def test_settings_that_would_be_lost_are_refused(server: Server) -> None:
    async with sdk(OpenAIClient, server.url) as client:
        with pytest.raises(NotImplementedError, match="timeout"):
            await client.chat.completions.create(**(FIELDS | {"timeout": 3.0}))
    assert not server.asked
