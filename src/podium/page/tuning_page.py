"""Tuning: the policies that ``podium tune`` made: what was tried, what it costs to be right, what was chosen and why."""

import asyncio
from collections.abc import Sequence
from html import escape

from nicegui import ui

from podium.page.frame import frame
from podium.page.learned_folders import LearnedFolders, choices, frontier
from podium.page.learning_form import LearningForm
from podium.page.learning_jobs import LearningJobs
from podium.page.learning_ways import learning_ways, listed
from podium.page.parts import box, link, table, text
from podium.page.rich_text import RichText
from podium.page.runs_table import usd
from podium.page.shown import clipped, line
from podium.page.site import Site
from podium.page.visitor import Visitor
from podium.policies.tuned_record import Measured, TunedRecord, TunedWorkflow
from podium.workflow.draw import counted

_REST = 3
"""Workflows of a kind that are shown beside the chosen one."""
_WIDE, _HIGH = 640, 260


async def tuning_page(site: Site, visitor: Visitor, folders: LearnedFolders, jobs: LearningJobs | None, name: str) -> None:
    """Build the page; ``name`` is a tuned policy's folder, "" is none. ``jobs`` None: this server starts none."""
    found = await asyncio.to_thread(folders.tuned)
    lead = "A policy chosen from many workflows by few paid calls: podium tune."
    with frame(site, "/training", "Tuning", lead):
        learning_ways(site, "/tuning")
        LearningForm(visitor, jobs, "tune")
        if name not in [each for each, _ in found]:
            listed(site, "/tuning", found, "There is no tuned policy below the folder that this server watches.")
            return
        link("All tuned policies", site.link("/tuning"))
        record = await asyncio.to_thread(folders.policy, name)
        text(line(name, 80), "h2")
        if isinstance(record, str):
            text(clipped(record), "p", "failure")
            return
        report = await asyncio.to_thread(folders.text, name, "report.md")
        if told := report.partition("## By kind")[0].partition("# Tuned policy")[2]:
            RichText().show(told)
        _what_was_tried(record)
        for choice in choices(record):
            _chosen(choice.kind, choice.ranked)


def _what_was_tried(record: TunedRecord) -> None:
    text("What is tried, and what it costs to be right", "h2")
    tried = sum(measured.problems for each in record.workflows for measured in each.kinds.values())
    text(
        f"{counted(len(record.workflows), 'workflow')} stand to be chosen from, over {counted(len(record.workers), 'worker')}; "
        f"{counted(tried, 'answer')} on selection problems tell them apart.",
        "p",
        "soft",
    )
    points = frontier(record)
    if points:
        with box("chart"):
            ui.html(drawn(points), sanitize=True)
        text("A dot is a workflow, over all kinds alike. Filled: none is both cheaper and better.", "p", "soft")


def drawn(points: Sequence[tuple[float, float, bool]]) -> str:
    """Dollars across, share right upward, as SVG."""
    top = max(dollars for dollars, _, _ in points) or 1.0
    low = min(share for _, share, _ in points)
    low = max(0.0, low - 0.05)
    dots = []
    for dollars, share, best in points:
        x, y = 40 + (_WIDE - 60) * dollars / top, 10 + (_HIGH - 40) * (1 - (share - low) / (1.0 - low or 1.0))
        look = 'fill="var(--accent)"' if best else 'fill="none" stroke="var(--soft)"'
        title = f"<title>{100 * share:.1f} % right for {usd(dollars)}</title>"
        dots.append(f'<g><circle cx="{x:.1f}" cy="{y:.1f}" r="5" {look}/>{title}</g>')
    axis = f'<path d="M40 10 V{_HIGH - 30} H{_WIDE - 20}" fill="none" stroke="var(--grid)"/>'
    right, floor = _WIDE - 20, _HIGH - 30
    words = [(36, 18, "end", "100 %"), (36, floor, "end", f"{100 * low:.0f} %"), (40, floor + 18, "start", "$0")]
    words.append((right, floor + 18, "end", f"{usd(top)} a question"))
    told = "".join(f'<text x="{x}" y="{y}" text-anchor="{anchor}">{said}</text>' for x, y, anchor, said in words)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDE} {_HIGH}" font-size="12" fill="var(--soft)" role="img" '
        f'style="max-width:{_WIDE}px" aria-label="Share right by dollars of a question">{axis}{told}{"".join(dots)}</svg>'
    )


def _chosen(kind: str, ranked: Sequence[tuple[TunedWorkflow, Measured]]) -> None:
    text(f"Questions of kind {line(kind, 60)}", "h2")
    (best, measured), rest = ranked[0], ranked[1 : 1 + _REST]
    text(_why(measured, rest), "p", "soft")
    rows = []
    for number, (each, of) in enumerate(((best, measured), *rest)):
        workflow = '<span class="good">chosen</span>' if number == 0 else ""
        for index, step in enumerate(each.steps):
            sees = f" (sees {', '.join(map(str, step.access))})" if step.access else ""
            workflow += f"<div>{escape(f'{index} {line(step.worker, 40)}{sees}: {line(step.subtask, 140)}')}</div>"
        cost = "price unknown" if of.usd is None else usd(of.usd)
        rows.append((workflow, f"{100 * of.right:.1f} %", _measured(of), cost))
    columns = ("Workflow", "Right", "For selection", "Cost")
    table(f"Workflows for {line(kind, 60)}", columns, rows, units=("right",))


def _why(best: Measured, rest: Sequence[tuple[TunedWorkflow, Measured]]) -> str:
    """In words why the first one was chosen over the next."""
    if not rest:
        return "There is no other."
    after = rest[0][1]
    if best.right > after.right:
        return f"It is right in {100 * best.right:.1f} %, the next one in {100 * after.right:.1f} %."
    if best.usd is not None and after.usd is not None and best.usd < after.usd:
        points, dollars = 100 * (after.right - best.right), usd(after.usd - best.usd)
        return f"The next one is right in {points:.1f} points more, and costs {dollars} more."
    return "The next one is as good."


def _measured(of: Measured) -> str:
    if of.low is None or of.high is None:
        return "estimated only"
    return f"{100 * of.low:.0f} to {100 * of.high:.0f} % of {counted(of.problems, 'problem')}"
