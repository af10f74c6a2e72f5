"""Runs: what was asked of this server, newest first; search, filter, and what it cost."""

from collections.abc import Sequence

from nicegui import background_tasks

from podium.errors import PodiumError
from podium.page.frame import frame
from podium.page.parts import Choice, Line, box, button, heads, link, show, text
from podium.page.period import period
from podium.page.running import BY_HAND
from podium.page.shown import line, price, took
from podium.page.site import Site
from podium.page.spending import spending
from podium.page.visitor import Visitor
from podium.serving.store.runs import Run
from podium.workflow.draw import counted

PAGE = 30
DAYS = 30


async def runs_page(site: Site, visitor: Visitor) -> None:
    """Build the page."""
    seen = site.service.accounts.seen_by(await visitor.key("ask", "read"))
    lead = "Every question this server was asked." if seen is None else "Every question that was asked with your key."
    with frame(site, "/runs", "Runs", lead):
        days = await site.runs.spending(key=seen, days=DAYS)
        if days:
            text(f"Dollars a day, the last {DAYS} days", "h2")
            spending(days)
        await _Runs(site, visitor).search()


class _Runs:
    def __init__(self, site: Site, visitor: Visitor) -> None:
        self._site, self._visitor = site, visitor
        self._last: Run | None = None
        self._asked = 0
        names = dict.fromkeys((*site.catalog.models, *site.catalog.baselines, BY_HAND))
        models = [("", "all"), *((name, name) for name in names)]
        with box("bar", role="search"):
            self._words = Line("Search", send=self._again)
            self._model = Choice("Model", {"": models}, "", self._again)
            outcomes = [("", "all"), ("no", "answered"), ("yes", "failed")]
            self._failed = Choice("Outcome", {"": outcomes}, "", self._again)
            self._from = Line("From", send=self._again, changed=self._again, type="date")
            self._until = Line("Until", send=self._again, changed=self._again, type="date")
            button("Search", self._again)
        self._count = text("", "p", "soft", aria_live="polite")
        with box("scroll"), box("plain stack", "table"):
            heads(
                ("When (UTC)", ""),
                ("Question", ""),
                ("Model", ""),
                ("Steps", "n"),
                ("Time", "n"),
                ("Cost", "n"),
            )
            self._body = box(tag="tbody")
        self._more = button("Older runs", self._older, "quiet")

    def _again(self) -> None:
        background_tasks.create(self.search(), name="search runs")

    def _older(self) -> None:
        background_tasks.create(self.search(older=True), name="search older runs")

    async def search(self, older: bool = False) -> None:
        """Show what fits the fields; with ``older`` more of it, below."""
        self._asked += 1
        asked = self._asked
        try:
            found = await self._found(older)
        except PodiumError as error:
            if asked == self._asked:
                self._begin_again(older)
                show(self._more, False)
                self._count.text = line(str(error), 200)
            return
        if asked != self._asked:
            return  # the fields changed while the store was looking, and a later search shows what fits them
        self._begin_again(older)
        with self._body:
            for run in found:
                self._row(run)
        self._last = found[-1] if found else self._last
        show(self._more, len(found) == PAGE)
        rows = len(self._body.default_slot.children)
        more = "the newest " if len(found) == PAGE else ""
        self._count.text = f"{more}{counted(rows, 'run')}" if rows else "No run fits."

    def _begin_again(self, older: bool) -> None:
        if not older:
            self._body.clear()

    async def _found(self, older: bool) -> Sequence[Run]:
        since, until = period(self._from.value, self._until.value)
        seen = self._site.service.accounts.seen_by(await self._visitor.key("ask", "read"))
        return await self._site.runs.search(
            key=seen,
            text=self._words.value.strip(),
            model=self._model.value,
            failed={"": None, "no": False, "yes": True}[self._failed.value],
            since=since,
            until=until,
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
