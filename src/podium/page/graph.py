"""A workflow as a picture that fills while it runs: a button per step, lines from each step to those that see it."""

from collections.abc import Callable

from nicegui import ui
from nicegui.elements.mixins.text_element import TextElement

from podium.page.following import RoundView, StepView
from podium.page.layout import GAP, ROW, layout, lines
from podium.page.parts import box, text
from podium.page.shown import line, price, took
from podium.types import Workflow
from podium.workflow.draw import counted, sees

_WORDS = {"waits": "waits", "runs": "works", "done": "done", "skipped": "skipped", "failed": "failed", "stopped": "not needed"}


class Graph:
    """Draws one round. ``on_select`` is called with the number of the step that was clicked or chosen by keyboard."""

    def __init__(self, shown: RoundView, workflow: Workflow, on_select: Callable[[int], None]) -> None:
        self._shown = shown
        self._layout = layout(workflow)
        self._over: frozenset[int] | None = None
        widest = max(len(row) for row in self._layout.rows)
        with box("graph-scroll"), box("graph") as frame:
            frame.style(f"height:{self._layout.height}px; min-width:{widest * 104}px")
            self._lines = ui.html("", sanitize=True).classes("edges")
            self._nodes = [_Node(index, view, workflow, on_select) for index, view in enumerate(shown.steps)]
        for row, wave in enumerate(self._layout.rows):
            for place, index in enumerate(wave):
                width = 100 * self._layout.share / len(wave)
                self._nodes[index].place(left=place * width, top=row * (ROW + GAP), width=width)
        self.refresh()

    def refresh(self) -> None:
        """Show the state as it is now."""
        over = frozenset(index for index, view in enumerate(self._shown.steps) if view.state in ("done", "skipped"))
        if over != self._over:
            self._over = over
            self._lines.content = lines(self._layout, over)
        for node in self._nodes:
            node.refresh()

    def mark(self, selected: int | None) -> None:
        """Mark the step that is looked at."""
        for index, node in enumerate(self._nodes):
            node.mark(index == selected)


class _Node:
    def __init__(self, index: int, view: StepView, workflow: Workflow, on_select: Callable[[int], None]) -> None:
        self._index, self._view = index, view
        self._state = ""
        self._subtask = line(workflow.steps[index].subtask, 120)
        with box("node", "button", type="button", data_step=str(index), aria_pressed="false") as self._element:
            with box("node-top", "span"):
                with box("node-worker", "span"):
                    text(str(index), "span", "number")
                    text(line(view.worker, 28), "span")
                self._status = text("", "span", "node-state")
            text(self._subtask, "span", "node-task")
            self._figures = text("", "span", "node-figures")
            self._sees = f"sees {sees(workflow, index)}"
        self._element.on("click", lambda _: on_select(index))

    def place(self, *, left: float, top: int, width: float) -> None:
        """Where it stands, in percent across and in pixels down."""
        middle = left + width / 2
        self._element.classes("beside" if width < 34 else "alone" if width > 50 else "")
        self._element.style(f"left:{middle:.3f}%; top:{top}px; width:calc({width:.3f}% - 10px); height:{ROW}px")

    def mark(self, selected: bool) -> None:
        self._element.props["aria-pressed"] = "true" if selected else "false"

    def refresh(self) -> None:
        view = self._view
        if view.state != self._state:
            self._element.classes(remove=f"is-{self._state}", add=f"is-{view.state}")
            self._state = view.state
            _set(self._status, _WORDS[view.state])
            label = f"Step {self._index}, {line(view.worker, 40)}, {_WORDS[view.state]}"
            self._element.props["aria-label"] = f"{label}: {self._subtask.rstrip('.')}. It {self._sees}."
        seconds = view.seconds
        if seconds is None:
            _set(self._figures, self._sees)
        elif view.usage is None:
            _set(self._figures, f"{seconds:.1f} s" if view.state == "runs" else took(seconds))
        else:
            _set(self._figures, f"{took(seconds)} · {counted(view.usage.tokens, 'token')} · {price(view.usage)}")


def _set(element: TextElement, words: str) -> None:
    """Only a change is sent to the browser."""
    if element.text != words:
        element.text = words
