"""What can be done with a kept run: ask its question again or further, copy it, have it as JSON."""

from functools import partial

from nicegui import ui

from podium.page.parts import box, button, link
from podium.page.shown import LONG
from podium.page.site import Site
from podium.serving.store.runs import Run


def run_tools(site: Site, run: Run) -> None:
    """A row of links and buttons."""
    with box("bar run-tools"):
        link("Ask again, or further", f"{site.link('/')}?run={run.id}", "button quiet small")
        for name, content in (("question", run.question), ("answer", run.answer)):
            if content is not None:
                button(f"Copy the {name}", partial(ui.clipboard.write, content[:LONG]), "quiet small")
        link("JSON", site.link(f"/runs/{run.id}/json"), "button quiet small", download=f"{run.id}.json")
