"""Pages of other origins that may ask the API from a browser.

Only below ``/v1/``, where nothing but a key in a header counts: credentials that a browser adds by itself (cookies) are never
allowed, so no origin can speak for a visitor of the page, whose own protections stay as they are.
"""

from collections.abc import Sequence
from urllib.parse import urlsplit

from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

from podium.errors import ConfigError
from podium.serving.headers import EXPOSED

ANY = "*"
_PREFLIGHT_SECONDS = 600


class Origins:
    """ASGI middleware around ``app``. Example: ``Origins(app, ["https://chat.example"])``."""

    def __init__(self, app: ASGIApp, allowed: Sequence[str]) -> None:
        self._app = app
        self._api = CORSMiddleware(
            app,
            allow_origins=tuple(allowed),
            allow_methods=("GET", "POST"),
            # What clients add (authorization, x-stainless-...) differs from version to version; a header alone does no harm.
            allow_headers=("*",),
            allow_credentials=False,
            # A page that was named may also ask a server at home; any page at all may not.
            allow_private_network=ANY not in allowed,
            expose_headers=EXPOSED,
            max_age=_PREFLIGHT_SECONDS,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass one connection on."""
        is_api = scope["type"] == "http" and scope["path"].startswith("/v1/")
        await (self._api if is_api else self._app)(scope, receive, send)


def checked_origin(text: str) -> str:
    """``text`` as browsers write it, or ``*``. Raises :class:`ConfigError` for what no browser sends."""
    if text == ANY:
        return ANY
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise ConfigError(f"--allow-origin {text!r} is no origin; {_SHAPE}") from None
    bare = not (parts.path.strip("/") or parts.query or parts.fragment or "@" in parts.netloc or "*" in parts.netloc)
    if not parts.scheme or not parts.hostname or not bare or not text.isascii() or any(sign.isspace() for sign in text):
        raise ConfigError(f"--allow-origin {text!r} is no origin; {_SHAPE}")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    usual = {"http": 80, "https": 443}.get(parts.scheme)
    return f"{parts.scheme}://{host}" + ("" if port is None or port == usual else f":{port}")


_SHAPE = "write it as the browser does, https://chat.example or http://localhost:3000, or * for every page there is"
