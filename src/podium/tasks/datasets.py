"""Files -> Problems. A user's own questions, and the questions that recorded models have answered.

Every mistake in a file is named with its line before a single question is asked, because an answer costs money. Left out:
the public data sets by name, see ``benchmarks/registry.py``.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from podium.errors import ConfigError
from podium.tasks.benchmarks.files import jsonl_rows
from podium.types import Problem

MAX_QUESTION_BYTES = 1_000_000
"""In UTF-8. Some 250,000 tokens, which no worker in reach reads: a longer question is the wrong file or a lost line end."""
MAX_LINE_BYTES = 8 * MAX_QUESTION_BYTES
"""The longest such question (six bytes a character, all escaped) with its other fields; bounds the memory one line takes."""

_KEYS = ("question", "target", "kind", "id")
_FORM = 'a line is written {"question": "6 times 7?"}, with a known answer {"question": "6 times 7?", "target": 42}'

_REPLAY = {
    "gsm": ("gsm8k", "mathematics"),
    "math-l5": ("math-level-5", "mathematics"),
    "crux": ("cruxeval", "output-prediction"),
}
"""Name in the file -> source and kind of the problems."""


def read_questions(path: Path) -> list[Problem]:
    """The problems of a user's JSON lines file, in order.

    Every line is an object with ``question`` and, if wanted, ``target`` (text or number; without it there is nothing to
    verify and ``Problem.target`` is ""), ``kind`` (by default "question") and ``id`` (text or number, the user's own). The
    ``source`` of a problem is the file's name, followed by ``#`` and the id where there is one. Empty lines are skipped.

    Example: ``{"question": "6 times 7?", "target": 42, "kind": "mathematics", "id": "q1"}``.

    Raises :class:`ConfigError`, with file and line, for anything that is not so: no file, nothing in it, not text, not
    JSON, no object, a key that is not one of these, a question that is missing, empty or too long, an id used twice.
    """
    problems: list[Problem] = []
    ids: dict[str, int] = {}
    try:
        with path.open("rb") as file:
            for number, line in _lines(path, file):
                try:
                    row = _row(line)
                    _check_id(row, number, ids)
                    problems.append(_problem(path, row))
                except ConfigError as error:
                    raise ConfigError(f"{path}, line {number}: {error}") from error
    except OSError as error:
        raise ConfigError(f"can not read questions from {path}: {error.strerror}") from error
    if not problems:
        raise ConfigError(f'{path} is empty; put one question a line, e.g. {{"question": "6 times 7?"}}')
    return problems


def load_replay_problems(folder: Path, dataset: str) -> list[Problem]:
    """The problems of ``folder/questions.jsonl.gz`` that belong to ``dataset``: ``gsm``, ``math-l5`` or ``crux``.

    These are the questions that the recorded models next to the file have answered (public ZeroEval results): the GSM8K
    test questions, MATH level 5, and CRUXEval output prediction. Sources: ``gsm8k``, ``math-level-5``, ``cruxeval``.
    Example: ``load_replay_problems(Path("data/replay"), "gsm")[0].target`` is ``"18"``.

    Raises :class:`ConfigError` where the file is not there, is not what it should be, or has no such data set.
    """
    if dataset not in _REPLAY:
        raise ConfigError(f"there is no recorded data set {dataset!r}; there are {', '.join(_REPLAY)}")
    source, kind = _REPLAY[dataset]
    path = folder / "questions.jsonl.gz"
    problems = []
    for row in jsonl_rows(path):
        try:
            if row["dataset"] == dataset:
                # GSM8K marks its answers "#### 18", of which this file has kept one mark.
                target = str(row["answer"]).removeprefix("# ") if dataset == "gsm" else str(row["answer"])
                problems.append(Problem(question=str(row["question"]), target=target, kind=kind, source=source, split="test"))
        except KeyError as error:
            raise ConfigError(f"{path}: {error} is missing in {str(row)[:80]}; it is no recorded question") from error
    if not problems:
        raise ConfigError(f"{path} holds no questions of {dataset!r}")
    return problems


def _lines(path: Path, file: BinaryIO) -> Iterator[tuple[int, str]]:
    """The lines that are not empty, decoded, with their numbers from 1."""
    number = 0
    while line := file.readline(MAX_LINE_BYTES + 1):
        number += 1
        where = f"{path}, line {number}"
        if len(line) > MAX_LINE_BYTES:
            raise ConfigError(f"{where}: longer than {MAX_LINE_BYTES} bytes; put one question a line")
        if b"\0" in line:
            raise ConfigError(f"{where}: a NUL byte; this is no text file, or one in UTF-16: save it as UTF-8")
        try:
            text = line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise ConfigError(f"{where}: not UTF-8 text: {error.reason}") from error
        if text.strip():
            yield number, text


def _row(line: str) -> dict[str, str | None]:
    """The fields on ``line``, all of them text or null; :class:`ConfigError`, without the place, where it is no question."""
    try:
        # Numbers stay as they are spelled: a target of 0.10 is not to become 0.1, nor 1e400 infinity.
        row = json.loads(line, parse_int=_Spelled, parse_float=_Spelled, parse_constant=_Spelled, object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"not JSON: {error}; {_FORM}") from error
    if not isinstance(row, dict):
        raise ConfigError(f"not a JSON object; {_FORM}")
    unknown = [key for key in row if key not in _KEYS]
    if unknown:
        raise ConfigError(f"unknown key {unknown[0]!r}; there are {', '.join(_KEYS)}")
    if row.get("question") is None:
        raise ConfigError("the question is missing")
    if isinstance(row["question"], _Spelled):
        raise ConfigError("the question must be a text, in quotes")
    for key, value in row.items():
        if not isinstance(value, str | None):
            raise ConfigError(f"{key} must be a text{'' if key == 'question' else ' or a number'}")
    return row


def _check_id(row: dict[str, str | None], number: int, ids: dict[str, int]) -> None:
    own_id = row.get("id")
    if own_id is not None and ids.setdefault(own_id, number) != number:
        raise ConfigError(f"the id {own_id!r} is that of line {ids[own_id]} already")


def checked_question(question: str) -> str:
    """``question``, if it can be asked. Raises :class:`ConfigError` where it is empty, no valid text, or too long."""
    if not question.strip():
        raise ConfigError('the question is empty; write it in quotes: "What is 6 times 7?"')
    try:
        size = len(question.encode("utf-8"))
    except UnicodeEncodeError as error:
        raise ConfigError("the question holds half a surrogate pair, which can not be sent to a worker") from error
    if size > MAX_QUESTION_BYTES:
        raise ConfigError(f"the question has {size} bytes; at most {MAX_QUESTION_BYTES} can be asked")
    return question


def _problem(path: Path, row: dict[str, str | None]) -> Problem:
    question, own_id = checked_question(row["question"] or ""), row.get("id")
    return Problem(
        question=question,
        target=str(row.get("target") or ""),
        kind=str(row.get("kind") or "question"),
        source=path.name if own_id is None else f"{path.name}#{own_id}",
    )


class _Spelled(str):
    """A JSON number as it was written."""

    __slots__ = ()


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    row = dict(pairs)
    if len(row) < len(pairs):
        raise ValueError("a key is there twice")
    return row
