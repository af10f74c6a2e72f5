"""The list of runs as one piece of HTML: a page that is open costs the server a text, not an element for every cell.

Everything in it that others wrote goes through :func:`_cell` or ``escape``, and through DOMPurify in the browser.
"""

from collections.abc import Sequence
from dataclasses import replace
from html import escape
from urllib.parse import quote

from podium.page.parts import narrow
from podium.page.runs_query import RunsQuery
from podium.page.shown import line, price, took
from podium.serving.store.run_filter import STOPPED
from podium.serving.store.runs import Run, Sort, Sums
from podium.workflow.draw import counted

_SORTED: tuple[tuple[str, Sort | None, str], ...] = (
    ("When (UTC)", "created", ""),
    ("Question", None, ""),
    ("Model", None, ""),
    ("Workers", None, ""),
    ("Outcome", None, ""),
    ("Steps", "steps", "n"),
    ("Tokens", "tokens", "n"),
    ("Time", "seconds", "n"),
    ("Cost", "cost", "n"),
)


ASKS = "asks the client"
"""What a run did that ended with tool calls for its client. Whether the client has gone on since, later runs show."""


def runs_table(found: Sequence[Run], query: RunsQuery, address: str, chosen: Sequence[str] = ()) -> str:
    """The table. ``address`` is the list's own; that of a run is below it. ``chosen``: ids of the runs that are ticked."""
    heads = "".join(_head(name, sort, classes, query, address) for name, sort, classes in _SORTED)
    rows = "".join(_row(run, address, run.id in chosen) for run in found)
    first = '<th scope="col"><span class="unseen">Chosen for a comparison</span></th>'
    whole = f'<table class="plain stack runs"><thead><tr>{first}{heads}</tr></thead><tbody>{rows}</tbody></table>'
    return narrow(whole) if found else ""


def status_of(run: Run) -> tuple[str, str]:
    """What became of a run, and the class of its colour. Example: ``("stopped", "soft")``."""
    if run.asks_client and not run.failure:
        return ASKS, "unsure"
    if not run.failure:
        return "answered", "good"
    return ("stopped", "soft") if run.failure == STOPPED else ("failed", "bad")


def told(sums: Sums) -> str:
    """Sums in words. Example: ``"2 runs · 431 tokens · $0.000512 · 4.20 s of work"``."""
    if not sums.runs:
        return "No run fits."
    unknown = f" and {counted(sums.unpriced, 'price')} unknown" if sums.unpriced else ""
    return f"{counted(sums.runs, 'run')} · {counted(sums.tokens, 'token')} · {usd(sums.usd)}{unknown} · {lasted(sums.seconds)}"


def usd(amount: float) -> str:
    """Example: ``usd(0.0042) == "$0.004200"``, ``usd(12.3456) == "$12.35"``."""
    return f"${amount:.6f}" if amount < 0.01 else f"${amount:.4f}" if amount < 1 else f"${amount:,.2f}"


def lasted(seconds: float) -> str:
    """Example: ``lasted(7300) == "2 h 2 min of work"``."""
    minutes = round(seconds / 60)
    if seconds < 120:
        return f"{took(seconds)} of work"
    return f"{counted(minutes, 'minute')} of work" if minutes < 120 else f"{minutes // 60:,} h {minutes % 60} min of work"


def _head(name: str, sort: Sort | None, classes: str, query: RunsQuery, address: str) -> str:
    if sort is None:
        return f'<th scope="col">{name}</th>'
    here = query.sort == sort
    next_one = replace(query, sort=sort, up=here and not query.up, page=1)
    arrow, state = (
        ("", "") if not here else (" &uarr;", ' aria-sort="ascending"') if query.up else (" &darr;", ' aria-sort="descending"')
    )
    link = f'<a href="{escape(address + next_one.query)}">{name}<span aria-hidden="true">{arrow}</span></a>'
    return f'<th scope="col" class="{classes}"{state}>{link}</th>'


def _row(run: Run, address: str, is_chosen: bool) -> str:
    when = f"{run.created:%Y-%m-%d %H:%M}"
    question = "(not kept)" if run.question is None else run.question
    status, colour = status_of(run)
    failure = f'<div class="bad">{_cell(run.failure, 120)}</div>' if status == "failed" else ""
    policy = f'<div class="soft">{_cell(run.policy, 40)}</div>' if run.policy else ""
    tick = (
        f'<input type="checkbox" class="tick" value="{escape(run.id)}" aria-label="Compare the run of {when}"'
        f"{' checked' if is_chosen else ''}>"
    )
    return (
        f'<tr><td class="pick">{tick}</td><td><a class="whole" href="{escape(f"{address}/{quote(run.id)}")}">{when}</a></td>'
        f'<td class="wide">{_cell(question, 160)}{failure}</td><td class="name">{_cell(run.model, 40)}{policy}</td>'
        f'<td class="name">{_cell(", ".join(run.workers), 60)}</td><td class="{colour}">{status}</td>'
        f'<td class="n">{counted(run.steps, "step")}</td><td class="n" data-unit="tokens">{run.usage.tokens:,}</td>'
        f'<td class="n">{took(run.seconds)}</td><td class="n">{price(run.usage)}</td></tr>'
    )


def _cell(content: str, width: int) -> str:
    return escape(line(content, width))
