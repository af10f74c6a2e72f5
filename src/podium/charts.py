"""Charts as SVG text, without a dependency: readable alone, in a page, and in print.

Colours come from custom properties where the page sets them (``--ink``, ``--soft``, ``--grid``), so a dark page has dark charts.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from math import ceil, floor, log10
from typing import NamedTuple
from xml.sax.saxutils import escape

COLOURS = ("#0b6fb8", "#c8501e", "#2e8540", "#7a4fa3", "#8a6d00", "#b03060", "#4a5a6a", "#008c8c")
INK, SOFT, GRID = "var(--ink, #222)", "var(--soft, #5c5c5c)", "var(--grid, #e2e2e2)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Dot:
    """A point of :func:`plane`. Example: ``Dot(name="trained", x=0.0002, y=0.98, group="conductors", shown=True)``."""

    name: str
    x: float
    y: float
    group: str
    shown: bool = False
    """Whether its name stands beside it; the others say theirs when pointed at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """A line of :func:`forest`. Example: ``Bar(name="brook", value=0.48, low=0.44, high=0.52)``."""

    name: str
    value: float
    low: float
    high: float


def plane(
    dots: Sequence[Dot],
    *,
    x_label: str,
    y_label: str,
    x_tick: Callable[[float], str] | None = None,
    are_joined: bool = False,
    width: int = 760,
    height: int = 420,
) -> str:
    """Points over a logarithmic x axis (values above 0); y is a share in 0..1, in percent; x is dollars but for ``x_tick``.

    ``are_joined``: a line through the points of each group, from left to right.
    """
    x_tick = x_tick or _money
    dots = [dot for dot in dots if dot.x > 0]
    if not dots:
        return ""
    left, right, top, bottom = 52.0, width - 30.0, 34.0, height - 60.0
    low, high = floor(log10(min(dot.x for dot in dots)) * 2) / 2, ceil(log10(max(dot.x for dot in dots)) * 2) / 2
    high = high if high > low else low + 0.5

    def at(dot: Dot) -> tuple[float, float]:
        return left + (right - left) * (log10(dot.x) - low) / (high - low), bottom - (bottom - top) * dot.y

    parts = [_text(0, 14, y_label, fill=INK, weight=600)]
    for percent in range(0, 101, 20):
        y = bottom - (bottom - top) * percent / 100
        parts += [_rule(left, right, y), _text(left - 6, y + 4, f"{percent} %", anchor="end")]
    for power in range(ceil(low), floor(high) + 1):
        x = left + (right - left) * (power - low) / (high - low)
        parts += [_rule_down(x, top, bottom), _text(x, bottom + 17, x_tick(10.0**power), anchor="middle")]
    parts.append(_text(right, bottom + 33, x_label, anchor="end"))
    groups = dict(zip(dict.fromkeys(dot.group for dot in dots), cycle(COLOURS), strict=False))
    x_legend = left
    for group, colour in groups.items():
        parts += [_disc(x_legend + 4, bottom + 48, 4, colour), _text(x_legend + 12, bottom + 52, group, fill=colour)]
        x_legend += 26 + 6.4 * len(group)
    for group, colour in groups.items() if are_joined else ():
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in sorted(at(dot) for dot in dots if dot.group == group))
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
    taken = [_Area(x - 5, y - 5, x + 5, y + 5) for x, y in map(at, dots)]
    for dot in sorted(dots, key=lambda dot: (dot.shown, -dot.y)):
        x, y = at(dot)
        parts.append(
            f"<g>{_disc(x, y, 6 if dot.shown else 4, groups[dot.group])}<title>{escape(_tooltip(dot, x_tick))}</title></g>"
        )
        if dot.shown:
            parts.append(_beside(dot.name, x, y, right, taken))
    return _svg(width, height, "".join(parts), f"{y_label} against {x_label}")


