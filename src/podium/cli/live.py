"""A run as it happens, in the terminal: who works on what, for how long, at what cost.

Everything shown was written by models, so it goes through ``plain`` and into Text, never into markup.
"""

import time
from typing import Self

from rich.console import Console, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from podium.events import Answered, Event, StepFinished, StepStarted, StepToken, ToolCalled, WorkflowWritten
from podium.types import StepResult, Workflow
from podium.workflow.draw import counted, dollars, plain, said, sees, used


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

    def on_event(self, event: Event) -> None:
        """Take one event in."""
        match event:
            case WorkflowWritten():
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
                pass  # the command prints the answer
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
        return Panel(table, title=Text("workflow"), title_align="left", border_style="dim")

    def _print(self, event: Event) -> None:
        if isinstance(event, WorkflowWritten):
            steps = "keeps the last answer" if event.workflow is None else counted(len(event.workflow.steps), "step")
            self._console.print(Text(f"round {event.round}: {steps}"))
        elif isinstance(event, StepFinished):
            self._console.print(Text(_line(self._rounds[-1].written.workflow, event.index, event.result)))


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
                style = "red" if result.failure is not None and result.was_needed else "green" if _asked(result) else "dim"
                says, seconds, cost = said(result), f"{_took(result):.1f} s" if _asked(result) else "", _cost(result)
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


def _line(workflow: Workflow | None, index: int, result: StepResult) -> str:
    shown = "" if workflow is None else f" (sees {sees(workflow, index)})"
    figures = f"{_took(result):.2f} s {_cost(result)}" if result.skipped is None else "skipped"
    return f"  step {index} {plain(result.worker, 24)}{shown}: {plain(said(result), 100)} [{figures}]"


def _asked(result: StepResult) -> bool:
    return result.skipped is None and result.was_needed


def _took(result: StepResult) -> float:
    """Wall time with its limits and retries; of a simulated worker, which answers at once, the time it stands for."""
    return max(result.seconds, 0.0 if result.completion is None else result.completion.seconds)


def _cost(result: StepResult) -> str:
    return "" if result.usage is None or result.skipped is not None else dollars(result.usage)
