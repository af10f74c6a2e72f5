"""``podium data convert``: records of routing benchmarks as recorded pools, and back."""

from pathlib import Path
from typing import Literal

from rich.text import Text

from podium.cli.screen import Screen
from podium.pools.records import read_records, write_records


def convert(*, source: Path, target: Path, to: Literal["recordings", "llmrouterbench", "routerbench"]) -> None:
    """Carry the command out. Raises :class:`ConfigError`."""
    records = read_records(source)
    write_records(records, target, to)
    models = len({record.model for record in records})
    said = f"{len(records)} records of {models} models in {target}"
    use = f"; use them: podium tune --replay {target}" if to == "recordings" else ""
    Screen().print(Text(said + use), soft_wrap=True)
