"""Conversations on the page: the turns before, the run that is shown, what came of it, and a field to ask further."""

from collections.abc import Awaitable, Callable

from nicegui import background_tasks
from nicegui.element import Element

from podium.page.comparison import Outcome, compared
from podium.page.feedback import feedback
from podium.page.following import run_seconds
from podium.page.long_text import folded
from podium.page.parts import Area, asked, box, button, show, text
from podium.page.rich_text import RichText
from podium.page.run_panel import RunPanel
from podium.page.shown import clipped, line
from podium.page.site import Site
from podium.page.thread import Thread
from podium.page.verdicts import judged
from podium.page.visitor import Visitor
from podium.types import Message, Usage, Verdict


class ThreadsView:
    """Shows one conversation, or two beside each other.

    ``own`` is told the ids of the runs that are shown; ``changed`` is called when one of them is over; ``further`` takes what the
    visitor asks further.
    """

    def __init__(
        self,
        site: Site,
        visitor: Visitor,
        own: set[str],
        changed: Callable[[], None],
        further: Callable[[str], Awaitable[None]],
    ) -> None:
        self._site, self._visitor, self._own = site, visitor, own
        self._changed, self._further = changed, further
        self._threads: list[Thread] = []
        self._panels: list[RunPanel] = []
        self._verdicts: dict[str, Verdict] = {}
        self._compared: Element | None = None
        self._frame: Element = box("thread", tabindex="-1")

    def show(self, threads: list[Thread]) -> None:
        """Show ``threads`` in place of what was shown."""
        self._threads, self._panels, self._verdicts = threads, [], {}
        self._own.clear()
        self._own.update(thread.id for thread in threads)
        self._frame.clear()
        if not threads:
            return
        with self._frame:
            if len(threads) == 1:
                _before(threads[0])
            asked("You asked", threads[0].asked)
            with box("pair two" if len(threads) > 1 else "pair"):
                for thread in threads:
                    panel = RunPanel(thread.model)
                    self._panels.append(panel)
            self._compared = _place_to_compare() if len(threads) > 1 else None
            with box("further") as self._more:
                self._next = Area("Ask further", rows=2, send=self._send)
                button("Ask further", self._send, "quiet")
        show(self._more, False)
        for thread, panel in zip(threads, self._panels, strict=True):
            self._show_run(thread, panel)

    def _show_run(self, thread: Thread, panel: RunPanel) -> None:
        if thread.live is not None:
            panel.follow(thread.live, self._site.link("/runs/"), lambda: self._over(thread, panel))
        elif thread.run is not None:
            panel.show_kept(thread.run)
            self._over(thread, panel)

    def _over(self, thread: Thread, panel: RunPanel) -> None:
        self._changed()
        background_tasks.create(self._conclude(thread, panel), name="conclude a run")

    async def _conclude(self, thread: Thread, panel: RunPanel) -> None:
        """Say what is to be said of a run that is over: right or wrong, how the two differ, and that one can ask further."""
        verdict = await judged(self._site.playground, thread.asked, thread.answer)
        if panel.element.is_deleted:
            return  # the visitor has gone on meanwhile
        panel.judge(verdict)
        if isinstance(verdict, Verdict):
            self._verdicts[thread.id] = verdict
        if thread.answer is not None and not panel.asks_client:
            await feedback(self._site, self._visitor, panel.foot, thread.id)
        if thread not in self._threads or any(each.is_running for each in self._threads):
            return
        show(self._more, all(each.answer is not None and each.goes_on for each in self._threads))
        if self._compared is not None and not self._compared.default_slot.children:
            first, second = (self._outcome(each) for each in self._threads)
            with self._compared:
                text("How they differ", "h2")
                for sentence in compared(first, second):
                    text(sentence, "p")

    def _outcome(self, thread: Thread) -> Outcome:
        seconds, usage, steps = 0.0, Usage(), 0
        if thread.run is not None:
            seconds, usage, steps = thread.run.seconds, thread.run.usage, thread.run.steps
        elif thread.live is not None and (answered := thread.live.following.answered) is not None:
            seconds, usage = run_seconds(answered), answered.usage
            steps = sum(len(transcript.asked) for transcript in answered.transcripts)
        return Outcome(
            model=thread.model,
            answer=thread.answer if (thread.answer or "").strip() else None,
            seconds=seconds,
            usage=usage,
            steps=steps,
            verdict=self._verdicts.get(thread.id),
        )

    async def _send(self) -> None:
        question = self._next.value.strip()
        if question:
            await self._further(question)
        else:
            self._next.focus()


def _place_to_compare() -> Element:
    return box("compared", "section", aria_label="How they differ", aria_live="polite")


def _before(thread: Thread) -> None:
    """The turns before, the latest last."""
    if not thread.before:
        return
    with box("before", "section", aria_label="Said before"):
        for turn in thread.before:
            _turn(turn)


def _turn(turn: Message) -> None:
    if turn.role == "user":
        text("You asked", "h3")
        text(clipped(turn.content), "p", "problem")
    elif len(turn.content) > 1500:
        folded(f"Answer: {line(turn.content, 100)}", turn.content)
    else:
        RichText().show(turn.content)
