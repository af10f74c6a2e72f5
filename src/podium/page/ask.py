"""Ask: a question, who answers it, and the workflow as it runs; beside it, on request, another model on the same question; then
what one wants to ask further.

The runs belong to the server (:mod:`podium.page.live`), and their ids stand in the address: a page that is loaded again, or left
and come back to, shows them as they are by then.
"""

from html import escape

from nicegui import ui
from nicegui.events import GenericEventArguments

from podium.errors import ConfigError, PodiumError
from podium.page.address import say
from podium.page.frame import frame
from podium.page.human_box import HumanBox
from podium.page.introduction import introduction
from podium.page.parts import Area, Choice, box, button, enable, in_turn, piece, show, text
from podium.page.request_options import RequestOptionsForm
from podium.page.shown import line
from podium.page.site import Site
from podium.page.thread import Thread, opened_threads
from podium.page.threads_view import ThreadsView
from podium.page.under_way import UnderWay
from podium.page.visitor import Visitor
from podium.request_options import RequestOptions

NOBODY = ""
_EXAMPLES = (
    "A train leaves at 9:40 and arrives at 13:05. It stands still for 25 minutes. How long does it drive?",
    "Which is larger, 2^100 or 3^63? Show why.",
    "Write a Python function that tells whether a string is a palindrome, ignoring case and punctuation.",
)
_TO_THE_RUN = """(() => {
  const form = document.querySelector('.ask-form'), narrow = innerWidth <= 640;
  if (narrow) form.open = false;
  // Once more when the run stands on the page and has its height: the form folds, and the workflow is drawn, meanwhile.
  // Asked further, the question is gone to: above it stands all that was said before.
  for (const ms of [0, 300]) setTimeout(() => {
    const further = document.querySelector('.thread > .before ~ .asked'), block = narrow || further ? 'start' : 'nearest';
    (further ?? document.querySelector('.thread'))?.scrollIntoView({block});
  }, ms);
})()"""


async def ask_page(site: Site, visitor: Visitor, run: str, beside: str) -> None:
    """Build the page; ``run`` and ``beside`` are the ids of the runs that it is to show, "" for none."""
    lead = "A conductor writes a workflow for your question; workers carry it out, each seeing only what it was allowed to see."
    sees = site.service.accounts.seen_by(await visitor.key("ask"))
    threads = await opened_threads(site, [known for known in (run, beside) if known], sees)
    with frame(site, "/", "Ask", lead):
        _Ask(site, visitor, threads)
        if run and not threads:
            text("There is no run at this address, or it is no longer kept.", "p", "soft")


class _Ask:
    def __init__(self, site: Site, visitor: Visitor, threads: list[Thread]) -> None:
        self._site, self._visitor, self._threads = site, visitor, threads
        own: set[str] = set()
        UnderWay(site, visitor, own)
        HumanBox(visitor)
        models = _groups(site)
        first = threads[0].model if threads and threads[0].model in site.catalog.models else site.catalog.models[0]
        beside = threads[1].model if len(threads) > 1 else NOBODY
        offered = {"": [(NOBODY, "nobody")], **models, **_baselines(site)}
        if beside not in {option for group in offered.values() for option, _ in group}:
            beside = NOBODY
        with box("ask-form", "details", open="") as self._form:
            text("New question", "summary")
            introduction(site)
            self._question = Area("Question", rows=4, send=self._ask, value=threads[0].asked if threads else "")
            self._examples = _examples(site)
            shown = "".join(
                f'<button type="button" class="button quiet small" data-example="{number}" title="{escape(line(example, 300))}">'
                f"{escape(line(example, 46))}</button>"
                for number, example in enumerate(self._examples)
            )
            examples = piece(f'<span class="soft">Examples</span>{shown}', "examples")
            examples.on("click", self._take, js_handler=in_turn("event.target.dataset.example"))
            with box("bar"):
                self._model = Choice("Model", models, first, self._limit)
                self._beside = Choice("Compare with", offered, beside)
                self._go = button("Ask", self._ask, data_key="go")
                self._stop = button("Stop", self._stop_all, "quiet")
            text("Enter asks, Shift and Enter begins a new line.", "p", "soft hint")
            self._options = RequestOptionsForm(site.catalog.cards)
        self._refusal = text("", "p", "stopped-note", role="alert")
        show(self._refusal, False)
        self._limit()
        self._view = ThreadsView(site, visitor, own, self._changed, self._further)
        self._view.show(threads)
        self._changed()

    def _take(self, event: GenericEventArguments) -> None:
        """Put the example that was clicked into the field."""
        number = str(event.args)
        if number.isascii() and number.isdecimal() and int(number) < len(self._examples):
            self._question.write(self._examples[int(number)])

    def _limit(self) -> None:
        """Options that would lead nowhere with the chosen model can not be chosen, and say why."""
        model = self._model.value
        for option in (*self._site.catalog.models, *self._site.catalog.baselines):
            self._beside.allow(option, option != model, "It is the model that is asked anyway.")
        alone = model in self._site.workers
        rounds = "One worker alone answers once." if alone else ""
        self._options.allow(workers=self._why_all_workers(model), rounds=rounds)

    def _why_all_workers(self, model: str) -> str:
        names = [card.name for card in self._site.catalog.cards]
        if model in self._site.workers:
            return f"{line(model, 40)} is one worker alone: it asks nobody else."
        if not names:
            return ""
        try:
            self._site.catalog.conductor(model, RequestOptions(exclude_workers=(names[0],)))
        except ConfigError as error:
            return str(error)
        return ""

    async def _ask(self) -> None:
        question = self._question.value.strip()
        if self._is_running():
            return
        if not question:
            self._question.focus()
            return
        asked = [self._model.value]
        if self._beside.value not in (NOBODY, self._model.value):
            asked.append(self._beside.value)
        await self._begin([Thread(model=model) for model in asked], question)

    async def _further(self, question: str) -> None:
        """Ask ``question`` further, in every conversation that is shown."""
        if not self._is_running():
            await self._begin([thread.gone_on() for thread in self._threads], question)

    async def _begin(self, threads: list[Thread], question: str) -> None:
        try:
            options = self._options.read()
        except ConfigError:
            ui.run_javascript("document.querySelector('.ask-form').open = true")
            self._options.open()  # it says what is wrong
            return
        show(self._refusal, False)
        try:
            if self._site.playground is not None:
                self._site.playground.check_question(question)
        except ConfigError:
            words = "This pool does not know such questions. Take one of its problems, or bring your own models."
            self._refuse(words, "stopped-note")
            return
        try:
            key = await self._visitor.key("ask")
        except PodiumError as error:
            self._refuse(str(error), "failure")
            return
        if self._is_running():
            return  # a second click was quicker than the first
        for thread in threads:
            thread.start(self._site, self._visitor, question, options, key="" if key is None else key.id)
        self._threads = threads
        ids = [thread.id for thread in threads]
        say(f"{self._site.link('/')}?run={ids[0]}" + (f"&beside={ids[1]}" if len(ids) > 1 else ""))
        self._view.show(threads)
        self._changed()
        self._form.client.run_javascript(_TO_THE_RUN)  # the field that was asked further in is no more

    def _refuse(self, words: str, manner: str) -> None:
        self._refusal.text = words
        self._refusal.classes(replace=manner)
        show(self._refusal, True)

    def _is_running(self) -> bool:
        return any(thread.is_running for thread in self._threads)

    def _stop_all(self) -> None:
        for thread in self._threads:
            thread.stop()

    def _changed(self) -> None:
        running = self._is_running()
        enable(self._go, not running)
        enable(self._stop, running)


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
