"""The problems of a folder whose recorded answers are graded: questions, and for each model samples with a score."""

import gzip
import json
import zlib
from pathlib import Path

from podium.errors import ConfigError
from podium.types import Problem
from podium.workers.recorded import Answered, graded_text, lines_of

RIGHT = 0.99
"""The score from which an answer is right; graders give parts of a point, too."""


def datasets_of(folder: Path) -> list[str]:
    """The data sets that the questions in ``folder`` belong to, in order. Raises :class:`ConfigError`."""
    return list(dict.fromkeys(row["dataset"] for row in _questions(folder)))


def is_graded(folder: Path) -> bool:
    """Whether the outputs in ``folder`` come with scores."""
    files = sorted((folder / "outputs").glob("*.jsonl.gz"))
    first = next(iter(lines_of(files[0], Answered)), None) if files else None
    return first is not None and bool(first.samples)


def graded_problems(folder: Path, dataset: str | None = None) -> list[Problem]:
    """The problems of one ``dataset`` or of all; ``source`` is the data set, ``target`` the answers that were graded right.

    A question that is there twice is one problem. Raises :class:`ConfigError`.
    """
    rows = [row for row in _questions(folder) if dataset in (None, row["dataset"])]
    if not rows:
        raise ConfigError(f"{folder} has no questions of dataset {dataset!r}")
    right: dict[tuple[str, str], set[str]] = {}
    for file in sorted((folder / "outputs").glob("*.jsonl.gz")):
        for line in lines_of(file, Answered):
            accepted = right.setdefault((line.dataset, str(line.id)), set())
            accepted.update(graded_text(sample.answer).strip() for sample in line.samples if sample.score >= RIGHT)
    of_question: dict[str, set[str]] = {}
    sources: dict[str, str] = {}
    for row in rows:
        question = row["question"].strip()
        sources.setdefault(question, row["dataset"])
        of_question.setdefault(question, set()).update(right.get((row["dataset"], row["id"]), set()))
    return [
        Problem(
            question=question,
            target=json.dumps(sorted(accepted - {""}), ensure_ascii=False),
            kind="graded",
            source=sources[question],
            split="test",
        )
        for question, accepted in of_question.items()
    ]


def _questions(folder: Path) -> list[dict[str, str]]:
    path = folder / "questions.jsonl.gz"
    number = 0
    found: list[dict[str, str]] = []
    try:
        with gzip.open(path, "rb") as file:
            for line in file:
                number += 1
                row = json.loads(line)
                found.append({name: str(row[name]) for name in ("dataset", "id", "question")})
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ConfigError(f"{path} is damaged: {error}") from error
    except OSError as error:
        raise ConfigError(f"can not read recorded questions from {path}: {error.strerror}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigError(f"{path}, line {number}: no recorded question: {error!r}") from error
    return found
