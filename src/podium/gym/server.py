"""The specialists as an OpenAI-compatible server, so that adapters, limits, retries and faults meet real sockets.

``GET /v1/models``, ``POST /v1/chat/completions`` (whole or streamed), ``GET /healthz``, ``GET /stats``. ``model`` names a
specialist, ``seed`` is the call's sample. A completion is billed once it was served in full: a request that met a fault
costs nothing, and neither does one whose ``Idempotency-Key`` was served before, which gets the stored reply again.

Left out: everything else of the API, and TLS. It is a test bench for the local machine.
"""

import asyncio
import hmac
import json
import socket
import time
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from hashlib import blake2b
from typing import Any

from aiohttp import ClientConnectionResetError, web

from podium.errors import ConfigError
from podium.gym.faults import FAULT_KINDS, FaultKind, Faults
from podium.gym.specialists import Specialist
from podium.gym.wire import BadRequest, ChatRequest, billed, chunk_objects, completion_object, error_object, read_request
from podium.types import Completion, Usage

MAX_BODY_BYTES = 1 << 20
MAX_STORED_REPLIES = 10_000

_Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def make_app(
    specialists: Sequence[Specialist],
    *,
    faults: float = 0.0,
    fault_kinds: Sequence[str] = FAULT_KINDS,
    seed: int = 0,
    latency_scale: float = 0.0,
    api_key: str | None = None,
    retry_after_seconds: float = 1.0,
    max_body_bytes: int = MAX_BODY_BYTES,
) -> web.Application:
    """The server of ``specialists``. Example: ``make_app(specialists(World()), faults=0.3)``.

    ``faults`` is the share of chat requests that go wrong, of the ``fault_kinds``, drawn with ``seed``; ``latency_scale``
    times a completion's seconds is really waited. With an ``api_key`` every path but ``/healthz`` asks for it.
    Raises :class:`ConfigError` for arguments out of range.
    """
    if latency_scale < 0:
        raise ConfigError(f"the latency scale is 0 or more, not {latency_scale}")
    service = _Service(
        specialists,
        faults=Faults(share=faults, kinds=fault_kinds, seed=seed),
        latency_scale=latency_scale,
        api_key=api_key,
        retry_after_seconds=retry_after_seconds,
    )
    app = web.Application(client_max_size=max_body_bytes, middlewares=[service.guard])
    app.router.add_get("/healthz", service.health)
    app.router.add_get("/stats", service.stats)
    app.router.add_get("/v1/models", service.models)
    app.router.add_post("/v1/chat/completions", service.chat)
    app.on_shutdown.append(service.stop)
    return app


