"""The page of a server that asks for keys: who is let in, what they see, and when it is over."""

import json
import re
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.page.conftest import Served, serving, watch

HTML = {"Accept": "text/html"}


@pytest.fixture(scope="module")
def closed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("closed"), "keys") as running:
        yield running


@pytest.fixture(scope="module")
def plain_key(closed: Served) -> str:
    return key(closed, "plain")


def key(served: Served, name: str, *options: str) -> str:
    """A new key's secret, from the command line: while a browser is open, this thread can run no event loop of its own."""
    made = _keys(served, "create", name, "--json", *options)
    return str(json.loads(made)["secret"])


def _keys(served: Served, *words: str) -> str:
    command = [sys.executable, "-m", "podium", "keys", *words, "--db", f"sqlite:///{served.folder}/runs.db"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def visit(browser: Browser, served: Served, secret: str) -> tuple[Page, list[str]]:
    """A new browser's page, signed in."""
    page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
    page.set_default_timeout(60_000)
    wrong = watch(page, served.address)
    page.goto(f"{served.address}/")
    expect(page).to_have_url(re.compile("/sign-in"))
    page.get_by_label("Key").fill(secret)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="Ask")).to_be_visible()
    return page, wrong


def ask(page: Page, question: str) -> None:
    page.get_by_label("Model").select_option("brook")
    page.get_by_label("Question").fill(question)
    page.get_by_role("button", name="Ask", exact=True).click()


@pytest.mark.parametrize("path", ["/", "/play", "/runs", "/runs/run_1", "/training", "/pool", "/sign-out?", "/_nicegui/x", "/no"])
@pytest.mark.parametrize("cookie", [None, "", "pod_wrong", "pod_" + "x" * 5000, '"; DROP TABLE keys', "p\xf6d"])
def test_nothing_is_shown_without_a_key(closed: Served, path: str, cookie: str | None) -> None:
    headers = [(b"cookie", b"podium_key=" + cookie.encode("latin-1"))] if cookie is not None else []
    answer = httpx.get(closed.address + path, headers=[*headers, (b"accept", b"text/html")])
    assert answer.status_code == 303
    assert answer.headers["location"].startswith("/sign-in")
    answer = httpx.get(closed.address + path, headers=headers)
    assert answer.status_code == 401
    assert answer.json()["error"]["code"] == "invalid_api_key"


def test_no_socket_without_a_key(closed: Served) -> None:
    answer = httpx.get(f"{closed.address}/_nicegui_ws/socket.io/?EIO=4&transport=polling")
    assert answer.status_code == 401
    upgrade = {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "x" * 22 + "==",
    }
    answer = httpx.get(f"{closed.address}/_nicegui_ws/socket.io/?EIO=4&transport=websocket", headers=upgrade)
    assert answer.status_code == 403


@pytest.mark.parametrize(
    ("wanted", "goes_to"),
    [
        ("/runs/run_1", "/runs/run_1"),
        ("/training?run=a%2Fb", "/training?run=a%2Fb"),
        ("//evil.example", "/"),
        ("/\\evil.example", "/"),
        ("https://evil.example", "/"),
        ("javascript:alert(1)", "/"),
        ("/a\r\nSet-Cookie: x=y", "/"),
        ("", "/"),
    ],
)
def test_signing_in_leads_to_this_server_only(closed: Served, plain_key: str, wanted: str, goes_to: str) -> None:
    answer = httpx.post(f"{closed.address}/sign-in", params={"next": wanted}, data={"key": plain_key})
    assert (answer.status_code, answer.headers["location"]) == (303, goes_to)
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert "Max-Age" not in cookie


@pytest.mark.parametrize("secret", ["", "pod_wrong", "<script>alert(1)</script>", "x" * 100_000, "\x00\xff"])
def test_a_wrong_key_is_not_repeated(closed: Served, secret: str) -> None:
    answer = httpx.post(f"{closed.address}/sign-in", data={"key": secret})
    assert answer.status_code == 401
    assert "set-cookie" not in answer.headers
    assert "unknown or was revoked" in answer.text
    assert not secret or secret not in answer.text


def test_another_sites_form_is_turned_away(closed: Served, plain_key: str) -> None:
    answer = httpx.post(f"{closed.address}/sign-in", data={"key": plain_key}, headers={"Origin": "https://evil.example"})
    assert answer.status_code == 403
    assert "set-cookie" not in answer.headers


