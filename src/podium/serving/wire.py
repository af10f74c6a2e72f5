"""Bytes on the wire: JSON that any text fits into, events, and answers that notice when the client has gone."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from typing import Any, TypeVar

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from podium.errors import PodiumError
from podium.serving.api_errors import BUG, ApiError, problem_of

Result = TypeVar("Result")
KEEP_ALIVE_SECONDS = 15.0
"""After how much silence a comment is sent, so that no proxy on the way takes the connection for dead."""
DONE = b"data: [DONE]\n\n"
_JSON = json.JSONEncoder(ensure_ascii=True, separators=(",", ":"))


class ClientLeft(Exception):
    """The client does not wait for the answer any more."""


def encoded(body: object) -> bytes:
    """JSON in ASCII: what a model wrote may hold half surrogates, which no UTF-8 can carry."""
    return _JSON.encode(body).encode("ascii")


def json_answer(body: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """A JSON answer."""
    return Response(encoded(body), status_code=status, media_type="application/json", headers=dict(headers or {}))


def problem_answer(problem: ApiError, path: str) -> Response:
    """An error in the shape of the API that ``path`` belongs to."""
    body = problem.anthropic_body if is_anthropic(path) else problem.body
    return json_answer(body, problem.status, problem.headers)


def is_anthropic(path: str) -> bool:
    """Whether an address belongs to Anthropic's API."""
    return path.startswith("/v1/messages")


def openai_event(problem: ApiError) -> bytes:
    """An error in the middle of a stream, as OpenAI's clients look for it."""
    return event(problem.body)


def anthropic_event(problem: ApiError) -> bytes:
    """The same for Anthropic's."""
    return event(problem.anthropic_body, "error")


def event(body: object, name: str | None = None) -> bytes:
    """One server-sent event."""
    head = b"" if name is None else f"event: {name}\n".encode("ascii")
    return head + b"data: " + encoded(body) + b"\n\n"


async def unless_left(request: Request, work: Awaitable[Result]) -> Result:
    """The result of ``work``; where the client goes away first, ``work`` is cancelled and :class:`ClientLeft` raised."""
    working = asyncio.ensure_future(work)
    leaving = asyncio.ensure_future(_left(request.receive))
    try:
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientLeft
        return working.result()
    finally:
        working.cancel()
        leaving.cancel()
        await asyncio.gather(working, leaving, return_exceptions=True)


class EventStream(Response):
    """Sends ``events`` as they come; ``stack`` is closed when the stream ends, on either side.

    It is closed with :class:`ClientLeft` where the client went away before the end, and with what ``events`` raise (a bug, or a
    database that is away), of which the client is told.
    """

    media_type = "text/event-stream"

    def __init__(
        self,
        events: AsyncIterator[bytes],
        stack: AsyncExitStack,
        *,
        headers: Mapping[str, str],
        problem_event: Callable[[ApiError], bytes] = openai_event,
    ) -> None:
        super().__init__(None, headers={"Cache-Control": "no-cache", "X-Accel-Buffering": "no", **headers})
        del self.headers["content-length"]
        self._events = events
        self._stack = stack
        self._problem_event = problem_event

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send everything, or as much as the client reads."""
        sending = asyncio.ensure_future(self._send(send))
        leaving = asyncio.ensure_future(_left(receive))
        end: BaseException | None = ClientLeft()  # so it is, too, where the server ends before the stream does
        try:
            await asyncio.wait({sending, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if sending.done():
                end = sending.exception()
        finally:
            sending.cancel()
            leaving.cancel()
            await asyncio.gather(sending, leaving, return_exceptions=True)
            await asyncio.shield(self._closed(end))

    async def _closed(self, end: BaseException | None) -> None:
        try:
            async with self._stack:
                if end is not None:
                    raise end
        except ClientLeft:
            return  # the client has gone

    async def _send(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        try:
            async for piece in kept_alive(self._events):
                await send({"type": "http.response.body", "body": piece, "more_body": True})
        except Exception as error:
            problem = problem_of(error) if isinstance(error, PodiumError) else BUG
            await send({"type": "http.response.body", "body": self._problem_event(problem), "more_body": False})
            raise
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def kept_alive(events: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """``events``, and a comment wherever nothing comes for a while."""
    waiting: asyncio.Future[bytes] | None = None
    try:
        while True:
            waiting = asyncio.ensure_future(anext(events))
            while not (await asyncio.wait({waiting}, timeout=KEEP_ALIVE_SECONDS))[0]:
                yield b": still working\n\n"
            try:
                yield waiting.result()
            except StopAsyncIteration:
                return
    finally:
        if waiting is not None and not waiting.done():
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)


async def _left(receive: Callable[[], Awaitable[Any]]) -> None:
    """Returns when the client has gone; whatever else arrives after the body means nothing."""
    while (await receive())["type"] != "http.disconnect":
        pass
