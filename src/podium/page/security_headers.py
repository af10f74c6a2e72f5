"""What the browser may do with our pages: a Content-Security-Policy of its own for every answer, and no foreign callers.

Every script tag of a page carries a number that can not be guessed; scripts without it, handlers in attributes and
``javascript:`` addresses do not run, whatever got into a page. What NiceGUI needs beyond ``'self'``:

- ``'unsafe-eval'``: Vue compiles templates in the browser and NiceGUI evaluates handlers that the server sends;
- ``style-src 'unsafe-inline'``: widths and colours stand in style attributes, style sheets in the head of the page.

Nothing may be loaded from another host. The socket answers only pages of this host, because NiceGUI itself lets any in.
"""

import secrets
from urllib.parse import urlsplit

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_POLICY = (
    "default-src 'none'; script-src 'self' 'nonce-{nonce}' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'; object-src 'none'"
)
_FIXED = {
    b"x-content-type-options": b"nosniff",
    b"referrer-policy": b"same-origin",
    b"x-frame-options": b"DENY",
    b"cross-origin-opener-policy": b"same-origin",
    b"cross-origin-resource-policy": b"same-origin",
    b"permissions-policy": b"camera=(), geolocation=(), microphone=()",
}


def policy(nonce: str) -> str:
    """The Content-Security-Policy of a page whose scripts carry ``nonce``."""
    return _POLICY.format(nonce=nonce)


class SecurityHeadersMiddleware:
    """ASGI middleware: adds the headers, numbers the scripts of HTML pages, turns foreign callers away."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass one connection on."""
        if scope["type"] in ("http", "websocket") and _is_foreign(scope):
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1008, "reason": "another host's page"})
            else:
                await PlainTextResponse("This server talks to its own pages only.", status_code=403)(scope, receive, send)
            return
        await self._app(scope, receive, _Guarded(send) if scope["type"] == "http" else send)


class _Guarded:
    """``send`` for one answer. HTML is held until it is whole: pages are small, and their length changes."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._nonce = secrets.token_urlsafe(18)
        self._held: Message | None = None
        self._body: list[bytes] = []

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = [(name, value) for name, value in message["headers"] if name.lower() not in _FIXED]
            headers += [*_FIXED.items(), (b"content-security-policy", policy(self._nonce).encode())]
            message = {**message, "headers": headers}
            if any(name.lower() == b"content-type" and value.startswith(b"text/html") for name, value in headers):
                self._held = message
                return
        elif message["type"] == "http.response.body" and self._held is not None:
            self._body.append(message.get("body", b""))
            if message.get("more_body", False):
                return
            # What others wrote is in the page with every < escaped, so these are NiceGUI's scripts and ours.
            body = b"".join(self._body).replace(b"<script", b'<script nonce="' + self._nonce.encode() + b'"')
            kept = [(name, value) for name, value in self._held["headers"] if name.lower() != b"content-length"]
            await self._send({**self._held, "headers": [*kept, (b"content-length", str(len(body)).encode())]})
            self._held = None
            self._body.clear()  # the request outlives its answer for as long as the page is open, and holds on to this
            message = {"type": "http.response.body", "body": body}
        await self._send(message)


def _is_foreign(scope: Scope) -> bool:
    """Whether a page of another host makes the call. Calls that come from no page carry no origin."""
    headers = dict(scope["headers"])
    origin = headers.get(b"origin", b"").decode("latin-1")
    if not origin:
        return False
    hosts = {headers.get(name, b"").decode("latin-1") for name in (b"host", b"x-forwarded-host")}
    return urlsplit(origin).netloc not in hosts - {""}