def frontier(dots: Sequence[Dot], *, x_label: str, y_label: str, width: int = 760, height: int = 400) -> str:
    """Points over a linear x axis from 0; y is a share in 0..1, of which only the part that is needed is drawn.

    A line joins the points that no other one beats: none is further left and at least as high, or as far left and higher.
    """
    if not dots:
        return ""
    left, right, top, bottom = 52.0, width - 30.0, 34.0, height - 60.0
    low, high = floor(20 * min(dot.y for dot in dots)) / 20, ceil(20 * max(dot.y for dot in dots) + 0.01) / 20
    most = 1.05 * max(dot.x for dot in dots) or 1.0

    def at(dot: Dot) -> tuple[float, float]:
        return left + (right - left) * dot.x / most, bottom - (bottom - top) * (dot.y - low) / (high - low)

    parts = [_text(0, 14, y_label, fill=INK, weight=600)]
    for step in range(round(20 * low), round(20 * high) + 1):
        y = bottom - (bottom - top) * (step / 20 - low) / (high - low)
        parts += [_rule(left, right, y), _text(left - 6, y + 4, f"{5 * step} %", anchor="end")]
    for quarter in range(5):
        x = left + (right - left) * quarter / 4
        parts += [_rule_down(x, top, bottom), _text(x, bottom + 17, f"{most * quarter / 4:.3g}", anchor="middle")]
    parts.append(_text(right, bottom + 33, x_label, anchor="end"))
    groups = dict(zip(dict.fromkeys(dot.group for dot in dots), cycle(COLOURS), strict=False))
    x_legend = left
    for group, colour in groups.items():
        parts += [_disc(x_legend + 4, bottom + 48, 4, colour), _text(x_legend + 12, bottom + 52, group, fill=colour)]
        x_legend += 26 + 6.4 * len(group)
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in map(at, unbeaten(dots)))
    parts.append(f'<polyline points="{points}" fill="none" stroke="{SOFT}" stroke-dasharray="4 3"/>')
    taken = [_Area(x - 5, y - 5, x + 5, y + 5) for x, y in map(at, dots)]
    for dot in sorted(dots, key=lambda dot: (dot.shown, -dot.y)):
        x, y = at(dot)
        tooltip = escape(f"{dot.name}: {100 * dot.y:.1f} % at {dot.x:.4g}")
        parts.append(f"<g>{_disc(x, y, 6 if dot.shown else 4, groups[dot.group])}<title>{tooltip}</title></g>")
        if dot.shown:
            parts.append(_beside(_cut(dot.name, 32), x, y, right, taken))
    return _svg(width, height, "".join(parts), f"{y_label} against {x_label}")


def unbeaten(dots: Sequence[Dot]) -> list[Dot]:
    """The Pareto frontier of ``dots``, the cheapest first: each is higher than all that are further left."""
    found: list[Dot] = []
    for dot in sorted(dots, key=lambda dot: (dot.x, -dot.y)):
        if not found or dot.y > found[-1].y:
            found.append(dot)
    return found


def forest(bars: Sequence[Bar], *, label: str, width: int = 760) -> str:
    """Differences with their intervals, one line each, in points; the line at 0 is where two arms are equal."""
    if not bars:
        return ""
    name_width = min(230.0, 12 + 6.6 * max(len(bar.name) for bar in bars))
    left, right, row = name_width, width - 150.0, 21
    low, high = min(0.0, *(bar.low for bar in bars)), max(0.0, *(bar.high for bar in bars))
    span = (high - low) or 1.0

    def x(value: float) -> float:
        return left + (right - left) * (value - low) / span

    height = row * len(bars) + 42
    parts = [_text(0, 14, label, fill=INK, weight=600), _rule_down(x(0), 24, height - 12, INK)]
    for index, bar in enumerate(bars):
        y = 36 + row * index
        colour = COLOURS[2] if bar.low > 0 else COLOURS[1] if bar.high < 0 else COLOURS[6]
        parts += [
            _text(left - 10, y + 4, _cut(bar.name, 32), anchor="end", fill=INK),
            f'<line x1="{x(bar.low):.1f}" x2="{x(bar.high):.1f}" y1="{y}" y2="{y}" stroke="{colour}" stroke-width="2"/>',
            _disc(x(bar.value), y, 4, colour),
            _text(right + 12, y + 4, f"{100 * bar.value:+.1f} ({100 * bar.low:+.1f} to {100 * bar.high:+.1f})"),
        ]
    return _svg(width, height, "".join(parts), label)


