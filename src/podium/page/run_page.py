"""One run, whole: under way, or kept. Its address is the link to share."""

from nicegui import background_tasks
from nicegui.element import Element

from podium.page.feedback import feedback
from podium.page.frame import frame
from podium.page.human_box import HumanBox
from podium.page.live import LiveRun
from podium.page.parts import asked, button, link, show, text
from podium.page.run_panel import RunPanel
from podium.page.run_tools import run_tools
from podium.page.shown import line, took
from podium.page.site import Site
from podium.page.story import story
from podium.page.timeline import timeline
from podium.page.trace_view import TraceView
from podium.page.verdicts import judged
from podium.page.visitor import Visitor
from podium.serving.store.runs import Run


async def run_page(site: Site, visitor: Visitor, run_id: str, at: str = "") -> None:
    """Build the page of the run called ``run_id``; ``at`` is the part of it that is looked at (:mod:`podium.page.trace`)."""
    sees = site.service.accounts.seen_by(await visitor.key("ask", "read"))
    live = site.lives.get(run_id, sees=sees)
    run = None if live is not None else await site.kept(run_id, sees=sees)
    with frame(site, "/runs", "Run") as content:
        if live is not None:
            _under_way(site, visitor, live, content, sees, at)
            return
        if run is None:
            text("There is no run at this address, or it is no longer kept.")
            link("All runs", site.link("/runs"))
            return
        when = f"{run.created:%Y-%m-%d %H:%M:%S} UTC, {took(run.seconds)}"
        if run.question is None and not run.transcripts:
            text(when, "p", "soft")
            text("The texts of this run were not kept." + (f" It failed: {line(run.failure, 100)}." if run.failure else ""))
            return
        asked("Question", run.question or "", when)
        panel = RunPanel(run.model)
        panel.show_kept(run)
        await _rest(site, visitor, run, panel, sees, at)


def _under_way(site: Site, visitor: Visitor, live: LiveRun, content: Element, sees: str | None, at: str) -> None:
    """A run that goes on; what can be said only of one that is over comes when it is."""

    async def conclude() -> None:
        run = await site.kept(live.id, sees=sees)
        if run is not None and not content.is_deleted:
            with content:
                await _rest(site, visitor, run, panel, sees, at)

    def over() -> None:
        show(stop, False)
        background_tasks.create(conclude(), name="conclude a run")

    HumanBox(visitor)
    asked("Question", live.asked)
    stop = button("Stop", live.stop, "quiet")
    panel = RunPanel(live.model)
    panel.follow(live, site.link("/runs/"), over)


async def _rest(site: Site, visitor: Visitor, run: Run, panel: RunPanel, sees: str | None, at: str) -> None:
    """What there is to say below a run that is over."""
    panel.judge(await judged(site.playground, run.question or "", run.answer))
    if run.answer is not None and not panel.asks_client:
        await feedback(site, visitor, panel.foot, run.id)
    run_tools(site, run)
    if any(transcript.results for transcript in run.transcripts):
        timeline(run.transcripts)
    await story(site, run, sees)
    if run.transcripts:
        text("Trace", "h2")
        TraceView(run.transcripts, at[:100], site.link(f"/runs/{run.id}"))
