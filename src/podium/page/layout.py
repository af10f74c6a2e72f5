"""Where the steps of a workflow stand: waves in rows from the top down, and a line from each step to those that see it.

Across, places are shares of the width (0 to 1000), so that the picture fits any screen; down they are pixels.
"""

from dataclasses import dataclass
from itertools import pairwise

from podium.types import Workflow

ROW, GAP = 108, 38
"""Height of a step and of the space between rows, in pixels."""
ACROSS = 3
"""Steps side by side; a phone has no room for more."""
_WIDE, _LANE = 1000, 22


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """A line from step ``source`` to ``target``, which sees it; ``path`` is its SVG path."""

    source: int
    target: int
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """A drawn workflow. Example: a chain of two has ``rows == ((0,), (1,))`` and one edge."""

    rows: tuple[tuple[int, ...], ...]
    edges: tuple[Edge, ...]
    height: int
    """In pixels."""
    share: float
    """Share of the width, from the left, that the steps take; lines that pass rows by take the rest."""


def layout(workflow: Workflow) -> Layout:
    """The places of all steps and the lines between them."""
    rows = tuple(row for wave in workflow.waves for row in _broken(wave))
    row_of = {index: number for number, row in enumerate(rows) for index in row}
    # Lines that pass a row by run at the right, all those to one step together.
    lanes = sorted(
        {index for index, step in enumerate(workflow.steps) if any(row_of[index] - row_of[seen] > 1 for seen in step.access)}
    )
    right = _WIDE - (_LANE * len(lanes) + 14 if lanes else 0)
    across = {index: right * (2 * place + 1) / (2 * len(row)) for row in rows for place, index in enumerate(row)}
    edges = []
    for index, step in enumerate(workflow.steps):
        for seen in step.access:
            start, end = row_of[seen] * (ROW + GAP) + ROW, row_of[index] * (ROW + GAP)
            x1, x2 = across[seen], across[index]
            if row_of[index] - row_of[seen] == 1:
                path = f"M{x1:.0f} {start} C{x1:.0f} {start + GAP / 2:g} {x2:.0f} {end - GAP / 2:g} {x2:.0f} {end}"
            else:
                lane, bend = right + _LANE * (lanes.index(index) + 1) - 4, GAP * 0.75
                path = (
                    f"M{x1:.0f} {start} C{x1:.0f} {start + bend:g} {lane:.0f} {start:g} {lane:.0f} {start + GAP:g} "
                    f"L{lane:.0f} {end - GAP:g} C{lane:.0f} {end:g} {x2:.0f} {end - bend:g} {x2:.0f} {end}"
                )
            edges.append(Edge(source=seen, target=index, path=path))
    height = len(rows) * ROW + (len(rows) - 1) * GAP
    return Layout(rows=rows, edges=tuple(edges), height=height, share=right / _WIDE)


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
