"""Makes the pictures of the page in docs/, from a server over the built-in pool: ``python docs/pictures.py``.

With ``--every FOLDER`` every page goes there, at 390 and 1280 pixels, light and dark, to be looked at. Needs Chromium.
"""

import argparse
import base64
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, expect, sync_playwright

DOCS = Path(__file__).resolve().parent
sys.path.insert(0, str(DOCS.parent))

from tests.page.test_learning_pages import write_learned  # noqa: E402 - the tests are no installed package
from tests.page.training_run import write_run  # noqa: E402

PATIENCE = 240_000
_LISTS = 'model_id = [1, 0]\nsubtasks = ["Solve it.", "Check the answer."]\naccess_list = [[], [0]]'


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """A server over the built-in pool, with something to show in ``folder``; its address."""
    for name in ("first", "second"):
        write_run(folder / "runs" / name / "seed-0", iterations=40)
    write_learned(folder / "runs")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    command = [sys.executable, "-m", "podium", "serve", "--port", port]
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # noqa: S603 - our own
    try:
        while process.poll() is None:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/favicon.ico", timeout=5).close()
                break
            except urllib.error.HTTPError:
                break
            except OSError:
                time.sleep(0.3)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(timeout=60)


def opened(browser: Browser, width: int, scheme: str) -> Page:
    """A new visitor's page."""
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)  # type: ignore[arg-type]
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    return page


def asked(page: Page, address: str, beside: str = "") -> str:
    """Ask the first example and open a step; the run's id."""
    page.goto(f"{address}/")
    if beside:
        page.get_by_label("Compare with").select_option(beside)
    page.locator(".examples .button").first.click()
    page.get_by_role("button", name="Ask", exact=True).click()
    panels = 2 if beside else 1
    expect(page.locator(".panel .answer-heading:visible")).to_have_count(panels, timeout=PATIENCE)
    expect(page.locator(".further")).to_be_visible(timeout=PATIENCE)
    page.locator(".panel").first.locator(".node:not(.plan)").first.click()
    expect(page.locator(".inspector h3").first).to_be_visible(timeout=PATIENCE)
    return str(page.evaluate("new URLSearchParams(location.search).get('run')"))


def played(page: Page, address: str) -> None:
    """Play one problem."""
    page.goto(f"{address}/play")
    page.get_by_label("Your workflow").fill(_LISTS)
    page.get_by_role("button", name="Run both").click()
    expect(page.locator(".score")).to_contain_text("After 1 problem", timeout=PATIENCE)


def checked(page: Page, address: str) -> None:
    """The pool, just checked."""
    page.goto(f"{address}/pool")
    page.get_by_role("button", name="Check now").click()
    expect(page.locator(".cards p.good, .cards p.unsure")).to_have_count(7, timeout=PATIENCE)


def shot(page: Page) -> bytes:
    """The whole page, from its top."""
    page.evaluate("scrollTo(0, 0)")
    page.wait_for_timeout(400)
    return page.screenshot(full_page=True)


def every(browser: Browser, address: str, folder: Path) -> None:
    """All pages, in all looks."""
    folder.mkdir(parents=True, exist_ok=True)
    for width in (1280, 390):
        for scheme in ("light", "dark") if width == 1280 else ("dark", "light"):
            page = opened(browser, width, scheme)

            def keep(name: str, page: Page = page, look: str = f"{width}_{scheme}") -> None:
                (folder / f"{name}_{look}.png").write_bytes(shot(page))

            page.goto(f"{address}/")
            expect(page.get_by_role("textbox", name="Question", exact=True)).to_be_visible()
            keep("empty")
            first = asked(page, address, beside="delta")
            keep("ask")
            second = asked(page, address)
            played(page, address)
            keep("play")
            checked(page, address)
            keep("pool")
            rest = ("runs", "runs?by=worker", f"runs/{first}", f"compare?a={first}&b={second}", "training", "models", "nothing")
            rest += (
                "training?run=first/seed-0&beside=second/seed-0",
                "tuning",
                "tuning?run=mine/tuned",
                "studies?run=mine/study",
            )
            for number, path in enumerate(rest):
                page.goto(f"{address}/{path}")
                expect(page.locator("h1")).to_be_visible()
                expect(page.locator(".charts svg")).to_have_count(12 if "beside=" in path else 0)
                page.evaluate("document.querySelectorAll('.learning-form').forEach(form => form.open = true)")
                keep(f"{number:02d}_{path.partition('?')[0].partition('/')[0]}")
            page.context.close()


def for_the_docs(browser: Browser, address: str) -> None:
    """The pictures that the documentation shows, but for the one of training, which is of a real run."""
    wide = opened(browser, 1280, "light")
    asked(wide, address, beside="delta")
    (DOCS / "page_ask.png").write_bytes(shot(wide))
    phone = opened(browser, 390, "light")
    played(phone, address)
    (DOCS / "page_play.png").write_bytes(shot(phone))
    dark = opened(browser, 390, "dark")
    run = asked(dark, address)
    views = [shot(dark)]
    for path in (f"/runs/{run}", "/runs?by=worker"):
        dark.goto(address + path)
        expect(dark.locator("h1")).to_be_visible()
        views.append(shot(dark))
    checked(dark, address)
    views.append(shot(dark))
    beside = opened(browser, 1602, "dark")
    pictures = "".join(f'<img width="390" src="data:image/png;base64,{base64.b64encode(view).decode()}">' for view in views)
    look = "margin:0;background:#333;display:flex;gap:14px;align-items:flex-start;height:1180px;overflow:hidden"
    beside.set_content(f'<body style="{look}">{pictures}')
    beside.set_viewport_size({"width": 1602, "height": 1180})
    (DOCS / "page_dark.png").write_bytes(beside.screenshot())


def main() -> None:
    """Make them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--every", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as made, serving(Path(made)) as address, sync_playwright() as playwright:
        found = shutil.which("chromium") or shutil.which("chromium-headless-shell")
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        if given.every is None:
            for_the_docs(browser, address)
        else:
            every(browser, address, given.every)
        browser.close()


if __name__ == "__main__":
    main()
