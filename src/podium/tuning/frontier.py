"""Accuracy against price, of what was kept: what a policy would come to if accuracy were worth more, or less.

Every point is a choice of a workflow for every kind, at one price; kinds count alike. Figures are those the choice goes by, so
that points that were never tested stand beside the one that was.
"""

from collections.abc import Callable
from statistics import fmean

import numpy as np

from podium.charts import Dot, alone, frontier
from podium.policies.tuned_record import Measured, TunedRecord, TunedWorkflow
from podium.policies.voting import VOTE

STEPS = 40
CHOSEN = "chosen"
"""The point of the policy as it is."""


def frontier_dots(record: TunedRecord) -> tuple[list[Dot], str]:
    """Points for :func:`podium.charts.frontier`, and what x is: dollars where they are known of all workflows, else calls."""
    every = [one.kinds[kind] for one in record.workflows for kind in one.kinds]
    priced = all(measured.usd is not None for measured in every)
    kinds = list(record.workflows[0].kinds)

    def x_of(one: TunedWorkflow, kind: str) -> float:
        measured = one.kinds[kind]
        return (measured.usd or 0.0) if priced else _calls(one, measured)

    def dot(name: str, group: str, worth: Callable[[TunedWorkflow, str], float], *, shown: bool) -> Dot:
        best = {kind: max(record.workflows, key=lambda one: worth(one, kind)) for kind in kinds}
        right = fmean(best[kind].kinds[kind].right for kind in kinds)
        return Dot(name=name, x=fmean(x_of(best[kind], kind) for kind in kinds), y=right, group=group, shown=shown)

    def as_it_is(one: TunedWorkflow, kind: str) -> float:
        return one.kinds[kind].worth(record.price)

    dearest = max((x_of(one, kind) for one in record.workflows for kind in kinds), default=0.0) or 1.0
    found = [dot(CHOSEN, "by kind", as_it_is, shown=True)]
    for price in (0.0, *(float(step) / dearest for step in np.geomspace(0.003, 3.0, STEPS))):

        def worth(one: TunedWorkflow, kind: str, price: float = price) -> float:
            return one.kinds[kind].right - price * x_of(one, kind)

        found.append(dot(f"a price of {price:.3g}", "by kind", worth, shown=False))
    for one in record.workflows:
        if len(one.steps) == 1:
            name = one.steps[0].worker
            right, x = fmean(one.kinds[kind].right for kind in kinds), fmean(x_of(one, kind) for kind in kinds)
            found.append(Dot(name=name, x=x, y=right, group="one worker", shown=True))
    return list(dict.fromkeys(found)), "dollars a question" if priced else "calls a question"


def frontier_picture(record: TunedRecord) -> str:
    """The picture, as the text of an SVG file."""
    dots, unit = frontier_dots(record)
    return alone(frontier(dots, x_label=unit, y_label="right, as estimated"))


def _calls(one: TunedWorkflow, measured: Measured) -> float:
    return sum(step.worker != VOTE for step in one.steps) if measured.calls is None else measured.calls
