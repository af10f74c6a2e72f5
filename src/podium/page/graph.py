"""A plan and its workflow as a picture that fills while it runs: a button for the plan and for each step, lines between them."""

from collections.abc import Callable
from html import escape

from nicegui import ui

from podium.page.following import PlanView, RoundView, StepView
from podium.page.layout import PLAN, ROW, WRITTEN, layout, lines
from podium.page.parts import box, piece, text
from podium.page.shown import line, price, tail, took
from podium.policies.voting import VOTE
from podium.types import Workflow
from podium.workflow.draw import counted, sees

_WORDS = {
    "waits": "waits",
    "runs": "works",
    "done": "done",
    "skipped": "skipped",
    "failed": "failed",
    "stopped": "not needed",
    "cut": "stopped",
    "never": "not started",
}
_PLAN_WORDS = _WORDS | {"runs": "writes", "failed": "no workflow"}


class Graph:
    """Draws one round. ``on_select`` is told what was clicked or chosen by keyboard: a step's number, or :data:`WRITTEN`."""

    def __init__(self, shown: RoundView, on_select: Callable[[int], None]) -> None:
        self._shown, self._on_select = shown, on_select
        self._over: frozenset[int] | None = None
        self._selected: int | None = None
        self._nodes: dict[int, _Node] = {}
        with box("graph-scroll"):
            self._frame = box("graph")
        self._draw()
        self.refresh()

    def _draw(self) -> None:
        """Draw what is known: the plan alone, or the plan and the workflow that it became."""
        shown, workflow = self._shown, self._shown.workflow
        self._drawn = workflow
        self._layout = None if workflow is None else layout(workflow, planned=shown.plan is not None)
        height = PLAN if self._layout is None else self._layout.height
        widest = 1 if self._layout is None else max(len(row) for row in self._layout.rows)
        self._frame.clear()
        self._nodes, self._over = {}, None
        self._frame.style(f"height:{height}px; min-width:{widest * 104}px")
        share = 100.0 if self._layout is None else 100 * self._layout.share
        with self._frame:
            if self._layout is not None:
                for band in self._layout.bands:
                    with box("band").style(f"top:{band.top}px; height:{band.height}px; width:{share:.3f}%"):
                        text(f"{len(band.steps)} at the same time", "span", "band-words")
            self._lines = ui.html("", sanitize=True).classes("edges")
            if shown.plan is not None:
                self._nodes[WRITTEN] = _PlanNode(shown.plan, self._on_select)
                self._nodes[WRITTEN].place(left=0, top=0, width=share, height=PLAN)
            if workflow is not None and self._layout is not None:
                for top, row in zip(self._layout.tops, self._layout.rows, strict=True):
                    width = share / len(row)
                    for place, index in enumerate(row):
                        node = _StepNode(index, shown.steps[index], workflow, self._on_select)
                        node.place(left=place * width, top=top, width=width, height=ROW)
                        self._nodes[index] = node
        self.mark(self._selected)

    def refresh(self) -> None:
        """Show the state as it is now."""
        if self._drawn is not self._shown.workflow:
            self._draw()
        over = frozenset(index for index, view in enumerate(self._shown.steps) if view.state in ("done", "skipped"))
        if self._shown.steps:
            over |= {WRITTEN}
        if over != self._over and self._layout is not None:
            self._over = over
            self._lines.content = lines(self._layout, over)
        for node in self._nodes.values():
            node.refresh()

    def mark(self, selected: int | None) -> None:
        """Mark what is looked at."""
        self._selected = selected
        for index, node in self._nodes.items():
            node.mark(index == selected)


class _Node:
    """A button with a name, a state, a line of words and one of figures: one element, of which only changes are sent."""

    def __init__(self, index: int, name: str, task: str, on_select: Callable[[int], None], data: str) -> None:
        self._state = ""
        number = "" if index == WRITTEN else f'<span class="number">{index}</span>'
        self._name = f'<span class="node-worker">{number}<span>{escape(name)}</span></span>'
        self._task = task
        self.element = piece("", "node", "button", type="button", data_step=data, aria_pressed="false")
        self.element.on("click", lambda _: on_select(index))

    def place(self, *, left: float, top: int, width: float, height: int) -> None:
        """Where it stands, in percent across and in pixels down."""
        middle = left + width / 2
        self.element.classes("beside" if width < 34 else "alone" if width > 50 else "")
        self.element.style(f"left:{middle:.3f}%; top:{top}px; width:calc({width:.3f}% - 10px); height:{height}px")

    def mark(self, selected: bool) -> None:
        """Whether it is looked at."""
        self.element.props["aria-pressed"] = "true" if selected else "false"

    def refresh(self) -> None:
        """Show the state as it is now."""
        raise NotImplementedError

    def _show(self, state: str, words: str, label: str, figures: str) -> None:
        if state != self._state:
            self.element.classes(remove=f"is-{self._state}", add=f"is-{state}")
            self._state = state
            self.element.props["aria-label"] = label
        top = f'<span class="node-top">{self._name}<span class="node-state">{words}</span></span>'
        rest = f'<span class="node-task">{escape(self._task)}</span><span class="node-figures">{escape(figures)}</span>'
        self.element.content = f"{top}{rest}"  # only a change is sent to the browser


class _PlanNode(_Node):
    def __init__(self, view: PlanView, on_select: Callable[[int], None]) -> None:
        self._view = view
        super().__init__(WRITTEN, "Conductor", "", on_select, "plan")
        self.element.classes("plan")

    def refresh(self) -> None:
        view = self._view
        words = _PLAN_WORDS[view.state]
        self._task = line(tail(view.said, 160), 160) if view.state == "runs" else "Writes the workflow."
        figures = took(view.seconds) if view.state != "runs" else _so_far(view.seconds)
        if view.usage is not None:
            figures += f" · {counted(view.usage.tokens, 'token')} · {price(view.usage)}"
        self._show(view.state, words, f"The conductor, {words}: it writes the workflow.", figures)


class _StepNode(_Node):
    def __init__(self, index: int, view: StepView, workflow: Workflow, on_select: Callable[[int], None]) -> None:
        self._index, self._view = index, view
        self._subtask = _task(index, view, workflow)
        super().__init__(index, line(view.worker, 28), self._subtask, on_select, str(index))
        self._sees = f"sees {sees(workflow, index)}"

    def refresh(self) -> None:
        view = self._view
        words = "asks the client" if view.waits_for_client else _WORDS[view.state]
        seconds = view.seconds
        if seconds is None:
            figures = self._sees
        elif view.usage is None:
            figures = _so_far(seconds) if view.state == "runs" else took(seconds)
        else:
            figures = f"{took(seconds)} · {counted(view.usage.tokens, 'token')} · {price(view.usage)}"
        label = f"Step {self._index}, {line(view.worker, 40)}, {words}: {self._subtask.rstrip('.')}. It {self._sees}."
        self._show("asking" if view.waits_for_client else view.state, words, label, figures)


def _task(index: int, view: StepView, workflow: Workflow) -> str:
    """What the step does. A vote counts, whatever its subtask says."""
    step = workflow.steps[index]
    if view.worker == VOTE:
        return f"Counts the answers of {counted(len(step.access), 'step')}; the most common one wins."
    return line(step.subtask, 120)


def _so_far(seconds: float) -> str:
    """In whole seconds: every change is sent to the browser, and a slow one would fall behind tenths."""
    return f"{seconds:.0f} s"
