"""Tuned policies and studies below the folder of the training runs: found, and read as they lie there.

What the files hold may be anybody's: it is read through the records that wrote it, and cut to a size that can be shown.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from podium.errors import PodiumError
from podium.policies.tuned_record import Measured, TunedRecord, TunedWorkflow, read_tuned

DEPTH = 3
MOST = 200
LARGEST = 20_000_000
"""Bytes of a file that is shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What a tuned policy takes for one kind of question, and what it was chosen over, the best first."""

    kind: str
    ranked: tuple[tuple[TunedWorkflow, Measured], ...]


class LearnedFolders:
    """The folders below ``root``. Example: ``LearnedFolders(Path("runs")).tuned()``. Everything here blocks."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def tuned(self) -> list[tuple[str, float]]:
        """Names of folders with a tuned policy, and when each was written, in seconds since 1970; the last one first."""
        return self._with("policy.json", lambda files: "questions.jsonl" in files)

    def studies(self) -> list[tuple[str, float]]:
        """Names of folders with a study's table, and when each was written; the last one first."""
        return self._with("table.json", lambda files: "table.md" in files)

    def policy(self, name: str) -> TunedRecord | str:
        """The tuned policy called ``name``, or why it can not be read."""
        try:
            return read_tuned(self._root / name)[0]
        except PodiumError as error:
            return str(error)

    def text(self, name: str, file: str) -> str:
        """What stands in a file of a folder that was found; "" where there is none, or one that is too large."""
        path = self._root / name / file
        try:
            with path.open("rb") as opened:
                read = opened.read(LARGEST + 1)
        except OSError:
            return ""
        return "" if len(read) > LARGEST else read.decode("utf-8", "replace")

    def _with(self, file: str, fits: Callable[[list[str]], bool]) -> list[tuple[str, float]]:
        found: list[tuple[str, float]] = []
        for path, folders, files in os.walk(self._root):
            below = Path(path).relative_to(self._root)
            folders.sort()
            if len(below.parts) >= DEPTH:
                folders.clear()
            if file in files and fits(files):
                found.append((str(below), _written(Path(path) / file)))
            if len(found) >= MOST:
                break
        return sorted(found, key=lambda each: -each[1])


def choices(record: TunedRecord) -> list[Choice]:
    """What ``record`` chooses for each kind: the share right, less what the dollars are worth."""
    kinds = sorted(record.workflows[0].kinds)
    return [
        Choice(
            kind=kind,
            ranked=tuple(
                sorted(
                    ((each, each.kinds[kind]) for each in record.workflows),
                    key=lambda pair: -pair[1].worth(record.price),
                )
            ),
        )
        for kind in kinds
    ]


def frontier(record: TunedRecord) -> list[tuple[float, float, bool]]:
    """Every workflow over all kinds alike: dollars, share right, and whether none is both cheaper and better."""
    points = []
    for each in record.workflows:
        prices = [measured.usd for measured in each.kinds.values()]
        if all(usd is not None for usd in prices):
            share = sum(measured.right for measured in each.kinds.values()) / len(each.kinds)
            points.append((sum(usd or 0.0 for usd in prices) / len(prices), share))
    return [(usd, share, not any(u <= usd and s >= share and (u, s) != (usd, share) for u, s in points)) for usd, share in points]


def _written(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
