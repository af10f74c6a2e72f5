"""What one step saw and what it said, in full."""

from nicegui.element import Element

from podium.page.following import RoundView, StepView
from podium.page.parts import LongText, box, folded, text
from podium.page.shown import figures, line, tail, took
from podium.types import Question
from podium.workflow.draw import as_text, sees


class Inspector:
    """Shows one step, and keeps showing what it says while it works."""

    def __init__(self) -> None:
        self._frame: Element = box("inspector", "section", aria_label="Step")
        self._live: _Live | None = None

    @property
    def element(self) -> Element:
        """Where it stands."""
        return self._frame

    def show(self, shown: RoundView, index: int, question: Question, last_answer: str) -> None:
        """Show step ``index`` of ``shown``; ``last_answer`` is that of the round before."""
        self._frame.clear()
        view, workflow = shown.steps[index], shown.workflow
        if workflow is None:
            return
        step = workflow.steps[index]
        with self._frame:
            text(f"Step {index}: {line(view.worker, 60)}", "h3")
            text("Asked", "h4")
            LongText(step.subtask, "What the step was asked")
            text(f"Saw: {sees(workflow, index)}", "h4")
            if index == 0 or 0 in step.access or step.last_answer:
                # A step that sees step 0 sees the question, too (podium.access).
                folded("the question", "\n\n".join(message.content for message in question))
            if step.last_answer:
                folded("the last answer", last_answer)
            for seen in step.access:
                folded(f"step {seen}, {line(shown.steps[seen].worker, 40)}", shown.steps[seen].said)
            text("Said", "h4")
            self._live = _Live(view)

    def clear(self) -> None:
        """Show nothing."""
        self._frame.clear()
        self._live = None

    def refresh(self) -> None:
        """Show what the step said in the meantime."""
        if self._live is not None:
            self._live.refresh()


class _Live:
    """The text of a step as it streams in; the whole text and its figures when the step is done."""

    def __init__(self, view: StepView) -> None:
        self._view = view
        self._words = LongText("", "What the step said")
        self._figures = text("", "p", "soft")
        self._below = box()
        self._seen: tuple[str, int] | None = None
        self.refresh()

    def refresh(self) -> None:
        view = self._view
        if (view.state, len(view.said)) == self._seen:
            return
        self._seen = (view.state, len(view.said))
        if view.state == "waits":
            self._words.show("It waits for the steps that it sees.")
        elif view.result is None:
            self._words.show(tail(view.said) or "...")
        else:
            self._words.show(view.said or "(nothing)")
            seconds = view.seconds or 0.0
            skipped = view.state == "skipped"
            self._figures.text = (
                "no worker was asked" if skipped else took(seconds) if view.usage is None else figures(seconds, view.usage)
            )
            completion, failed = view.result.completion, view.result.failed_rounds
            below = [*failed, *(() if completion is None else completion.transcripts)]
            with self._below:
                for number, transcript in enumerate(below[:5], 1):
                    ending = " (without an answer)" if number <= len(failed) else ""
                    folded(f"This worker is itself a Conductor: round {number}{ending}", as_text(transcript))
