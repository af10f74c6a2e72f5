"""Web pages of other origins: what a browser is told, and that nothing else of the server opens to them."""

from pathlib import Path

import httpx
import pytest

from podium.errors import ConfigError
from podium.pools.models import PoolCatalog
from podium.serving.origins import checked_origin
from tests.serving.live import TWO_STEPS, catalog_of, live, said
from tests.serving.test_serve_command import serving

CHAT = "https://chat.example"
ASK = {"model": "w2", "messages": [{"role": "user", "content": "?"}]}
STAINLESS = "authorization,content-type,x-stainless-arch,x-stainless-lang,x-stainless-retry-count,x-stainless-timeout"


def preflight(origin: str, **more: str) -> dict[str, str]:
    return {
        "Origin": origin,
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": STAINLESS,
        **{name.replace("_", "-"): value for name, value in more.items()},
    }


def catalog() -> PoolCatalog:
    return catalog_of(said(TWO_STEPS), said("Plan."), said("42"))


async def test_a_page_that_was_named_may_ask_and_no_other(tmp_path: Path) -> None:
    origins = (CHAT, "http://localhost:3000")
    async with live(catalog(), tmp_path, with_keys=True, origins=origins) as server, httpx.AsyncClient() as http:
        url = f"{server.url}/v1/chat/completions"
        for origin in origins:
            may = await http.options(url, headers=preflight(origin, Access_Control_Request_Private_Network="true"))
            assert (may.status_code, may.headers["access-control-allow-origin"]) == (200, origin)
            assert may.headers["access-control-allow-headers"] == STAINLESS
            assert "POST" in may.headers["access-control-allow-methods"]
            assert may.headers["access-control-allow-private-network"] == "true"
            assert "Origin" in may.headers["vary"]
            # What the door refuses, a page has to be able to read: the key is missing.
            refused = await http.post(url, json=ASK, headers={"Origin": origin})
            assert (refused.status_code, refused.headers["access-control-allow-origin"]) == (401, origin)
            assert "X-Podium-Ignored" in refused.headers["access-control-expose-headers"]
        for origin in ("https://evil.example", f"{CHAT}.evil.example", "http://chat.example", f"{CHAT}:8443", "null"):
            may = await http.options(url, headers=preflight(origin))
            assert may.status_code == 400
            assert "access-control-allow-origin" not in may.headers
            refused = await http.post(url, json=ASK, headers={"Origin": origin})
            assert "access-control-allow-origin" not in refused.headers


async def test_every_page_but_never_with_its_visitors_cookies(tmp_path: Path) -> None:
    async with live(catalog(), tmp_path, origins=("*",)) as server, httpx.AsyncClient() as http:
        url = f"{server.url}/v1/chat/completions"
        may = await http.options(url, headers=preflight("https://any.example"))
        assert may.headers["access-control-allow-origin"] == "*"
        private = await http.options(url, headers=preflight("https://any.example", Access_Control_Request_Private_Network="true"))
        assert "access-control-allow-private-network" not in private.headers
        answer = await http.post(url, json=ASK, headers={"Origin": "https://any.example", "Cookie": "a=b"})
        assert (answer.status_code, answer.headers["access-control-allow-origin"]) == (200, "*")
        for reply in (may, private, answer):
            assert "access-control-allow-credentials" not in reply.headers
        streamed = await http.post(url, json={**ASK, "stream": True}, headers={"Origin": "https://any.example"})
        assert streamed.headers["access-control-allow-origin"] == "*"
        assert "X-Podium-Run" in streamed.headers["access-control-expose-headers"]


async def test_nobody_is_allowed_unless_somebody_was_named(tmp_path: Path) -> None:
    async with live(catalog(), tmp_path) as server, httpx.AsyncClient() as http:
        url = f"{server.url}/v1/chat/completions"
        for reply in (
            await http.options(url, headers=preflight(CHAT)),
            await http.post(url, json=ASK, headers={"Origin": CHAT}),
        ):
            assert not [name for name in reply.headers if name.startswith("access-control-")]


def test_the_page_itself_stays_as_closed_as_it_was(tmp_path: Path) -> None:
    with serving(tmp_path, "--allow-origin", CHAT, "--allow-origin", "*") as (url, process), httpx.Client(base_url=url) as http:
        assert process.stderr is not None
        assert "nobody is asked for a key" in process.stderr.readline()
        assert http.get("/v1/models", headers={"Origin": CHAT}).headers["access-control-allow-origin"] == "*"
        for path in ("/", "/runs", "/pool", "/_nicegui_ws/socket.io/", "/v1", "/v1x"):
            for reply in (http.get(path, headers={"Origin": CHAT}), http.options(path, headers=preflight(CHAT))):
                assert reply.status_code == 403, path
                assert not [name for name in reply.headers if name.startswith("access-control-")], path
        for path in ("/healthz", "/metrics", "/openapi.json"):
            reply = http.get(path, headers={"Origin": CHAT})
            assert reply.status_code == 200
            assert not [name for name in reply.headers if name.startswith("access-control-")], path


@pytest.mark.parametrize(
    ("text", "origin"),
    [
        ("*", "*"),
        ("https://Chat.Example/", CHAT),
        ("https://chat.example:443", CHAT),
        ("http://localhost:3000", "http://localhost:3000"),
        ("http://[::1]:3000", "http://[::1]:3000"),
        ("app://obsidian.md", "app://obsidian.md"),
    ],
)
def test_origins_are_written_as_browsers_write_them(text: str, origin: str) -> None:
    assert checked_origin(text) == origin


@pytest.mark.parametrize(
    "text",
    [
        "",
        "chat.example",
        "null",
        "https://*.example",
        "https://a.example/path",
        "https://u:p@a.example",
        "https://a:x",
        "https://a b",
    ],
)
def test_what_is_no_origin_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="--allow-origin"):
        checked_origin(text)
