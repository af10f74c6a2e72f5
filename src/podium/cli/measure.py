"""``podium evaluate``: Workers x Problems -> a table, with faults apart; one JSON line per answer, resumable."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from podium.cli.progress import Bars
from podium.cli.screen import Screen
from podium.errors import ConfigError
from podium.evaluation.evaluate import Result, evaluate
from podium.evaluation.metrics import summarise
from podium.evaluation.report import as_object, markdown_comparisons, markdown_table, terminal_comparisons, terminal_table
from podium.extras import need_stats
from podium.gym.world import SPLITS, World
from podium.pools.open import open_pool
from podium.pools.opened import OpenPool
from podium.pools.problems import ProblemSource
from podium.pools.verifiers import open_verifiers
from podium.studies.arms import expanded, make_arm
from podium.studies.setups import setups_of
from podium.types import Problem
from podium.workers.budget import Budget

if TYPE_CHECKING:
    from podium.evaluation.compare import Comparison


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluateFlags:
    """The flags of ``podium evaluate`` as the user set them."""

    file: Path | None
    gym: int | None
    set_name: str | None
    data_dir: Path | None
    n: int | None
    split: str | None
    unsafe_local: bool
    pool: Path | None
    arms: tuple[str, ...]
    budget: Budget
    journal: Path | None
    out: Path | None
    repeats: int
    concurrency: int
    rounds: int
    as_json: bool
    as_markdown: bool
    compare: str | None


async def measure(flags: EvaluateFlags) -> None:
    """Carry the command out. Raises :class:`PodiumError`."""
    if flags.compare is not None:
        need_stats()
    problems = chosen_problems(
        file=flags.file, gym=flags.gym, set_name=flags.set_name, data_dir=flags.data_dir, n=flags.n, split=flags.split
    )
    async with (
        open_verifiers({problem.kind for problem in problems}, unsafe_local=flags.unsafe_local) as verifier,
        open_pool(flags.pool, budget=flags.budget, journal=flags.journal, run=f"evaluate {flags.out or ''}".strip()) as opened,
    ):
        names = expanded(
            (*(flags.arms or default_arms(opened)), *([flags.compare] if flags.compare else [])), opened.workers.names
        )
        arms = {name: make_arm(name, opened, rounds=flags.rounds) for name in names}
        with Bars(flags.budget) as bars:
            bars.begin("answers", len(arms) * len(problems) * flags.repeats)
            results = await evaluate(
                arms,
                problems,
                verifier,
                out=flags.out,
                repeats=flags.repeats,
                concurrency=flags.concurrency,
                on_result=bars.on_result,
                setups=setups_of(names, opened, pool=flags.pool, rounds=flags.rounds, unsafe_local=flags.unsafe_local),
            )
    rows, comparisons = summarise(results), _compared(results, flags.compare, names)
    if flags.as_json:
        more = {"comparisons": [asdict(each) for each in comparisons]} if comparisons else {}
        print(json.dumps(as_object(rows) | more | {"paid_usd": flags.budget.paid.cost_usd}))  # noqa: T201 - the command's output
    elif flags.as_markdown:
        print("\n\n".join([markdown_table(rows), *([markdown_comparisons(comparisons)] if comparisons else [])]))  # noqa: T201
    else:
        Screen().print(terminal_table(rows))
        if comparisons:
            Screen().print(terminal_comparisons(comparisons))


def _compared(results: Sequence[Result], arm: str | None, names: Sequence[str]) -> "list[Comparison]":
    if arm is None:
        return []
    from podium.evaluation.compare import comparable, compare

    return compare(results, arm, comparable(results, arm, [name for name in names if name != arm]))


def default_arms(opened: OpenPool) -> tuple[str, ...]:
    """Every worker alone, and the policies that need no choice."""
    alone = tuple(f"worker:{name}" for name in opened.workers.names)
    return tuple(dict.fromkeys((*alone, "mixture", opened.default_policy, *opened.arms)))


def chosen_problems(
    *, file: Path | None, gym: int | None, set_name: str | None, data_dir: Path | None, n: int | None, split: str | None
) -> list[Problem]:
    """The problems that are asked for. Raises :class:`ConfigError`."""
    if [file, gym, set_name].count(None) != 2:
        raise ConfigError("name one of: --file problems.jsonl, --gym 100 (gym problems), --set math500 (a benchmark)")
    if gym is not None:
        split = split or "held_out_numbers"
        if split not in SPLITS:
            raise ConfigError(f"there is no split {split!r}; the gym has {', '.join(SPLITS)}")
        return World().problems(split=split, n=gym)
    return ProblemSource(file=file, set=set_name, data_dir=data_dir, n=n, split=split).problems()
