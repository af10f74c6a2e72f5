"""A plan and its workflow as a picture: a button for the plan and for each step, lines between them.

A round that goes on has an element for each button, of which only changes are sent; one that is over is a single element, however
many steps it has, because the server holds 5 kB for each element of an open page.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from html import escape

from nicegui import ui
from nicegui.events import GenericEventArguments

from podium.page.following import PlanView, RoundView, StepView
from podium.page.layout import PLAN, ROW, WRITTEN, Layout, layout, lines
from podium.page.parts import box, in_turn, piece
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
_CHOSEN = "event.target.closest('[data-step]')?.dataset.step"
_MARK = """document.querySelectorAll('#c{id} [data-step]').forEach(
    each => each.setAttribute('aria-pressed', each.dataset.step === {step!r}))"""
_PLAN_STEP = "plan"
_PLAN_WORDS = _WORDS | {"runs": "writes", "failed": "no workflow"}


class Graph:
    """Draws one round. ``on_select`` is told what was clicked or chosen by keyboard: a step's number, or :data:`WRITTEN`."""

    def __init__(self, shown: RoundView, on_select: Callable[[int], None]) -> None:
        self._picture = _Still(shown, on_select) if shown.is_over else _Live(shown, on_select)

    def refresh(self) -> None:
        """Show the state as it is now."""
        self._picture.refresh()

    def mark(self, selected: int | None) -> None:
        """Mark what is looked at."""
        self._picture.mark(selected)


class _Still:
    """A round that is over, as one element. The browser tells which button was clicked."""

    def __init__(self, shown: RoundView, on_select: Callable[[int], None]) -> None:
        self._on_select = on_select
        self._selected: int | None = None
        drawn, faces = _laid_out(shown), _faces(shown)
        places = _places(drawn, shown.plan is not None)
        self._known = {_named(index): index for index in places}
        nodes = "".join(_button(index, faces[index](), *place) for index, place in places.items())
        edges = "" if drawn is None else f'<div class="edges">{lines(drawn, _over(shown))}</div>'
        whole = f'<div class="graph" style="{_size(drawn)}">{_bands(drawn)}{edges}{nodes}</div>'
        self._element = piece(whole, "graph-scroll")
        self._element.on("click", self._clicked, js_handler=in_turn(_CHOSEN, condition=_CHOSEN))

    def _clicked(self, event: GenericEventArguments) -> None:
        if isinstance(event.args, str) and event.args in self._known:
            self._on_select(self._known[event.args])

    def refresh(self) -> None:
        """Nothing changes any more."""

    def mark(self, selected: int | None) -> None:
        if selected != self._selected:
            self._selected = selected
            ui.run_javascript(_MARK.format(id=self._element.id, step="" if selected is None else _named(selected)))


class _Live:
    """A round that goes on: it fills while it runs."""

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
        shown = self._shown
        self._drawn = shown.workflow
        self._layout = _laid_out(shown)
        self._frame.clear()
        self._nodes, self._over = {}, None
        self._frame.style(_size(self._layout))
        faces = _faces(shown)
        with self._frame:
            if self._layout is not None and self._layout.bands:
                piece(_bands(self._layout))
            self._lines = ui.html("", sanitize=True).classes("edges")
            for index, (classes, style) in _places(self._layout, shown.plan is not None).items():
                self._nodes[index] = _Node(index, faces[index], classes, style, self._on_select)
        self.mark(self._selected)

    def refresh(self) -> None:
        if self._drawn is not self._shown.workflow:
            self._draw()
        over = _over(self._shown)
        if over != self._over and self._layout is not None:
            self._over = over
            self._lines.content = lines(self._layout, over)
        for node in self._nodes.values():
            node.refresh()

    def mark(self, selected: int | None) -> None:
        self._selected = selected
        for index, node in self._nodes.items():
            node.element.props["aria-pressed"] = "true" if index == selected else "false"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Face:
    """How a button looks now: a state, what a screen reader says, and a name, a line of words and one of figures as HTML."""

    state: str
    label: str
    markup: str


class _Node:
    """A button that changes: one element, of which only changes are sent."""

    def __init__(self, index: int, face: Callable[[], _Face], classes: str, style: str, on_select: Callable[[int], None]) -> None:
        self._face, self._state = face, ""
        self.element = piece("", classes, "button", type="button", data_step=_named(index), aria_pressed="false")
        self.element.style(style)
        self.element.on("click", lambda _: on_select(index))

    def refresh(self) -> None:
        """Show the state as it is now."""
        face = self._face()
        if face.state != self._state:
            self.element.classes(remove=f"is-{self._state}", add=f"is-{face.state}")
            self._state = face.state
            self.element.props["aria-label"] = face.label
        self.element.content = face.markup  # only a change is sent to the browser


def _laid_out(shown: RoundView) -> Layout | None:
    return None if shown.workflow is None else layout(shown.workflow, planned=shown.plan is not None)


