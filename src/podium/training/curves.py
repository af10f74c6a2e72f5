"""The curves of a run as one picture: ``metrics.jsonl`` -> SVG, without a dependency.

Faint dots are iterations, lines are means over five of them, so that noise is visible and does not hide the course.
"""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from podium.errors import CheckpointError

WIDTH, HEIGHT = 340, 190
"""Size of a panel, in pixels."""
MARGIN = 44
SMOOTH = 5
COLOURS = ("#0b6fb8", "#c8501e", "#2e8540", "#7a4fa3", "#8a6d00", "#b03060")

Series = dict[str, list[float | None]]


def draw_curves(metrics: Path, out: Path) -> None:
    """Draw ``metrics`` (one JSON line per iteration) into ``out``.

    Raises :class:`CheckpointError` where the file can not be read as such.
    """
    lines = _read(metrics)
    kinds = sorted({kind for line in lines for kind in line["correct_by_kind"]})

    def series(*names: str) -> Series:
        return {name.replace("_", " "): [line[name] for line in lines] for name in names}

    def by_kind(name: str) -> Series:
        return {kind: [line[name].get(kind) for line in lines] for kind in kinds}

    spent: list[float | None] = []
    total = 0.0
    for line in lines:
        total += line["cost_usd"] or 0.0
        spent.append(None if line["cost_usd"] is None else total)
    panels = [
        ("share of rollouts", series("correct", "valid", "correct_given_valid"), 1.0),
        ("right, by kind of question", by_kind("correct_by_kind"), 1.0),
        ("who is asked: entropy in bits", {"worker entropy": [line["worker_entropy_bits"] for line in lines]}, 3.0),
        ("steps, by kind of question", by_kind("steps_by_kind"), 0.0),
        ("share of groups", series("flat_groups", "failed_groups", "solved_groups", "opened"), 1.0),
        ("dollars of workers so far", {"spent": spent}, 0.0),
    ]
    iterations = [int(line["iteration"]) + 1 for line in lines]
    drawn = []
    for i, panel in enumerate(panels):
        column, row = (i % 2) * (WIDTH + 30) + 20, (i // 2) * (HEIGHT + 40) + 40
        drawn.append(f'<g transform="translate({column},{row})">{_panel(*panel, iterations)}</g>')
    width, height = 2 * WIDTH + 70, 3 * (HEIGHT + 40) + 30
    out.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        'font-family="system-ui, sans-serif" font-size="11" role="img" aria-label="Training curves">'
        f'<rect width="{width}" height="{height}" rx="8" fill="#ffffff"/>{"".join(drawn)}</svg>\n',
        encoding="utf-8",
    )


def _read(metrics: Path) -> list[dict[str, Any]]:
    try:
        lines = [json.loads(line) for line in metrics.read_text(encoding="utf-8").splitlines()]
        for line in lines:
            line["iteration"], line["correct_by_kind"], line["steps_by_kind"], line["cost_usd"]
        lines[0]
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise CheckpointError(f"{metrics} holds no metrics of a run: {error!r}") from error
    return lines


def _panel(title: str, series: Series, top: float, iterations: Sequence[int]) -> str:
    """One chart; ``top`` 0 lets the highest value decide where the axis ends."""
    highest = max((v for values in series.values() for v in values if v is not None), default=0.0)
    top = max(top, highest) or 1.0
    left, right, bottom = MARGIN, WIDTH - 4, HEIGHT - 26
    last = max(iterations, default=1)

    def x(iteration: float) -> float:
        return left + (right - left) * (iteration - 1) / max(1, last - 1)

    def y(value: float) -> float:
        return bottom - (bottom - 34) * value / top

    parts = [f'<text x="0" y="4" font-size="13" font-weight="600" fill="#222">{escape(title)}</text>']
    for i in range(5):
        value = top * i / 4
        parts.append(f'<line x1="{left}" x2="{right}" y1="{y(value):.1f}" y2="{y(value):.1f}" stroke="#e4e4e4"/>')
        parts.append(f'<text x="{left - 6}" y="{y(value) + 4:.1f}" text-anchor="end" fill="#555">{value:.3g}</text>')
    parts += [
        f'<text x="{x(at):.1f}" y="{bottom + 16}" text-anchor="middle" fill="#555">{at}</text>'
        for at in sorted({1, (1 + last) // 2, last})
    ]
    parts.append(f'<text x="{right}" y="{bottom + 27}" text-anchor="end" fill="#777">iteration</text>')
    letters, at = sum(len(name) + 2 for name in series), float(left)
    for (name, values), colour in zip(series.items(), COLOURS, strict=False):
        parts.append(f'<text x="{at:.0f}" y="22" fill="{colour}">{escape(name)}</text>')
        at += min(7.0, (right - left) / letters) * (len(name) + 2)
        points = [(i, v) for i, v in zip(iterations, values, strict=True) if v is not None]
        parts += [f'<circle cx="{x(i):.1f}" cy="{y(v):.1f}" r="1.3" fill="{colour}" opacity="0.25"/>' for i, v in points]
        parts.append(_line(points, x, y, colour))
    return "".join(parts)


def _line(points: Sequence[tuple[int, float]], x: Callable[[float], float], y: Callable[[float], float], colour: str) -> str:
    """The mean over the last iterations, as a path."""
    if not points:
        return ""
    means = []
    for index in range(len(points)):
        window = points[max(0, index - SMOOTH + 1) : index + 1]
        means.append((points[index][0], sum(v for _, v in window) / len(window)))
    path = " L ".join(f"{x(i):.1f} {y(v):.1f}" for i, v in means)
    return f'<path d="M {path}" fill="none" stroke="{colour}" stroke-width="1.8"/>'
