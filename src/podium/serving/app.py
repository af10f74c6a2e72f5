"""The application: routes, errors, and what is true for every request."""

import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from podium.errors import PodiumError
from podium.jsonl import dumps
from podium.serving.accounts import Accounts
from podium.serving.api_errors import BUG, ApiError, ApiErrorException, no_such_model, problem_of, unreadable
from podium.serving.body_route import BodyRoute
from podium.serving.catalog import ModelCatalog
from podium.serving.chat_api import chat
from podium.serving.compaction import compact, parsed_compaction
from podium.serving.concurrency import ConcurrencyGate
from podium.serving.conversation import of_chat
from podium.serving.credentials import authorization
from podium.serving.headers import with_headers
from podium.serving.kept_responses import forget_response, kept_response, parsed_with_kept
from podium.serving.messages_api import counted, messages
from podium.serving.messages_conversation import of_messages
from podium.serving.messages_requests import CountRequest, MessagesRequest
from podium.serving.metrics import Metrics
from podium.serving.models_list import model_object, models_object
from podium.serving.not_served import not_served
from podium.serving.origins import Origins
from podium.serving.questions import question_routes
from podium.serving.requests import ChatRequest
from podium.serving.responses_api import responses
from podium.serving.responses_requests import CompactRequest, ResponsesRequest
from podium.serving.service import RequestService
from podium.serving.store.keys import SCOPES
from podium.serving.wire import ClientLeft, json_answer, problem_answer

log = logging.getLogger("podium.serving")
MAX_BODY_BYTES = 16 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerLimits:
    """How much a server takes on."""

    concurrency: int = 256
    """Requests worked on at once."""
    queue: int = 1024
    """Requests that may wait for that; more are turned away with 429."""
    concurrency_per_key: int | None = None
    """Requests of one key worked on at once, where the key has no limit of its own."""
    body_bytes: int = MAX_BODY_BYTES


def make_app(
    catalog: ModelCatalog, accounts: Accounts, *, version: str, limits: ServerLimits = ServerLimits(), origins: Sequence[str] = ()
) -> FastAPI:
    """The server over ``catalog``. Example: ``uvicorn.run(make_app(catalog, accounts, version="0.1.0"))``.

    ``origins``: whose web pages may ask it from a browser (:class:`podium.serving.origins.Origins`).
    """
    gate = ConcurrencyGate(limits.concurrency, limits.queue, limits.concurrency_per_key)
    service = RequestService(catalog=catalog, accounts=accounts, gate=gate, metrics=Metrics())

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with accounts.open():
            yield

    app = FastAPI(title="Podium", version=version, lifespan=lifespan, docs_url=None, redoc_url=None)
    app.router.route_class = BodyRoute
    app.state.service = service
    _errors(app, service)
    _routes(app, service)
    app.add_middleware(LimitsMiddleware, service=service, body_bytes=limits.body_bytes)
    if origins:
        # Outside the check of keys: a browser asks for permission without a key, and can only read a refusal that allows it to.
        app.add_middleware(Origins, allowed=origins)
    app.openapi = lambda: _openapi(app)  # type: ignore[method-assign]
    return app


