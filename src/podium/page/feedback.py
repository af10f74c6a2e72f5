"""What a visitor thinks of an answer: a thumb, and what would have been right. Both are kept with the run."""

from nicegui import ui
from nicegui.element import Element
from nicegui.events import GenericEventArguments

from podium.errors import AccessDenied, PodiumError
from podium.page.parts import Area, box, button, in_turn, piece, text
from podium.page.shown import line
from podium.page.site import Site
from podium.page.visitor import Visitor
from podium.serving.store.feedback import LONGEST, Feedback

UP, DOWN = 1, -1
_CLICKED = "event.target.closest('[data-do]')?.dataset.do"


async def feedback(site: Site, visitor: Visitor, place: Element, run: str) -> None:
    """Put the form for ``run`` into ``place``, with what was said before; nothing where the run or its texts are not kept.

    Nor where the visitor's key ended while the run went on: nothing they say would be kept.
    """
    try:
        sees = site.service.accounts.seen_by(await visitor.key("ask", "read", anew=True))
    except AccessDenied:
        return
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
            buttons = (
                f'<button type="button" class="button quiet small" {what}>{words}</button>'
                for words, what in (
                    ("Yes", f'data-do="{UP}" aria-label="The answer is good" aria-pressed="{self._is(UP)}"'),
                    ("No", f'data-do="{DOWN}" aria-label="The answer is bad" aria-pressed="{self._is(DOWN)}"'),
                    ("Write the right answer", 'data-do="write" aria-expanded="false"'),
                )
            )
            self._bar = piece(f'<span class="soft">Was this right?</span>{"".join(buttons)}', "bar")
            self._bar.on("click", self._clicked, js_handler=in_turn(_CLICKED, condition=_CLICKED))
            self._told = text("", "p", "soft", role="status")

    async def _clicked(self, event: GenericEventArguments) -> None:
        if event.args == "write":
            self._write()
        elif event.args in (str(UP), str(DOWN)):
            await self._vote(int(event.args))

    def _is(self, thumb: int) -> str:
        return "true" if self._thumb == thumb else "false"

    def _says(self, button: str, attribute: str, value: str) -> None:
        """Of a button, in the browser: to write the bar anew would take the visitor's place in it."""
        found = f"document.querySelector('#c{self._bar.id} [data-do=\"{button}\"]')"
        ui.run_javascript(f"{found}.setAttribute('{attribute}', '{value}')")

    def _write(self) -> None:
        """Open the field for the right answer, which few visitors do."""
        if self._right is None:
            with self._frame:
                self._right = Area("Right answer", value=self._said, rows=2)
                button("Keep it", self._keep, "quiet small")
            self._says("write", "aria-expanded", "true")

    async def _vote(self, thumb: int) -> None:
        self._thumb = 0 if self._thumb == thumb else thumb
        for each in (UP, DOWN):
            self._says(str(each), "aria-pressed", self._is(each))
        await self._keep(thumb=self._thumb)

    async def _keep(self, *, thumb: int | None = None) -> None:
        """Keep what was said here; the rest stays as it is by now, which another page may have changed."""
        try:
            # Asked anew: the key may be over, and the run may be deleted.
            sees = self._site.service.accounts.seen_by(await self._visitor.key("ask"))
            if await self._site.runs.get(self._run, key=sees) is None:
                self._told.text = "This run is no longer kept."
                return
            store = self._site.service.accounts.feedback
            said = await store.get(self._run)
            thumb = (0 if said is None else said.thumb) if thumb is None else thumb
            right = "" if said is None else said.right_answer
            if self._right is not None and self._right.value != self._said:
                right = self._right.value[: LONGEST + 1]
            await store.say(self._run, thumb=thumb, right_answer=right)
        except PodiumError as error:
            self._told.text = line(str(error), 200)
        else:
            self._said = self._said if self._right is None else self._right.value
            is_problem = thumb == UP or right.strip()
            problem = " podium runs problems writes such answers into a file of problems." if is_problem else ""
            self._told.text = f"Kept.{problem}" if thumb or problem else "Taken back."
