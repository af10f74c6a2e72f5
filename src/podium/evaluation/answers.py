"""A file of questions: answered side by side, each answer on disk as it comes, a rerun goes on where the last one stopped."""

import asyncio
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from podium import jsonl
from podium.errors import Blame, ConfigError, PodiumError
from podium.protocols import Worker
from podium.types import Call, Completion, Failure, Problem, Transcript, Usage
from podium.workers.budget import Budget


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One line of the answers' file."""

    id: str
    """``Problem.id`` of the question."""
    question: str
    by: str
    """Policy, pool, rounds and a hash of the set-up that answered: an answer of another Conductor is not this one's."""
    answer: str | None
    failure: Failure | None
    usage: Usage
    transcripts: tuple[Transcript, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """What a file holds of the questions that were asked for."""

    lines: Sequence[Answer]
    missing: int
    """Questions that were not asked, because the user's own failure ended the work."""
    stopped: PodiumError | None = None
    """That failure."""

    @property
    def failed(self) -> tuple[Failure, ...]:
        """Why questions have no answer; they are asked again."""
        return tuple(line.failure for line in self.lines if line.failure is not None)

    @property
    def usage(self) -> Usage:
        """What all of them cost."""
        return Usage.total(line.usage for line in self.lines)


async def answer_file(
    worker: Worker,
    problems: Sequence[Problem],
    out: Path,
    *,
    by: str,
    concurrency: int = 16,
    on_answer: Callable[[Answer], None] = lambda answer: None,
) -> Answers:
    """Answer every problem that ``out`` has no answer to yet, ``by`` whom; failures are asked again.

    ``on_answer`` is told every answer, those of before first. A failure that is the user's (a budget, a pool file) ends the work
    after the questions in flight; the others are lines of ``out``. Raises :class:`ConfigError` for a file that can not be used.
    """
    before = {line.id: line for line in _known(out) if line.by == by and line.answer is not None}
    wanted = {problem.id: problem for problem in problems}
    answers = {key: before[key] for key in wanted if key in before}
    for answer in answers.values():
        on_answer(answer)
    missing = iter([problem for key, problem in wanted.items() if key not in answers])
    stops: list[PodiumError] = []

    async def lane(queue: Iterator[Problem]) -> None:
        for problem in queue:
            if stops:
                return
            answer = await _answer(worker, problem, by, stops)
            if answer is None:
                return
            jsonl.append(out, jsonl.dumps(answer))
            answers[problem.id] = answer
            on_answer(answer)

    async with asyncio.TaskGroup() as group:
        for _ in range(concurrency):
            group.create_task(lane(missing))
    return Answers(lines=tuple(answers.values()), missing=len(wanted) - len(answers), stopped=stops[0] if stops else None)


def _known(out: Path) -> list[Answer]:
    try:
        out.touch()
    except OSError as error:
        raise ConfigError(f"can not write answers to {out}: {error.strerror}") from error
    jsonl.mend(out)
    return jsonl.read_records(Answer, out)


async def _answer(worker: Worker, problem: Problem, by: str, stops: list[PodiumError]) -> Answer | None:
    """The line for one problem; None where the user's own failure stops the work, which goes into ``stops``."""
    text: str | None = None
    failure: Failure | None = None
    transcripts: tuple[Transcript, ...]
    try:
        completion = await worker(Call.plain(problem.question))
        text, transcripts, usage = completion.text, completion.transcripts, completion.usage
    except PodiumError as error:
        if error.blame is Blame.USER:
            stops.append(error)
            return None
        failure, transcripts = Failure.of(error, ""), error.transcripts
        usage = Usage.total(transcript.usage for transcript in transcripts)
    return Answer(
        id=problem.id, question=problem.question, by=by, answer=text, failure=failure, usage=usage, transcripts=transcripts
    )


def as_object(budget: Budget, completion: Completion | None = None, error: PodiumError | None = None) -> dict[str, object]:
    """The run as one JSON object; ``answer`` and ``failure`` as in a transcript.

    ``usage`` is what the answer cost, whoever paid; ``paid_usd`` what was paid now, and ``uncertain_usd`` what may be besides.
    """
    paid = {"paid_usd": budget.paid.cost_usd, "uncertain_usd": budget.uncertain_usd}
    if completion is not None:
        return {"answer": completion.text, "failure": None, **json.loads(jsonl.dumps(completion)), **paid}
    failure = Failure.of(error, "") if error is not None else None
    return {
        "answer": None,
        "failure": json.loads(jsonl.dumps(failure)) if failure is not None else None,
        "transcripts": [json.loads(jsonl.dumps(transcript)) for transcript in (error.transcripts if error is not None else ())],
        **paid,
    }
