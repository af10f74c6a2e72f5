"""``podium export``: a study for Inspect."""

from pathlib import Path

from rich.text import Text

from podium.cli.screen import Screen
from podium.integrations.inspect_log import export


def export_study(*, folder: Path, out: Path) -> None:
    """Carry the command out. Raises :class:`PodiumError`."""
    for path in export(folder, out):
        Screen().print(Text(str(path)), soft_wrap=True)
