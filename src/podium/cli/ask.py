"""``podium ask``: one question with a live view, or a file of questions with a progress bar."""

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path

from rich.text import Text

from podium.cli.live import RunView
from podium.cli.progress import Bars
from podium.cli.screen import SIMULATED, Screen
from podium.conduct import Conductor
from podium.errors import ConfigError, PodiumError, UnworkableStep
from podium.evaluation.answers import answer_file, as_object
from podium.jsonl import dumps
from podium.pools.conducting import conductor
from podium.pools.open import open_pool
from podium.pools.opened import OpenPool
from podium.tasks.datasets import MAX_QUESTION_BYTES, checked_question, read_questions
from podium.types import Call, Problem, Usage
from podium.workers.budget import Budget
from podium.workflow.draw import as_svg, counted, dollars, plain, planned, price
from podium.workflow.forecast import forecast


async def ask(
    *,
    question: str | None,
    file: Path | None,
    pool: Path | None,
    policy: str | None,
    rounds: int,
    again: str,
    max_steps: int | None,
    budget_usd: float | None,
    budget_tokens: int | None,
    budget_seconds: float | None,
    journal: Path | None,
    out: Path | None,
    concurrency: int,
    svg: Path | None,
    estimate: bool,
    as_json: bool,
) -> None:
    """Carry the command out. Raises :class:`PodiumError`."""
    problems = [] if file is None else read_questions(file)
    asked = None if question is None else _question(question)
    if svg is not None and (svg.is_dir() or not svg.parent.is_dir()):  # before anything is paid
        raise ConfigError(f"can not write {svg}: {'it is a folder' if svg.is_dir() else f'there is no folder {svg.parent}'}")
    if file is not None:
        out = out or file.with_suffix(".answers.jsonl")
    # A file is one run however often it is resumed, and its budget covers all of it; a question is a run of its own.
    run = f"ask {out}" if file is not None else f"ask {datetime.now().isoformat(timespec='milliseconds')}"
    budget = Budget(budget_usd, budget_tokens, budget_seconds)
    async with open_pool(pool, budget=budget, journal=journal, run=run) as opened:
        if asked is not None and policy is None:
            opened.check_question(asked)  # the pool's own policy can be slow to load
        name = policy or opened.default_policy
        conducting = conductor(opened, name, rounds=rounds, max_steps=max_steps, again=again)
        if asked is not None and estimate:
            await _estimate(conducting, asked, opened, as_json=as_json)
        elif asked is not None:
            await _ask_one(conducting, asked, svg, budget, as_json=as_json)
        elif out is not None:
            from podium.studies.setups import setups_of  # only a file of questions is gone on with

            setup = setups_of([name], opened, pool=pool, rounds=rounds, again=again)[name]
            steps = "" if max_steps is None else f", steps {max_steps}"
            by = f"{name}, pool {pool or 'gym'}, rounds {rounds}{steps}, set-up {setup}"
            await _ask_file(conducting, problems, out, by, concurrency, budget, as_json=as_json)


def _question(text: str) -> str:
    """``text``, or standard input where it is ``-``. Reads no more than can be asked."""
    return checked_question(sys.stdin.read(MAX_QUESTION_BYTES + 1) if text == "-" else text)


async def _ask_file(
    conducting: Conductor,
    problems: Sequence[Problem],
    out: Path,
    by: str,
    concurrency: int,
    budget: Budget,
    *,
    as_json: bool,
) -> None:
    """Raises the user's own failure that ended the work, else the first of the others; those are lines of ``out`` too."""
    with Bars(budget) as bars:
        bars.begin("questions", len({problem.id for problem in problems}))
        answers = await answer_file(
            conducting, problems, out, by=by, concurrency=concurrency, on_answer=lambda each: bars.advance(each.usage)
        )
    failed, usage = answers.failed, answers.usage
    answered = len(answers.lines) - len(failed)
    if as_json:
        summary = {"answered": answered, "failed": len(failed), "missing": answers.missing}
        print(json.dumps({**summary, "cost_usd": usage.cost_usd, "paid_usd": budget.paid.cost_usd, "out": str(out)}))  # noqa: T201 - the command's output
    else:
        left = f", {answers.missing} not asked" if answers.missing else ""
        text = f"{answered} answered, {len(failed)} failed{left}, {price(usage, budget.paid.cost_usd)}; answers are in {out}"
        Screen().print(Text(text), soft_wrap=True)
    if answers.stopped is not None:
        raise answers.stopped
    if failed:
        first, total = failed[0].error(), len(answers.lines)
        raise type(first)(f"{len(failed)} of {total} questions failed and are asked again by the same command: {first}")


async def _ask_one(conducting: Conductor, question: str, svg: Path | None, budget: Budget, *, as_json: bool) -> None:
    if as_json:
        try:
            completion = await conducting.conduct(Call.plain(question))
        except PodiumError as error:
            print(json.dumps(as_object(budget, error=error)))  # noqa: T201 - the answer is the command's output
            raise
        print(json.dumps(as_object(budget, completion=completion)))  # noqa: T201
    else:
        console = Screen()
        with RunView(console) as view:
            completion = await conducting.conduct(Call.plain(question), view.on_event)
        console.print(Text(plain(completion.text)))
        steps = sum(len(transcript.asked) for transcript in completion.transcripts)
        skipped = sum(len(transcript.results) for transcript in completion.transcripts) - steps
        took = f"{counted(steps, 'step')}, {skipped} skipped" if skipped else counted(steps, "step")
        cost = price(completion.usage, budget.paid.cost_usd)
        summary = f"{took}, {completion.seconds:.1f} s, {completion.usage.tokens} tokens, {cost}"
        console.print(Text(summary, style="dim"))
    drawn = [transcript for transcript in completion.transcripts if transcript.workflow is not None]
    if svg is not None and drawn:
        _write(svg, as_svg(drawn[-1]))


async def _estimate(conducting: Conductor, question: str, pool: OpenPool, *, as_json: bool) -> None:
    """Show what the workflow for ``question`` would take; no worker is asked."""
    if (workflow := await conducting.plan(question)) is None:
        raise UnworkableStep("the policy keeps an answer that there is not; nothing would be asked")
    found = forecast(workflow, Call.plain(question), conducting.pool.cards, pool.max_tokens, pool.most_usd)
    if as_json:
        object_ = {"workflow": json.loads(dumps(workflow)), **asdict(found), "is_simulated": pool.is_simulated}
        print(json.dumps(object_))  # noqa: T201 - the command's output
        return
    usual, most = (dollars(Usage(cost_usd=each)) for each in (found.usd, found.usd_at_most))
    usd = f"{usual} expected, {most} at most"
    aside = "retries aside" if conducting.rounds == 1 else "retries and further rounds aside"
    expected = f"{found.calls:.0f} call" if found.calls == 1 else f"{found.calls:.1f} calls"
    simulated = f" ({SIMULATED})" if pool.is_simulated else ""
    summary = f"{expected} expected, {found.calls_at_most} at most; {usd}, {aside}{simulated}"
    Screen().print(Text(f"{planned(workflow, conducting.pool.names)}\n{summary}"), soft_wrap=True)


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"can not write {path}: {error.strerror}") from error