def shares(rows: Mapping[str, Mapping[str, float]], *, label: str, names: Sequence[str] = (), width: int = 760) -> str:
    """Stacked bars, one per row; the parts of a row are shares that add up to 1.

    ``names`` are the parts in their order, so that they keep their colours from chart to chart.
    """
    if not rows:
        return ""
    names = list(dict.fromkeys([*names, *(name for parts in rows.values() for name in parts)]))
    colours = dict(zip(names, cycle(COLOURS), strict=False))
    left, right, row = min(230.0, 12 + 6.6 * max(len(name) for name in rows)), width - 8.0, 24
    parts = [_text(0, 14, label, fill=INK, weight=600)]
    x_legend = 0.0
    for name in names:
        parts += [_box(x_legend, 24, 10, 10, colours[name]), _text(x_legend + 14, 33, name)]
        x_legend += 30 + 6.4 * len(name)
    for index, (name, split) in enumerate(rows.items()):
        y, x = 46 + row * index, left
        parts.append(_text(left - 10, y + 13, _cut(name, 32), anchor="end", fill=INK))
        for part, share in split.items():
            width_of = (right - left) * share
            tooltip = f"<title>{escape(f'{name}: {part} {100 * share:.0f} %')}</title>"
            parts.append(f"<g>{_box(x, y, width_of, 18, colours[part])}{tooltip}</g>")
            if width_of > 34:
                parts.append(_text(x + width_of / 2, y + 13, f"{100 * share:.0f} %", anchor="middle", fill="#fff"))
            x += width_of
    return _svg(width, 54 + row * len(rows), "".join(parts), label)


Series = Mapping[str, Sequence[float | None]]


