"""The entry: puts the pages onto a FastAPI application."""

from collections.abc import Callable
from pathlib import Path

import nicegui
from fastapi import FastAPI, Request
from nicegui import ui
from starlette.responses import JSONResponse, PlainTextResponse, Response

from podium.page.ask import ask_page
from podium.page.frame import HEAD
from podium.page.guard import Guard
from podium.page.parts import text
from podium.page.play import play_page
from podium.page.pool import pool_page
from podium.page.rich_text import KATEX, katex
from podium.page.run_page import run_page
from podium.page.runs_page import runs_page
from podium.page.site import RunsLike, Site
from podium.page.training_files import TrainingRuns
from podium.page.training_page import training_page
from podium.serving.offer import Conducts, Offer

_ICON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">'
    '<rect x="2" y="17" width="8" height="11" rx="1.5" fill="#7fb3dd"/>'
    '<rect x="12" y="8" width="8" height="20" rx="1.5" fill="#0b62a4"/>'
    '<rect x="22" y="21" width="8" height="7" rx="1.5" fill="#7fb3dd"/></svg>'
)
RECONNECT_SECONDS = 10.0
"""How long the server waits for a page that lost its connection before it stops what that page has under way."""


def attach(
    app: FastAPI,
    offer: Offer,
    *,
    runs: RunsLike | None,
    training: Path,
    prefix: str = "/",
    play: Callable[[str], Conducts] | None = None,
    store_content: bool = True,
) -> None:
    """Mount the pages on ``app`` at ``prefix``; call it after every other route was added, and once in a process.

    ``runs`` None: nothing is kept and the pages of runs say so. ``training``: the folder below which runs of training lie.
    ``play`` makes a Conductor over the gym's workers, in the order of ``offer.cards``, from a workflow that a visitor wrote;
    None: there is nothing to play. ``store_content`` False: runs of the page are kept without what was asked and answered.
    """
    site = Site(offer=offer, runs=runs, training=TrainingRuns(training), play=play, prefix=prefix, store_content=store_content)

    @ui.page("/", title="Ask · Podium")
    def _ask() -> None:
        ask_page(site)

    @ui.page("/play", title="Play the conductor · Podium")
    def _play() -> None:
        play_page(site)

    @ui.page("/runs", title="Runs · Podium")
    async def _runs() -> None:
        await runs_page(site)

    @ui.page("/runs/{run_id}", title="Run · Podium")
    async def _run(run_id: str) -> None:
        await run_page(site, run_id)

    @ui.page("/training", title="Training · Podium")
    async def _training(run: str = "", beside: str = "") -> None:
        await training_page(site, run, beside)

    @ui.page("/pool", title="Pool · Podium")
    def _pool() -> None:
        pool_page(site)

    ui.add_head_html(HEAD, shared=True)
    ui.add_css(Path(__file__).with_name("page.css"), shared=True)
    library = katex()
    if library is not None:
        nicegui.app.add_static_file(local_file=library, url_path=KATEX)
    nicegui.app.add_exception_handler(404, _nothing)
    nicegui.app.on_page_exception(_mistake)
    nicegui.app.add_middleware(Guard)
    ui.run_with(
        app,
        title="Podium",
        favicon=_ICON,
        dark=False,
        language="en-US",
        binding_refresh_interval=None,
        reconnect_timeout=RECONNECT_SECONDS,
        mount_path=prefix.rstrip("/"),
        tailwind=False,
        show_welcome_message=False,
    )


def _mistake() -> None:
    """What a visitor sees where a page could not be built; the log has the rest."""
    text("The server made a mistake; its log says which.")


async def _nothing(request: Request, error: Exception) -> Response:
    """The answer where there is no page; a client of the API gets an error in the form it knows."""
    if "text/html" in request.headers.get("accept", ""):
        return PlainTextResponse("There is nothing at this address.", status_code=404)
    message = {"message": "there is nothing at this address", "type": "invalid_request_error", "param": None, "code": "not_found"}
    return JSONResponse({"error": message}, status_code=404)
