"""A run as it happens, in the terminal: who works on what, for how long, at what cost.

Everything shown was written by models, so it goes through ``plain`` and into Text, never into markup.
"""

import time
from typing import Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from podium.events import (
    Answered,
    Event,
    PlanStarted,
    PlanToken,
    StepFinished,
    StepStarted,
    StepToken,
    ToolCalled,
    WorkflowWritten,
)
from podium.types import StepResult
from podium.workflow.draw import counted, plain, said, sees, used
from podium.workflow.lines import cost_of, result_line, took, was_asked

PLAN_LINES = 12
"""Of a plan that is being written, so many lines are shown, the last ones."""


class LiveView:
    """What a terminal shows and redraws as long as the block lasts; elsewhere ``is_live`` is False and lines are printed."""

    def __init__(self, console: Console, per_second: int) -> None:
        self._console = console
        self._live = Live(self, console=console, refresh_per_second=per_second)
        self.is_live = console.is_terminal

    def __rich__(self) -> RenderableType:
        raise NotImplementedError

    def __enter__(self) -> Self:
        if self.is_live:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self.is_live:
            self._live.stop()


class RunView(LiveView):
    """Follows the events of one question. On a terminal a table is redrawn; elsewhere a line is printed per event.

    Example::

        with RunView(console) as view:
            await conductor.conduct(call, view.on_event)
    """

    def __init__(self, console: Console) -> None:
        super().__init__(console, per_second=8)
        self._rounds: list[_Round] = []
        self._plan: str | None = None
        """What the policy has written of the workflow to come; None where one is there."""

    def on_event(self, event: Event) -> None:
        """Take one event in."""
        match event:
            case PlanStarted():
                self._plan = ""
            case PlanToken():
                self._plan = ((self._plan or "") + event.text)[-4000:]
            case WorkflowWritten():
                self._plan = None
                self._rounds.append(_Round(event))
            case StepStarted():
                self._rounds[-1].started[event.index] = time.perf_counter()
                self._rounds[-1].said[event.index] = ""
            case StepToken():
                said = self._rounds[-1].said
                said[event.index] = (said.get(event.index, "") + event.text)[-400:]
            case ToolCalled():
                self._rounds[-1].said[event.index] = f"calls {used(event.use)}"[:400]
            case StepFinished():
                self._rounds[-1].results[event.index] = event.result
            case Answered():
                self._plan = None  # the command prints the answer, or why there is none
        if not self.is_live:
            self._print(event)

    def __rich__(self) -> RenderableType:
        table = Table(expand=True, show_lines=False, pad_edge=False, box=None)
        for name, ratio in (
            ("step", None),
            ("worker", None),
            ("sees", None),
            ("asked", 3),
            ("says", 4),
            ("time", None),
            ("cost", None),
        ):
            table.add_column(
                name, ratio=ratio, no_wrap=True, overflow="ellipsis", justify="right" if name in ("time", "cost") else "left"
            )
        for shown in self._rounds:
            if len(self._rounds) > 1:
                table.add_row("", Text(f"round {shown.written.round}", style="bold"))
            shown.add_to(table)
        workflow = Panel(table, title=Text("workflow"), title_align="left", border_style="dim")
        if self._plan is None:
            return workflow
        lines = plain(self._plan).strip().splitlines()[-PLAN_LINES:] or ["..."]
        plan = Panel(Text("\n".join(lines)), title=Text("the plan, as it is written"), title_align="left", border_style="yellow")
        return Group(workflow, plan) if self._rounds else plan

    def _print(self, event: Event) -> None:
        if isinstance(event, WorkflowWritten):
            steps = "keeps the last answer" if event.workflow is None else counted(len(event.workflow.steps), "step")
            self._console.print(Text(f"round {event.round}: {steps}"))
        elif isinstance(event, StepFinished):
            self._console.print(Text(result_line(self._rounds[-1].written.workflow, event.index, event.result)))


class _Round:
    def __init__(self, written: WorkflowWritten) -> None:
        self.written = written
        self.started: dict[int, float] = {}
        self.said: dict[int, str] = {}
        self.results: dict[int, StepResult] = {}

    def add_to(self, table: Table) -> None:
        workflow = self.written.workflow
        if workflow is None:
            table.add_row("", Text("keeps the last answer", style="dim"))
            return
        for index, step in enumerate(workflow.steps):
            result = self.results.get(index)
            if result is not None:
                style = "red" if result.failure is not None and result.was_needed else "green" if was_asked(result) else "dim"
                says, seconds, cost = said(result), f"{took(result):.1f} s" if was_asked(result) else "", cost_of(result)
            elif index in self.started:
                style, says, cost = "yellow", self.said.get(index, "") or "...", ""
                seconds = f"{time.perf_counter() - self.started[index]:.1f} s"
            else:
                style, says, seconds, cost = "dim", "waits", "", ""
            worker = plain(self.written.workers[step.worker], 18)
            cells = (
                str(index),
                worker,
                plain(sees(workflow, index), 20),
                plain(step.subtask, 200),
                plain(says, 200),
                seconds,
                cost,
            )
            table.add_row(*(Text(cell, style=style) for cell in cells))
