"""``podium ask``: one question with a live view, or a file of questions with a progress bar."""

import json
import sys
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from rich.text import Text

from podium.cli.live import RunView
from podium.cli.many import answer_file
from podium.cli.screen import Screen
from podium.cli.setups import setups_of
from podium.cli.wiring import default_policy, make_conductor, open_team
from podium.conduct import Conductor
from podium.errors import ConfigError, PodiumError
from podium.jsonl import dumps
from podium.tasks.datasets import MAX_QUESTION_BYTES, checked_question, read_questions
from podium.types import Call, Completion, Failure
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
    max_steps: int | None
    budget: Budget
    journal: Path | None
    out: Path | None
    concurrency: int
    svg: Path | None
    as_json: bool


async def ask(flags: AskFlags) -> None:
    """Carry the command out. Raises :class:`PodiumError`."""
    if (flags.question is None) == (flags.file is None):
        raise ConfigError('ask either one question (podium ask "...") or a file of questions (podium ask --file questions.jsonl)')
    problems = None if flags.file is None else read_questions(flags.file)
    question = None if flags.question is None else _question(flags.question)
    if flags.svg is not None and not flags.svg.parent.is_dir():
        raise ConfigError(f"can not write {flags.svg}: there is no folder {flags.svg.parent}")  # before anything is paid
    out = None if flags.file is None else flags.out or flags.file.with_suffix(".answers.jsonl")
    # A file is one run however often it is resumed, and its budget covers all of it; a question is a run of its own.
    run = f"ask {out}" if out is not None else f"ask {datetime.now().isoformat(timespec='milliseconds')}"
    async with open_team(flags.pool, flags.budget, flags.journal, run=run) as team:
        name = flags.policy or default_policy(team)
        conductor = make_conductor(name, team, rounds=flags.rounds, max_steps=flags.max_steps)
        if problems is not None and out is not None:
            setup = setups_of([name], team, pool=flags.pool, rounds=flags.rounds)[name]
            steps = "" if flags.max_steps is None else f", steps {flags.max_steps}"
            by = f"{name}, pool {flags.pool or 'gym'}, rounds {flags.rounds}{steps}, set-up {setup}"
            await answer_file(conductor, problems, out, concurrency=flags.concurrency, by=by, as_json=flags.as_json)
        elif question is not None:
            await _ask_one(conductor, question, flags)


def _question(text: str) -> str:
    """``text``, or standard input where it is ``-``. Reads no more than can be asked."""
    return checked_question(sys.stdin.read(MAX_QUESTION_BYTES + 1) if text == "-" else text)


async def _ask_one(conductor: Conductor, question: str, flags: AskFlags) -> None:
    if flags.as_json:
        try:
            completion = await conductor.conduct(Call.plain(question))
        except PodiumError as error:
            print(json.dumps(_object(error=error)))  # noqa: T201 - the answer is the command's output
            raise
        print(json.dumps(_object(completion=completion)))  # noqa: T201
    else:
        console = Screen()
        with RunView(console) as view:
            completion = await conductor.conduct(Call.plain(question), view.on_event)
        console.print(Text(plain(completion.text)))
        steps = sum(len(transcript.results) for transcript in completion.transcripts)
        summary = f"{steps} steps, {completion.seconds:.1f} s, {completion.usage.tokens} tokens, {dollars(completion.usage)}"
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
