"""How soon a page is there, and whether it stays responsive over a run of 40 steps that said 1 MB each, in Chromium.

``python -m benchmarks.page_speed``: a server in a process of its own over 200 kept runs. Per page: milliseconds to the first
paint, and CPU of the server's process (in steps of 10 ms) and of the browser's main thread until it is there, for loaded
machines. Of the run of 40 steps, kept and under way: from an input to the next paint (Event Timing), from a click on a step to
what it said, CPU of both for it, elements on the page, bytes sent. Of loads the best of three counts, of inputs the slowest.
"""

import asyncio
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import uvicorn
from playwright.sync_api import CDPSession, Page, sync_playwright

from benchmarks.runs_list import Language, a_run
from podium.conduct import Conductor
from podium.page.attach import attach
from podium.policies.fixed import FixedPolicy
from podium.protocols import ServedModel
from podium.request_options import RequestOptions
from podium.serving.accounts import Accounts
from podium.serving.app import make_app
from podium.serving.store.database import Database
from podium.types import Call, Card, Completion, Step, Workflow
from podium.workers.pool import Member, WorkerPool
from tests.page.server import ANY, Small

RUNS, STEPS, SAID, PARTS, TRIES = 200, 40, 1_000_000, 50, 3
WORDS = "All of this is said by one step, and there is a good deal of it. "


