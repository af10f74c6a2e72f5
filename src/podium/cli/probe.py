"""``podium pool probe``: is there anything to conduct in a pool, before a dollar goes into training?"""

import json
from dataclasses import asdict
from pathlib import Path

from rich.table import Table
from rich.text import Text

from podium.cli.progress import Bars
from podium.cli.screen import Screen, note
from podium.evaluation.evaluate import evaluate
from podium.evaluation.headroom import headroom
from podium.pools.open import open_pool
from podium.pools.problems import chosen_problems
from podium.pools.verifiers import open_verifiers
from podium.protocols import Worker
from podium.studies.recordings import answered_by_all
from podium.studies.setups import setups_of_workers
from podium.tasks.datasets import load_replay_problems
from podium.workers.budget import Budget
from podium.workers.recorded import load_replay


async def probe(
    *,
    file: Path | None,
    gym: int | None,
    set_name: str | None,
    data_dir: Path | None,
    n: int | None,
    pool: Path | None,
    replay: Path | None,
    replay_set: str,
    repeats: int,
    max_usd: float | None,
    journal: Path | None,
    out: Path | None,
    unsafe_local: bool,
    as_json: bool,
) -> None:
    """Ask every worker alone, and say what choosing among them could gain. Raises :class:`PodiumError`."""
    budget = Budget(max_usd)
    if replay is not None:
        problems = load_replay_problems(replay, replay_set)[:n]
        repeats = 1  # a recording says the same every time, so asking twice would tell nothing more
    else:
        problems = chosen_problems(file=file, gym=gym, set_name=set_name, data_dir=data_dir, n=n, split=None)
    async with (
        open_verifiers({problem.kind for problem in problems}, unsafe_local=unsafe_local) as verifier,
        open_pool(pool, budget=budget, journal=journal, run=f"probe {out or ''}".strip()) as opened,
    ):
        workers: dict[str, Worker] = {member.name: member.worker for member in opened.workers}
        if replay is not None:
            recorded = load_replay(replay, dataset=replay_set)
            problems, _ = answered_by_all(problems, recorded, on_gaps=note)
            workers = dict(recorded)
        with Bars(budget) as bars:
            bars.begin("answers", len(workers) * len(problems) * repeats)
            results = await evaluate(
                workers,
                problems,
                verifier,
                out=out,
                repeats=repeats,
                on_result=bars.on_result,
                setups=setups_of_workers(workers, opened, pool=pool, replay=replay, unsafe_local=unsafe_local),
            )
        found = headroom(results, {problem.id: problem.question for problem in problems})
    if as_json:
        print(json.dumps({**asdict(found), "worth_training": found.is_worth_training, "verdict": found.verdict}))  # noqa: T201
        return
    table = Table("measure", "accuracy")
    for name, value in (
        (f"best worker, {found.best_worker}", found.best),
        (f"the worker predicted by {found.by} (cross-fitted)", found.best + found.headroom),
        ("oracle: the right worker for each problem, luck included", found.oracle),
    ):
        table.add_row(Text(name), f"{100 * value:.1f} %")
    screen = Screen()
    screen.print(table)
    screen.print(Text(found.verdict), soft_wrap=True)