def test_a_key_sees_its_own_runs_and_the_operator_sees_all(closed: Served, browser: Browser) -> None:
    first, wrong = visit(browser, closed, key(closed, "first"))
    ask(first, "What is 17 + 25?")
    expect(first.locator(".answer:visible")).to_have_count(1)
    first.get_by_role("link", name="A link to this run").click()
    expect(first.locator(".problem")).to_have_text("What is 17 + 25?")
    address = first.url
    first.get_by_role("link", name="Runs", exact=True).click()
    expect(first.locator("tbody tr")).to_have_count(1)
    first.get_by_role("link", name="Training").click()
    expect(first.locator(".failure")).to_contain_text("lacks the scope admin")

    second, also_wrong = visit(browser, closed, key(closed, "second"))
    second.goto(address)
    expect(second.locator("#content")).to_contain_text("There is no run at this address")
    second.get_by_role("link", name="All runs").click()
    expect(second.locator("#content")).to_contain_text("No run fits.")

    operator, wrong_too = visit(browser, closed, key(closed, "operator", "--scope", "admin"))
    operator.goto(address)
    expect(operator.locator(".problem")).to_have_text("What is 17 + 25?")
    operator.get_by_role("link", name="Training").click()
    expect(operator.locator("#content")).to_contain_text("There are no runs of training")

    second.get_by_role("link", name="Sign out").click()
    expect(second.get_by_role("heading", name="Sign in")).to_be_visible()
    second.goto(f"{closed.address}/runs")
    expect(second).to_have_url(re.compile("/sign-in"))
    assert wrong + also_wrong + wrong_too == []


def test_a_page_that_is_left_open_ends_with_its_key(closed: Served, browser: Browser) -> None:
    page, _ = visit(browser, closed, key(closed, "leaver"))
    _keys(closed, "revoke", "leaver")
    page.wait_for_timeout(5_500)  # how long a key that was found is remembered
    ask(page, "What is 17 + 25?")
    expect(page.locator(".failure")).to_contain_text("unknown or was revoked")
    assert page.locator(".node").count() == 0
    page.goto(f"{closed.address}/runs")
    expect(page).to_have_url(re.compile("/sign-in"))


def test_a_key_that_ends_in_mid_run_is_not_asked_what_it_thinks(closed: Served, browser: Browser) -> None:
    page, wrong = visit(browser, closed, key(closed, "ends"))
    page.get_by_label("Model").select_option("plans")
    page.get_by_label("Question").fill("What is 17 + 25?")
    page.get_by_role("button", name="Ask", exact=True).click()
    expect(page.locator(".thread .panel")).to_have_count(1)
    with closing(sqlite3.connect(closed.folder / "runs.db")) as beside, beside:  # at once: what was found is remembered for 5 s
        beside.execute("UPDATE keys SET revoked_us = 1 WHERE name = 'ends'")
    (closed.folder / "go_on").touch()
    expect(page.locator(".status")).to_contain_text("tokens")
    expect(page.get_by_role("button", name="Ask further")).to_be_visible()
    expect(page.locator(".feedback")).to_have_count(0)
    expect(page.locator("[role=alert]:visible")).to_have_count(0)
    assert wrong == []


def test_a_tune_is_started_by_who_is_admin_now_and_by_nobody_else(closed: Served, browser: Browser) -> None:
    plain, _ = visit(browser, closed, key(closed, "no admin"))
    plain.goto(f"{closed.address}/tuning")
    expect(plain.locator(".failure")).to_contain_text("lacks the scope admin")
    expect(plain.get_by_role("button", name="Start")).to_have_count(0)
    admin, _ = visit(browser, closed, key(closed, "was admin", "--scope", "admin"))
    admin.goto(f"{closed.address}/tuning")
    admin.get_by_text("Start one").click()
    admin.get_by_label("At most, in dollars").fill("1")
    _keys(closed, "revoke", "was admin")
    admin.wait_for_timeout(5_500)  # how long a key that was found is remembered
    admin.get_by_role("button", name="Start", exact=True).click()
    expect(admin.locator("[role=alert]:visible")).to_contain_text("unknown or was revoked")
    assert not list(closed.folder.rglob("job.json"))


def test_the_pages_runs_count_against_the_quota(closed: Served, browser: Browser) -> None:
    page, _ = visit(browser, closed, key(closed, "poor", "--monthly-usd", "0.000001"))
    ask(page, "What is 17 + 25?")
    expect(page.locator(".failure")).to_contain_text("per month (UTC)")
    assert page.locator(".node").count() == 0


def test_the_form_is_fit_to_be_read(closed: Served, browser: Browser, tmp_path: Path) -> None:
    for width, scheme in ((1280, "light"), (390, "dark")):
        context = browser.new_context(viewport={"width": width, "height": 700}, color_scheme=scheme)  # type: ignore[arg-type]
        page = context.new_page()
        page.goto(f"{closed.address}/sign-in")
        expect(page.get_by_label("Key")).to_be_focused()
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.screenshot(path=str(tmp_path / f"sign_in_{width}_{scheme}.png"))
        context.close()