async def talks(call: Call) -> Completion:
    """Says a megabyte in 50 parts."""
    said = (WORDS * (SAID // len(WORDS) + 1))[:SAID]
    for start in range(0, SAID, SAID // PARTS):
        await asyncio.sleep(0.02)
        if call.on_token is not None:
            call.on_token(said[start : start + SAID // PARTS])
    return Completion(text=said)


class Forty(Small):
    """The tests' models, and one whose workflow has 40 steps, four at a time, each seeing one before."""

    @property
    def models(self) -> tuple[str, ...]:
        """What there is to choose."""
        return (*super().models, "forty")

    def conductor(self, model: str, options: RequestOptions = ANY) -> ServedModel:
        """The one called ``model``."""
        if model != "forty":
            return super().conductor(model, options)
        steps = tuple(Step(worker=0, subtask=f"Part {n}.", access=(n - 4,) if n >= 4 else ()) for n in range(STEPS))
        pool = WorkerPool([Member(worker=talks, card=Card(name="talks"))])
        return Conductor(FixedPolicy(Workflow(steps=steps)), pool, max_steps=STEPS)


async def serve(port: int, folder: Path) -> None:
    """Serve until killed."""
    language = Language()
    async with Database(f"sqlite:///{folder}/runs.db") as database:
        accounts = Accounts(database=database, replica="page", with_keys=False, store_content=True, request_usd=0.1)
        await asyncio.gather(*(accounts.runs.add(a_run(number, language)) for number in range(RUNS)))
        app = make_app(Forty(folder), accounts, version="0")
        attach(app, app.state.service, training=folder)
        await uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=port, log_level="warning")).serve()


class Looking:
    """One browser page and the server behind it."""

    def __init__(self, page: Page, cdp: CDPSession, server: int, address: str) -> None:
        self.page, self.cdp, self.server, self.address = page, cdp, server, address

    def cpu(self) -> tuple[float, float]:
        """Milliseconds of the server's process, and of the browser's main thread, until now."""
        ticks = Path(f"/proc/{self.server}/stat").read_text().rpartition(")")[2].split()[11:13]
        metrics = {each["name"]: each["value"] for each in self.cdp.send("Performance.getMetrics")["metrics"]}
        return 1e3 * sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK"), 1e3 * metrics["TaskDuration"]

    def taking(self, act: Callable[[], Any]) -> dict[str, float]:
        """Milliseconds of ``act`` by the clock, and of CPU here and there."""
        before, clock = self.cpu(), time.perf_counter()
        act()
        clock = 1e3 * (time.perf_counter() - clock)
        server, browser = (after - was for after, was in zip(self.cpu(), before, strict=True))
        return {"clock_ms": round(clock), "server_cpu_ms": round(server), "browser_cpu_ms": round(browser)}

    def painted(self, path: str) -> dict[str, float]:
        """The first paint of the page at ``path``: the best of three."""
        tries = []
        for _ in range(TRIES):
            self.page.goto("about:blank")
            took = self.taking(lambda: self._goto(path))
            first = self.page.evaluate("performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? -1")
            tries.append({"first_paint_ms": round(first), **took})
        return {name: min(each[name] for each in tries) for name in tries[0]}

    def _goto(self, path: str) -> None:
        self.page.goto(self.address + path)
        self.page.locator("h1").wait_for()

    def watch_inputs(self) -> None:
        """From now on the slowest input is remembered."""
        self.page.evaluate(
            "() => { window.slowest = 0; new PerformanceObserver(list => { for (const each of list.getEntries()) "
            "window.slowest = Math.max(window.slowest, each.duration); }).observe({type: 'event', durationThreshold: 16}); }"
        )

    def slowest_input(self) -> float:
        """Milliseconds to the next paint; 0 where each was painted within a frame."""
        self.page.wait_for_timeout(300)
        return float(self.page.evaluate("window.slowest"))

    def choose(self, step: int) -> dict[str, float]:
        """A click on a step, until what it said is there."""
        said = self.page.locator(".inspector h3", has_text=f"Step {step}:")

        def act() -> None:
            self.page.locator(f".node[data-step='{step}']").click()
            said.wait_for()

        return self.taking(act)


def _big_run(look: Looking) -> dict[str, Any]:
    """A run of 40 steps while it goes on, and as it is kept."""
    page = look.page
    page.goto(f"{look.address}/")
    page.get_by_label("Model").select_option("forty")
    page.get_by_label("Question").fill("Say a great deal.")
    look.watch_inputs()
    begun = look.cpu()
    page.get_by_role("button", name="Ask", exact=True).click()
    page.locator(".node[data-step='39']").wait_for()
    clicks = [look.choose(step) for step in (0, 5, 9)]
    page.get_by_role("textbox", name="Question").press_sequentially("and more")
    page.locator(".answer-heading").wait_for(timeout=300_000)
    live = {
        "slowest_input_ms": look.slowest_input(),
        "clicks": clicks,
        "cpu_ms_of_the_whole_run": [round(after - before) for after, before in zip(look.cpu(), begun, strict=True)],
    }
    path = "/runs/" + str(page.evaluate("new URLSearchParams(location.search).get('run')"))
    kept = look.painted(path)
    look.watch_inputs()
    clicks = [look.choose(step) for step in (39, 0, 20)]
    unfold = look.taking(lambda: page.get_by_role("button", name="Show more").last.click())
    inputs = {"slowest_input_ms": look.slowest_input(), "clicks": clicks, "show_200000_characters": unfold}
    size = "performance.getEntriesByType('navigation')[0].decodedBodySize"
    sent = {"elements": page.evaluate("document.querySelectorAll('*').length"), "page_bytes": page.evaluate(size)}
    return {"under_way": live, "kept": {**kept, **inputs, **sent}}


def measure(folder: Path) -> dict[str, Any]:
    """All of it."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    server = subprocess.Popen([sys.executable, "-m", "benchmarks.page_speed", "--serve", str(port), str(folder)])
    try:
        while server.poll() is None:
            try:
                urllib.request.urlopen(f"{address}/favicon.ico", timeout=5).close()  # noqa: S310 - our own address
                break
            except OSError:
                time.sleep(0.5)
        with sync_playwright() as playwright:
            program = shutil.which("chromium") or shutil.which("chromium-headless-shell")
            browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            page.set_default_timeout(120_000)
            cdp = page.context.new_cdp_session(page)
            cdp.send("Performance.enable", {"timeDomain": "threadTicks"})
            look = Looking(page, cdp, server.pid, address)
            paths = ("/", "/runs", "/runs?by=worker", f"/runs/run_{RUNS - 1:024x}", "/play", "/pool", "/training", "/tuning")
            pages = {path: look.painted(path) for path in paths}
            found = {"pages": pages, "forty_steps_of_1_MB": _big_run(look), "load": os.getloadavg()[0]}
            browser.close()
    finally:
        server.terminate()
        server.wait(timeout=30)
    return found


def main() -> None:
    """Measure and print one JSON object; with ``--serve`` be the server."""
    if sys.argv[1:2] == ["--serve"]:
        asyncio.run(serve(int(sys.argv[2]), Path(sys.argv[3])))
        return
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(measure(Path(folder))))


if __name__ == "__main__":
    main()
