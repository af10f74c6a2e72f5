"""A worker that costs nothing to ask: ``python -m benchmarks.mock_upstream`` prints its port and answers OpenAI's chat API.

A streamed answer's first piece is the time at which it was sent (seconds since 1970), so that its reader knows how old it is.
"""

import asyncio
import json
import os
import time
from typing import Any

import uvicorn

SECONDS = float(os.environ.get("SECONDS", "0"))
WHOLE = json.dumps(
    {
        "id": "chatcmpl-mock",
        "object": "chat.completion",
        "created": 1,
        "model": "mock",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "It is 42."}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 9, "completion_tokens": 5, "total_tokens": 14},
    }
).encode()


def chunk(delta: dict[str, str], finish: str | None = None, usage: dict[str, int] | None = None) -> bytes:
    """One event of a streamed answer."""
    body: dict[str, Any] = {"id": "chatcmpl-mock", "object": "chat.completion.chunk", "created": 1, "model": "mock"}
    body["choices"] = [] if usage else [{"index": 0, "delta": delta, "finish_reason": finish}]
    return b"data: " + json.dumps({**body, **({"usage": usage} if usage else {})}).encode() + b"\n\n"


COUNTS = {"completions": 0, "under_way": 0, "cut_off": 0}
"""Answered in full, being answered, and given up by whoever asked; ``GET /stats`` shows them."""


async def app(scope: Any, receive: Any, send: Any) -> None:
    """The whole server. ``SECONDS`` of the environment is how long an answer that is not streamed takes."""
    if scope["type"] != "http":
        return
    if scope["path"] == "/stats":
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"application/json")]})
        await send({"type": "http.response.body", "body": json.dumps(COUNTS).encode()})
        return
    COUNTS["under_way"] += 1
    try:
        await _answered(receive, send)
    finally:
        COUNTS["under_way"] -= 1


async def _answered(receive: Any, send: Any) -> None:
    body = b""
    while True:
        message = await receive()
        body += message.get("body", b"")
        if not message.get("more_body"):
            break
    stream = bool(body) and json.loads(body).get("stream")
    kind = b"text/event-stream" if stream else b"application/json"
    if SECONDS:
        # Whoever hangs up meanwhile has not been answered, and pays nothing here.
        gone = asyncio.create_task(receive())
        if (await asyncio.wait({gone}, timeout=SECONDS))[0]:
            COUNTS["cut_off"] += 1
            return
        gone.cancel()
    COUNTS["completions"] += 1
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", kind)]})
    if not stream:
        await send({"type": "http.response.body", "body": WHOLE})
        return
    await asyncio.sleep(0.02)
    await send(
        {"type": "http.response.body", "body": chunk({"role": "assistant", "content": f"{time.time()} "}), "more_body": True}
    )
    await asyncio.sleep(0.05)
    usage = {"prompt_tokens": 9, "completion_tokens": 5, "total_tokens": 14}
    rest = chunk({"content": "and that is all."}) + chunk({}, "stop") + chunk({}, usage=usage) + b"data: [DONE]\n\n"
    await send({"type": "http.response.body", "body": rest})


async def serve() -> None:
    """Serve on a free port until stopped."""
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_config=None, access_log=False, http="httptools", lifespan="off"))
    serving = asyncio.create_task(server.serve())
    while not server.started:  # noqa: ASYNC110 - it tells nobody
        await asyncio.sleep(0.01)
    print(server.servers[0].sockets[0].getsockname()[1], flush=True)
    await serving


if __name__ == "__main__":
    asyncio.run(serve())
