"""The curves of a run as one picture: ``metrics.jsonl`` -> SVG, without a dependency.

Faint dots are iterations, lines are means over five of them, so that noise is visible and does not hide the course.
"""

import json
from pathlib import Path
from typing import Any

from podium.charts import framed, lines
from podium.errors import CheckpointError

WIDTH, HEIGHT = 340, 190
"""Size of a panel, in pixels."""

Series = dict[str, list[float | None]]


_OF_ROLLOUTS = ("correct", "valid", "correct_given_valid")
_OF_GROUPS = ("flat_groups", "failed_groups", "solved_groups", "forced_prefixes")


def draw_curves(metrics: Path, out: Path) -> None:
    """Draw ``metrics`` into ``out``; see :func:`curves`."""
    out.write_text(curves(metrics) + "\n", encoding="utf-8")


def curves(metrics: Path) -> str:
    """``metrics`` (one JSON line per iteration) as SVG.

    Raises :class:`CheckpointError` where the file can not be read as such.
    """
    read = _read(metrics)
    kinds = sorted({kind for line in read for kind in line["correct_by_kind"]})

    def series(*names: str) -> Series:
        return {name.replace("_", " "): [line[name] for line in read] for name in names}

    def by_kind(name: str) -> Series:
        return {kind: [line[name].get(kind) for line in read] for kind in kinds}

    spent: list[float | None] = []
    total = 0.0
    for line in read:
        total += line["cost_usd"] or 0.0
        spent.append(None if line["cost_usd"] is None else total)
    panels = [
        ("share of rollouts", series(*_OF_ROLLOUTS), 1.0),
        ("right, by kind of question", by_kind("correct_by_kind"), 1.0),
        ("who is asked: entropy in bits", {"worker entropy": [line["worker_entropy_bits"] for line in read]}, 3.0),
        ("steps, by kind of question", by_kind("steps_by_kind"), 0.0),
        ("share of groups", series(*_OF_GROUPS), 1.0),
        ("dollars of workers so far", {"spent": spent}, 0.0),
    ]
    iterations = [int(line["iteration"]) + 1 for line in read]
    drawn = []
    for i, panel in enumerate(panels):
        column, row = (i % 2) * (WIDTH + 30) + 20, (i // 2) * (HEIGHT + 40) + 40
        title, series_of, top = panel
        inside = lines(title, series_of, iterations, top=top, width=WIDTH, height=HEIGHT)
        drawn.append(f'<g transform="translate({column},{row})">{inside}</g>')
    width, height = 2 * WIDTH + 70, 3 * (HEIGHT + 40) + 30
    return framed(width, height, "".join(drawn), "Training curves")


def _read(metrics: Path) -> list[dict[str, Any]]:
    try:
        lines = [json.loads(line) for line in metrics.read_text(encoding="utf-8").splitlines()]
        for line in lines:
            line["iteration"], line["correct_by_kind"], line["steps_by_kind"], line["cost_usd"]
        missing = sorted({*_OF_ROLLOUTS, *_OF_GROUPS, "worker_entropy_bits"} - {*lines[0]})
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise CheckpointError(f"{metrics} holds no metrics of a run: {error!r}") from error
    if missing:
        raise CheckpointError(
            f"{metrics} was written by another version of podium (it has no {', '.join(missing)}); train again in another folder"
        )
    return lines
