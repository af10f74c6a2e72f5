"""One run, whole: the graph that fills, the step that is looked at, the answer, what it took. Live, or from what was kept."""

from collections.abc import Awaitable, Callable
from functools import partial

from nicegui import ui
from nicegui.element import Element
from nicegui.elements.mixins.text_element import TextElement

from podium.errors import Cancelled, PodiumError
from podium.events import Answered, Listener
from podium.page.following import OVER, Following, RoundView, is_stopped, run_seconds
from podium.page.graph import Graph
from podium.page.inspector import Inspector
from podium.page.layout import WRITTEN
from podium.page.live import LiveRun
from podium.page.long_text import Folds
from podium.page.parts import box, link, show, text
from podium.page.rich_text import RichText
from podium.page.runs_table import ASKS
from podium.page.shown import SHORT, clipped, figures, line
from podium.page.timeline import bill
from podium.page.verdicts import show_verdict
from podium.serving.api_errors import ApiErrorException
from podium.serving.asking import ChoiceDone
from podium.serving.store.runs import Run
from podium.types import Question, ToolCall, Transcript, Verdict, ask
from podium.workflow.draw import counted

REFRESH_SECONDS = 0.1
WAITS = "Waits to begin"
NOT_SAID = "The server made a mistake; its log says which."


