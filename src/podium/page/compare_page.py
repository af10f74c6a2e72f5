"""Two kept runs side by side, and in words and figures how they differ."""

from collections.abc import Sequence
from html import escape

from podium.page.frame import frame
from podium.page.parts import box, piece, text
from podium.page.run_panel import RunPanel
from podium.page.runs_table import status_of
from podium.page.shown import clipped, line, price, took
from podium.page.site import Site
from podium.page.visitor import Visitor
from podium.serving.store.runs import Run
from podium.workflow.draw import counted


async def compare_page(site: Site, visitor: Visitor, ids: Sequence[str]) -> None:
    """Build the page of the runs called ``ids``."""
    seen = site.service.accounts.seen_by(await visitor.key("ask", "read"))
    found = [await site.kept(each, sees=seen) for each in ids]
    with frame(site, "/runs", "Two runs"):
        known = [run for run in found if run is not None]
        if len(known) == 2:
            _differences(known[0], known[1])
        with box("pair two"):
            for run in found:
                with box():
                    _one(site, run)


def _differences(first: Run, second: Run) -> None:
    piece("".join(f"<li>{escape(words)}</li>" for words in differences(first, second)), "difference", "ul")


def differences(first: Run, second: Run) -> list[str]:
    """How ``second`` differs from ``first``, a sentence each. That one is right and the other is not, no figure here tells."""
    said = []
    if first.question != second.question:
        said.append("They were asked different things.")
    if first.answer is not None and second.answer is not None and not (first.asks_client or second.asks_client):
        said.append("Both gave the same answer." if first.answer.strip() == second.answer.strip() else "Their answers differ.")
    else:
        said.append(f"The first one: {status_of(first)[0]}; the second one: {status_of(second)[0]}.")
    said.append(f"Time: {took(first.seconds)} and {took(second.seconds)}{_share(first.seconds, second.seconds)}.")
    costs = _share(first.usage.cost_usd, second.usage.cost_usd)
    said.append(f"Cost: {price(first.usage)} and {price(second.usage)}{costs}.")
    said.append(
        f"{counted(first.steps, 'step')} and {counted(second.steps, 'step')}, "
        f"{counted(first.usage.tokens, 'token')} and {counted(second.usage.tokens, 'token')}."
    )
    only = [sorted(set(one.workers) - set(other.workers)) for one, other in ((first, second), (second, first))]
    for which, names in zip(("first", "second"), only, strict=True):
        if names:
            said.append(f"Only the {which} one asked {line(', '.join(names), 200)}.")
    return said


def _share(first: float | None, second: float | None) -> str:
    """Example: ``_share(0.2, 0.1) == ", 50 % of it"``; nothing where one of them is unknown, or the first is 0."""
    if not first or second is None:
        return ""
    times = second / first
    return f", {100 * times:.0f} % of it" if times < 2 else f", {times:.{1 if times < 10 else 0}f} times as much"


def _one(site: Site, run: Run | None) -> None:
    if run is None:
        text("There is no such run, or it is no longer kept.", "p", "failure")
        return
    is_kept = run.question is not None or run.transcripts
    asked = (
        f'<p class="problem">{escape(clipped(run.question or ""))}</p>'
        if is_kept
        else "<p>The texts of this run were not kept.</p>"
    )
    piece(f'<a href="{escape(site.link(f"/runs/{run.id}"))}">{run.created:%Y-%m-%d %H:%M:%S} UTC</a>{asked}')
    if is_kept:
        RunPanel(run.model).show_kept(run)
