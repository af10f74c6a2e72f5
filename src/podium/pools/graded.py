"""Folders whose recorded answers are graded: questions, and for each model samples with a score of the task's own grader."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from podium.errors import ConfigError
from podium.types import Problem
from podium.workers.recorded import Place, RecordedAnswer, RecordedQuestion, graded_text, lines_of

RIGHT = 0.99
"""The score from which an answer is right; graders give parts of a point, too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GradedRow:
    """A question and what every model made of it. Example: ``row.said[0]`` is right where ``row.right[0]``."""

    place: Place
    """Data set and id."""
    question: str
    said: tuple[str, ...]
    """What each model said, as :func:`podium.workers.recorded.graded_text` writes it."""
    right: tuple[bool, ...]
    accepted: frozenset[str]
    """What any model said that was graded right."""

    @property
    def dataset(self) -> str:
        """The data set that the question belongs to."""
        return self.place[0]


def datasets_of(folder: Path) -> list[str]:
    """The data sets that the questions in ``folder`` belong to, in order. Raises :class:`ConfigError`."""
    return list(dict.fromkeys(row.dataset for row in _questions(folder)))


def is_graded(folder: Path) -> bool:
    """Whether the outputs in ``folder`` come with scores."""
    files = sorted((folder / "outputs").glob("*.jsonl.gz"))
    first = next(iter(lines_of(files[0], RecordedAnswer)), None) if files else None
    return first is not None and bool(first.samples)


def samples_in(folder: Path) -> int:
    """How many graded answers to one question a model in ``folder`` has, at most; 1 where answers are not graded."""
    files = (folder / "outputs").glob("*.jsonl.gz")
    return max((len(line.samples) for file in files for line in lines_of(file, RecordedAnswer)), default=1) or 1


def graded_rows(folder: Path, sample: int = 0) -> list[GradedRow]:
    """The questions that every model in ``folder`` has answered, and each one's answer number ``sample``.

    Models by their files' names; who has fewer answers gives the last. Raises :class:`ConfigError`.
    """
    rows = []
    for row, answered, models in _answered(folder):
        if len(answered) == models:
            rows.append(
                GradedRow(
                    place=row.place,
                    question=row.question.strip(),
                    said=tuple(line.said(sample) for line in answered),
                    right=tuple(line.sample(sample).score >= RIGHT for line in answered),
                    accepted=_accepted(answered),
                )
            )
    return rows


def graded_problems(folder: Path, datasets: tuple[str, ...] | None = None) -> list[Problem]:
    """The problems of ``datasets`` or of all; ``source`` is the data set, ``target`` the answers that were graded right.

    Those that some models have not answered are among them: whoever asks says who lacks what. A question that is there twice
    is one problem: its recorded answers are found by its text. Raises :class:`ConfigError`.
    """
    accepted: dict[str, set[str]] = {}
    sources: dict[str, str] = {}
    for row, answered, _ in _answered(folder):
        if datasets is None or row.dataset in datasets:
            question = row.question.strip()
            accepted.setdefault(question, set()).update(_accepted(answered))
            sources.setdefault(question, row.dataset)
    if not accepted:
        raise ConfigError(f"{folder} has no question that a model has answered" + (f" of {datasets}" if datasets else ""))
    return [
        Problem(
            question=question,
            target=json.dumps(sorted(right), ensure_ascii=False),
            kind="graded",
            source=sources[question],
            split="test",
        )
        for question, right in accepted.items()
    ]


def _answered(folder: Path) -> Iterator[tuple[RecordedQuestion, list[RecordedAnswer], int]]:
    """Every question that a model has answered, the answers, and how many models there are."""
    models: list[dict[Place, RecordedAnswer]] = [
        {line.place: line for line in lines_of(file, RecordedAnswer) if line.samples}
        for file in sorted((folder / "outputs").glob("*.jsonl.gz"))
    ]
    for row in _questions(folder):
        answered = [found for model in models if (found := model.get(row.place)) is not None]
        if answered:
            yield row, answered, len(models)


def _accepted(answered: list[RecordedAnswer]) -> frozenset[str]:
    samples = (sample for line in answered for sample in line.samples if sample.score >= RIGHT)
    return frozenset(graded_text(sample.answer).strip() for sample in samples) - {""}


def _questions(folder: Path) -> Iterator[RecordedQuestion]:
    return lines_of(folder / "questions.jsonl.gz", RecordedQuestion)
