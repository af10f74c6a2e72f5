"""Runs of training as they grow on disk: found below one folder, read on from where the last reading ended.

What the files hold is checked number by number: another program writes them, and may be writing them right now.
"""

import json
import math
import os
import re
import threading
from collections import Counter, OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from podium.workflow.parse import WORKER_IDS

DEPTH = 3
"""Folders below the training folder that are searched."""
MOST_RUNS = 200
MOST_KEPT = 8
"""Runs whose readings are kept in memory."""
PIECE = 4_000_000
"""Bytes of a file that are read at once."""
_END = 64_000
"""Bytes at the end of a file in which its last line is looked for."""
_MARK = 256
"""Bytes before the place where the next reading begins; where they changed, the file was written anew."""
MOST_NAMES = 12
"""Workers, and kinds of question, that are told apart."""
EXAMPLES = 3

_SHARES = ("correct", "valid", "correct_given_valid")
_NUMBERS = (*_SHARES, "worker_entropy_bits", "steps", "distinct_plans", "flat_groups", "failed_groups", "solved_groups")
_IDS = re.compile(WORKER_IDS)
_TEXT = 4_000


@dataclass(frozen=True, slots=True, kw_only=True)
class IterationLine:
    """One line of ``metrics.jsonl``, checked. Example: ``line.numbers["correct"] == 0.93``."""

    number: int
    numbers: Mapping[str, float]
    correct_by_kind: Mapping[str, float]
    steps_by_kind: Mapping[str, float]
    cost_usd: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A workflow that a run wrote, and what came of it.

    ``outcome`` is "right", "wrong", "no answer" (the policy failed), "not judged" (the world did), or "" in a run that was
    written without verdicts.
    """

    iteration: int
    kind: str
    text: str
    outcome: str
    workers: tuple[str, ...]


@dataclass(slots=True)
class TrainingRun:
    """What is known of one run so far."""

    folder: Path
    iterations: list[IterationLine] = field(default_factory=list)
    workers: dict[int, Counter[str]] = field(default_factory=dict)
    """Iteration -> how often each worker was asked."""
    early: list[Example] = field(default_factory=list)
    late: list[Example] = field(default_factory=list)
    starts: int = 1
    """How often it was read from its beginning: once, and again whenever the run was started anew in the same folder."""
    _reading: threading.Lock = field(default_factory=threading.Lock)
    """Guards the positions in the files: two pages that show one run read it in two threads."""
    _metrics: "_Tail | None" = None
    _groups: "_Tail | None" = None

    def read_on(self) -> bool:
        """Read what was added since the last time, one piece of each file; whether there was anything.

        Blocking; call it in a thread. Raises nothing: what can not be read is left out.
        """
        with self._reading:
            return self._read_on()

    def _read_on(self) -> bool:
        if self._metrics is None or self._groups is None:
            self._metrics, self._groups = _Tail(self.folder / "metrics.jsonl"), _Tail(self.folder / "groups.jsonl")
        metrics, groups = self._metrics.lines(), self._groups.lines()
        anew = metrics is None or groups is None
        if metrics is None or groups is None:
            # What is known is another run's, from both files: one may have been written anew before the other.
            self._metrics, self._groups = _Tail(self.folder / "metrics.jsonl"), _Tail(self.folder / "groups.jsonl")
            self.iterations, self.workers, self.early, self.late = [], {}, [], []
            self.starts += 1
            metrics, groups = self._metrics.lines() or [], self._groups.lines() or []
        self.iterations += [iteration for line in metrics if (iteration := _iteration(line)) is not None]
        for line in groups:
            self._take(line)
        return bool(anew or metrics or groups)

    def _take(self, line: dict[str, Any]) -> None:
        """Count one group's workers and keep its first workflow, if it is among the first or the last ones."""
        pool, rollouts, number = line.get("pool"), line.get("rollouts"), line.get("iteration")
        if not isinstance(pool, list) or not isinstance(rollouts, list) or not isinstance(number, int):
            return
        names = [str(name)[:60] for name in pool]
        counted = self.workers.setdefault(number, Counter())
        for rollout in rollouts:
            turn = rollout[0] if isinstance(rollout, list) and rollout else None
            if not isinstance(turn, dict) or not isinstance(turn.get("text"), str):
                continue
            asked = _asked(turn["text"], names)
            counted.update(asked)
            if rollout is rollouts[0]:
                kind = str(line.get("kind", ""))[:40]
                made = Example(iteration=number, kind=kind, text=turn["text"][:_TEXT], outcome=_outcome(turn), workers=asked)
                if len(self.early) < EXAMPLES and kind not in {each.kind for each in self.early}:
                    self.early.append(made)
                self.late = [*(each for each in self.late if each.kind != kind), made][-EXAMPLES:]


