"""Steps that wait for a person (:mod:`podium.acting.human`): what they ask, and a field for the answer.

It is shown to whoever may answer: a key with the scope "answer", or anybody where no keys are asked for. A question holds what
users asked and workers said, so it is shown as text.
"""

import time
from functools import partial

from nicegui import ui
from nicegui.element import Element

from podium.acting.human import DESK, LONGEST_ANSWER, OpenQuestion
from podium.errors import PodiumError
from podium.page.long_text import LongText
from podium.page.parts import Area, box, button, show, text
from podium.page.shown import line
from podium.page.visitor import Visitor

LOOK_SECONDS = 1.0
MOST = 20
"""Questions that are shown at once."""


class HumanBox:
    """There as long as something waits. Example: ``HumanBox(visitor)``."""

    def __init__(self, visitor: Visitor) -> None:
        self._visitor = visitor
        self._shown: dict[str, Element] = {}
        self._frame = box("human-box", "section", aria_label="Steps that wait for a person", aria_live="polite")
        self._told = text("", "p", "soft", role="status")
        show(self._frame, False)
        show(self._told, False)
        ui.timer(LOOK_SECONDS, self.look)

    async def look(self) -> None:
        """Show what waits now; what somebody is writing stays."""
        try:
            await self._visitor.key("answer")
        except PodiumError:
            waiting = []
        else:
            waiting = DESK.waiting()[:MOST]
        ids = {question.id for question in waiting}
        for gone in self._shown.keys() - ids:
            self._shown.pop(gone).delete()
        for question in waiting:
            if question.id not in self._shown:
                with self._frame:
                    self._shown[question.id] = self._question(question)
        show(self._frame, bool(self._shown))

    def _question(self, question: OpenQuestion) -> Element:
        with box("human-question") as element:
            text(f"A step waits for you: {line(question.worker, 60)}", "h2")
            minutes = max(0.0, question.until - time.time()) / 60
            text(f"It waits for {minutes:.0f} more minutes." if minutes >= 2 else "It does not wait long.", "p", "soft")
            LongText(question.text, "What the step asks")
            field = Area(f"Your answer to {line(question.worker, 60)}", rows=3)
            button("Answer", partial(self._answer, question.id, field), "")
        return element

    async def _answer(self, question: str, field: Area) -> None:
        show(self._told, True)
        try:
            await self._visitor.key("answer")
            taken = DESK.answer(question, field.value[: LONGEST_ANSWER + 1])
        except PodiumError as error:
            self._told.text = line(str(error), 200)
            return
        self._told.text = "Answered; the step goes on." if taken else "It waits no longer: answered elsewhere, or its time is up."
        await self.look()