@asynccontextmanager
async def running(app: web.Application, *, host: str = "127.0.0.1", port: int = 0) -> AsyncIterator[str]:
    """Serve ``app`` inside the block; gives its base URL, with the port that was bound where ``port`` is 0.

    On leaving, open requests get a second to finish. Raises :class:`ConfigError` where the address can not be bound.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        bound = socket.create_server((host, port), family=family)
    except (OSError, OverflowError) as error:
        raise ConfigError(f"can not listen on {host} port {port}: {error}; choose another port, or 0 for any") from error
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0, handler_cancellation=True)
    try:
        await runner.setup()
        await web.SockSite(runner, bound).start()
        shown = f"[{host}]" if family == socket.AF_INET6 else host
        yield f"http://{shown}:{bound.getsockname()[1]}"
    finally:
        await runner.cleanup()
        bound.close()


async def serve(
    app: web.Application, *, host: str = "127.0.0.1", port: int = 8000, on_ready: Callable[[str], None] | None = None
) -> None:
    """Serve ``app`` until cancelled; ``on_ready`` is told the base URL once the server listens. Errors as :func:`running`."""
    async with running(app, host=host, port=port) as url:
        if on_ready is not None:
            on_ready(url)
        await asyncio.Event().wait()


class _Tally:
    """What one specialist was asked and has served."""

    def __init__(self) -> None:
        self.requests = 0
        self.completions = 0
        self.replayed = 0
        self.usage = Usage()
        self.faults: Counter[str] = Counter()

    def shown(self) -> dict[str, Any]:
        return {
            "requests": self.requests,
            "completions": self.completions,
            "replayed": self.replayed,
            "prompt_tokens": self.usage.prompt_tokens,
            "completion_tokens": self.usage.completion_tokens,
            "cost_usd": self.usage.cost_usd,
            "faults": dict(sorted(self.faults.items())),
        }


class _Service:
    """The handlers and what they remember: the stored replies and the tallies."""

    def __init__(
        self,
        specialists: Sequence[Specialist],
        *,
        faults: Faults,
        latency_scale: float,
        api_key: str | None,
        retry_after_seconds: float,
    ) -> None:
        self._specialists = {specialist.name: specialist for specialist in specialists}
        self._tallies = {name: _Tally() for name in self._specialists}
        self._faults = faults
        self._latency_scale = latency_scale
        self._api_key = api_key
        self._retry_after_seconds = retry_after_seconds
        self._replies: OrderedDict[str, tuple[str, list[Completion]]] = OrderedDict()
        """Idempotency key -> what was asked (a hash) and what was served, oldest first."""
        self._stopping = asyncio.Event()
        self._started = int(time.time())

    async def stop(self, app: web.Application) -> None:
        """Let hanging requests go."""
        self._stopping.set()

    @web.middleware
    async def guard(self, request: web.Request, handler: _Handler) -> web.StreamResponse:
        """Ask for the key, and turn every refusal into an OpenAI error object."""
        if self._api_key is not None and request.path != "/healthz" and not self._allowed(request):
            return _error(401, "the API key is missing or wrong", code="invalid_api_key")
        try:
            return await handler(request)
        except BadRequest as error:
            return _error(error.status, str(error), param=error.param, code=error.code)
        except web.HTTPException as error:  # aiohttp's own: unknown path, wrong method, body too large
            return _error(error.status, error.text or error.reason, code=error.reason.lower().replace(" ", "_"))

    def _allowed(self, request: web.Request) -> bool:
        given = request.headers.get("Authorization", "")
        return hmac.compare_digest(given.encode("utf-8", "surrogateescape"), f"Bearer {self._api_key}".encode())

    async def health(self, request: web.Request) -> web.Response:
        """Alive."""
        return web.json_response({"status": "ok"})

    async def stats(self, request: web.Request) -> web.Response:
        """What was asked, served, billed and spoilt, by specialist."""
        return web.json_response({"models": {name: tally.shown() for name, tally in self._tallies.items()}})

    async def models(self, request: web.Request) -> web.Response:
        """The specialists as models."""
        data = [{"id": n, "object": "model", "created": self._started, "owned_by": "gym"} for n in self._specialists]
        return web.json_response({"object": "list", "data": data})

    async def chat(self, request: web.Request) -> web.StreamResponse:
        """One chat request: replayed, spoilt, or served and billed."""
        body = await request.read()
        asked = read_request(body)
        specialist = self._specialists.get(asked.model)
        if specialist is None:
            names = ", ".join(self._specialists)
            raise BadRequest(f"there is no model {asked.model!r}; there are {names}", status=404, code="model_not_found")
        tally = self._tallies[asked.model]
        tally.requests += 1
        identity = "chatcmpl-" + blake2b(body, digest_size=12).hexdigest()
        key = request.headers.get("Idempotency-Key", "")
        if key in self._replies:
            first, stored = self._replies[key]
            if first != identity:
                raise BadRequest("this Idempotency-Key was used for another request", code="idempotency_key_reused")
            tally.replayed += 1
            return await _sent(request, asked, stored, identity)
        fault = self._faults.next()
        if fault is not None:
            tally.faults[fault] += 1
            return await self._spoilt(fault, request, asked, specialist, identity)
        completions = [specialist.complete(asked.call(choice)) for choice in range(asked.choices)]
        if self._latency_scale:
            await asyncio.sleep(max(c.seconds for c in completions) * self._latency_scale)
        response = await _sent(request, asked, completions, identity)
        if key in self._replies:  # the same request came twice at once, and the other was served first
            tally.replayed += 1
            return response
        tally.completions += 1
        tally.usage = tally.usage + billed(completions)
        if key:
            self._replies[key] = (identity, completions)
            if len(self._replies) > MAX_STORED_REPLIES:
                self._replies.popitem(last=False)
        return response

    async def _spoilt(
        self, fault: FaultKind, request: web.Request, asked: ChatRequest, specialist: Specialist, identity: str
    ) -> web.StreamResponse:
        if fault == "rate_limit":
            response = _error(429, "too many requests for this gym; wait and try again", code="rate_limit_exceeded")
            response.headers["Retry-After"] = f"{self._retry_after_seconds:g}"
            return response
        if fault == "server_error":
            return _error(500, "the gym broke on purpose")
        if fault == "hang":
            # A client that leaves cancels its request; otherwise only the server's end ends the wait.
            await self._stopping.wait()
            return _error(503, "the server is shutting down")
        if fault == "empty":
            return await _sent(request, asked, [Completion(text="") for _ in range(asked.choices)], identity)
        completions = [specialist.complete(asked.call(choice)) for choice in range(asked.choices)]
        return await _broken_off(request, _payload(asked, completions, identity), asked.stream, cut=fault == "cut")


def _payload(asked: ChatRequest, completions: list[Completion], identity: str) -> bytes:
    created = int(time.time())
    if not asked.stream:
        return json.dumps(completion_object(asked, completions, identity, created)).encode()
    events = [json.dumps(chunk) for chunk in chunk_objects(asked, completions, identity, created)]
    return "".join(f"data: {event}\n\n" for event in (*events, "[DONE]")).encode()


async def _sent(request: web.Request, asked: ChatRequest, completions: list[Completion], identity: str) -> web.StreamResponse:
    """Send a reply to its end. Raises where the client has gone, so that the reply is not billed."""
    payload = _payload(asked, completions, identity)
    response = _opened(asked.stream)
    if not asked.stream:
        response.content_length = len(payload)
    await response.prepare(request)
    if asked.stream:
        for event in payload.split(b"\n\n")[:-1]:
            await response.write(event + b"\n\n")
    else:
        await response.write(payload)
    await response.write_eof()
    if request.transport is None or request.transport.is_closing():
        raise ClientConnectionResetError("the client left before the reply was complete")
    return response


async def _broken_off(request: web.Request, payload: bytes, stream: bool, *, cut: bool) -> web.StreamResponse:
    """Half a reply: well-formed HTTP whose JSON ends early, or a connection that is cut in the body."""
    response = _opened(stream)
    half = payload[: len(payload) // 2]
    if not stream:
        response.content_length = len(payload) if cut else len(half)
    await response.prepare(request)
    await response.write(half)
    if cut and request.transport is not None:
        # Let the half be sent before the connection dies, or the client sees no reply at all.
        await asyncio.sleep(0.01)
        request.transport.abort()
        return response
    await response.write_eof()
    return response


def _opened(stream: bool) -> web.StreamResponse:
    headers = {"Content-Type": "text/event-stream" if stream else "application/json", "Cache-Control": "no-store"}
    return web.StreamResponse(headers=headers)


def _error(status: int, message: str, *, param: str | None = None, code: str | None = None) -> web.Response:
    kind = {401: "authentication_error", 404: "not_found_error", 429: "rate_limit_error"}.get(
        status, "server_error" if status >= 500 else "invalid_request_error"
    )
    return web.json_response(error_object(message, kind=kind, param=param, code=code), status=status)
