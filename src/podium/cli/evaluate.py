"""``podium evaluate``: Workers x Problems -> a table, with faults apart; of flags, a study, or a folder of trained policies."""

import json
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from rich.text import Text

from podium.cli.progress import Bars
from podium.cli.screen import Screen, note
from podium.evaluation.report import terminal_table
from podium.extras import need
from podium.pools.open import open_pool
from podium.pools.problems import chosen_problems
from podium.pools.verifiers import open_verifiers
from podium.studies.arms import default_arms, expanded
from podium.studies.expected import Expected, estimated, estimated_study
from podium.studies.measuring import Measured, measured, training_problems
from podium.studies.spec import is_gym_check
from podium.workers.budget import Budget
from podium.workflow.draw import plain

if TYPE_CHECKING:  # its pictures need what most evaluations do without
    from podium.studies.report import StudyReport


async def evaluate(
    *,
    study: Path | None,
    file: Path | None,
    gym: int | None,
    set_name: str | None,
    data_dir: Path | None,
    n: int | None,
    split: str | None,
    unsafe_local: bool,
    pool: Path | None,
    arm: list[str] | None,
    out: Path | None,
    repeats: int,
    rounds: int,
    max_usd: float | None,
    budget_tokens: int | None,
    budget_seconds: float | None,
    journal: Path | None,
    concurrency: int,
    as_json: bool,
    as_markdown: bool,
    wide: bool,
    learning: Path | None,
    estimate: bool,
    compare: str | None,
    engine: Literal["here", "ray"],
    address: str,
    runs: Path | None,
    save: Path | None,
) -> None:
    """Carry the command out. Raises :class:`PodiumError`."""
    budget = Budget(max_usd, budget_tokens, budget_seconds)
    if study is not None and is_gym_check(study):
        need("train")
        from podium.cli.evaluate_gym import show_check

        await show_check(study, runs=runs, as_json=as_json)
        return
    if study is not None and estimate:
        _show_estimate(await estimated_study(study), as_json=as_json)
        return
    if study is not None:
        if engine == "ray":
            need("ray")
        cluster = address if engine == "ray" else None
        report = await _studied(study, out, budget, cluster, save, unsafe_local=unsafe_local)
        _show(report, as_json=as_json, as_markdown=as_markdown, wide=wide)
        note(f"kept in {report.out}: results.jsonl, table.md, report.html")
        return
    if compare is not None:
        need("stats")
    problems = chosen_problems(file=file, gym=gym, set_name=set_name, data_dir=data_dir, n=n, split=split)
    # Over one's own pool teaching costs money, so it is done there only where problems for it are named.
    lessons = training_problems(learning, gym=gym is not None and pool is None, asked=problems, named=bool(arm))
    every = (*problems, *lessons)
    async with (
        open_verifiers({problem.kind for problem in every}, unsafe_local=unsafe_local) as verifier,
        open_pool(pool, budget=budget, journal=journal, run=f"evaluate {out or ''}".strip()) as opened,
    ):
        given = arm or default_arms(opened, learning=bool(lessons))
        names = expanded((*given, *([compare] if compare else [])), opened.workers.names)
        if estimate:
            expected = estimated(names, opened, problems, lessons, repeats=repeats, rounds=rounds)
            _show_estimate(expected, as_json=as_json)
            return
        with Bars(budget) as bars:
            found = await measured(
                names,
                problems,
                lessons,
                opened,
                verifier,
                pool=pool,
                compare=compare,
                out=out,
                repeats=repeats,
                rounds=rounds,
                concurrency=concurrency,
                unsafe_local=unsafe_local,
                on_part=bars.begin,
                on_result=bars.on_result,
            )
    _show(replace(found, paid_usd=budget.paid.cost_usd), as_json=as_json, as_markdown=as_markdown, wide=wide)


def _show_estimate(expected: Expected, *, as_json: bool) -> None:
    if as_json:
        sys.stdout.write(json.dumps(asdict(expected)) + "\n")
    else:
        Screen().print(Text(expected.as_text()), soft_wrap=True)


async def _studied(
    path: Path, out: Path | None, budget: Budget, cluster: str | None, save: Path | None, *, unsafe_local: bool
) -> "StudyReport":
    need("stats")
    from podium.studies.run import Progress, run_study

    with Bars(budget) as bars:
        progress = Progress(on_part=bars.begin, on_result=bars.on_result, on_note=note)
        return await run_study(
            path, out=out, budget=budget, engine=cluster, unsafe_local=unsafe_local, keep=save, progress=progress
        )


def _show(report: "StudyReport | Measured", *, as_json: bool, as_markdown: bool, wide: bool) -> None:
    if as_json:
        sys.stdout.write(json.dumps(report.as_object()) + "\n")
    elif as_markdown:
        sys.stdout.write(report.as_markdown() + "\n")
    else:
        screen = Screen()
        screen.print(terminal_table(report.rows, report.comparisons, wide=wide))
        for line in report.notes:
            screen.print(Text(plain(line), style="dim"))
