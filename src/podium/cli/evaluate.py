"""``podium evaluate``: Workers x Problems -> a table, with faults apart; of flags, a study, or a folder of trained policies."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from rich.text import Text

from podium.cli.progress import Bars
from podium.cli.screen import Screen, note
from podium.errors import ConfigError
from podium.evaluation.evaluate import Result
from podium.evaluation.evaluate import evaluate as evaluated
from podium.evaluation.metrics import summarise
from podium.evaluation.report import (
    as_object,
    markdown_table,
    terminal_table,
)
from podium.extras import need
from podium.pools.open import open_pool
from podium.pools.problems import ProblemSource, load_problems
from podium.pools.verifiers import open_verifiers
from podium.studies.arms import default_arms, expanded, make_arm
from podium.studies.setups import setups_of
from podium.studies.spec import is_gym_check
from podium.types import Problem
from podium.workers.budget import Budget


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
    if study is not None:
        if engine == "ray":
            need("ray")
        cluster = address if engine == "ray" else None
        shown = {"as_json": as_json, "as_markdown": as_markdown, "wide": wide}
        await _show_study(study, out, budget, cluster, save, unsafe_local=unsafe_local, **shown)
        return
    if compare is not None:
        need("stats")
    problems = chosen_problems(file=file, gym=gym, set_name=set_name, data_dir=data_dir, n=n, split=split)
    async with (
        open_verifiers({problem.kind for problem in problems}, unsafe_local=unsafe_local) as verifier,
        open_pool(pool, budget=budget, journal=journal, run=f"evaluate {out or ''}".strip()) as opened,
    ):
        names = expanded((*(arm or default_arms(opened)), *([compare] if compare else [])), opened.workers.names)
        arms = {name: make_arm(name, opened, rounds=rounds) for name in names}
        with Bars(budget) as bars:
            bars.begin("answers", len(arms) * len(problems) * repeats)
            results = await evaluated(
                arms,
                problems,
                verifier,
                out=out,
                repeats=repeats,
                concurrency=concurrency,
                on_result=bars.on_result,
                setups=setups_of(names, opened, pool=pool, rounds=rounds, unsafe_local=unsafe_local),
            )
    _show(results, compare, names, budget.paid.cost_usd, as_json=as_json, as_markdown=as_markdown, wide=wide)


async def _show_study(
    path: Path,
    out: Path | None,
    budget: Budget,
    cluster: str | None,
    save: Path | None,
    *,
    unsafe_local: bool,
    as_json: bool,
    as_markdown: bool,
    wide: bool,
) -> None:
    need("stats")
    from podium.studies.run import Progress, run_study

    with Bars(budget) as bars:
        progress = Progress(on_part=bars.begin, on_result=bars.on_result, on_note=note)
        report = await run_study(
            path, out=out, budget=budget, engine=cluster, unsafe_local=unsafe_local, keep=save, progress=progress
        )
    if as_json:
        sys.stdout.write(json.dumps(report.as_object()) + "\n")
    elif as_markdown:
        sys.stdout.write(report.as_markdown() + "\n")
    else:
        screen = Screen()
        screen.print(terminal_table(report.rows, report.comparisons, wide=wide))
        screen.print(Text(f"kept in {report.out}: results.jsonl, table.md, report.html"), soft_wrap=True)


def _show(
    results: Sequence[Result],
    compare: str | None,
    names: Sequence[str],
    paid_usd: float | None,
    *,
    as_json: bool,
    as_markdown: bool,
    wide: bool,
) -> None:
    rows, comparisons = summarise(results), []
    if compare is not None:
        from podium.evaluation.compare import comparable
        from podium.evaluation.compare import compare as compared

        comparisons = compared(results, compare, comparable(results, compare, [name for name in names if name != compare]))
    if as_json:
        sys.stdout.write(json.dumps(as_object(rows, comparisons) | {"paid_usd": paid_usd}) + "\n")
    elif as_markdown:
        sys.stdout.write(markdown_table(rows, comparisons) + "\n")
    else:
        Screen().print(terminal_table(rows, comparisons, wide=wide))


def chosen_problems(
    *, file: Path | None, gym: int | None, set_name: str | None, data_dir: Path | None, n: int | None, split: str | None
) -> list[Problem]:
    """The problems that are asked for. Raises :class:`ConfigError`."""
    if [file, gym, set_name].count(None) != 2:
        raise ConfigError("name one of: --file problems.jsonl, --gym 100 (gym problems), --set math500 (a benchmark)")
    if gym is not None:
        return load_problems("gym", split=split, limit=gym)
    return ProblemSource(file=file, set=set_name, data_dir=data_dir, n=n, split=split).problems()
