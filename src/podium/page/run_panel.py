"""One run, whole: the graph that fills, the step that is looked at, the answer, what it took. Live, or from what was kept."""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial

from nicegui import ui

from podium.errors import PodiumError
from podium.events import Answered, Listener
from podium.page.following import Following, RoundView, run_seconds
from podium.page.graph import Graph
from podium.page.inspector import Inspector
from podium.page.parts import box, folded, link, show, text
from podium.page.rich_text import RichText
from podium.page.shown import SHORT, clipped, figures, line
from podium.serving.api_errors import ApiErrorException
from podium.serving.asking import ChoiceDone
from podium.types import Question, Transcript, Usage
from podium.workflow.draw import counted

REFRESH_SECONDS = 0.1


class RunPanel:
    """A run on the page.

    Example::

        panel = RunPanel("gym")
        done = await panel.run(ask("6 times 7?"), partial(ran, site, visitor, "gym", "6 times 7?"), site.link("/runs/"))
    """

    def __init__(self, title: str) -> None:
        self._following = Following()
        self._graphs: list[Graph | None] = []
        self._question: Question = ()
        self._changes = -1
        self._ended = False
        with box("panel", "section", aria_label=f"Run of {line(title, 60)}"):
            with box("panel-head"):
                self._title = text(line(title, 60), "h2")
                self._status = text("", "p", "status", aria_live="polite")
            with box("panel-body"):
                with box("panel-left"):
                    self._drawn = box("rounds")
                    self.inspector = Inspector()
                with box("panel-right"):
                    self._heading = text("Answer", "h3", "answer-heading")
                    self._answer = RichText().classes("answer")
                    self._failure = text("", "p", "failure", role="alert")
                    self._source = box("source")
        show(self._heading, False)
        show(self._failure, False)
        self._timer = ui.timer(REFRESH_SECONDS, self.refresh, active=False)

    async def run(
        self, question: Question, conduct: Callable[[Listener, Callable[[str], None]], Awaitable[ChoiceDone]], kept_at: str
    ) -> ChoiceDone | None:
        """Show what ``conduct`` tells of a run: its events and its id; with ``kept_at`` before it, the id is where to find it.

        How the run ended; None where it was not let in. A cancellation goes on upward.
        """
        self._following, self._question = Following(), question
        self._status.text = "The conductor writes a workflow"
        self._timer.activate()
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
            with self._source:
                for run in known:
                    link("A link to this run", f"{kept_at}{run}", "soft")
            self._timer.deactivate()
            self.refresh()
            if self._following.answered is None and not self._failure.text:
                self.fail("The server made a mistake; its log says which.")
        return done

    def fail(self, message: str) -> None:
        """Say why there is nothing."""
        self._status.text = "Stopped"
        self._failure.text = clipped(message, SHORT)
        show(self._failure, True)

    def show_kept(self, question: Question, transcripts: Sequence[Transcript], *, answer: str | None, failure: str) -> None:
        """Show a run that is over."""
        self._following, self._question = Following.of(transcripts), question
        self._draw()
        self._end(answer, failure)
        usage = Usage.total(transcript.usage for transcript in transcripts)
        self._status.text = figures(sum(transcript.critical_seconds for transcript in transcripts), usage)

    def refresh(self) -> None:
        """Bring the page up to the last event."""
        following = self._following
        if following.changes == self._changes and not following.running:
            return
        self._changes = following.changes
        if len(following.rounds) > len(self._graphs):
            self._draw()
        for graph in self._graphs:
            if graph is not None:
                graph.refresh()
        self.inspector.refresh()
        if following.answered is not None:
            self._finish(following.answered)
        elif following.rounds:
            steps = following.rounds[-1].steps
            over = sum(step.state in ("done", "failed", "stopped") for step in steps)
            self._status.text = f"{over} of {counted(len(steps), 'step')} done"

    def _draw(self) -> None:
        """Draw the rounds that are new."""
        with self._drawn:
            for shown in self._following.rounds[len(self._graphs) :]:
                if shown.number > 1 or len(self._following.rounds) > 1:
                    text(f"Round {shown.number}", "h3")
                if shown.workflow is None:
                    text("The conductor keeps the answer." if shown.number > 1 else "No workflow was written.", "p", "soft")
                    self._graphs.append(None)
                else:
                    self._graphs.append(Graph(shown, shown.workflow, partial(self._select, shown)))

    def _select(self, shown: RoundView, index: int) -> None:
        for graph, each in zip(self._graphs, self._following.rounds, strict=True):
            if graph is not None:
                graph.mark(index if each is shown else None)
        before = [step for each in self._following.rounds if each.number < shown.number for step in each.steps]
        self.inspector.show(shown, index, self._question, before[-1].said if before else "")
        ui.run_javascript(f"document.getElementById('c{self.inspector.element.id}').scrollIntoView({{block: 'nearest'}})")

    def _finish(self, answered: Answered) -> None:
        failure = "" if answered.failure is None else f"{answered.failure.kind}: {answered.failure.message}"
        self._end(answered.answer, failure)
        self._status.text = figures(run_seconds(answered), answered.usage)

    def _end(self, answer: str | None, failure: str) -> None:
        if self._ended:
            return
        self._ended = True
        if answer is None:
            self.fail(failure or "There is no answer.")
        else:
            show(self._heading, True)
            self._answer.show(answer)
        with self._source:
            if answer is not None:
                folded("The answer as it was written", answer)
            for shown in self._following.rounds:
                folded(f"What the conductor wrote, round {shown.number}", shown.generation.text)
