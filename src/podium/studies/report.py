"""What a study leaves in its folder: the table (``table.md``, ``table.json``), ``report.html`` and its first picture."""

import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from podium import __version__
from podium.charts import alone
from podium.evaluation.compare import Comparison, comparable, compare
from podium.evaluation.evaluate import Result
from podium.evaluation.metrics import ArmSummary, summarise
from podium.evaluation.report import as_object, markdown_table
from podium.evaluation.rounds import redistribution
from podium.studies.html import Example, Page, Source, accuracy_and_cost, html
from podium.studies.recordings import Gaps
from podium.studies.run_pictures import of_a_run
from podium.studies.spec import Study


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyReport:
    """What came out of a study. Example: ``markdown_table(report.rows)``."""

    title: str
    out: Path
    """Folder with everything in it."""
    rows: Sequence[ArmSummary]
    comparisons: Sequence[Comparison]
    results: Sequence[Result]
    notes: Sequence[str] = ()
    """What was chosen on training problems, a line for each arm."""

    def as_object(self) -> dict[str, Any]:
        """The table, for JSON."""
        return as_object(self.rows, self.comparisons)

    def as_markdown(self) -> str:
        """The table, for a document."""
        notes = "".join(f"\n- {line}" for line in self.notes)
        return f"# {self.title}\n\n{markdown_table(self.rows, self.comparisons)}" + (f"\n{notes}" if notes else "")


def published(
    study: Study,
    path: Path | None,
    out: Path,
    results: Sequence[Result],
    examples: Sequence[Example],
    gaps: Gaps,
    notes: Sequence[str] = (),
) -> StudyReport:
    """Write the folder's files and return what is in them.

    ``path`` is the study's own file, ``gaps`` what recordings lack, ``notes`` what was chosen for its arms.
    """
    rows = summarise(results)
    others = [row.arm for row in rows if row.kind is None and row.arm != study.compare]
    # An arm that the world failed throughout stays in the table, and is compared with nothing.
    comparisons = [] if study.compare is None else compare(results, study.compare, comparable(results, study.compare, others))
    report = StudyReport(title=study.title, out=out, rows=rows, comparisons=comparisons, results=results, notes=notes)
    (out / "table.md").write_text(report.as_markdown() + "\n", encoding="utf-8")
    (out / "table.json").write_text(json.dumps(report.as_object(), indent=1) + "\n", encoding="utf-8")
    files = {"one line for each answer": "results.jsonl", "the table": "table.json"}
    if path is not None:
        files["the study"] = "study.toml"
        if path.resolve() != (out / "study.toml").resolve():
            shutil.copyfile(path, out / "study.toml")
    pictures, tables = ({}, {}) if study.training is None else of_a_run(study.training)
    if (changed := redistribution(results)) is not None:
        tables = {"What further rounds changed": changed} | tables
    if gaps:
        lines = [[name, str(count)] for name, count in gaps.items()]
        lacking = {"Recordings with gaps; compared is what all have answered": (["recording", "questions it lacks"], lines)}
        tables = lacking | tables
    if notes:
        chosen = [list(line.partition(": ")[::2]) for line in notes]
        tables = {"Chosen on training problems": (["arm", "what"], chosen)} | tables
    page = Page(
        title=study.title,
        source=Source(
            command="podium.run_study(...)" if path is None else f"podium evaluate {path}",
            version=__version__,
            made=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
            files=files,
        ),
        rows=rows,
        results=results,
        comparisons=comparisons,
        arm=study.compare,
        examples=examples,
        pictures=pictures,
        tables=tables,
    )
    (out / "report.html").write_text(html(page), encoding="utf-8")
    if picture := accuracy_and_cost(page):
        (out / "accuracy_and_cost.svg").write_text(alone(picture) + "\n", encoding="utf-8")
    return report
