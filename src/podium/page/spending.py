"""Dollars a day as bars. A day whose price is unknown is a hollow bar, never an empty one."""

from collections.abc import Sequence
from datetime import date

from nicegui import ui

from podium.page.parts import box, text

_WIDE, _HIGH = 1000, 110


def spending(days: Sequence[tuple[date, float | None]]) -> None:
    """Show the bars, oldest day at the left, and what they come to."""
    known = [usd for _, usd in days if usd is not None]
    total = f"${sum(known):.4g} in all, ${max(known, default=0.0):.4g} on the dearest day"
    text(total if len(known) == len(days) else f"{total}; on some days a price is unknown", "p", "soft")
    with box("chart"):
        ui.html(drawn(days), sanitize=True)
        with box("ends"):
            text(days[0][0].isoformat(), "span")
            text(days[-1][0].isoformat(), "span")


def drawn(days: Sequence[tuple[date, float | None]]) -> str:
    """The bars as SVG; it may be stretched across."""
    top = max([usd for _, usd in days if usd is not None], default=0.0) or 1.0
    step = _WIDE / max(len(days), 1)
    parts = [f'<line x1="0" x2="{_WIDE}" y1="{_HIGH}" y2="{_HIGH}" stroke="var(--soft)" vector-effect="non-scaling-stroke"/>']
    for index, (day, usd) in enumerate(days):
        high = _HIGH * (1.0 if usd is None else usd / top)
        look = 'fill="none" stroke="var(--soft)" stroke-dasharray="3 3"' if usd is None else 'fill="var(--accent)"'
        title = f"{day.isoformat()}: {'price unknown' if usd is None else f'${usd:.6f}'}"
        place = f'x="{index * step + step * 0.15:.1f}" y="{_HIGH - high:.1f}" width="{step * 0.7:.1f}" height="{high:.1f}"'
        parts.append(f'<g><rect {place} {look} vector-effect="non-scaling-stroke"/><title>{title}</title></g>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDE} {_HIGH}" height="{_HIGH}" preserveAspectRatio="none" '
        f'role="img" aria-label="Dollars a day">{"".join(parts)}</svg>'
    )