def lines(
    title: str,
    series: Series,
    at: Sequence[int],
    *,
    top: float = 0.0,
    levels: Mapping[str, float] | None = None,
    smooth: int = 5,
    width: int = 340,
    height: int = 190,
) -> str:
    """Series over iterations as the inside of an SVG: faint dots are values, lines their mean over the last ``smooth``.

    ``top`` is where the axis ends at least; ``levels`` are dashed lines across, with their names at the right.
    """
    levels = levels or {}
    values = [value for each in series.values() for value in each if value is not None]
    top = max([top, *values, *levels.values()], default=0.0) or 1.0
    left, right, bottom = 44.0, width - 4.0, height - 26.0
    last = max(at, default=1)

    def x(iteration: float) -> float:
        return left + (right - left) * (iteration - 1) / max(1, last - 1)

    def y(value: float) -> float:
        return bottom - (bottom - 34) * value / top

    parts = [_text(0, 4, title, fill=INK, weight=600, size=13)]
    for i in range(5):
        parts += [_rule(left, right, y(top * i / 4)), _text(left - 6, y(top * i / 4) + 4, f"{top * i / 4:.3g}", anchor="end")]
    parts += [_text(x(tick), bottom + 16, str(tick), anchor="middle") for tick in sorted({1, (1 + last) // 2, last})]
    parts.append(_text(right, bottom + 27, "iteration", anchor="end"))
    for name, level in levels.items():
        parts += [
            f'<line x1="{left}" x2="{right}" y1="{y(level):.1f}" y2="{y(level):.1f}" stroke="{SOFT}" stroke-dasharray="3 3"/>',
            _text(right, y(level) - 3, name, anchor="end"),
        ]
    letters, at_x = sum(len(name) + 2 for name in series), left
    for (name, each), colour in zip(series.items(), cycle(COLOURS), strict=False):
        parts.append(_text(at_x, 22, name, fill=colour))
        at_x += min(7.0, (right - left) / letters) * (len(name) + 2)
        points = [(i, v) for i, v in zip(at, each, strict=True) if v is not None]
        parts += [f'<circle cx="{x(i):.1f}" cy="{y(v):.1f}" r="1.3" fill="{colour}" opacity="0.25"/>' for i, v in points]
        parts.append(_mean_path(points, x, y, colour, smooth))
    return "".join(parts)


def _mean_path(
    points: Sequence[tuple[int, float]], x: Callable[[float], float], y: Callable[[float], float], colour: str, smooth: int
) -> str:
    if not points:
        return ""
    means = []
    for index in range(len(points)):
        window = points[max(0, index - smooth + 1) : index + 1]
        means.append((points[index][0], sum(v for _, v in window) / len(window)))
    path = " L ".join(f"{x(i):.1f} {y(v):.1f}" for i, v in means)
    return f'<path d="M {path}" fill="none" stroke="{colour}" stroke-width="1.8"/>'


def framed(width: int, height: int, inside: str, label: str) -> str:
    """``inside`` as a whole SVG with a white ground and fixed colours, to stand in a file of its own."""
    return alone(_svg(width, height, inside, label))


def alone(chart: str) -> str:
    """A chart of this module with a white ground and fixed colours, to stand in a file of its own."""
    fixed = re.sub(r"var\(--\w+, (#\w+)\)", r"\1", chart)
    return fixed.replace(">", '><rect width="100%" height="100%" rx="8" fill="#ffffff"/>', 1)


def _svg(width: int, height: float, inside: str, label: str) -> str:
    quoted = escape(label, {'"': "&quot;"})
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height:g}" width="{width}" height="{height:g}" '
        f'font-family="system-ui, sans-serif" font-size="11" role="img" aria-label="{quoted}">{inside}</svg>'
    )


def _text(x: float, y: float, text: str, *, anchor: str = "start", fill: str = SOFT, weight: int = 400, size: int = 0) -> str:
    more = (f' font-weight="{weight}"' if weight != 400 else "") + (f' font-size="{size}"' if size else "")
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{fill}"{more}>{escape(text)}</text>'


def _rule(left: float, right: float, y: float) -> str:
    return f'<line x1="{left}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}" stroke="{GRID}"/>'


def _rule_down(x: float, top: float, bottom: float, stroke: str = GRID) -> str:
    return f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{top}" y2="{bottom}" stroke="{stroke}"/>'


def _disc(x: float, y: float, radius: float, colour: str) -> str:
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" fill="{colour}"/>'


def _box(x: float, y: float, width: float, height: float, colour: str) -> str:
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{colour}"/>'


class _Area(NamedTuple):
    left: float
    top: float
    right: float
    bottom: float

    def covers(self, other: "_Area") -> float:
        """How much of ``other`` lies below it, in square pixels."""
        width = min(self.right, other.right) - max(self.left, other.left)
        height = min(self.bottom, other.bottom) - max(self.top, other.top)
        return max(0.0, width) * max(0.0, height)


def _beside(name: str, x: float, y: float, right: float, taken: list[_Area]) -> str:
    """A label beside its point: right of it, left, above or below, near or further off, where it covers the least of what is
    ``taken``."""
    length = 6.6 * len(name)
    starts = [(x + 10, y + 4), (x - 10 - length, y + 4), (x - length / 2, y - 10), (x - length / 2, y + 18)]
    starts += [(left, y + down) for down in (-12, 20, -26, 34, -40, 48) for left in (x + 8, x - 8 - length, x - length / 2)]
    areas = [_Area(left, base - 10, left + length, base + 3) for left, base in starts]
    inside = [area for area in areas if area.left >= 0 and area.right <= right + 14] or areas[:1]
    best = min(inside, key=lambda area: sum(area.covers(other) for other in taken))
    taken.append(best)
    return _text(best.left, best.bottom - 3, name, fill=INK)


def _tooltip(dot: Dot, x_tick: Callable[[float], str]) -> str:
    return f"{dot.name}: {100 * dot.y:.1f} % at {x_tick(dot.x)}"


def _money(value: float) -> str:
    return f"${value:.10f}".rstrip("0").rstrip(".") if value < 1 else f"${value:g}"


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


BLOCKS = "▁▂▃▄▅▆▇█"


def curve(values: Sequence[float], width: int = 30) -> str:
    """Values in 0..1 as block characters, at most ``width`` of them, each a mean. Example: ``curve([0, 0.5, 1]) == "▁▅█"``."""
    count = min(width, len(values))
    means = []
    for i in range(count):
        part = values[i * len(values) // count : (i + 1) * len(values) // count]
        means.append(sum(part) / len(part))
    return "".join(BLOCKS[min(len(BLOCKS) - 1, max(0, int(mean * len(BLOCKS))))] for mean in means)
