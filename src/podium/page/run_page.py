"""One kept run, whole. Its address is the link to share."""

from podium.page.frame import frame
from podium.page.parts import link, text
from podium.page.run_panel import RunPanel
from podium.page.run_tools import RunTools
from podium.page.shown import clipped, line, took
from podium.page.site import Site
from podium.page.timeline import timeline
from podium.page.trace_view import TraceView
from podium.page.visitor import Visitor
from podium.types import ask


async def run_page(site: Site, visitor: Visitor, run_id: str, at: str = "") -> None:
    """Build the page of the run called ``run_id``; ``at`` is the part of it that is looked at (:mod:`podium.page.trace`)."""
    seen = site.service.accounts.seen_by(await visitor.key("ask", "read"))
    run = None if len(run_id) > 100 else await site.runs.get(run_id, key=seen)
    with frame(site, "/runs", "Run"):
        if run is None:
            text("There is no run at this address, or it is no longer kept.")
            link("All runs", site.link("/runs"))
            return
        text(f"{run.created:%Y-%m-%d %H:%M:%S} UTC, {took(run.seconds)}", "p", "soft")
        if run.question is None and not run.transcripts:
            text("The texts of this run were not kept." + (f" It failed: {line(run.failure, 100)}." if run.failure else ""))
            return
        tools = RunTools(site, visitor, run)
        question = run.question or ""
        text("Question", "h2")
        text(clipped(question), "p", "problem")
        asked = run.transcripts[0].question if run.transcripts else ask(question)
        RunPanel(run.model).show_kept(asked, run.transcripts, answer=run.answer, failure=run.why)
        if any(transcript.results for transcript in run.transcripts):
            text("Timeline", "h2")
            timeline(run.transcripts)
        tools.results()
        if run.transcripts:
            text("Trace", "h2")
            TraceView(run.transcripts, at[:100], site.link(f"/runs/{run.id}"))
