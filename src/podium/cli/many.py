"""A file of questions: answered side by side, each answer on disk as it comes, a rerun goes on where the last one stopped."""

import asyncio
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.text import Text

from podium import jsonl
from podium.cli.screen import Screen
from podium.conduct import Conductor
from podium.errors import Blame, ConfigError, PodiumError
from podium.types import Call, Failure, Problem, Transcript, Usage
from podium.workflow.draw import dollars


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


def progress(console: Console) -> Progress:
    """A bar with counts, time gone and time left, for every command that takes long."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}"),
        console=console,
        disable=not console.is_terminal,
    )


async def answer_file(
    conductor: Conductor, problems: list[Problem], out: Path, *, concurrency: int, by: str, as_json: bool
) -> None:
    """Answer every problem that ``out`` has no answer to yet; failures are asked again.

    Raises the first failure that is the user's (a budget, a pool file) after the questions in flight have ended, else the
    first of the others after all have ended; those are lines of ``out`` too.
    """
    done = {line.id: line for line in _known(out) if line.by == by}
    wanted = {problem.id: problem for problem in problems}
    missing = iter([p for p in wanted.values() if p.id not in done or done[p.id].answer is None])
    answers = {key: done[key] for key in wanted if key in done and done[key].answer is not None}
    stops: list[PodiumError] = []
    spent = Usage.total(answer.usage for answer in answers.values())
    with progress(Screen(stderr=True)) as bar:
        task = bar.add_task("questions", total=len(wanted), completed=len(answers), note="")

        async def lane(queue: Iterator[Problem]) -> None:
            nonlocal spent
            for problem in queue:
                if stops:
                    return
                answer = await _answer(conductor, problem, by, stops)
                if answer is None:
                    return
                jsonl.append(out, jsonl.dumps(answer))
                answers[problem.id] = answer
                spent = spent + answer.usage
                bar.update(task, advance=1, note=dollars(spent))

        async with asyncio.TaskGroup() as group:
            for _ in range(concurrency):
                group.create_task(lane(missing))
    failed = [answer.failure for answer in answers.values() if answer.failure is not None]
    summary = {
        "answered": len(answers) - len(failed),
        "failed": len(failed),
        "missing": len(wanted) - len(answers),
        "cost_usd": spent.cost_usd,
        "out": str(out),
    }
    if as_json:
        print(json.dumps(summary))  # noqa: T201 - the command's output
    else:
        left = f", {summary['missing']} not asked" if summary["missing"] else ""
        text = f"{summary['answered']} answered, {len(failed)} failed{left}, {dollars(spent)}; answers are in {out}"
        Screen().print(Text(text), soft_wrap=True)
    if stops:
        raise stops[0]
    if failed:
        first = failed[0].error()
        raise type(first)(f"{len(failed)} of {len(wanted)} questions failed and are asked again by the same command: {first}")


def _known(out: Path) -> list[Answer]:
    try:
        out.touch()
    except OSError as error:
        raise ConfigError(f"can not write answers to {out}: {error.strerror}") from error
    jsonl.mend(out)
    return jsonl.read_records(Answer, out)


async def _answer(conductor: Conductor, problem: Problem, by: str, stops: list[PodiumError]) -> Answer | None:
    """The line for one problem; None where the user's own failure stops the command, which goes into ``stops``."""
    text: str | None = None
    failure: Failure | None = None
    transcripts: tuple[Transcript, ...]
    try:
        completion = await conductor(Call.plain(problem.question))
        text, transcripts = completion.text, completion.transcripts
    except PodiumError as error:
        if error.blame is Blame.USER:
            stops.append(error)
            return None
        failure, transcripts = Failure.of(error, ""), error.transcripts
    return Answer(
        id=problem.id,
        question=problem.question,
        by=by,
        answer=text,
        failure=failure,
        usage=Usage.total(transcript.usage for transcript in transcripts),
        transcripts=transcripts,
    )
