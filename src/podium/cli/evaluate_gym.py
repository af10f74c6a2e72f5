"""``podium evaluate CHECK.toml``: what trained gym policies reach, as a table."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text

from podium.cli.screen import Screen
from podium.recipes.gym_check import check_gym


async def show_check(path: Path, *, runs: Path | None, as_json: bool) -> None:
    """Carry the command out. Raises :class:`PodiumError`."""
    report = await check_gym(path, runs=runs)
    if as_json:
        sys.stdout.write(json.dumps(report) + "\n")
        return
    for part in (report, *(report[name] for name in ("adaptive", "recursive") if name in report)):
        Screen().print(_table(part))


def _table(report: Mapping[str, Any]) -> Table:
    table = Table("measure", "median", f"each of {len(report['seeds'])} seeds")

    def rows(name: str, median: Any, each: list[Any]) -> None:
        if isinstance(median, dict):
            for key in median:
                rows(f"{name}: {key}", median[key], [value[key] for value in each])
        else:
            table.add_row(Text(name.replace("_", " ")), f"{median:.3f}", "  ".join(f"{value:.3f}" for value in each))

    for name, median in report["medians"].items():
        rows(name, median, [seed[name] for seed in report["seeds"]])
    return table