def _over(shown: RoundView) -> frozenset[int]:
    """What lines lead on from as done."""
    over = frozenset(index for index, view in enumerate(shown.steps) if view.state in ("done", "skipped"))
    return over | {WRITTEN} if shown.steps else over


def _size(drawn: Layout | None) -> str:
    height, widest = (PLAN, 1) if drawn is None else (drawn.height, max(len(row) for row in drawn.rows))
    return f"height:{height}px; min-width:{widest * 104}px"


def _bands(drawn: Layout | None) -> str:
    return (
        ""
        if drawn is None
        else "".join(
            f'<div class="band" style="top:{band.top}px; height:{band.height}px; width:{100 * drawn.share:.3f}%">'
            f'<span class="band-words">{len(band.steps)} at the same time</span></div>'
            for band in drawn.bands
        )
    )


def _places(drawn: Layout | None, planned: bool) -> dict[int, tuple[str, str]]:
    """Classes and style of every button, in the order in which Tab reaches them."""
    share = 100.0 if drawn is None else 100 * drawn.share
    places = {WRITTEN: _place(0, 0, share, PLAN, "node plan")} if planned else {}
    if drawn is not None:
        for top, row in zip(drawn.tops, drawn.rows, strict=True):
            width = share / len(row)
            places |= {index: _place(place * width, top, width, ROW, "node") for place, index in enumerate(row)}
    return places


def _place(left: float, top: int, width: float, height: int, classes: str) -> tuple[str, str]:
    """Where a button stands, in percent across and in pixels down."""
    wide = " beside" if width < 34 else " alone" if width > 50 else ""
    middle = left + width / 2
    return f"{classes}{wide}", f"left:{middle:.3f}%; top:{top}px; width:calc({width:.3f}% - 10px); height:{height}px"


def _named(index: int) -> str:
    """What the button is called in the browser."""
    return _PLAN_STEP if index == WRITTEN else str(index)


def _button(index: int, face: _Face, classes: str, style: str) -> str:
    return (
        f'<button type="button" class="{classes} is-{face.state}" style="{style}" data-step="{_named(index)}" '
        f'aria-pressed="false" aria-label="{escape(face.label)}">{face.markup}</button>'
    )


def _faces(shown: RoundView) -> dict[int, Callable[[], _Face]]:
    """How each button looks, by its index, whenever it is asked."""
    faces: dict[int, Callable[[], _Face]] = {}
    if shown.plan is not None:
        faces[WRITTEN] = partial(_plan_face, shown.plan)
    if shown.workflow is not None:
        for index, view in enumerate(shown.steps):
            task = _task(index, view, shown.workflow)
            faces[index] = partial(_step_face, index, view, task, f"sees {sees(shown.workflow, index)}")
    return faces


def _plan_face(view: PlanView) -> _Face:
    words = _PLAN_WORDS[view.state]
    task = line(tail(view.said, 160), 160) if view.state == "runs" else "Writes the workflow."
    figures = took(view.seconds) if view.state != "runs" else _so_far(view.seconds)
    if view.usage is not None:
        figures += f" · {counted(view.usage.tokens, 'token')} · {price(view.usage)}"
    label = f"The conductor, {words}: it writes the workflow."
    return _Face(state=view.state, label=label, markup=_markup("", "Conductor", words, task, figures))


def _step_face(index: int, view: StepView, task: str, seen: str) -> _Face:
    words = "asks the client" if view.waits_for_client else _WORDS[view.state]
    seconds = view.seconds
    if seconds is None:
        figures = seen
    elif view.usage is None:
        figures = _so_far(seconds) if view.state == "runs" else took(seconds)
    else:
        figures = f"{took(seconds)} · {counted(view.usage.tokens, 'token')} · {price(view.usage)}"
    label = f"Step {index}, {line(view.worker, 40)}, {words}: {task.rstrip('.')}. It {seen}."
    number = f'<span class="number">{index}</span>'
    markup = _markup(number, line(view.worker, 28), words, task, figures)
    return _Face(state="asking" if view.waits_for_client else view.state, label=label, markup=markup)


def _markup(number: str, name: str, words: str, task: str, figures: str) -> str:
    top = f'<span class="node-worker">{number}<span>{escape(name)}</span></span><span class="node-state">{words}</span>'
    rest = f'<span class="node-task">{escape(task)}</span><span class="node-figures">{escape(figures)}</span>'
    return f'<span class="node-top">{top}</span>{rest}'


def _task(index: int, view: StepView, workflow: Workflow) -> str:
    """What the step does. A vote counts, whatever its subtask says."""
    step = workflow.steps[index]
    if view.worker == VOTE:
        return f"Counts the answers of {counted(len(step.access), 'step')}; the most common one wins."
    return line(step.subtask, 120)


def _so_far(seconds: float) -> str:
    """In whole seconds: every change is sent to the browser, and a slow one would fall behind tenths."""
    return f"{seconds:.0f} s"
