"""``podium train``: a recipe, a folder, and a live view."""

import asyncio
import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.text import Text

from podium.cli.screen import Screen
from podium.cli.training_view import TrainingView
from podium.policies.local import use_threads
from podium.training import run
from podium.training.config import TrainConfig
from podium.workers.budget import Budget


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainFlags:
    """The flags of ``podium train`` as the user set them."""

    recipe: str
    out: Path | None
    seeds: int
    first_seed: int
    max_usd: float | None
    only_estimate: bool
    only_warm_start: bool
    threads: int
    minutes: float | None
    as_json: bool


def train(flags: TrainFlags) -> None:
    """Carry the command out. Raises :class:`PodiumError`."""
    # One thread a process unless asked: on a busy machine more threads wait for each other.
    use_threads(flags.threads)
    for seed in range(flags.first_seed, flags.first_seed + flags.seeds):
        config = run.load_recipe(flags.recipe, seed)
        if flags.only_estimate:
            _show_estimate(config, as_json=flags.as_json)
            return
        asyncio.run(_train(config, (flags.out or Path("runs") / config.name) / f"seed-{seed}", flags))


async def _train(config: TrainConfig, folder: Path, flags: TrainFlags) -> None:
    screen = Screen(stderr=flags.as_json)
    started = time.perf_counter()
    with TrainingView(screen, config) as view:
        if flags.only_warm_start:
            await asyncio.to_thread(run.start_policy, config, folder, view.show_warm_start)
        else:
            budget = Budget(flags.max_usd, None, None if flags.minutes is None else 60 * flags.minutes)
            await run.train(config, folder, budget=budget, on_iteration=view.show, on_warm_start=view.show_warm_start)
    if flags.only_warm_start:
        screen.print(Text(f"the start policy is in {folder / 'start'}"))
        return
    if not (folder / "metrics.jsonl").exists():
        return  # another process of the same run leads
    seconds = time.perf_counter() - started
    where = f"the policy is in {folder / 'policy'}, its curves in {folder / 'curves.svg'}"
    screen.print(Text(f"trained in {seconds / 60:.1f} minutes; {where}"))
    if flags.as_json:
        last: dict[str, Any] = json.loads((folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines()[-1])
        sys.stdout.write(json.dumps({"policy": str(folder / "policy"), "seconds": seconds, "last": last}) + "\n")


def _show_estimate(config: TrainConfig, *, as_json: bool) -> None:
    found = asyncio.run(run.estimate_run(config))
    if as_json:
        sys.stdout.write(json.dumps(found.as_json()) + "\n")
    else:
        Screen().print(Text(found.as_text()))