class RunPanel:
    """A run on the page. ``foot`` is a place below the answer. What few runs need is made when it is needed (``parts.piece``).

    Example::

        panel = RunPanel("gym")
        panel.follow(live, site.link("/runs/"))
    """

    def __init__(self, title: str) -> None:
        self._following = Following()
        self._graphs: list[Graph] = []
        self._notes: dict[int, Element] = {}
        self._question: Question = ()
        self._kept: Run | None = None  # held, so that another page that shows it shares its texts
        self._changes = -1
        self._ended = False
        self._live: LiveRun | None = None
        self._on_over: Callable[[], None] = _nothing
        with box("panel", "section", aria_label=f"Run of {line(title, 60)}") as self.element:
            with box("panel-head"):
                self._title = text(line(title, 60), "h2")
                self._status = text("", "p", "status", aria_live="polite")
            with box("panel-body"):
                with box("panel-left") as left:
                    self._drawn = box("rounds")
                    self._bill = text("", "p", "soft bill")
                    self.inspector = Inspector(left)
                with box("panel-right") as self._right:
                    self._heading = text("Answer", "h3", "answer-heading")
                    self._answer = RichText().classes("answer")
                    self.foot = box("foot")
        self._note: TextElement | None = None
        for hidden in (self._heading, self._bill):
            show(hidden, False)
        self._timer: ui.timer | None = None  # of a run that is over there is nothing to refresh

    def follow(self, live: LiveRun, kept_at: str, on_over: Callable[[], None] = lambda: None) -> None:
        """Show a run that is under way, or was not let in, as it goes on; ``kept_at`` and its id are where to find it later.

        ``on_over`` is called when it is over and kept.
        """
        self._live, self._following, self._question, self._on_over = live, live.following, live.question, on_over
        self._status.text = WAITS
        with self.foot:
            link("A link to this run", f"{kept_at}{live.id}", "soft")
        self._begin()
        self.refresh()

    async def run(
        self, question: Question, conduct: Callable[[Listener, Callable[[str], None]], Awaitable[ChoiceDone]], kept_at: str
    ) -> ChoiceDone | None:
        """Show what ``conduct`` tells of a run: its events and its id; with ``kept_at`` before it, the id is where to find it.

        How the run ended; None where it was not let in. A cancellation goes on upward.
        """
        self._following, self._question = Following(), question
        self._status.text = WAITS
        self._begin()
        done: ChoiceDone | None = None
        known: list[str] = []
        try:
            done = await conduct(self._following.on_event, known.append)
        except (PodiumError, ApiErrorException) as error:
            self.fail(str(error))
        else:
            if done.failure is not None and self._following.answered is None:
                self.fail(done.failure.message)
        finally:
            with self.foot:
                for run in known:
                    link("A link to this run", f"{kept_at}{run}", "soft")
            self._rest()
            self.refresh()
            if self._following.answered is None and self._note is None:
                self.fail(NOT_SAID)
        return done

    def fail(self, message: str) -> None:
        """Say why there is nothing."""
        self._status.text = "No answer"
        self._say(clipped(message, SHORT), "failure", "alert")

    def _say(self, words: str, manner: str, role: str) -> None:
        if self._note is None:
            with self._right:
                self._note = text("", "p")
            self._note.move(target_index=self._right.default_slot.children.index(self.foot))
        self._note.props["role"] = role
        self._note.classes(replace=manner)
        self._note.text = words

    def judge(self, verdict: Verdict | str | None) -> None:
        """Show ``verdict`` between the heading and the answer; nothing where there is none."""
        if verdict is not None:
            with self._right:
                show_verdict(verdict).move(target_index=1)

    def _begin(self) -> None:
        if self._timer is None:
            with self.element:
                self._timer = ui.timer(REFRESH_SECONDS, self.refresh)
        self._timer.activate()

    def _rest(self) -> None:
        if self._timer is not None:
            self._timer.deactivate()

    def show_kept(self, run: Run, question: Question | None = None) -> None:
        """Show a run that is over. ``question``: the conversation, where the run does not hold it."""
        self._kept = run
        asked = run.transcripts[0].question if run.transcripts else ask(run.question or "")
        self._following, self._question = Following.of(run.transcripts), question or asked
        self._draw()
        self._show_bill(run.transcripts, run.seconds)
        if run.question is None and not run.transcripts:
            self._end(run.answer, f"{run.why} The texts of this run were not kept.".strip(), stopped=False)
        else:
            self._end(run.answer, run.why, stopped=run.failure == Cancelled.__name__)
        if run.answer is not None:
            self._status.text = self._told(figures(run.seconds, run.usage))
        elif run.transcripts:
            self._status.text = f"{self._status.text} · {figures(run.seconds, run.usage)}"

    def refresh(self) -> None:
        """Bring the page up to the last event."""
        following = self._following
        if following.changes != self._changes or following.running:
            self._changes = following.changes
            self._draw()
            for graph in self._graphs:
                graph.refresh()
            self.inspector.refresh()
            if following.answered is not None:
                self._finish(following.answered)
            else:
                self._show_progress()
        if self._live is not None and self._live.is_over:
            self._be_over(self._live)

    def _show_progress(self) -> None:
        if not self._following.rounds:
            return
        last = self._following.rounds[-1]
        if last.plan is not None and last.plan.state == "runs":
            words = "The conductor writes a workflow"
        else:
            over = sum(step.state in OVER for step in last.steps)
            words = f"{over} of {counted(len(last.steps), 'step')} done"
        if self._status.text != words:
            self._status.text = words

    def _be_over(self, live: LiveRun) -> None:
        self._live = None
        self._rest()
        if live.following.answered is None:
            failure = "" if live.done is None or live.done.failure is None else live.done.failure.message
            self.fail(live.refusal or failure or NOT_SAID)
        self._on_over()

    def _draw(self) -> None:
        """Draw the rounds that are new, and say of those without a workflow why they have none."""
        with self._drawn:
            for shown in self._following.rounds[len(self._graphs) :]:
                if shown.number > 1 or len(self._following.rounds) > 1:
                    text(f"Round {shown.number}", "h3")
                self._graphs.append(Graph(shown, partial(self._select, shown)))
        for shown in self._following.rounds:
            is_written = shown.plan is None or shown.plan.state != "runs"
            if is_written and shown.workflow is None and shown.number not in self._notes:
                words = "No workflow was written." if shown.plan is None or shown.plan.state != "done" else _KEEPS
                with self._drawn:
                    self._notes[shown.number] = text(words, "p", "soft")

    def _select(self, shown: RoundView, index: int) -> None:
        for graph, each in zip(self._graphs, self._following.rounds, strict=True):
            graph.mark(index if each is shown else None)
        if index == WRITTEN:
            if shown.plan is not None:
                self.inspector.show_plan(shown.plan)
        else:
            before = [step for each in self._following.rounds if each.number < shown.number for step in each.steps]
            self.inspector.show(shown, index, self._question, before[-1].said if before else "")
        ui.run_javascript(f"document.getElementById('c{self.inspector.element.id}').scrollIntoView({{block: 'nearest'}})")

    def _finish(self, answered: Answered) -> None:
        if self._ended:
            return
        failure = "" if answered.failure is None else f"{answered.failure.kind}: {answered.failure.message}"
        self._show_bill(answered.transcripts, run_seconds(answered))
        self._end(answered.answer, failure, stopped=is_stopped(answered.failure))
        took = figures(run_seconds(answered), answered.usage)
        self._status.text = self._told(took) if answered.answer is not None else f"{self._status.text} · {took}"

    def _show_bill(self, transcripts: tuple[Transcript, ...], seconds: float) -> None:
        words = bill(transcripts, seconds)
        self._bill.text = words
        show(self._bill, bool(words))

    def _end(self, answer: str | None, failure: str, *, stopped: bool) -> None:
        self._ended = True
        if answer is not None:
            show(self._heading, bool(answer.strip()))
            self._answer.show(answer)
            if self.asks_client or not answer.strip():
                self._say(self._why_blank(), "stopped-note", "status")
        elif stopped:
            self._status.text = "Stopped"
            self._say(_STOPPED, "stopped-note", "status")
        else:
            self.fail(failure or "There is no answer.")
        wrote = [] if answer is None or not answer.strip() else [("The answer as it was written", answer)]
        planned = [(each.number, each.plan) for each in self._following.rounds]
        wrote += [(f"What the conductor wrote, round {number}", plan.said) for number, plan in planned if plan is not None]
        if wrote:
            with self.foot:
                Folds(wrote)

    @property
    def asks_client(self) -> bool:
        """Whether the run ended with tool calls for the client."""
        return bool(self._calls())

    def _calls(self) -> list[ToolCall]:
        steps = self._following.rounds[-1].steps if self._following.rounds else []
        said = [step.result.completion for step in steps if step.result is not None]
        return [call for each in said if each is not None for call in each.tool_calls]

    def _told(self, took: str) -> str:
        return f"{ASKS.capitalize()} · {took}" if self.asks_client else took

    def _why_blank(self) -> str:
        names = ", ".join(line(call.name, 40) for call in self._calls()[:10])
        return f"It asks the client to call {names}; the answer comes after that." if names else "The answer is empty."


_KEEPS = "The conductor keeps the answer."
_STOPPED = (
    "Stopped before there was an answer. What was done until then is kept. "
    "What a call that was under way cost is not known, so it is not in these figures."
)


def _nothing() -> None:
    """Nobody waits for the end."""
