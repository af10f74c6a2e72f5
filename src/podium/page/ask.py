"""Ask: a question, who answers it, and the workflow as it runs; beside it, on request, another model on the same question."""

import asyncio
from dataclasses import dataclass, field
from functools import partial

from nicegui import background_tasks, ui

from podium.errors import ConfigError
from podium.page.frame import frame
from podium.page.parts import Area, Choice, box, button, enable, text
from podium.page.request_options import RequestOptionsForm
from podium.page.run_panel import RunPanel
from podium.page.running import ran
from podium.page.shown import line
from podium.page.site import Site
from podium.page.visitor import Visitor
from podium.request_options import RequestOptions
from podium.types import ask

NOBODY = ""
_EXAMPLES = (
    "A train leaves at 9:40 and arrives at 13:05. It stands still for 25 minutes. How long does it drive?",
    "Which is larger, 2^100 or 3^63? Show why.",
    "Write a Python function that tells whether a string is a palindrome, ignoring case and punctuation.",
)


def ask_page(site: Site, visitor: Visitor) -> None:
    """Build the page."""
    lead = "A conductor writes a workflow for your question; workers carry it out, each seeing only what it was allowed to see."
    with frame(site, "/", "Ask", lead):
        _Ask(site, visitor)


@dataclass(slots=True)
class _Tasks:
    """What this page has under way."""

    running: set["asyncio.Task[None]"] = field(default_factory=set)

    def stop(self) -> None:
        for task in self.running:
            task.cancel()


class _Ask:
    def __init__(self, site: Site, visitor: Visitor) -> None:
        self._site, self._visitor = site, visitor
        self._tasks = _Tasks()
        models = _groups(site)
        self._question = Area("Question", rows=4, send=self._ask)
        with box("examples"):
            text("Examples", "span", "soft")
            for example in _examples(site):
                button(line(example, 46), partial(self._question.write, example), "quiet small", title=line(example, 300))
        with box("bar"):
            self._model = Choice("Model", models, site.catalog.models[0])
            self._beside = Choice("Compare with", {"": [(NOBODY, "nobody")], **models, **_baselines(site)}, NOBODY)
            self._go = button("Ask", self._ask)
            self._stop = button("Stop", self._tasks.stop, "quiet")
        text("Enter asks, Shift and Enter begins a new line.", "p", "soft")
        self._options = RequestOptionsForm(site.catalog.cards)
        enable(self._stop, False)
        self._results = box("pair")
        ui.context.client.on_delete(self._tasks.stop)

    def _ask(self) -> None:
        question = self._question.value.strip()
        if self._tasks.running:
            return
        if not question:
            self._question.focus()
            return
        try:
            options = self._options.read()
        except ConfigError:
            self._options.open()  # it says what is wrong
            return
        asked = [self._model.value]
        if self._beside.value not in (NOBODY, self._model.value):
            asked.append(self._beside.value)
        self._results.clear()
        self._results.classes(replace="pair two" if len(asked) > 1 else "pair")
        enable(self._go, False)
        enable(self._stop, True)
        with self._results:
            panels = [RunPanel(model) for model in asked]
        for model, panel in zip(asked, panels, strict=True):
            task = background_tasks.create(self._run(model, panel, question, options), name=f"ask {line(model, 40)}")
            self._tasks.running.add(task)
            task.add_done_callback(self._over)

    async def _run(self, model: str, panel: RunPanel, question: str, options: RequestOptions) -> None:
        catalog, conductor = self._site.catalog, None
        if model in self._site.workers:
            options = options.model_copy(update={"workers": (), "rounds": None})  # one worker alone asks no other
        elif model in catalog.baselines:
            baseline = options.model_copy(update={"policy": model, "rounds": None})
            conductor = partial(catalog.conductor, catalog.models[0], baseline)
        conduct = partial(ran, self._site, self._visitor, model, question, options=options, conductor=conductor)
        with self._results:
            await panel.run(ask(question), conduct, self._site.link("/runs/"))

    def _over(self, task: "asyncio.Task[None]") -> None:
        self._tasks.running.discard(task)
        if not self._tasks.running:
            enable(self._go, True)
            enable(self._stop, False)


def _groups(site: Site) -> dict[str, list[tuple[str, str]]]:
    """The models to choose from: those that write workflows, and every worker alone."""
    groups = {"Conductors": list(site.policies), "One worker alone": list(site.workers)}
    return {name: [(model, model) for model in models] for name, models in groups.items() if models}


def _baselines(site: Site) -> dict[str, list[tuple[str, str]]]:
    named = [(name, f"{name}: {about}") for name, about in site.catalog.baselines.items() if name not in site.catalog.models]
    return {"Baselines": named} if named else {}


def _examples(site: Site) -> tuple[str, ...]:
    """One question of each kind that the pool brings problems of; the usual ones where it brings none."""
    if site.playground is None:
        return _EXAMPLES
    return tuple({problem.kind: problem.question for problem in site.playground.problems}.values())