def _routes(app: FastAPI, service: RequestService) -> None:
    accounts, catalog = service.accounts, service.catalog

    @app.post("/v1/chat/completions", responses=_ERRORS, tags=["OpenAI"])
    async def chat_completions(body: ChatRequest, request: Request) -> Response:
        """A conversation -> its next turn, whole or streamed."""
        key = await accounts.identify(authorization(request.headers), "ask")
        return await chat(service, request, key, of_chat(with_headers(body, request.headers)))

    @app.post("/v1/responses", responses=_ERRORS, tags=["OpenAI"])
    async def create_response(body: ResponsesRequest, request: Request) -> Response:
        """The same in OpenAI's newer form."""
        key = await accounts.identify(authorization(request.headers), "ask")
        parsed = await parsed_with_kept(accounts, key, with_headers(body, request.headers))
        return await responses(service, request, key, parsed)

    @app.post("/v1/responses/compact", responses=_ERRORS, tags=["OpenAI"])
    async def compact_responses(body: CompactRequest, request: Request) -> Response:
        """A long conversation, cut down to what its user said and a summary."""
        key = await accounts.identify(authorization(request.headers), "ask")
        parsed = await parsed_compaction(accounts, key, with_headers(body, request.headers))
        return await compact(service, request, key, parsed)

    @app.get("/v1/responses/{response}", responses=_ERRORS, tags=["OpenAI"])
    async def get_response(response: str, request: Request) -> Response:
        """A response of one's own that is kept, as it was sent."""
        key = await accounts.identify(authorization(request.headers), "ask", "read")
        return json_answer((await kept_response(accounts, key, response)).body)

    @app.delete("/v1/responses/{response}", responses=_ERRORS, tags=["OpenAI"])
    async def delete_response(response: str, request: Request) -> Response:
        """Forget it."""
        key = await accounts.identify(authorization(request.headers), "ask")
        return json_answer(await forget_response(accounts, key, response))

    @app.post("/v1/messages", responses=_ERRORS, tags=["Anthropic"])
    async def create_message(body: MessagesRequest, request: Request) -> Response:
        """The same in Anthropic's form."""
        key = await accounts.identify(authorization(request.headers), "ask")
        return await messages(service, request, key, of_messages(with_headers(body, request.headers)))

    @app.post("/v1/messages/count_tokens", responses=_ERRORS, tags=["Anthropic"])
    async def count_tokens(body: CountRequest, request: Request) -> Response:
        """About how many tokens a prompt has; nobody is asked."""
        await accounts.identify(authorization(request.headers), "ask")
        if body.model not in catalog.models:
            raise no_such_model(body.model, catalog.models)
        return counted(of_messages(body))

    @app.get("/v1/models", responses=_ERRORS, tags=["OpenAI"])
    async def list_models(request: Request) -> Response:
        """What can be asked for: a name per policy, and every worker by its own."""
        await accounts.identify(authorization(request.headers), "ask")
        return json_answer(models_object(catalog))

    @app.get("/v1/models/{model:path}", responses=_ERRORS, tags=["OpenAI"])
    async def get_model(model: str, request: Request) -> Response:
        """One of them."""
        await accounts.identify(authorization(request.headers), "ask")
        if model not in catalog.models:
            raise no_such_model(model, catalog.models)
        return json_answer(model_object(model, catalog.cards))

    @app.get("/v1/runs/{run}", responses=_ERRORS, tags=["Podium"])
    async def get_run(run: str, request: Request) -> Response:
        """A run of one's own (of anybody, with the scope "admin"): workflow, steps, cost; its content where the key keeps it."""
        key = await accounts.identify(authorization(request.headers), "ask", "read")
        found = await accounts.runs.get(run, key=accounts.seen_by(key))
        if found is None:
            raise ApiErrorException(
                ApiError(status=404, message="there is no such run", kind="invalid_request_error", code="run_not_found")
            )
        return Response(dumps(found), media_type="application/json")

    question_routes(app, accounts)

    @app.api_route("/v1/{path:path}", methods=["GET", "POST", "PUT", "PATCH", "DELETE"], include_in_schema=False)
    async def anything_else(request: Request) -> Response:
        """What is not here."""
        return not_served(request)

    @app.get("/healthz", tags=["Operation"])
    async def healthz() -> Response:
        """The process is alive."""
        return json_answer({"status": "ok"})

    @app.get("/readyz", tags=["Operation"])
    async def readyz() -> Response:
        """The database answers, and other replicas know that this one lives, so requests can be taken."""
        accounts.check_alive()
        await accounts.runs.get("run_", key=None)
        return json_answer({"status": "ready"})

    @app.get("/metrics", responses=_ERRORS, tags=["Operation"])
    async def metrics(request: Request) -> Response:
        """For Prometheus. With keys it takes one with the scope "read"."""
        await accounts.identify(authorization(request.headers), "read")
        text = service.metrics.text(service.gate.inside, service.gate.waiting, accounts.heartbeat.states)
        return Response(text, media_type="text/plain; version=0.0.4; charset=utf-8")


