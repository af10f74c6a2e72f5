"""Pool: who the workers are, what they cost and can do, and whether they answer right now."""

import asyncio
import time

from nicegui import background_tasks, ui
from nicegui.elements.mixins.text_element import TextElement

from podium.errors import PodiumError
from podium.page.frame import frame
from podium.page.parts import box, button, enable, text
from podium.page.running import ran
from podium.page.shown import figures, line, took
from podium.page.site import Site
from podium.page.skills import worker_line
from podium.page.verdicts import judged
from podium.page.visitor import Visitor
from podium.request_options import RequestOptions
from podium.serving.api_errors import ApiErrorException
from podium.workflow.draw import counted

QUESTION = "What is 6 times 7? Answer with the number."
RIGHT = "42"
PATIENCE_SECONDS = 60.0
MOST_SAID = 80


def pool_page(site: Site, visitor: Visitor) -> None:
    """Build the page."""
    with frame(site, "/pool", "Pool", "The workers, by the numbers a workflow calls them by."):
        _Pool(site, visitor)


class _Pool:
    def __init__(self, site: Site, visitor: Visitor) -> None:
        self._site, self._visitor = site, visitor
        self._running = False
        self._said: dict[str, TextElement] = {}
        # Workers of a pool that brings its own problems may answer those and no others.
        self._question = QUESTION if site.playground is None else site.playground.problems[0].question
        with box("bar"):
            self._check = button("Check now", self._start)
            text(f"Asks every worker one small question, which costs what it costs: {self._question}", "p", "soft")
        with box("cards"):
            for number, card in enumerate(site.catalog.cards):
                with box():
                    worker_line(card, number)
                    text(_latency(site.service.metrics.latency(card.name)), "p", "soft")
                    self._said[card.name] = text("", "p", "soft", aria_live="polite")

    def _start(self) -> None:
        if self._running:
            return  # a second click was quicker than the button
        self._running = True
        enable(self._check, False)
        task = background_tasks.create(self._all(), name="check the pool")
        ui.context.client.on_delete(task.cancel)
        task.add_done_callback(lambda _: self._over())

    def _over(self) -> None:
        self._running = False
        enable(self._check, True)

    async def _all(self) -> None:
        async with asyncio.TaskGroup() as group:  # each in a task of its own, as every request is
            for name, said in self._said.items():
                group.create_task(self._ask(name, said))

    async def _ask(self, name: str, said: TextElement) -> None:
        said.text = "asked"
        said.classes(replace="soft")
        started = time.perf_counter()
        options = RequestOptions(budget_seconds=PATIENCE_SECONDS)
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                done = await ran(self._site, self._visitor, name, self._question, _unheard, _unheard, options=options)
        except TimeoutError:
            _say(said, f"no answer within {PATIENCE_SECONDS:.0f} s", "bad")
        except (PodiumError, ApiErrorException) as error:
            _say(said, line(str(error), 300), "bad")
        else:
            seconds = max(time.perf_counter() - started, done.completion.seconds)
            if done.failure is None:
                words = f"{figures(seconds, done.completion.usage)}: {line(done.completion.text, MOST_SAID)}"
                await self._judge(said, words, done.completion.text)
            else:
                _say(said, line(done.failure.message, 300), "bad")

    async def _judge(self, said: TextElement, words: str, answer: str) -> None:
        """Say it with its verdict. A worker that answers, but wrong, is not green: it may not be made for this question."""
        verdict = await judged(self._site.playground, self._question, answer)
        if isinstance(verdict, str):
            _say(said, f"{words} ({verdict})", "soft")
        elif verdict is None:
            right = RIGHT in answer
            _say(said, words if right else f"{words} (wrong: it is {RIGHT})", "good" if right else "unsure")
        else:
            _say(said, words if verdict.correct else f"{words} (wrong)", "good" if verdict.correct else "unsure")


def _unheard(_: object) -> None:
    """What happens on the way is not shown here."""


def _latency(known: tuple[float, int] | None) -> str:
    if known is None:
        return "not asked since the server was started"
    seconds, calls = known
    return f"median {took(seconds)}, {counted(calls, 'call')}"


def _say(element: TextElement, words: str, manner: str) -> None:
    element.text = words
    element.classes(replace=manner)
