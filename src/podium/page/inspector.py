"""What one step saw and what it said, in full; or what the conductor wrote."""

from nicegui.element import Element

from podium.errors import NotYet
from podium.page.following import PlanView, RoundView, StepView
from podium.page.long_text import LongText, folded
from podium.page.parts import box, text
from podium.page.shown import figures, line, tail, took
from podium.types import Question, StepResult
from podium.workflow.draw import as_text, counted, sees, unasked, used

MOST_TOOLS = 50
"""Tool calls of one step that are shown."""


class Inspector:
    """Shows one step or one plan, and keeps showing what it says while it works."""

    def __init__(self, place: Element) -> None:
        self._place = place
        self._frame: Element | None = None  # most runs are looked at as a whole
        self._live: _Live | _LivePlan | None = None

    @property
    def element(self) -> Element:
        """Where it stands: at the end of its place, once something was chosen."""
        if self._frame is None:
            with self._place:
                self._frame = box("inspector", "section", aria_label="Step")
        return self._frame

    def show(self, shown: RoundView, index: int, question: Question, last_answer: str) -> None:
        """Show step ``index`` of ``shown``; ``last_answer`` is that of the round before."""
        self.element.clear()
        view, workflow = shown.steps[index], shown.workflow
        if workflow is None:
            return
        step = workflow.steps[index]
        with self.element:
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

    def show_plan(self, plan: PlanView) -> None:
        """Show what the conductor writes."""
        self.element.clear()
        with self.element:
            text("The conductor", "h3")
            text("Wrote", "h4")
            self._live = _LivePlan(plan)

    def refresh(self) -> None:
        """Show what was said in the meantime."""
        if self._live is not None:
            self._live.refresh()


class _LivePlan:
    """What the conductor writes, as it streams in; the whole text and its figures when it is done."""

    def __init__(self, view: PlanView) -> None:
        self._view = view
        self._words = LongText("", "What the conductor wrote")
        self._figures = text("", "p", "soft")
        self._seen: tuple[str, int] | None = None
        self.refresh()

    def refresh(self) -> None:
        view = self._view
        if (view.state, len(view.said)) == self._seen:
            return
        self._seen = (view.state, len(view.said))
        self._words.show((tail(view.said) or "...") if view.state == "runs" else view.said or "(nothing)")
        if view.usage is not None:
            self._figures.text = figures(view.seconds, view.usage)


class _Live:
    """The text of a step as it streams in; the whole text, its tools and its figures when the step is done."""

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
        elif view.state == "never":
            failure = None if view.result is None else view.result.failure
            waits = failure is not None and failure.kind == NotYet.__name__
            self._words.show(
                "A step before it waits for the client." if waits else "It was not started: the run was over before."
            )
        elif view.result is None:
            self._words.show(tail(view.said) or "...")
        else:
            self._words.show(view.said or "(nothing)")
            seconds = view.seconds or 0.0
            spent = took(seconds) if view.usage is None else figures(seconds, view.usage)
            nobody = {"skipped": "no worker was asked", "answered before": "no worker was asked again"}
            self._figures.text = nobody.get(unasked(view.result), spent)
            with self._below:
                _tools(view.result)
                _rounds_below(view.result)


def _tools(result: StepResult) -> None:
    """The tools that the worker called by itself, with their results, and those that the client is to call."""
    completion = result.completion
    if completion is None:
        return
    for use in completion.tool_uses[:MOST_TOOLS]:
        failed = ", failed" if use.failed else ""
        folded(f"called {line(use.tool, 60)}, {took(use.seconds)}{failed}", used(use))
    if len(completion.tool_uses) > MOST_TOOLS:
        text(f"and {counted(len(completion.tool_uses) - MOST_TOOLS, 'call')} more", "p", "soft")
    for called in completion.tool_calls[:MOST_TOOLS]:
        folded(f"asks the client to call {line(called.name, 60)}", called.arguments)


def _rounds_below(result: StepResult) -> None:
    completion, failed = result.completion, result.failed_rounds
    below = [*failed, *(() if completion is None else completion.transcripts)]
    for number, transcript in enumerate(below[:5], 1):
        ending = " (without an answer)" if number <= len(failed) else ""
        folded(f"This worker is itself a Conductor: round {number}{ending}", as_text(transcript))
