"""Studies: which arm is better. The table of each, and its report as the study wrote it."""

import asyncio
from urllib.parse import urlencode

from starlette.responses import HTMLResponse, PlainTextResponse, Response

from podium.page.frame import frame
from podium.page.learned_folders import LearnedFolders
from podium.page.learning_form import LearningForm
from podium.page.learning_jobs import LearningJobs
from podium.page.learning_ways import learning_ways, listed
from podium.page.parts import box, link, text
from podium.page.rich_text import RichText
from podium.page.shown import LONG, line
from podium.page.site import Site
from podium.page.visitor import Visitor

_ALONE = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:"
"""A report is a whole page with the words of workers in it: it runs nothing, and belongs to no site."""


async def studies_page(site: Site, visitor: Visitor, folders: LearnedFolders, jobs: LearningJobs | None, name: str) -> None:
    """Build the page; ``name`` is a study's folder, "" is none. ``jobs`` None: this server starts none."""
    found = await asyncio.to_thread(folders.studies)
    with frame(site, "/training", "Studies", "Arms that were compared on the same problems: podium evaluate STUDY.toml."):
        learning_ways(site, "/studies")
        LearningForm(visitor, jobs, "study")
        if name not in [each for each, _ in found]:
            listed(site, "/studies", found, "There is no study below the folder that this server watches.")
            return
        link("All studies", site.link("/studies"))
        table = await asyncio.to_thread(folders.text, name, "table.md")
        title, _, rows = table.strip().partition("\n")
        text(line(title.lstrip("# "), 120), "h2")
        if await asyncio.to_thread(folders.text, name, "report.html"):
            link("The whole report", f"{site.link('/studies/report')}?{urlencode({'run': name})}")
        with box("study-table"):
            RichText().show(rows[:LONG])


async def study_report(folders: LearnedFolders, name: str) -> Response:
    """The report of a study, as a page without rights."""
    known = [each for each, _ in await asyncio.to_thread(folders.studies)]
    report = await asyncio.to_thread(folders.text, name, "report.html") if name in known else ""
    if not report:
        return PlainTextResponse("There is no such report.", status_code=404)
    return HTMLResponse(report, headers={"content-security-policy": _ALONE})
