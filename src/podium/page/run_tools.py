"""What can be done with a kept run: ask its question again or further, copy it, have it as JSON."""

from html import escape

from nicegui import ui
from nicegui.events import GenericEventArguments

from podium.page.parts import piece
from podium.page.shown import LONG
from podium.page.site import Site
from podium.serving.store.runs import Run

_LOOK = 'class="button quiet small"'
_COPY = "event.target.dataset.copy"


def run_tools(site: Site, run: Run) -> None:
    """A row of links and buttons."""
    texts = {name: content for name, content in (("question", run.question), ("answer", run.answer)) if content}
    copies = "".join(f'<button type="button" {_LOOK} data-copy="{name}">Copy the {name}</button>' for name in texts)
    again = f'<a {_LOOK} href="{escape(site.link("/"))}?run={escape(run.id)}">Ask again, or further</a>'
    json = f'<a {_LOOK} href="{escape(site.link(f"/runs/{run.id}/json"))}" download="{escape(run.id)}.json">JSON</a>'

    def copy(event: GenericEventArguments) -> None:
        if (content := texts.get(str(event.args))) is not None:
            ui.clipboard.write(content[:LONG])

    tools = piece(f"{again}{copies}{json}", "bar run-tools")
    tools.on("click", copy, js_handler=f"(event) => {{ const copy = {_COPY}; if (copy) emit(copy); }}")
