"""``podium ask``: one question with a live view, or a file of questions with a progress bar."""

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from rich.text import Text

from podium.cli.live import RunView
from podium.cli.progress import Bars
from podium.cli.screen import Screen
from podium.conduct import Conductor
from podium.errors import ConfigError, PodiumError
from podium.evaluation.answers import answer_file
from podium.jsonl import dumps
from podium.pools.conducting import conductor
from podium.pools.open import open_pool
from podium.tasks.datasets import MAX_QUESTION_BYTES, checked_question, read_questions
from podium.types import Call, Completion, Failure, Problem
from podium.workers.budget import Budget
from podium.workflow.draw import as_svg, dollars, plain


@dataclass(frozen=True, slots=True, kw_only=True)
class AskFlags:
    """The flags of ``podium ask`` as the user set them."""

    question: str | None
    file: Path | None
    pool: Path | None
    policy: str | None
    rounds: int
    again: str
    max_steps: int | None
    budget: Budget
    journal: Path | None
    out: Path | None
    concurrency: int
    svg: Path | None
    as_json: bool


async def ask(flags: AskFlags) -> None:
    """Carry the command out. Raises :class:`PodiumError`."""
    problems = None if flags.file is None else read_questions(flags.file)
    question = None if flags.question is None else _question(flags.question)
    if flags.svg is not None and not flags.svg.parent.is_dir():
        raise ConfigError(f"can not write {flags.svg}: there is no folder {flags.svg.parent}")  # before anything is paid
    out = None if flags.file is None else flags.out or flags.file.with_suffix(".answers.jsonl")
    # A file is one run however often it is resumed, and its budget covers all of it; a question is a run of its own.
    run = f"ask {out}" if out is not None else f"ask {datetime.now().isoformat(timespec='milliseconds')}"
    async with open_pool(flags.pool, budget=flags.budget, journal=flags.journal, run=run) as opened:
        name = flags.policy or opened.default_policy
        conducting = conductor(opened, name, rounds=flags.rounds, max_steps=flags.max_steps, again=flags.again)
        if problems is not None and out is not None:
            from podium.studies.setups import setups_of  # only a file of questions is gone on with

            setup = setups_of([name], opened, pool=flags.pool, rounds=flags.rounds, again=flags.again)[name]
            steps = "" if flags.max_steps is None else f", steps {flags.max_steps}"
            by = f"{name}, pool {flags.pool or 'gym'}, rounds {flags.rounds}{steps}, set-up {setup}"
            await _ask_file(conducting, problems, out, by, flags)
        elif question is not None:
            await _ask_one(conducting, question, flags)


def _question(text: str) -> str:
    """``text``, or standard input where it is ``-``. Reads no more than can be asked."""
    return checked_question(sys.stdin.read(MAX_QUESTION_BYTES + 1) if text == "-" else text)


async def _ask_file(conducting: Conductor, problems: Sequence[Problem], out: Path, by: str, flags: AskFlags) -> None:
    """Raises the user's own failure that ended the work, else the first of the others; those are lines of ``out`` too."""
    with Bars() as bars:
        bars.begin("questions", len({problem.id for problem in problems}))
        answers = await answer_file(
            conducting, problems, out, by=by, concurrency=flags.concurrency, on_answer=lambda each: bars.advance(each.usage)
        )
    failed, usage = answers.failed, answers.usage
    answered = len(answers.lines) - len(failed)
    if flags.as_json:
        summary = {"answered": answered, "failed": len(failed), "missing": answers.missing}
        print(json.dumps({**summary, "cost_usd": usage.cost_usd, "out": str(out)}))  # noqa: T201 - the command's output
    else:
        left = f", {answers.missing} not asked" if answers.missing else ""
        text = f"{answered} answered, {len(failed)} failed{left}, {dollars(usage)}; answers are in {out}"
        Screen().print(Text(text), soft_wrap=True)
    if answers.stopped is not None:
        raise answers.stopped
    if failed:
        first, total = failed[0].error(), len(answers.lines)
        raise type(first)(f"{len(failed)} of {total} questions failed and are asked again by the same command: {first}")


async def _ask_one(conducting: Conductor, question: str, flags: AskFlags) -> None:
    if flags.as_json:
        try:
            completion = await conducting.conduct(Call.plain(question))
        except PodiumError as error:
            print(json.dumps(_object(error=error)))  # noqa: T201 - the answer is the command's output
            raise
        print(json.dumps(_object(completion=completion)))  # noqa: T201
    else:
        console = Screen()
        with RunView(console) as view:
            completion = await conducting.conduct(Call.plain(question), view.on_event)
        console.print(Text(plain(completion.text)))
        steps = sum(len(transcript.asked) for transcript in completion.transcripts)
        skipped = sum(len(transcript.results) for transcript in completion.transcripts) - steps
        told = f"{steps} steps, {skipped} skipped" if skipped else f"{steps} steps"
        summary = f"{told}, {completion.seconds:.1f} s, {completion.usage.tokens} tokens, {dollars(completion.usage)}"
        console.print(Text(summary, style="dim"))
    drawn = [transcript for transcript in completion.transcripts if transcript.workflow is not None]
    if flags.svg is not None and drawn:
        _write(flags.svg, as_svg(drawn[-1]))


def _object(completion: Completion | None = None, error: PodiumError | None = None) -> dict[str, object]:
    """The run as one JSON object; ``answer`` and ``failure`` as in a transcript."""
    if completion is not None:
        return {"answer": completion.text, "failure": None, **json.loads(dumps(completion))}
    failure = Failure.of(error, "") if error is not None else None
    return {
        "answer": None,
        "failure": json.loads(dumps(failure)) if failure is not None else None,
        "transcripts": [json.loads(dumps(transcript)) for transcript in (error.transcripts if error is not None else ())],
    }


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"can not write {path}: {error.strerror}") from error
