"""Where the dollars went: a day at a time as bars, or by key, model, policy or worker as lines.

A day whose price is unknown is a hollow bar, never an empty one.
"""

from collections.abc import Mapping, Sequence
from datetime import date
from html import escape

from podium.page.runs_table import usd
from podium.page.shown import line
from podium.serving.store.runs import Sums
from podium.workflow.draw import counted

_WIDE, _HIGH = 1000, 110
MOST_DAYS, MOST_LINES = 366, 20


def spent_by_day(sums: Mapping[str, Sums], first: date, last: date) -> str:
    """Bars from ``first`` to ``last`` as HTML, oldest day at the left, and what they come to."""
    end = max(first, last).toordinal()
    days = [date.fromordinal(day) for day in range(max(first.toordinal(), end - MOST_DAYS + 1), end + 1)]
    found = [(day, None if (of := sums.get(day.isoformat())) and of.unpriced else of.usd if of else 0.0) for day in days]
    known = [dollars for _, dollars in found if dollars is not None]
    total = f"{usd(sum(known))} in all, {usd(max(known, default=0.0))} on the dearest day"
    told = total if len(known) == len(found) else f"{total}; on some days a price is unknown"
    ends = f'<div class="ends"><span>{days[0].isoformat()}</span><span>{days[-1].isoformat()}</span></div>'
    return f'<p class="soft">{told}</p><div class="chart">{drawn(found)}{ends}</div>'


def spent_on(sums: Mapping[str, Sums], names: Mapping[str, str]) -> str:
    """A line for each of the dearest ones as HTML; ``names`` are what some of them are called."""
    if not sums:
        return '<p class="soft">No run fits.</p>'
    top = max(each.usd for each in sums.values()) or 1.0
    lines = []
    for name, each in list(sums.items())[:MOST_LINES]:
        some = f", {counted(each.unpriced, 'price')} unknown" if each.unpriced else ""
        dollars = "price unknown" if each.unpriced == each.runs else usd(each.usd) + some
        shown = escape(line(names.get(name, name), 60)) or "(none)"
        meter = f'<span class="meter" aria-hidden="true"><div style="width:{100 * each.usd / top:.1f}%"></div></span>'
        figures = f"{dollars} · {counted(each.runs, 'run')} · {counted(each.tokens, 'token')}"
        lines.append(f'<li><span class="name">{shown}</span>{meter}<span class="soft">{figures}</span></li>')
    more = f'<p class="soft">and {len(sums) - MOST_LINES} more</p>' if len(sums) > MOST_LINES else ""
    return f'<ul class="shares">{"".join(lines)}</ul>{more}'


def drawn(days: Sequence[tuple[date, float | None]]) -> str:
    """The bars as SVG; it may be stretched across."""
    top = max([dollars for _, dollars in days if dollars is not None], default=0.0) or 1.0
    step = _WIDE / max(len(days), 1)
    parts = [f'<line x1="0" x2="{_WIDE}" y1="{_HIGH}" y2="{_HIGH}" stroke="var(--soft)" vector-effect="non-scaling-stroke"/>']
    for index, (day, dollars) in enumerate(days):
        high = _HIGH * (1.0 if dollars is None else dollars / top)
        look = 'fill="none" stroke="var(--soft)" stroke-dasharray="3 3"' if dollars is None else 'fill="var(--accent)"'
        title = f"{day.isoformat()}: {'price unknown' if dollars is None else f'${dollars:.6f}'}"
        place = f'x="{index * step + step * 0.15:.1f}" y="{_HIGH - high:.1f}" width="{step * 0.7:.1f}" height="{high:.1f}"'
        parts.append(f'<g><rect {place} {look} vector-effect="non-scaling-stroke"/><title>{title}</title></g>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDE} {_HIGH}" height="{_HIGH}" preserveAspectRatio="none" '
        f'role="img" aria-label="Dollars a day">{"".join(parts)}</svg>'
    )