class TrainingRuns:
    """The runs below ``folder``. Example: ``TrainingRuns(Path("runs")).names()``."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._kept: OrderedDict[str, TrainingRun] = OrderedDict()

    def names(self) -> list[str]:
        """Names of all runs, as paths below the folder, sorted. Links are not followed."""
        found: list[str] = []
        for path, folders, files in os.walk(self._folder):
            below = Path(path).relative_to(self._folder)
            folders.sort()
            if len(below.parts) >= DEPTH:
                folders.clear()
            if "metrics.jsonl" in files:
                found.append(str(below))
                folders.clear()
            if len(found) >= MOST_RUNS:
                break
        return sorted(found)

    def last(self, name: str) -> tuple[float, IterationLine | None]:
        """When the run's metrics were written last, in seconds since 1970, and the last iteration in them. Blocking."""
        path = self._folder / name / "metrics.jsonl"
        try:
            status = path.stat()
            with path.open("rb") as file:
                file.seek(max(0, status.st_size - _END))
                lines = [line for line in file.read(_END).splitlines() if line.endswith(b"}")]
        except OSError:
            return 0.0, None
        read = _object(lines[-1]) if lines else None
        return status.st_mtime, None if read is None else _iteration(read)

    def run(self, name: str) -> TrainingRun | None:
        """The run called ``name``; None where there is none. Pages share one reading of it."""
        if name not in self.names():
            return None
        if name not in self._kept:
            self._kept[name] = TrainingRun(self._folder / name)
        self._kept.move_to_end(name)
        while len(self._kept) > MOST_KEPT:
            self._kept.popitem(last=False)
        return self._kept[name]


class _Tail:
    """The lines of a growing file, each once; and whether it is still the file whose lines were read."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._at = 0
        self._mark = b""
        """What stands right before ``_at``. A file that was written anew is shorter, or has something else there."""

    def lines(self) -> list[dict[str, Any]] | None:
        """Whole lines of the next piece that are JSON objects; None where the file was written anew."""
        try:
            with self._path.open("rb") as file:
                return self._read(file)
        except OSError:
            return []

    def _read(self, file: BinaryIO) -> list[dict[str, Any]] | None:
        file.seek(self._at - len(self._mark))
        if file.read(len(self._mark)) != self._mark:
            return None
        piece = file.read(PIECE)
        end = piece.rfind(b"\n") + 1
        if not end and len(piece) < PIECE:
            return []  # half a line: wait for the rest
        # A line that is longer than a piece is none of ours, and left out.
        taken = piece[: end or len(piece)]
        self._at += len(taken)
        self._mark = (self._mark + taken[-_MARK:])[-_MARK:]
        return [read for line in piece[:end].splitlines() if (read := _object(line)) is not None]


def _object(line: bytes) -> dict[str, Any] | None:
    """The JSON object in ``line``, or None."""
    try:
        read = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return read if isinstance(read, dict) else None


def _iteration(line: dict[str, Any]) -> IterationLine | None:
    number = line.get("iteration")
    if not isinstance(number, int):
        return None
    numbers = {name: value for name in _NUMBERS if (value := _number(line.get(name))) is not None}
    return IterationLine(
        number=number,
        numbers=numbers,
        correct_by_kind=_by_kind(line.get("correct_by_kind")),
        steps_by_kind=_by_kind(line.get("steps_by_kind")),
        cost_usd=_number(line.get("cost_usd")),
    )


def _by_kind(value: object) -> dict[str, float]:
    if not isinstance(value, dict):
        return {}
    pairs = list(value.items())[:MOST_NAMES]
    return {str(kind)[:40]: number for kind, each in pairs if (number := _number(each)) is not None}


def _number(value: object) -> float | None:
    """A number that can be drawn, or None."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) and abs(value) < 1e12 else None


def _outcome(turn: dict[str, Any]) -> str:
    """What came of a workflow, as the verdict says it: with a cost in it, a right answer may earn less than a wrong one."""
    if "correct" not in turn:
        return ""
    if isinstance(turn["correct"], bool):
        return "right" if turn["correct"] else "wrong"
    return "not judged" if _number(turn.get("reward")) is None else "no answer"


def _asked(text: str, names: list[str]) -> tuple[str, ...]:
    """The workers that a workflow's last list names; a number without a worker is left out."""
    found = _IDS.findall(text[-_TEXT:])
    numbers = [int(part) for part in re.findall(r"\d{1,4}", found[-1])[:20]] if found else []
    return tuple(names[number] for number in numbers if number < len(names))