def _errors(app: FastAPI, service: RequestService) -> None:
    @app.exception_handler(PodiumError)
    async def failed(request: Request, error: Exception) -> Response:
        assert isinstance(error, PodiumError)  # noqa: S101 - as registered
        return problem_answer(problem_of(error), request.url.path)

    @app.exception_handler(ApiErrorException)
    async def refused(request: Request, error: Exception) -> Response:
        assert isinstance(error, ApiErrorException)  # noqa: S101 - as registered
        return problem_answer(error.problem, request.url.path)

    @app.exception_handler(RequestValidationError)
    async def refused_body(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)  # noqa: S101 - as registered
        return problem_answer(unreadable(error.errors(), error.body), request.url.path)

    @app.exception_handler(HTTPException)
    async def http(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)  # noqa: S101 - as registered
        code = str(error.detail).lower().replace(" ", "_")
        kind = "invalid_request_error" if error.status_code < 500 else "server_error"
        headers = dict(error.headers or {})
        return problem_answer(
            ApiError(status=error.status_code, message=str(error.detail), kind=kind, code=code[:60], headers=headers),
            request.url.path,
        )

    @app.exception_handler(ClientLeft)
    async def left(_: Request, error: Exception) -> Response:
        return Response(status_code=499)  # the client has gone: only the log sees it


class LimitsMiddleware:
    """Around every request: no body beyond the limit, no exception without an answer, every status counted."""

    def __init__(self, app: ASGIApp, service: RequestService, body_bytes: int) -> None:
        self._app = app
        self._service = service
        self._body_bytes = body_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        taken, begun, too_large = 0, False, False

        async def receive_counted() -> Message:
            nonlocal taken, too_large
            message = await receive()
            taken += len(message.get("body", b""))
            if taken > self._body_bytes:
                too_large = True
                raise ApiErrorException(self._too_large())
            return message

        async def respond(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                self._service.metrics.responded(message["status"])
            await send(message)

        async def respond_unless_refused(message: Message) -> None:
            # The endpoint that was reading the body would call it unreadable, and send that instead of "too large".
            if begun or not too_large:
                await respond(message)

        if _length(scope) > self._body_bytes:
            await problem_answer(self._too_large(), scope["path"])(scope, receive, respond)
            return
        if scope["path"].startswith("/v1/"):
            # Before the body is read: a client without a key may not cause that work. Endpoints ask for their scope.
            try:
                await self._service.accounts.identify(authorization(Headers(scope=scope)), *SCOPES)
            except PodiumError as error:
                await problem_answer(problem_of(error), scope["path"])(scope, receive, respond)
                return
        problem: ApiError | None = None
        try:
            await self._app(scope, receive_counted, respond_unless_refused)
        except ApiErrorException as refusal:
            problem = refusal.problem
        except Exception:
            log.exception("a bug, at %s %s", scope["method"], scope["path"])
            if begun:
                raise
            problem = BUG
        if too_large and not begun:
            problem = self._too_large()
        if problem is not None:
            await problem_answer(problem, scope["path"])(scope, receive, respond)

    def _too_large(self) -> ApiError:
        message = f"a request may have {self._body_bytes} bytes"
        return ApiError(status=413, message=message, kind="invalid_request_error", code="request_too_large")


def _length(scope: Scope) -> int:
    value = dict(scope["headers"]).get(b"content-length", b"0")
    return int(value) if value.isdigit() else 0


def _openapi(app: FastAPI) -> dict[str, Any]:
    if not app.openapi_schema:
        document = get_openapi(title="Podium", version=app.version, routes=app.routes)
        for path in document["paths"].values():
            for operation in path.values():
                operation["responses"].pop("422", None)  # what can not be read is answered with 400
        app.openapi_schema = document
    return app.openapi_schema


_ERROR: Mapping[str, Any] = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["message", "type", "param", "code"],
            "properties": {
                "message": {"type": "string"},
                "type": {"type": "string"},
                "param": {"type": ["string", "null"]},
                "code": {"type": ["string", "null"]},
            },
        }
    },
}
_ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"description": text, "content": {"application/json": {"schema": _ERROR}}}
    for status, text in {
        400: "The request can not be carried out as it stands.",
        401: "The key is missing, wrong or revoked.",
        402: "The request's budget does not allow it.",
        403: "The key may not do this.",
        404: "There is no such model or run.",
        413: "The request is too large.",
        429: "The quota is used up, or too many requests wait.",
        502: "The policy wrote no workflow, or a worker refuses this.",
        503: "A worker is not available now.",
        504: "A worker took too long.",
    }.items()
}
