"""Training: the runs on this machine, their curves as they grow, who is asked, early and late workflows; two side by side."""

import asyncio
from datetime import UTC, datetime
from urllib.parse import urlencode

from nicegui import ui

from podium.errors import AccessDenied
from podium.page.frame import frame
from podium.page.learning_ways import learning_ways, to_folder
from podium.page.long_text import LongText
from podium.page.mix import curves, mix
from podium.page.parts import Choice, box, table, text
from podium.page.shown import line
from podium.page.site import Site
from podium.page.training_files import Example, TrainingRun, TrainingRuns
from podium.page.visitor import Visitor
from podium.workflow.draw import counted

SCOPES = ("admin",)
"""What is trained here is the operator's."""
EVERY_SECONDS = 3.0
MOST_LISTED = 100
WITHOUT_VERDICTS = (
    "This run was written by an older version of podium, which kept no verdicts, and a reward does not say whether an answer was "
    "right. Its workflows are shown without."
)
_MORE = 0.05
"""Seconds between two pieces of a long file."""


async def training_page(site: Site, visitor: Visitor, name: str, beside: str) -> None:
    """Build the page; ``name`` and ``beside`` are runs, "" is none."""
    names = await asyncio.to_thread(site.training.names)
    with frame(
        site, "/training", "Training", "A policy improves by what its workflows earn. Curves follow the files as they grow."
    ):
        learning_ways(site, "/training")
        if not names:
            text("There are no runs of training below the folder that this server watches.")
            return
        chosen = [each for each in (name, beside) if each in names]
        options = [(each, each) for each in names]

        def go() -> None:
            asked = {"run": first.value, "beside": second.value if first.value else ""}
            # NiceGUI puts the prefix of the site before the address itself.
            ui.navigate.to(f"/training?{urlencode({key: value for key, value in asked.items() if value})}")

        with box("bar"):
            first = Choice("Run", {"": [("", "all runs"), *options]}, chosen[0] if chosen else "", go)
            second = Choice("Beside it", {"": [("", "none"), *options]}, chosen[1] if len(chosen) > 1 else "", go)
        if not chosen:
            await _listed(site, site.training, names)
            return
        with box("steps-grid two" if len(chosen) > 1 else "steps-grid"):
            for each in chosen:
                run = site.training.run(each)
                if run is not None:
                    _Shown(each, run, visitor)


async def _listed(site: Site, runs: TrainingRuns, names: list[str]) -> None:
    """All runs, the one that was written last first."""
    summaries = await asyncio.to_thread(lambda: [(runs.last(name), name) for name in names])
    rows = []
    for (written, last), name in sorted(summaries, reverse=True, key=lambda each: each[0][0])[:MOST_LISTED]:
        numbers = {} if last is None else last.numbers
        shares = ["" if (share := numbers.get(each)) is None else f"{100 * share:.0f} %" for each in ("correct", "valid")]
        when = f"{datetime.fromtimestamp(written, UTC):%Y-%m-%d %H:%M}"
        rows.append((to_folder(site, "/training", name), "" if last is None else str(last.number + 1), *shares, when))
    columns = ("Run", "Iterations", "Correct", "Valid", "Last written")
    table("Runs of training", columns, rows, units=("iterations", "correct", "valid"))


class _Shown:
    """One run; a timer reads on and draws anew what changed."""

    def __init__(self, name: str, run: TrainingRun, visitor: Visitor) -> None:
        self._run, self._visitor = run, visitor
        self._drawn: tuple[int, int, int] | None = None
        with box("panel", "section", aria_label=f"Run {line(name, 80)}"):
            with box("panel-head"):
                text(line(name, 80), "h2")
                self._status = text("reading", "p", "status", aria_live="polite")
            self._charts = box("charts")
            text("Who is asked", "h2")
            self._mix = box("chart")
            self._old = box()
            text("Workflows, early", "h2")
            self._early = box()
            text("Workflows, late", "h2")
            self._late = box()
        self._pictures: list[ui.html] = []
        self._timer = ui.timer(_MORE, self._read)

    async def _read(self) -> None:
        try:
            await self._visitor.key(*SCOPES)
        except AccessDenied as error:
            self._timer.deactivate()
            self._status.text = str(error)
            return
        more = await asyncio.to_thread(self._run.read_on)
        # A long file comes in pieces: the next one at once, growth later.
        self._timer.interval = _MORE if more else EVERY_SECONDS
        if not more or self._drawn is None:
            self._draw()

    def _draw(self) -> None:
        run = self._run
        state = (run.starts, len(run.iterations), len(run.workers))
        if state == self._drawn:
            return
        self._drawn = state
        last = run.iterations[-1] if run.iterations else None
        share = None if last is None else last.numbers.get("correct")
        self._status.text = f"{counted(len(run.iterations), 'iteration')}" + (
            "" if share is None else f", {100 * share:.0f} % correct"
        )
        drawn = curves(run.iterations)
        with self._charts:
            while len(self._pictures) < len(drawn):
                self._pictures.append(ui.html("", sanitize=True))
        for picture, svg in zip(self._pictures, drawn, strict=False):
            picture.content = svg
        self._draw_mix()
        self._old.clear()
        if not all(example.outcome for example in (*run.early, *run.late)):
            with self._old:
                text(WITHOUT_VERDICTS, "p", "soft")
        for frame_, examples in ((self._early, run.early), (self._late, run.late)):
            frame_.clear()
            with frame_:
                for example in examples:
                    _example(example)

    def _draw_mix(self) -> None:
        asked = mix(self._run.workers)
        self._mix.clear()
        with self._mix:
            if asked is None:
                text("Nothing was read yet.", "p", "soft")
                return
            with box("bands"):
                for name, colour in asked.bands:
                    with box("asked-name", "span"):
                        box("swatch", "span", aria_hidden="true").style(f"background:{colour}")
                        text(line(name, 30), "span")
            ui.html(asked.svg, sanitize=True)
            with box("ends"):
                text(f"iteration {asked.first}", "span")
                text(str(asked.last), "span")


def _example(example: Example) -> None:
    workers = ", ".join(line(worker, 24) for worker in example.workers) or "no workers"
    said = [f"{line(example.kind, 30)}: {workers}", *([example.outcome] if example.outcome else [])]
    text(f"Iteration {example.iteration + 1}, {', '.join(said)}", "h4")
    LongText(example.text, f"Workflow of iteration {example.iteration + 1}")
