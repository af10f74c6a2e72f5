"""Bars for work that takes long: counts, time gone and time left, and what was spent."""

from typing import Self

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from podium.cli.screen import Screen
from podium.evaluation.evaluate import Result
from podium.types import Usage
from podium.workers.budget import Budget
from podium.workflow.draw import price


class Bars:
    """A bar for each part of the work, on standard error. Example: ``with Bars() as bars: bars.begin("answers", 100)``.

    Beside it stands what the answers cost, those of earlier runs included, and what of it was paid under ``budget``.
    """

    def __init__(self, budget: Budget | None = None) -> None:
        self._budget = budget
        console = Screen(stderr=True)
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[note]}"),
            console=console,
            disable=not console.is_terminal,
        )
        self._task: TaskID | None = None
        self._spent = Usage()

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def begin(self, what: str, total: int, done: int = 0) -> None:
        """A part of the work begins: ``total`` answers, of which ``done`` are there already."""
        self._task = self._progress.add_task(what, total=total, completed=done, note="")

    def advance(self, usage: Usage) -> None:
        """One more answer, and what it cost."""
        self._spent = self._spent + usage
        paid = None if self._budget is None else self._budget.paid.cost_usd
        if self._task is not None:
            self._progress.update(self._task, advance=1, note=price(self._spent, paid))

    def on_result(self, result: Result) -> None:
        """One more result of an evaluation."""
        self.advance(result.usage or Usage(cost_usd=None))
