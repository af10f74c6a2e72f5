"""``podium evaluate STUDY.toml``: a study under a bar, and its table."""

import json
import sys
from dataclasses import dataclass
from pathlib import Path

from rich.text import Text

from podium.cli.progress import Bars
from podium.cli.screen import Screen, note
from podium.evaluation.report import terminal_overview
from podium.studies.run import Progress, run_study
from podium.workers.budget import Budget


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyFlags:
    """The flags of ``podium evaluate STUDY.toml`` as the user set them."""

    path: Path
    out: Path | None
    """Instead of the folder that the study names."""
    budget: Budget
    cluster: str | None
    """Address of a Ray cluster that does the asking; None: this process does."""
    unsafe_local: bool
    save: Path | None
    """Where what routers and rules learn is kept."""
    as_json: bool
    as_markdown: bool


async def carry_out(flags: StudyFlags) -> None:
    """Carry the command out. Raises :class:`PodiumError`."""
    with Bars() as bars:
        report = await run_study(
            flags.path,
            out=flags.out,
            budget=flags.budget,
            engine=flags.cluster,
            unsafe_local=flags.unsafe_local,
            keep=flags.save,
            progress=Progress(on_part=bars.begin, on_result=bars.on_result, on_note=note),
        )
    if flags.as_json:
        sys.stdout.write(json.dumps(report.as_object()) + "\n")
    elif flags.as_markdown:
        sys.stdout.write(report.as_markdown() + "\n")
    else:
        screen = Screen()
        screen.print(terminal_overview(report.rows, report.comparisons))
        screen.print(Text(f"kept in {report.out}: results.jsonl, table.md, report.html"), soft_wrap=True)
