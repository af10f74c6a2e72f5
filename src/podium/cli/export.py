"""``podium export``: a study for Inspect."""

from pathlib import Path

from rich.text import Text

from podium.cli.extras import need_inspect
from podium.cli.screen import Screen


def export_study(folder: Path, out: Path) -> None:
    """Carry the command out. Raises :class:`PodiumError`."""
    need_inspect()
    from podium.cli.interop.inspect_log import export

    for path in export(folder, out):
        Screen().print(Text(str(path)), soft_wrap=True)
