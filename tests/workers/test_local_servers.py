"""Whoever listens on a port of this machine is a stranger: what is taken from its answer, and what is not."""

import asyncio
import gzip
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from podium.workers.local_servers import MAX_BYTES, MAX_MODELS, LocalModel, local_models


def answer(body: bytes, status: str = "200 OK", headers: str = "") -> bytes:
    return f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n{headers}\r\n".encode() + body


def listing(*names: object, **more: str) -> bytes:
    return json.dumps({"data": [{"id": name, **more} for name in names]}).encode()


@asynccontextmanager
async def listening(said: bytes, *, hangs: bool = False) -> AsyncIterator[int]:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(said)
        try:
            await writer.drain()
            if hangs:
                await asyncio.sleep(30)
        except (OSError, asyncio.CancelledError):
            pass
        writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


async def test_models_are_found_by_their_names() -> None:
    async with listening(answer(listing("qwen3:8b", "org/model-7b@q4", "qwen3:8b"))) as port:
        found = await local_models({port: "Ollama"})
    assert found == [
        LocalModel(server="Ollama", port=port, name="qwen3:8b"),
        LocalModel(server="Ollama", port=port, name="org/model-7b@q4"),
    ]
    assert found[0].base_url == f"http://127.0.0.1:{port}/v1"


HOSTILE = {
    "no JSON": answer(b"<html>hello</html>"),
    "another shape": answer(b"[1, 2]"),
    "data is no list": answer(b'{"data": {"id": "a"}}'),
    "entries are none": answer(b'{"data": [1, null, "x", {"id": 5}, {"id": null}]}'),
    "not found": answer(listing("a"), "404 Not Found"),
    "sent elsewhere": answer(b"", "302 Found", "Location: http://127.0.0.1:9/\r\n"),
    "names that are no names": answer(listing("", "a\x1b[31mb", "a b", '"]\n[x]', "-rf", "x" * 121, "../..")),
    "deep": answer(b'{"data": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"),
    "too long": answer(b" " * (MAX_BYTES + 1) + listing("a")),
    "a bomb": answer(gzip.compress(b" " * 50_000_000 + listing("a")), headers="Content-Encoding: gzip\r\n"),
    "no HTTP": b"\x00\x01\x02 nonsense\r\n\r\n",
    "nothing": b"",
    "cut off": answer(listing("a"))[:-4],
    "Podium itself": answer(listing("trained", owned_by="podium")),
}


@pytest.mark.parametrize("said", HOSTILE.values(), ids=HOSTILE.keys())
async def test_hostile_answers_name_no_model(said: bytes) -> None:
    async with listening(said) as port:
        assert await local_models({port: "vLLM"}) == []


async def test_who_never_ends_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("podium.workers.local_servers.SECONDS", 0.3)
    async with listening(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{", hangs=True) as port:
        assert await asyncio.wait_for(local_models({port: "vLLM"}), 10) == []


async def test_no_more_models_than_one_can_choose_from() -> None:
    async with listening(answer(listing(*(f"m{n}" for n in range(500))))) as port:
        assert len(await local_models({port: "vLLM"})) == MAX_MODELS
