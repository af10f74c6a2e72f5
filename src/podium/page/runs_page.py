"""Runs: what was asked of this server, newest first; search, filter, and what it cost."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from nicegui import background_tasks

from podium.errors import PodiumError
from podium.page.frame import frame
from podium.page.parts import Choice, Line, box, button, link, show, text
from podium.page.shown import counted, line, price, took
from podium.page.site import RunsLike, Site
from podium.page.spending import spending
from podium.serving.store.runs import Run

PAGE = 30
DAYS = 30
_SINCE = {"": None, "1": 1, "7": 7, "30": 30}


async def runs_page(site: Site) -> None:
    """Build the page."""
    with frame(site, "/runs", "Runs", "Every question this server answered."):
        if site.runs is None:
            text("This server keeps no runs.")
            return
        days = await site.runs.spending(key=None, days=DAYS)
        if days:
            text(f"Dollars a day, the last {DAYS} days", "h2")
            spending(days)
        await _Runs(site, site.runs).search()


class _Runs:
    def __init__(self, site: Site, runs: RunsLike) -> None:
        self._site, self._runs = site, runs
        self._last: str | None = None
        models = [("", "all"), *((model, model) for model in site.offer.models)]
        with box("bar", role="search"):
            self._words = Line("Search", send=self._again)
            self._model = Choice("Model", {"": models}, "", self._again)
            outcomes = [("", "all"), ("no", "answered"), ("yes", "failed")]
            self._failed = Choice("Outcome", {"": outcomes}, "", self._again)
            since = [("", "ever"), ("1", "a day"), ("7", "a week"), ("30", "a month")]
            self._since = Choice("Since", {"": since}, "", self._again)
            button("Search", self._again)
        self._count = text("", "p", "soft", aria_live="polite")
        with box("scroll"), box("plain stack", "table"):
            with box(tag="thead"), box(tag="tr"):
                for name, classes in (
                    ("When", ""),
                    ("Question", ""),
                    ("Model", ""),
                    ("Steps", "n"),
                    ("Time", "n"),
                    ("Cost", "n"),
                ):
                    text(name, "th", classes, scope="col")
            self._body = box(tag="tbody")
        self._more = button("Older runs", self._older, "quiet")

    def _again(self) -> None:
        background_tasks.create(self.search(), name="search runs")

    def _older(self) -> None:
        background_tasks.create(self.search(older=True), name="search older runs")

    async def search(self, older: bool = False) -> None:
        """Show what fits the fields; with ``older`` more of it, below."""
        try:
            found = await self._found(older)
        except PodiumError as error:
            self._count.text = line(str(error), 200)
            return
        if not older:
            self._body.clear()
        with self._body:
            for run in found:
                self._row(run)
        self._last = found[-1].id if found else self._last
        show(self._more, len(found) == PAGE)
        rows = len(self._body.default_slot.children)
        self._count.text = counted(rows, "run") if rows else "No run fits."

    async def _found(self, older: bool) -> Sequence[Run]:
        back = _SINCE[self._since.value]
        return await self._runs.search(
            key=None,
            text=self._words.value.strip(),
            model=self._model.value,
            failed={"": None, "no": False, "yes": True}[self._failed.value],
            since=None if back is None else datetime.now(UTC) - timedelta(days=back),
            limit=PAGE,
            before=self._last if older else None,
        )

    def _row(self, run: Run) -> None:
        with box(tag="tr"):
            with box(tag="td"):
                link(f"{run.created:%Y-%m-%d %H:%M}", self._site.link(f"/runs/{run.id}"))
            with box("wide", "td"):
                text("(not kept)" if run.question is None else line(run.question, 160), "span")
                if run.failure:
                    text(line(run.failure, 120), "div", "bad")
            text(line(run.model, 40), "td")
            text(counted(run.steps, "step"), "td", "n")
            text(took(run.seconds), "td", "n")
            text(price(run.usage), "td", "n")
