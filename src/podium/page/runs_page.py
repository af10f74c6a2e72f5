"""Runs: what was asked of this server; searched, sorted, summed up, and where the dollars went. All of it is in the address."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from html import escape
from urllib.parse import urlencode

from nicegui import background_tasks, ui
from nicegui.events import GenericEventArguments

from podium.errors import PodiumError
from podium.page.frame import frame
from podium.page.parts import Choice, Line, box, button, in_turn, piece, show, text
from podium.page.running import BY_HAND
from podium.page.runs_query import PAGE, RunsQuery
from podium.page.runs_table import ASKS, runs_table, told
from podium.page.shown import line
from podium.page.site import Site
from podium.page.spending import spent_by_day, spent_on
from podium.page.under_way import UnderWay
from podium.page.visitor import Visitor
from podium.serving.store.clock import utc_now
from podium.serving.store.run_filter import RunFilter
from podium.serving.store.shares import PLANNING

DAYS = 30
_BY = {"day": "Day", "model": "Model", "worker": "Worker", "policy": "Policy", "key": "Key"}
_SORTS = (
    ("created", "newest"),
    ("cost", "dearest"),
    ("seconds", "slowest"),
    ("tokens", "most tokens"),
    ("steps", "most steps"),
)
_TICKED = "[...event.currentTarget.querySelectorAll('input.tick:checked')].map(each => each.value)"
_OWN = {"": "the model's own"}


async def runs_page(site: Site, visitor: Visitor, query: RunsQuery) -> None:
    """Build the page."""
    key = await visitor.key("ask", "read")
    seen = site.service.accounts.seen_by(key)
    lead = "Every question this server was asked." if seen is None else "Every question that was asked with your key."
    keys = {each.id: each.name for each in await site.service.accounts.keys.list()} if site.with_keys and seen is None else {}
    with frame(site, "/runs", "Runs", lead):
        UnderWay(site, visitor)
        await _Runs(site, visitor, query, keys).search()


class _Runs:
    def __init__(self, site: Site, visitor: Visitor, query: RunsQuery, keys: dict[str, str]) -> None:
        self._site, self._visitor, self._query, self._keys = site, visitor, query, keys
        self._asked = self._runs = 0
        self._chosen: tuple[str, ...] = ()
        with box("bar", role="search"):
            self._words = Line("Search", send=self._again, value=query.text, data_key="/")
            models = (*site.catalog.models, *site.catalog.baselines, BY_HAND)
            self._model = self._choice("Model", models, query.model)
            self._worker = self._choice("Worker", [card.name for card in site.catalog.cards], query.worker)
            self._policy = self._choice("Policy", tuple(site.catalog.baselines), query.policy)
            self._status = self._choice("Outcome", ("answered", "failed", "stopped"), query.status, {"asks": ASKS})
            self._of = self._choice("Key", (), query.of, keys)
            show(self._of.field, bool(keys))
            self._since = Line("From", send=self._again, changed=self._again, value=query.since, type="date")
            self._until = Line("Until", send=self._again, changed=self._again, value=query.until, type="date")
            self._sort = Choice("Sorted by", {"": _SORTS}, query.sort, self._again)
            button("Search", self._again)
        self._sums = text("", "p", "sums", aria_live="polite")
        with box("quoted", "details") as self._dollars:
            text("Where the dollars went", "summary")
            with box("bar"):
                self._by = Choice("Dollars by", {"": list(_BY.items())}, query.by, self._again)
            self._chart = ui.html("", sanitize=True)
        if query.by != "day":
            self._dollars.props["open"] = True
        with box("scroll", role="region", aria_label="Runs", tabindex="0"):
            self._table = ui.html("", sanitize=True)
        self._table.on("change", self._ticked, js_handler=in_turn(_TICKED))
        self._ways = piece("", "bar", "nav", aria_label="Pages of the list")

    def _choice(self, label: str, known: Sequence[str], value: str, names: dict[str, str] | None = None) -> Choice:
        """A list of ``known`` names, and of one more where the address has it."""
        shown = dict.fromkeys((*known, *([value] if value else [])))
        options = {**{name: name for name in shown}, **(names or {})}
        return Choice(label, {"": [("", "all"), *options.items()]}, value, self._again)

    def _again(self) -> None:
        self._query = RunsQuery.read(
            {
                "text": self._words.value,
                "model": self._model.value,
                "worker": self._worker.value,
                "policy": self._policy.value,
                "status": self._status.value,
                "of": self._of.value,
                "since": self._since.value,
                "until": self._until.value,
                "sort": self._sort.value,
                "up": str(self._query.up and self._sort.value == self._query.sort),
                "by": self._by.value,
            }
        )
        # Not a new page to go back to: who looks for something goes back to where they came from.
        ui.navigate.history.replace(self._site.link("/runs") + self._query.query)
        background_tasks.create(self.search(), name="search runs")

    async def search(self) -> None:
        """Show what fits the fields."""
        self._asked += 1
        asked, query = self._asked, self._query
        try:
            seen = self._site.service.accounts.seen_by(await self._visitor.key("ask", "read"))
            wanted, order = query.wanted(), (query.page - 1) * PAGE
            runs = self._site.runs
            found = await runs.search(key=seen, limit=PAGE, offset=order, sort=query.sort, ascending=query.up, **wanted)
            sums = await runs.sums(key=seen, **wanted)
            chart = await self._spent(seen, query, wanted)
        except PodiumError as error:
            if asked == self._asked:
                self._table.content = self._chart.content = ""
                self._sums.text = line(str(error), 200)
                self._turn(0)
            return
        if asked != self._asked:
            return  # the fields changed while the store was looking, and a later search shows what fits them
        self._table.content = runs_table(found, query, self._site.link("/runs"), self._chosen)
        self._chart.content = chart
        self._sums.text = told(sums)
        self._turn(sums.runs)

    async def _spent(self, seen: str | None, query: RunsQuery, wanted: RunFilter) -> str:
        if query.by != "day":
            names = {"worker": {PLANNING: "writing workflows"}, "policy": _OWN, "key": {"": "no key", **self._keys}}
            return spent_on(await self._site.runs.sums_by(query.by, key=seen, **wanted), names.get(query.by, {}))
        last = date.fromisoformat(query.until) if query.until else utc_now().date()
        first = date.fromisoformat(query.since) if query.since else date.fromordinal(max(1, last.toordinal() - DAYS + 1))
        return spent_by_day(await self._site.runs.sums_by("day", key=seen, **wanted), first, last)

    def _turn(self, runs: int) -> None:
        """The links to the pages before and after this one, and to the comparison of two that are ticked."""
        page, pages = self._query.page, -(-runs // PAGE)
        self._runs = runs
        ways = [("Previous page", page - 1), ("Next page", page + 1)]
        newer, older = (
            self._way(name, "/runs", replace(self._query, page=at).query) if 1 <= at <= pages else "" for name, at in ways
        )
        here = f'<span class="soft">page {page:,} of {pages:,}</span>' if pages else ""
        both = "?" + urlencode(dict(zip("ab", self._chosen, strict=True))) if len(self._chosen) == 2 else ""
        compare = self._way("Compare the two that are ticked", "/compare", both) if both else ""
        self._ways.content = f"{newer}{here}{older}{compare}"

    def _way(self, name: str, page: str, query: str) -> str:
        return f'<a class="button quiet" href="{escape(self._site.link(page) + query)}">{name}</a>'

    def _ticked(self, event: GenericEventArguments) -> None:
        ids = event.args if isinstance(event.args, list) else []
        self._chosen = tuple(str(each)[:100] for each in ids[:PAGE])
        self._turn(self._runs)
