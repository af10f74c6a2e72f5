"""The entry: puts the pages onto a FastAPI application."""

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path

import nicegui
from fastapi import FastAPI, Request
from nicegui import Client, ui
from starlette.responses import JSONResponse, PlainTextResponse, Response

from podium.errors import AccessDenied
from podium.page.ask import ask_page
from podium.page.compare_page import compare_page
from podium.page.frame import HEAD, ICON, frame
from podium.page.learned_folders import LearnedFolders
from podium.page.learning_jobs import LearningJobs
from podium.page.models_page import models_page
from podium.page.parts import link, text
from podium.page.play import play_page
from podium.page.pool import pool_page
from podium.page.rich_text import KATEX, katex
from podium.page.run_json import run_as_json
from podium.page.run_page import run_page
from podium.page.runs_page import runs_page
from podium.page.runs_query import RunsQuery
from podium.page.security_headers import SecurityHeadersMiddleware
from podium.page.sign_in import SignInMiddleware, add_sign_in
from podium.page.site import Playground, Site
from podium.page.studies_page import studies_page, study_report
from podium.page.training_files import TrainingRuns
from podium.page.training_page import SCOPES, training_page
from podium.page.tuning_page import tuning_page
from podium.page.visitor import Visitor
from podium.serving.service import RequestService

RECONNECT_SECONDS = 10.0
"""How long the server waits for a page that lost its connection before it forgets it. The browser then loads the page again."""

READ_SECONDS = 30.0
"""How long a page may take to read what it shows from a busy disk or database; NiceGUI gives up after 3 s."""


def attach(
    app: FastAPI,
    service: RequestService,
    *,
    training: Path,
    prefix: str = "/",
    playground: Playground | None = None,
    pool_files: Path | None = None,
    pool_file: Path | None = None,
) -> None:
    """Mount the pages over ``service`` on ``app`` at ``prefix``. Call it after every other route was added, once in a process.

    ``training``: the folder below which runs of training lie. ``playground``: the problems that visitors can try to conduct;
    None: there are none. ``pool_files``: the folder into which the form for one's own models writes; None: nowhere, which is
    right where strangers reach a server without keys; tunes and studies are then not started from the page either. ``pool_file``:
    the server's pool, which they use; None: the built-in one. Where the server asks for keys, visitors sign in with theirs.
    """
    site = Site(service=service, training=TrainingRuns(training), playground=playground, prefix=prefix, pool_files=pool_files)

    @ui.page("/", title="Ask · Podium", response_timeout=READ_SECONDS)
    async def _ask(run: str = "", beside: str = "") -> None:
        await _shown(site, ("ask",), lambda visitor: ask_page(site, visitor, run, beside))

    @ui.page("/play", title="Play the conductor · Podium", response_timeout=READ_SECONDS)
    async def _play() -> None:
        await _shown(site, ("ask",), lambda visitor: play_page(site, visitor))

    @ui.page("/runs", title="Runs · Podium", response_timeout=READ_SECONDS)
    async def _runs() -> None:
        await _shown(site, ("ask", "read"), lambda visitor: runs_page(site, visitor, RunsQuery.read(_parameters())))

    @ui.page("/runs/{run_id}", title="Run · Podium", response_timeout=READ_SECONDS)
    async def _run(run_id: str, at: str = "") -> None:
        await _shown(site, ("ask", "read"), lambda visitor: run_page(site, visitor, run_id, at))

    @nicegui.app.get("/runs/{run_id}/json")
    async def _json(request: Request, run_id: str) -> Response:
        return await run_as_json(site, Visitor(service.accounts, request), run_id)

    @ui.page("/compare", title="Two runs · Podium", response_timeout=READ_SECONDS)
    async def _compare(a: str = "", b: str = "") -> None:
        await _shown(site, ("ask", "read"), lambda visitor: compare_page(site, visitor, (a, b)))

    @ui.page("/training", title="Training · Podium", response_timeout=READ_SECONDS)
    async def _training(run: str = "", beside: str = "") -> None:
        await _shown(site, SCOPES, lambda visitor: training_page(site, visitor, run, beside))

    @ui.page("/models", title="Your own models · Podium", response_timeout=READ_SECONDS)
    async def _models() -> None:
        await _shown(site, (), lambda visitor: models_page(site, visitor))

    learned = LearnedFolders(training)
    jobs = None if pool_files is None else LearningJobs(training, pool_file, pool_files)

    @ui.page("/tuning", title="Tuning · Podium", response_timeout=READ_SECONDS)
    async def _tuning(run: str = "") -> None:
        await _shown(site, SCOPES, lambda visitor: tuning_page(site, visitor, learned, jobs, run))

    @ui.page("/studies", title="Studies · Podium", response_timeout=READ_SECONDS)
    async def _studies(run: str = "") -> None:
        await _shown(site, SCOPES, lambda visitor: studies_page(site, visitor, learned, jobs, run))

    @nicegui.app.get("/studies/report")
    async def _report(request: Request, run: str = "") -> Response:
        try:
            await Visitor(service.accounts, request).key(*SCOPES)
        except AccessDenied as error:
            return PlainTextResponse(str(error), status_code=403)
        return await study_report(learned, run)

    @ui.page("/pool", title="Pool · Podium", response_timeout=READ_SECONDS)
    async def _pool() -> None:
        await _shown(site, ("ask",), lambda visitor: pool_page(site, visitor))

    ui.add_head_html(HEAD, shared=True)
    ui.add_css(Path(__file__).with_name("page.css"), shared=True)
    library = katex()
    if library is not None:
        nicegui.app.add_static_file(local_file=library, url_path=KATEX)
    nicegui.app.on_shutdown(site.lives.close)
    nicegui.app.add_exception_handler(404, partial(_nothing, site))
    nicegui.app.on_page_exception(lambda: text("The server made a mistake; its log says which."))
    if site.with_keys:
        add_sign_in(nicegui.app, site)
        nicegui.app.add_middleware(SignInMiddleware, site=site)
    nicegui.app.add_middleware(SecurityHeadersMiddleware)
    ui.run_with(
        app,
        title="Podium",
        favicon=ICON,
        dark=False,
        language="en-US",
        binding_refresh_interval=None,
        reconnect_timeout=RECONNECT_SECONDS,
        mount_path=prefix.rstrip("/"),
        tailwind=False,
        show_welcome_message=False,
    )


def _parameters() -> Mapping[str, str]:
    """What stands after the question mark in the address of the page that is being built."""
    return ui.context.client.request.query_params


async def _shown(site: Site, scopes: tuple[str, ...], build: Callable[[Visitor], Awaitable[None] | None]) -> None:
    """Build a page for visitors whose key has one of ``scopes``."""
    visitor = site.visitor()
    try:
        await visitor.key(*scopes)
    except AccessDenied as error:
        with frame(site, "", "Not for this key"):
            text(str(error), "p", "failure", role="alert")
        return
    built = build(visitor)
    if built is not None:
        await built


async def _nothing(site: Site, request: Request, error: Exception) -> Response:
    """The answer where there is no page; a client of the API gets an error in the form it knows."""
    if "text/html" in request.headers.get("accept", ""):
        client = Client(ui.page("", title="Nothing here · Podium"), request=request)
        with client, frame(site, "", "There is nothing at this address"):
            text("It may have been mistyped, or what was here is no longer kept.")
            link("All runs", site.link("/runs"))
        return client.build_response(request, 404)
    message = {"message": "there is nothing at this address", "type": "invalid_request_error", "param": None, "code": "not_found"}
    return JSONResponse({"error": message}, status_code=404)
