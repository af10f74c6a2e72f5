"""Dollars a day as bars, in SVG. A day whose price is unknown is a hollow bar, never an empty one."""

from collections.abc import Sequence
from datetime import date

from nicegui import ui

_WIDTH, _HEIGHT, _LEFT, _BOTTOM = 760, 150, 62, 22


def spending(days: Sequence[tuple[date, float | None]]) -> None:
    """Show the bars."""
    ui.html(drawn(days), sanitize=True).classes("chart scroll")


def drawn(days: Sequence[tuple[date, float | None]]) -> str:
    """The bars as SVG, oldest day at the left."""
    ordered = sorted(days)
    top = max([usd for _, usd in ordered if usd is not None], default=0.0) or 0.01
    step = (_WIDTH - _LEFT) / max(len(ordered), 10)
    down = _HEIGHT - _BOTTOM
    parts = []
    for share in (0.0, 0.5, 1.0):
        y = down - share * (down - 12)
        parts.append(f'<line x1="{_LEFT}" x2="{_WIDTH}" y1="{y:.1f}" y2="{y:.1f}" stroke="var(--grid)"/>')
        parts.append(f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end" fill="var(--soft)">${top * share:.4g}</text>')
    for index, (day, usd) in enumerate(ordered):
        x = _LEFT + index * step + 2
        height = (down - 12) * (1.0 if usd is None else usd / top)
        look = 'fill="none" stroke="var(--soft)" stroke-dasharray="3 3"' if usd is None else 'fill="var(--accent)"'
        told = f"{day.isoformat()}: {'price unknown' if usd is None else f'${usd:.6f}'}"
        parts.append(
            f'<g><rect x="{x:.1f}" y="{down - height:.1f}" width="{max(2.0, step - 4):.1f}" height="{height:.1f}" {look}/>'
            f"<title>{told}</title></g>"
        )
    for index in sorted({0, len(ordered) - 1}) if ordered else ():
        anchor = "start" if index == 0 else "end"
        x = _LEFT if index == 0 else _LEFT + (index + 1) * step
        shown = ordered[index][0].isoformat()
        parts.append(f'<text x="{x:.1f}" y="{_HEIGHT - 5}" text-anchor="{anchor}" fill="var(--soft)">{shown}</text>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" font-size="11" '
        f'font-family="system-ui, sans-serif" role="img" aria-label="Dollars a day">{"".join(parts)}</svg>'
    )
