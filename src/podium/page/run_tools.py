"""What can be done with a kept run: ask its question again, copy it, have it as JSON."""

import asyncio
from functools import partial

from nicegui import background_tasks, ui

from podium.page.parts import box, button, enable, link
from podium.page.run_panel import RunPanel
from podium.page.running import ran
from podium.page.shown import LONG
from podium.page.site import Site
from podium.page.visitor import Visitor
from podium.request_options import RequestOptions
from podium.serving.store.runs import Run
from podium.types import ask


class RunTools:
    """A row of buttons; :meth:`results` is called where the run that is asked again shall stand."""

    def __init__(self, site: Site, visitor: Visitor, run: Run) -> None:
        self._site, self._visitor, self._run = site, visitor, run
        self._task: asyncio.Task[None] | None = None
        with box("bar run-tools"):
            self._again = button("Ask again", self._ask, "quiet small")
            known = run.model in site.catalog.models
            if run.question is None or not known:
                why = "Its question was not kept." if known else "This server has no such model any more."
                enable(self._again, False)
                self._again.props["title"] = why
            for name, content in (("question", run.question), ("answer", run.answer)):
                if content is not None:
                    button(f"Copy the {name}", partial(ui.clipboard.write, content[:LONG]), "quiet small")
            link("JSON", site.link(f"/runs/{run.id}/json"), "button quiet small", download=f"{run.id}.json")

    def results(self) -> None:
        """Where the answer to the question asked again stands."""
        self._results = box("pair")

    def _ask(self) -> None:
        if self._task is not None:
            return  # a second click was quicker than the button
        enable(self._again, False)
        self._results.clear()
        self._task = task = background_tasks.create(self._asked(), name="ask again")
        ui.context.client.on_delete(task.cancel)
        task.add_done_callback(lambda _: self._over())

    async def _asked(self) -> None:
        question = self._run.question or ""
        options = RequestOptions(policy=self._run.policy or None)
        conduct = partial(ran, self._site, self._visitor, self._run.model, question, options=options)
        with self._results:
            panel = RunPanel(f"{self._run.model}, asked again")
            ui.run_javascript(f"document.getElementById('c{self._results.id}').scrollIntoView({{block: 'nearest'}})")
            await panel.run(ask(question), conduct, self._site.link("/runs/"))

    def _over(self) -> None:
        self._task = None
        enable(self._again, True)
