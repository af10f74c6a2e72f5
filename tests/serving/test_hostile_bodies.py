"""Bodies that are too long or too deep: refused with the right status, however they are sent."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from podium.serving.app import ServerLimits
from podium.serving.bodies import MAX_DEPTH
from tests.serving.live import TWO_STEPS, catalog_of, live, said

ASK: dict[str, Any] = {"model": "w2", "messages": [{"role": "user", "content": "?"}]}
JSON = {"Content-Type": "application/json"}


def nested(levels: int, kind: str = "object") -> Any:
    """JSON of so many levels, as text: the writer of the standard library gives up before it is asked to."""
    return "[" * levels + "]" * levels if kind == "list" else '{"a":' * (levels - 1) + "{}" + "}" * (levels - 1)


async def pieces(body: bytes, size: int) -> AsyncIterator[bytes]:
    for start in range(0, len(body), size):
        yield body[start : start + size]
        await asyncio.sleep(0)


@pytest.mark.parametrize("path", ["chat/completions", "responses", "embeddings", "nothing"])
async def test_a_body_without_a_length_is_refused_like_one_with_it(tmp_path: Path, path: str) -> None:
    limits = ServerLimits(body_bytes=100_000)
    body = json.dumps({**ASK, "messages": [{"role": "user", "content": "x" * 150_000}]}).encode()
    async with (
        live(catalog_of(said(TWO_STEPS), said("Plan."), said("42")), tmp_path, limits=limits) as server,
        httpx.AsyncClient() as http,
    ):
        url = f"{server.url}/v1/{path}"
        for content in (body, pieces(body, 9_000), pieces(body, 140_000)):
            reply = await http.post(url, content=content, headers=JSON)
            if path in ("embeddings", "nothing") and not isinstance(content, bytes):
                assert reply.status_code == 404  # nobody reads the body there
                continue
            assert (reply.status_code, reply.json()["error"]["code"]) == (413, "request_too_large")
        fits = await http.post(f"{server.url}/v1/chat/completions", content=pieces(json.dumps(ASK).encode(), 7), headers=JSON)
        assert fits.status_code == 200
        metrics = (await http.get(f"{server.url}/metrics")).text
        assert 'status="413"' in metrics
        assert 'status="500"' not in metrics


DEEP = "DEEP"
CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": DEEP}}
CALLED = [{"role": "user", "content": "?"}, {"role": "assistant", "tool_calls": [CALL]}]
CALL_ITEM = {"type": "function_call", "call_id": "c", "name": "f", "arguments": DEEP}
RESULT_ITEM = {"type": "function_call_output", "call_id": "c", "output": "x"}
RESPONSE = {"model": "w2", "input": "?"}
REQUESTS: dict[str, tuple[str, dict[str, Any]]] = {
    # Where JSON of any shape may stand.
    "tools": ("chat/completions", {**ASK, "tools": [{"type": "function", "function": {"name": "f", "parameters": [DEEP]}}]}),
    "form": (
        "chat/completions",
        {**ASK, "response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": [DEEP]}}},
    ),
    "arguments": (
        "chat/completions",
        {"model": "w2", "messages": [*CALLED, {"role": "tool", "tool_call_id": "c", "content": "x"}]},
    ),
    "responses tools": ("responses", {**RESPONSE, "tools": [{"type": "function", "name": "f", "parameters": [DEEP]}]}),
    "responses form": ("responses", {**RESPONSE, "text": {"format": {"type": "json_schema", "name": "a", "schema": [DEEP]}}}),
    "responses arguments": (
        "responses",
        {
            "model": "w2",
            "input": [{"role": "user", "content": "?"}, CALL_ITEM, RESULT_ITEM],
        },
    ),
    # Where it may not.
    "messages": ("chat/completions", {"model": "w2", "messages": [DEEP]}),
    "content": ("chat/completions", {"model": "w2", "messages": [{"role": "user", "content": [DEEP]}]}),
    "responses input": ("responses", {"model": "w2", "input": [DEEP]}),
    "unknown": ("responses", {**RESPONSE, "thing": [DEEP]}),
}


def body_of(name: str, deep: str) -> tuple[str, str]:
    """The endpoint of a request, and its body with ``deep`` in its place: as a value, or as a text that holds it."""
    path, request = REQUESTS[name]
    return path, json.dumps(request).replace(f'["{DEEP}"]', deep).replace(f'"{DEEP}"', json.dumps(deep))


@pytest.mark.parametrize("levels", [MAX_DEPTH + 2, 450, 900, 5_000, 100_000])
async def test_json_that_is_nested_too_deep_is_a_400(tmp_path: Path, levels: int) -> None:
    solver = said("42")
    async with live(catalog_of(said(TWO_STEPS), said("Plan."), solver), tmp_path) as server, httpx.AsyncClient() as http:
        for kind in ("object", "list"):
            for name in REQUESTS:
                path, body = body_of(name, nested(levels, kind))
                reply = await http.post(f"{server.url}/v1/{path}", content=body, headers=JSON)
                assert reply.status_code == 400, (kind, name, reply.text)
                assert set(reply.json()["error"]) == {"message", "type", "param", "code"}
        assert not solver.calls


async def test_json_that_is_nested_as_deep_as_it_may_be_is_answered(tmp_path: Path) -> None:
    solver = said("42")
    async with live(catalog_of(said(TWO_STEPS), said("Plan."), solver), tmp_path) as server, httpx.AsyncClient() as http:
        for name in list(REQUESTS)[:6]:
            path, body = body_of(name, nested(MAX_DEPTH))
            reply = await http.post(f"{server.url}/v1/{path}", content=body, headers=JSON)
            assert reply.status_code == 200, (name, reply.text)
