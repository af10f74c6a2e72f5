"""Where the plan and the steps of a workflow stand: the plan first, then waves in rows from the top down.

A line leads from each step to those that see it.

Across, places are shares of the width (0 to 1000), so that the picture fits any screen; down they are pixels. A wave that needs
several rows is held together by a band, because its steps work at the same time.
"""

from dataclasses import dataclass
from itertools import pairwise

from podium.types import Workflow

ROW, GAP = 108, 38
"""Height of a step and of the space between rows, in pixels."""
PLAN = 84
"""Height of the plan."""
BAND, WITHIN = 20, 12
"""Height of a band's words, and of the space between the rows and around the edge of one band."""
ACROSS = 3
"""Steps side by side; a phone has no room for more."""
WRITTEN = -1
"""The plan, as the source of a line."""
_WIDE, _LANE = 1000, 22


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """A line from step ``source`` (or the plan) to ``target``, which sees it; ``path`` is its SVG path."""

    source: int
    target: int
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Band:
    """Steps that work at the same time, in pixels from the top. Example: ``Band(top=0, height=148, steps=(0, 1))``."""

    top: int
    height: int
    steps: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """A drawn workflow. Example: a chain of two has ``rows == ((0,), (1,))`` and one edge."""

    rows: tuple[tuple[int, ...], ...]
    tops: tuple[int, ...]
    """Where each row begins, in pixels from the top."""
    bands: tuple[Band, ...]
    edges: tuple[Edge, ...]
    height: int
    """In pixels."""
    share: float
    """Share of the width, from the left, that the steps take; lines that pass rows by take the rest."""


def layout(workflow: Workflow, *, planned: bool = False) -> Layout:
    """The places of all steps and the lines between them; ``planned``: the plan stands above them."""
    top = PLAN + GAP if planned else 0
    rows: list[tuple[int, ...]] = []
    tops: list[int] = []
    bands: list[Band] = []
    for wave in workflow.waves:
        broken = _broken(wave)
        begins = top
        top += BAND + WITHIN if len(wave) > 1 else 0
        for row in broken:
            rows.append(row)
            tops.append(top)
            top += ROW + WITHIN
        if len(wave) > 1:
            bands.append(Band(top=begins, height=top - begins, steps=wave))
            top += GAP
        else:
            top += GAP - WITHIN
    row_of = {index: number for number, row in enumerate(rows) for index in row}
    band_of = {index: band for band in bands for index in band.steps}
    # Lines that pass a row by run at the right, all those to one step together.
    lanes = sorted(
        {index for index, step in enumerate(workflow.steps) if any(row_of[index] - row_of[seen] > 1 for seen in step.access)}
    )
    right = _WIDE - (_LANE * len(lanes) + 14 if lanes else 0)
    across = {index: right * (2 * place + 1) / (2 * len(row)) for row in rows for place, index in enumerate(row)}
    edges = []
    for index, step in enumerate(workflow.steps):
        end = tops[row_of[index]]
        if planned and not step.access and row_of[index] == 0:
            below = band_of[index].top if index in band_of else end
            edges.append(Edge(source=WRITTEN, target=index, path=_bent(right / 2, PLAN, across[index], end, below=below)))
        for seen in step.access:
            start = tops[row_of[seen]] + ROW
            x1, x2 = across[seen], across[index]
            if row_of[index] - row_of[seen] == 1:
                path = _bent(x1, start, x2, end)
            else:
                lane, bend = right + _LANE * (lanes.index(index) + 1) - 4, GAP * 0.75
                path = (
                    f"M{x1:.0f} {start} C{x1:.0f} {start + bend:g} {lane:.0f} {start:g} {lane:.0f} {start + GAP:g} "
                    f"L{lane:.0f} {end - GAP:g} C{lane:.0f} {end:g} {x2:.0f} {end - bend:g} {x2:.0f} {end}"
                )
            edges.append(Edge(source=seen, target=index, path=path))
    return Layout(
        rows=tuple(rows),
        tops=tuple(tops),
        bands=tuple(bands),
        edges=tuple(edges),
        height=top - GAP,
        share=right / _WIDE,
    )


def _bent(x1: float, start: float, x2: float, end: float, *, below: float | None = None) -> str:
    """A line from one row to the next; what lies above ``below`` (the edge of a band) is the bend, the rest is straight."""
    middle = (start + (end if below is None else below)) / 2
    return f"M{x1:.0f} {start} C{x1:.0f} {middle:g} {x2:.0f} {middle:g} {x2:.0f} {end}"


def _broken(wave: tuple[int, ...]) -> list[tuple[int, ...]]:
    """A wave in rows of at most :data:`ACROSS` steps, as even as they come. Example: 7 steps stand as 3, 2 and 2."""
    count = -(-len(wave) // ACROSS)
    size, longer = divmod(len(wave), count)
    starts = [row * size + min(row, longer) for row in range(count + 1)]
    return [wave[start:end] for start, end in pairwise(starts)]


def lines(drawn: Layout, over: frozenset[int] = frozenset()) -> str:
    """The lines as SVG; those that leave a step of ``over`` are drawn as done. Holds numbers only, nothing anybody wrote."""
    paths = "".join(
        f'<path d="{edge.path}" class="{"edge done" if edge.source in over else "edge"}" vector-effect="non-scaling-stroke"/>'
        for edge in drawn.edges
    )
    size = f'viewBox="0 0 {_WIDE} {drawn.height}" width="100%" height="{drawn.height}" preserveAspectRatio="none"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} aria-hidden="true">{paths}</svg>'
