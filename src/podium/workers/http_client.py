"""The HTTP client of workers, with the faults of a connection by their right names.

The transport is aiohttp's, through the client the OpenAI SDK ships for it; every adapter (OpenAI, Anthropic, Google) takes
it. Measured with 256 concurrent calls to a loopback server that sleeps 1 s, second burst, 2 cores, November 2026: aiohttp
1.4 s and 1.4 CPU-ms a call; the SDK's own default (httpx2 2.16) 1.9 s and 3.8 CPU-ms; httpx 0.28 6.5 s and 22 CPU-ms.

That client calls most faults of a connection a ``ConnectTimeout``, also a connection that was refused and one that broke after
the request was sent. Here the two are told apart, because what was never sent can not be on the bill.
"""

import socket
from typing import Any

import aiohttp
import httpx2
from openai import DefaultAioHttpClient

# aiohttp reads None as its own default of 100, so the limit is a number.
MAX_CONNECTIONS = 1000

CONNECT_SECONDS = 10.0
"""How long one address is tried."""
CONNECT_SHARE = 0.8
"""The part of a call's seconds after which a connection that is not there is given up: in time to know that nothing was sent."""


class Unreachable(httpx2.ConnectError):
    """There was no connection, so nothing was sent; the text says why and what to look at."""


class _Client(DefaultAioHttpClient):
    """The SDK's client, with the faults of a connection by their right names."""

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """As httpx2's. Raises :class:`Unreachable` where the request was not sent."""
        timeout = request.extensions.get("timeout", {})
        whole = timeout.get("read")
        if whole is not None:
            most = CONNECT_SHARE * whole  # for the host's name, a free place in the pool and the connection together
            connect = min(CONNECT_SECONDS, most, timeout.get("connect") or most)
            request.extensions = {**request.extensions, "timeout": {**timeout, "connect": connect, "pool": most}}
        try:
            return await super().send(request, **options)
        except httpx2.TransportError as error:
            cause = error.__cause__
            reason = _never_sent(cause, request.url)
            if reason is not None:
                raise Unreachable(reason, request=request) from cause
            if isinstance(cause, aiohttp.ClientConnectionError) and not isinstance(cause, TimeoutError):
                # Not a time-out, whatever the client makes of it: the connection broke when the request was under way.
                raise httpx2.ReadError(str(cause) or "the connection broke", request=request) from cause
            raise


def _never_sent(cause: BaseException | None, url: httpx2.URL) -> str | None:
    """Why a connection could not be made; None where ``cause`` does not say so."""
    address = f"{url.scheme}://{url.netloc.decode('ascii')}"
    match cause:
        case aiohttp.ConnectionTimeoutError():
            return f"no connection to {address} in time: is it running, and is the address right?"
        case aiohttp.ClientConnectorDNSError():
            return f"the name {cause.host!r} can not be resolved: check base_url and the network"
        case aiohttp.ClientHttpProxyError():
            return f"the proxy does not connect to {address} (HTTP {cause.status}): check the proxy's settings"
        case aiohttp.ClientProxyConnectionError():
            return f"no connection to the proxy at {cause.host}:{cause.port}: check the proxy's settings"
        case aiohttp.ClientSSLError():
            return f"no TLS connection to {address}: check its certificate, and whether it is http or https"
        case aiohttp.ClientConnectorError() if isinstance(cause.os_error, ConnectionRefusedError):
            return f"connection refused by {address}: is it running?"
        case aiohttp.ClientConnectorError() if isinstance(cause.os_error, socket.gaierror):
            return f"the name {cause.host!r} can not be resolved: check base_url and the network"
        case aiohttp.ClientConnectorError():
            why = cause.os_error.strerror or type(cause.os_error).__name__
            return f"no connection to {address} ({why}): is it running, and is it http or https?"
        case _:
            return None


def open_client() -> httpx2.AsyncClient:
    """A new client. Close it in the event loop that used it."""
    return _Client(
        limits=httpx2.Limits(max_connections=MAX_CONNECTIONS, max_keepalive_connections=MAX_CONNECTIONS),
        # A redirect would carry the prompt, and for some vendors the key, to a host that the user did not name.
        follow_redirects=False,
    )
