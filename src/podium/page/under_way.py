"""The runs that are under way, wherever they were asked: to go to, and to stop."""

import time

from nicegui import ui
from nicegui.element import Element

from podium.errors import PodiumError
from podium.page.live import LiveRun
from podium.page.parts import box, button, link, show, text
from podium.page.shown import line
from podium.page.site import Site
from podium.page.visitor import Visitor
from podium.workflow.draw import counted

LOOK_SECONDS = 1.0


class UnderWay:
    """A list that is there as long as something is under way. ``own``: runs that the page shows anyway, by id."""

    def __init__(self, site: Site, visitor: Visitor, own: set[str] | None = None) -> None:
        self._site, self._visitor, self._own = site, visitor, set() if own is None else own
        self._shown: list[str] = []
        self._frame: Element = box("under-way", "section", aria_label="Under way")
        show(self._frame, False)
        ui.timer(LOOK_SECONDS, self.look)

    async def look(self) -> None:
        """Show what is under way now."""
        try:
            sees = self._site.service.accounts.seen_by(await self._visitor.key("ask", "read"))
        except PodiumError:
            sees = ""  # the key is over: nothing is theirs
        found = [live for live in self._site.lives.under_way(sees=sees) if live.id not in self._own]
        if [live.id for live in found] == self._shown:
            return
        self._shown = [live.id for live in found]
        show(self._frame, bool(found))
        self._frame.clear()
        if found:
            with self._frame:
                text(f"{counted(len(found), 'run')} under way", "h2")
                with box("under-way-list", "ul"):
                    for live in found:
                        self._row(live)

    def _row(self, live: LiveRun) -> None:
        with box(tag="li"):
            link(line(live.asked, 100), f"{self._site.link('/')}?run={live.id}")
            text(f"{line(live.model, 40)}, since {time.monotonic() - live.started:.0f} s", "span", "soft")
            button("Stop", live.stop, "quiet small", aria_label=f"Stop: {line(live.asked, 60)}")
