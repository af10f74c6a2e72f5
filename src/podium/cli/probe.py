"""``podium pool probe``: is there anything to conduct in a pool, before a dollar goes into training?"""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.table import Table
from rich.text import Text

from podium.cli.measure import chosen_problems
from podium.cli.progress import Bars
from podium.cli.screen import Screen, note
from podium.evaluation.evaluate import evaluate
from podium.extras import need_stats
from podium.pools.open import open_pool
from podium.pools.opened import OpenPool
from podium.pools.verifiers import open_verifiers
from podium.protocols import Worker
from podium.studies.recordings import answered_by_all
from podium.studies.setups import setups_of
from podium.tasks.datasets import load_replay_problems
from podium.types import Problem
from podium.workers.budget import Budget
from podium.workers.identity import content_hash, hashed
from podium.workers.recorded import load_replay


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeFlags:
    """The flags of ``podium pool probe`` as the user set them."""

    file: Path | None
    gym: int | None
    set_name: str | None
    data_dir: Path | None
    n: int | None
    pool: Path | None
    replay: Path | None
    replay_set: str
    repeats: int
    budget: Budget
    journal: Path | None
    out: Path | None
    unsafe_local: bool
    as_json: bool


async def probe(flags: ProbeFlags) -> None:
    """Ask every worker alone, and say what choosing among them could gain. Raises :class:`PodiumError`."""
    need_stats()
    from podium.evaluation.headroom import headroom

    problems = _problems(flags)
    async with (
        open_verifiers({problem.kind for problem in problems}, unsafe_local=flags.unsafe_local) as verifier,
        open_pool(flags.pool, budget=flags.budget, journal=flags.journal, run=f"probe {flags.out or ''}".strip()) as opened,
    ):
        workers: dict[str, Worker] = {member.name: member.worker for member in opened.workers}
        if flags.replay is not None:
            recorded = load_replay(flags.replay, dataset=flags.replay_set)
            problems, _ = answered_by_all(problems, recorded, on_gaps=note)
            workers = dict(recorded)
        # A recording says the same every time, so asking twice would tell nothing more.
        repeats = 1 if flags.replay is not None else flags.repeats
        with Bars(flags.budget) as bars:
            bars.begin("answers", len(workers) * len(problems) * repeats)
            results = await evaluate(
                workers,
                problems,
                verifier,
                out=flags.out,
                repeats=repeats,
                on_result=bars.on_result,
                setups=_setups(flags, opened, workers),
            )
        found = headroom(results, {problem.id: problem.question for problem in problems})
    if flags.as_json:
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


def _setups(flags: ProbeFlags, opened: OpenPool, workers: Iterable[str]) -> dict[str, str]:
    """What answers under each worker's name: where it changed, answers that are kept in ``--out`` are not its own."""
    if flags.replay is not None:
        recorded = content_hash(flags.replay)
        return {name: hashed(name, recorded) for name in workers}
    arms = {f"worker:{name}": name for name in workers}
    return {arms[arm]: setup for arm, setup in setups_of(arms, opened, pool=flags.pool, unsafe_local=flags.unsafe_local).items()}


def _problems(flags: ProbeFlags) -> list[Problem]:
    if flags.replay is not None:
        return load_replay_problems(flags.replay, flags.replay_set)[: flags.n]
    return chosen_problems(
        file=flags.file, gym=flags.gym, set_name=flags.set_name, data_dir=flags.data_dir, n=flags.n, split=None
    )
