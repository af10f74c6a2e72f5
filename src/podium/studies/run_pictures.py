"""A run of training in a report: its curves, who is asked, its plans."""

from collections.abc import Sequence
from pathlib import Path

from podium.charts import framed, lines
from podium.page.training_files import TrainingRun
from podium.studies.html import Cells
from podium.training.curves import curves
from podium.training.strategies import Strategy, emergence

FIRST = 50
"""Plans of a run that the report lists in the order in which they appeared."""


def of_a_run(folder: Path) -> tuple[dict[str, str], dict[str, Cells]]:
    """Pictures and tables of the run in ``folder``. Raises :class:`CheckpointError`."""
    pictures = {f"How it was learned ({folder})": curves(folder / "metrics.jsonl")}
    if not (folder / "groups.jsonl").exists():
        return pictures, {}
    found = emergence(folder)
    head = ["plan", "appeared", "last seen", "rollouts", "right"]
    most = sorted(found.strategies, key=lambda each: -each.rollouts)[:20]

    def cells(chosen: Sequence[Strategy]) -> Cells:
        return head, [[s.name, str(s.first), str(s.last), f"{s.rollouts:,}", _percent(s.right)] for s in chosen]

    tables = {
        f"The 20 plans used most often, of {len(found.strategies)}": cells(most),
        f"The first {FIRST} plans, as they appeared": cells(found.strategies[:FIRST]),
    }
    return pictures | {"Who is asked, over training": _workers(folder), "Plans over training": found.picture()}, tables


def _percent(share: float | None) -> str:
    return "not judged" if share is None else f"{100 * share:.0f} %"


def _workers(folder: Path) -> str:
    """A line for each worker: its share of the steps of every iteration."""
    run = TrainingRun(folder=folder)
    while run.read_on():
        pass
    numbers = sorted(number for number, counted in run.workers.items() if counted)
    names = sorted({name for counted in run.workers.values() for name in counted})
    shares = {name: [run.workers[number][name] / run.workers[number].total() for number in numbers] for name in names}
    inside = lines("share of the steps", shares, [number + 1 for number in numbers], width=720, height=260)
    return framed(760, 300, f'<g transform="translate(20,30)">{inside}</g>', "Who is asked, over training")
