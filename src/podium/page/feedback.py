"""What a visitor thinks of an answer: a thumb, and what would have been right. Both are kept with the run."""

from functools import partial

from nicegui.element import Element

from podium.errors import PodiumError
from podium.page.parts import Area, box, button, text
from podium.page.shown import line
from podium.page.site import Site
from podium.page.visitor import Visitor
from podium.serving.store.feedback import LONGEST, Feedback

UP, DOWN = 1, -1


async def feedback(site: Site, visitor: Visitor, place: Element, run: str) -> None:
    """Put the form for ``run`` into ``place``, with what was said before; nothing where the run or its texts are not kept."""
    sees = site.service.accounts.seen_by(await visitor.key("ask", "read"))
    kept = await site.runs.get(run, key=sees)
    if kept is None or kept.question is None:
        return
    said = await site.service.accounts.feedback.get(run)
    if place.is_deleted:
        return  # the visitor has gone on meanwhile
    with place:
        _Form(site, visitor, run, said)


class _Form:
    def __init__(self, site: Site, visitor: Visitor, run: str, said: Feedback | None) -> None:
        self._site, self._visitor, self._run = site, visitor, run
        self._thumb, self._said = (0, "") if said is None else (said.thumb, said.right_answer)
        self._right: Area | None = None
        with box("feedback", "section", aria_label="What you think of the answer") as self._frame:
            with box("bar"):
                text("Was this right?", "span", "soft")
                self._up = button("Yes", partial(self._vote, UP), "quiet small", aria_label="The answer is good")
                self._down = button("No", partial(self._vote, DOWN), "quiet small", aria_label="The answer is bad")
                self._open = button("Write the right answer", self._write, "quiet small", aria_expanded="false")
            self._told = text("", "p", "soft", role="status")
        self._show()

    def _show(self) -> None:
        for element, thumb in ((self._up, UP), (self._down, DOWN)):
            element.props["aria-pressed"] = "true" if self._thumb == thumb else "false"
            element.update()

    def _write(self) -> None:
        """Open the field for the right answer, which few visitors do."""
        if self._right is None:
            with self._frame:
                self._right = Area("Right answer", value=self._said, rows=2)
                button("Keep it", self._keep, "quiet small")
            self._open.props["aria-expanded"] = "true"

    async def _vote(self, thumb: int) -> None:
        self._thumb = 0 if self._thumb == thumb else thumb
        self._show()
        await self._keep()

    async def _keep(self) -> None:
        try:
            # Asked anew: the key may be over, and the run may be deleted.
            sees = self._site.service.accounts.seen_by(await self._visitor.key("ask"))
            if await self._site.runs.get(self._run, key=sees) is None:
                self._told.text = "This run is no longer kept."
                return
            right = self._said if self._right is None else self._right.value
            await self._site.service.accounts.feedback.say(self._run, thumb=self._thumb, right_answer=right[: LONGEST + 1])
        except PodiumError as error:
            self._told.text = line(str(error), 200)
        else:
            self._told.text = "Kept. podium runs problems writes such answers into a file of problems."
