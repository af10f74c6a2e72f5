"""Signing in to a server that asks for keys: a form for the key; nothing else is shown without one."""

import re
from pathlib import Path
from urllib.parse import parse_qs, quote, urlencode

from fastapi import FastAPI, Request
from starlette.requests import HTTPConnection
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from podium.errors import AccessDenied
from podium.page.frame import HEAD, ICON
from podium.page.site import Site
from podium.page.visitor import Visitor, forget, remember
from podium.serving.api_errors import problem_of
from podium.serving.wire import problem_answer

SIGN_IN, SIGN_OUT = "/sign-in", "/sign-out"
_MOST_BYTES = 4096
_LOCAL = re.compile(r"/(?![/\\])[\w\-./?=&%]{0,300}", re.ASCII)
"""Where a visitor may be sent on to: an address of this server."""


def add_sign_in(app: FastAPI, site: Site) -> None:
    """Put the form onto ``app``, whose other pages :class:`SignInMiddleware` shows to signed-in visitors only."""
    style, body = (Path(__file__).with_name(name).read_text() for name in ("page.css", "sign_in.html"))

    def form(next_address: str, wrong: bool) -> Response:
        action = f"{site.link(SIGN_IN)}?{urlencode({'next': next_address})}"
        marks = {"invalid": ' aria-invalid="true"' if wrong else "", "hidden": "" if wrong else " hidden"}
        page = body.format(icon=quote(ICON), head=HEAD, style=style, action=quote(action, safe="/?=&%"), **marks)
        return HTMLResponse(page, status_code=401 if wrong else 200)

    @app.get(SIGN_IN)
    async def sign_in(request: Request) -> Response:
        return form(_next(site, request), wrong=False)

    @app.post(SIGN_IN)
    async def signed_in(request: Request) -> Response:
        body = await request.body()
        given = parse_qs(body.decode("latin-1")).get("key", [""]) if len(body) <= _MOST_BYTES else [""]
        secret = given[0].strip()
        try:
            await site.service.accounts.identify(f"Bearer {secret}", "ask", "read")
        except AccessDenied:
            return form(_next(site, request), wrong=True)
        answer = RedirectResponse(_next(site, request), status_code=303)
        remember(answer, secret, path=site.prefix, secure=request.url.scheme == "https")
        return answer

    @app.get(SIGN_OUT)
    async def sign_out() -> Response:
        answer = RedirectResponse(site.link(SIGN_IN), status_code=303)
        forget(answer, path=site.prefix)
        return answer


class SignInMiddleware:
    """ASGI middleware: a visitor without a key sees the form (a program gets a 401), and no socket is opened for them."""

    def __init__(self, app: ASGIApp, site: Site) -> None:
        self._app = app
        self._site = site

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass one connection on, or answer with the form."""
        if scope["type"] not in ("http", "websocket") or scope["path"] == self._site.link(SIGN_IN):
            await self._app(scope, receive, send)
            return
        connection = HTTPConnection(scope)
        try:
            await Visitor(self._site.service.accounts, connection).key("ask", "read")
        except AccessDenied as error:
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1008, "reason": "no key"})
            elif "text/html" in connection.headers.get("accept", ""):
                wanted = scope["path"] + ("?" + scope["query_string"].decode("latin-1") if scope["query_string"] else "")
                way = f"{self._site.link(SIGN_IN)}?{urlencode({'next': wanted})}"
                await RedirectResponse(way, status_code=303)(scope, receive, send)
            else:
                await problem_answer(problem_of(error), scope["path"])(scope, receive, send)
            return
        await self._app(scope, receive, send)


def _next(site: Site, request: Request) -> str:
    wanted = request.query_params.get("next", "")
    return wanted if _LOCAL.fullmatch(wanted) else site.link("/")
