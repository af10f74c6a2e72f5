"""One run, whole: under way, or kept. Its address is the link to share."""

from podium.page.feedback import feedback
from podium.page.frame import frame
from podium.page.human_box import HumanBox
from podium.page.parts import box, button, link, show, text
from podium.page.run_panel import RunPanel
from podium.page.shown import clipped, line, took
from podium.page.site import Site
from podium.page.story import story
from podium.page.timeline import timeline
from podium.page.verdicts import judged, show_verdict
from podium.page.visitor import Visitor


async def run_page(site: Site, visitor: Visitor, run_id: str) -> None:
    """Build the page of the run called ``run_id``."""
    sees = site.service.accounts.seen_by(await visitor.key("ask", "read"))
    live = site.lives.get(run_id, sees=sees)
    run = None if live is not None or len(run_id) > 100 else await site.runs.get(run_id, key=sees)
    with frame(site, "/runs", "Run"):
        if live is not None:
            text("Question", "h2")
            text(clipped(live.asked), "p", "problem")
            HumanBox(visitor)
            stop = button("Stop", live.stop, "quiet")
            RunPanel(live.model).follow(live, site.link("/runs/"), lambda: show(stop, False))
            return
        if run is None:
            text("There is no run at this address, or it is no longer kept.")
            link("All runs", site.link("/runs"))
            return
        text(f"{run.created:%Y-%m-%d %H:%M:%S} UTC, {took(run.seconds)}", "p", "soft")
        if run.question is None and not run.transcripts:
            text("The texts of this run were not kept." + (f" It failed: {line(run.failure, 100)}." if run.failure else ""))
            return
        with box("bar"):
            link("Go on with it", f"{site.link('/')}?run={run.id}", "button quiet")
        text("Question", "h2")
        text(clipped(run.question or ""), "p", "problem")
        panel = RunPanel(run.model)
        panel.show_kept(run)
        show_verdict(panel.verdict, await judged(site.playground, run.question or "", run.answer))
        if run.answer is not None:
            await feedback(site, visitor, panel.foot, run.id)
        if run.transcripts:
            text("Timeline", "h2")
            timeline(run.transcripts)
        await story(site, run, sees)
