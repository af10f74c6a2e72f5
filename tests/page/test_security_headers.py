"""The headers of the pages, read without a browser."""

import gc
import json
import re
import tracemalloc
import urllib.error
import urllib.request
from email.message import Message as Headers

import pytest
from starlette.types import Message, Receive, Scope, Send

from podium.page.security_headers import SecurityHeadersMiddleware
from tests.page.conftest import Served


def get(address: str, **headers: str) -> tuple[int, Headers, str]:
    request = urllib.request.Request(address, headers=headers)  # noqa: S310 - our own server
    try:
        with urllib.request.urlopen(request, timeout=20) as reply:  # noqa: S310
            return reply.status, reply.headers, reply.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.headers, error.read().decode()


@pytest.mark.parametrize("path", ["/", "/play", "/runs", "/runs/run_0", "/training", "/pool"])
def test_every_page_has_a_strict_policy(served: Served, path: str) -> None:
    status, headers, body = get(served.address + path)
    policy = headers["Content-Security-Policy"]
    assert status == 200
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "http" not in policy, "no other host"
    assert "'unsafe-inline'" not in policy.split("script-src")[1].split(";")[0]
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "same-origin"
    nonces = set(re.findall(r'<script nonce="([^"]+)"', body))
    assert len(nonces) == 1
    assert f"'nonce-{nonces.pop()}'" in policy
    assert "<script>" not in body
    assert get(served.address + path)[1]["Content-Security-Policy"] != policy, "a number is used once"


def test_pages_of_other_hosts_are_turned_away(served: Served) -> None:
    socket = f"{served.address}/_nicegui_ws/socket.io/?EIO=4&transport=polling"
    assert get(socket, Origin="http://evil.example")[0] == 403
    assert get(socket, Origin="null")[0] == 403
    assert get(socket, Origin=served.address)[0] == 200
    assert get(f"{served.address}/", Origin="http://evil.example")[0] == 403


def test_unknown_addresses(served: Served) -> None:
    status, headers, body = get(f"{served.address}/v1/nothing")
    assert status == 404
    assert json.loads(body)["error"]["code"] == "not_found"
    status, headers, _ = get(f"{served.address}/nothing")
    assert status == 404
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    status, headers, body = get(f"{served.address}/<script>", Accept="text/html")
    assert status == 404
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert "There is nothing at this address" in body
    assert "<script>" not in body, "the address does not become a part of the page"
    status, _, body = get(f"{served.address}/<script>", Accept="application/json")
    assert status == 404
    assert "<" not in body


def test_what_a_client_says_of_its_prefix_does_not_become_script(served: Served) -> None:
    _, _, body = get(f"{served.address}/", **{"X-Forwarded-Prefix": '"><script>window.hit=1</script>'})
    assert "window.hit=1</script>" not in body


async def test_a_page_that_was_sent_is_not_kept_by_the_open_page_that_holds_on_to_its_request() -> None:
    kept: list[Send] = []

    async def page(scope: Scope, receive: Receive, send: Send) -> None:
        kept.append(send)  # as NiceGUI keeps the request, and with it this, for as long as the page is open
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/html")]})
        for _ in range(20):
            await send({"type": "http.response.body", "body": b"x" * 50_000, "more_body": True})
        await send({"type": "http.response.body", "body": b"<script>", "more_body": False})

    sent: list[int] = []

    async def out(message: Message) -> None:
        sent.append(len(message.get("body", b"")))

    scope = {"type": "http", "headers": []}
    tracemalloc.start()
    await SecurityHeadersMiddleware(page)(scope, _nothing, out)
    gc.collect()
    held = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert sum(sent) > 1_000_000
    assert held < 100_000
    assert kept


async def _nothing() -> Message:
    return {"type": "http.request"}
