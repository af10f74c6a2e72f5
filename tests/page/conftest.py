"""One server and one browser for all tests of the page."""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Playwright, expect, sync_playwright

from tests.page.training_run import write_run

ROOT = Path(__file__).parents[2]
START_SECONDS = 180.0
expect.set_options(timeout=45_000)  # a machine may be busy; what comes sooner is not waited for


class Served(NamedTuple):
    """A running server."""

    address: str
    folder: Path
    log: Path


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with with_training(tmp_path_factory.mktemp("page")) as running:
        yield running


@contextmanager
def with_training(folder: Path) -> Iterator[Served]:
    """A server over ``folder``, which is new, with two training runs in it."""
    write_run(folder / "training" / "small" / "seed-0", iterations=4)
    write_run(folder / "training" / "other" / "seed-0", iterations=3)
    with serving(folder) as running:
        yield running


@contextmanager
def serving(folder: Path, *arguments: str, program: str = "tests.page.server", port: int = 0) -> Iterator[Served]:
    """A server over ``folder`` in a process of its own; ``port`` 0 takes a free one."""
    pytest.importorskip("nicegui", reason="the serve extra is not installed: pip install podium[serve]")
    with socket.socket() as free:
        free.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        free.bind(("127.0.0.1", port))
        port = free.getsockname()[1]
    address, log = f"http://127.0.0.1:{port}", folder / "server.log"
    with log.open("wb") as out:
        command = [sys.executable, "-m", program, str(port), str(folder), *arguments]
        process = subprocess.Popen(command, cwd=ROOT, stdout=out, stderr=subprocess.STDOUT)
    try:
        _wait(address, process, log)
        yield Served(address, folder, log)
    finally:
        process.terminate()
        process.wait(timeout=20)


def _wait(address: str, process: "subprocess.Popen[bytes]", log: Path) -> None:
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until and process.poll() is None:
        try:
            urllib.request.urlopen(f"{address}/favicon.ico", timeout=5).close()  # noqa: S310 - our own address
        except urllib.error.HTTPError:
            return  # it answers
        except OSError:
            time.sleep(0.2)
        else:
            return
    pytest.fail(f"the server did not start:\n{log.read_text(errors='replace')}")


# No longer than a module: while its browser is open, a thread can not run an event loop of its own.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as launched:
        yield launched


@contextmanager
def chromium() -> Iterator[Browser]:
    """The Chromium of this machine, best the kind that has no windows and costs a fifth less; without any the test is skipped."""
    found = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    if found is None:
        pytest.skip("chromium is missing, so no page can be looked at: sudo apt-get install chromium-headless-shell")
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield launched
        launched.close()


FRUGAL: dict[str, str | float | bool] = {
    "browser.cache.disk.enable": False,
    "dom.ipc.processCount": 1,
    "dom.ipc.processPrelaunch.enabled": False,
    "fission.autostart": False,
    "layout.frame_rate": 10,
}
"""One process for all pages and none made ahead, and ten pictures a second: a third less to do, and the same pages."""


@contextmanager
def firefox(playwright: Playwright, folder: Path) -> Iterator[Browser]:
    """The Firefox of this machine; the test is skipped where there is none. ``folder`` is new."""
    found = shutil.which("firefox-esr") or shutil.which("firefox")
    if found is None:
        pytest.skip("Firefox is missing, so no page can be looked at in it: sudo apt-get install firefox-esr")
    between = folder / "firefox"
    between.write_text(f'#!/bin/sh\nexec {sys.executable} {Path(__file__).with_name("old_firefox.py")} {found} "$@"\n')
    between.chmod(0o755)
    environment = {**os.environ, "HOME": str(folder)}  # Firefox refuses to run as root in another user's home
    launched = playwright.firefox.launch(
        channel="moz-firefox",
        executable_path=between,
        env=environment,  # type: ignore[arg-type]
        firefox_user_prefs=FRUGAL,
    )
    yield launched
    launched.close()


class Watched(NamedTuple):
    """A browser page and everything that should not have happened on it."""

    page: Page
    wrong: list[str]


@pytest.fixture
def watched(browser: Browser, served: Served) -> Iterator[Watched]:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(60_000)
    page = context.new_page()
    wrong = watch(page, served.address)
    logged = served.log.stat().st_size
    yield Watched(page, wrong)
    context.close()
    assert b"Traceback" not in served.log.read_bytes()[logged:], "the server met a bug that no visitor is told of"
    assert wrong == [], "a console error, a dialog, or a request that left the site"


_READABLE = """console.error = (said => (...all) =>
    said(...all.map(each => each instanceof Error ? `${each}` : each)))(console.error)"""
"""Firefox tells of an error that was printed no more than that it is one."""
_LEFT = "error loading dynamically imported module"
"""What Firefox prints of a page that is left while it loads."""


def at(page: Page) -> str:
    """The address as the visitor sees it. Playwright's own ``page.url`` misses what a script writes there, in Firefox."""
    return str(page.evaluate("location.href"))


def watch(page: Page, address: str) -> list[str]:
    """Collects what should not happen: console messages of errors, dialogs, requests to anywhere else."""
    wrong: list[str] = []
    page.add_init_script(_READABLE)

    def hear(said: ConsoleMessage) -> None:
        if said.type in ("error", "warning") and _LEFT not in said.text:
            wrong.append(f"{said.text} {said.location}")

    page.on("console", hear)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("dialog", lambda dialog: wrong.append(f"dialog {dialog.message}"))
    page.on("request", lambda request: None if request.url.startswith((f"{address}/", "data:")) else wrong.append(request.url))
    return wrong
