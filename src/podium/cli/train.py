"""``podium train``: a recipe, a folder, and a live view."""

import asyncio
import json
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.text import Text

from podium.cli.screen import Screen, note

if TYPE_CHECKING:  # torch takes seconds to load, and the first thing to do is to say so
    from podium.training.config import TrainConfig
    from podium.workers.budget import Budget


def train(
    *,
    recipe: str,
    out: Path | None,
    seeds: int,
    first_seed: int,
    max_usd: float | None,
    minutes: float | None,
    estimate: bool,
    warm_start: bool,
    threads: int,
    as_json: bool,
) -> None:
    """Carry the command out. Raises :class:`PodiumError`."""
    note(f"reading {recipe}; its libraries take some seconds to load ...")
    from podium.policies.local import use_threads
    from podium.training import run

    # One thread a process unless asked: on a busy machine more threads wait for each other.
    use_threads(threads)
    for seed in range(first_seed, first_seed + seeds):
        config = run.load_recipe(recipe, seed)
        if estimate:
            _show_estimate(config, as_json=as_json)
            return
        folder = (out or Path("runs") / config.name) / f"seed-{seed}"
        note(f"{config.name}, seed {seed}, in {folder}: {config.in_words}")
        if warm_start:
            _make_start(config, folder, Screen(stderr=as_json))
        else:
            from podium.workers.budget import Budget

            budget = Budget(max_usd, None, None if minutes is None else 60 * minutes)
            asyncio.run(_train(config, folder, budget, as_json=as_json))


def _make_start(config: "TrainConfig", folder: Path, screen: Screen) -> None:
    from podium.cli.training_view import TrainingView
    from podium.training import run

    with TrainingView(screen, config) as view:
        run.start_policy(config, folder, view.show_warm_start)
    screen.print(Text(f"the start policy is in {folder / 'start'}"))


async def _train(config: "TrainConfig", folder: Path, budget: "Budget", *, as_json: bool) -> None:
    from podium.cli.training_view import TrainingView
    from podium.training import run

    screen = Screen(stderr=as_json)
    started = time.perf_counter()
    with TrainingView(screen, config) as view:
        await run.train(config, folder, budget=budget, on_iteration=view.show, on_warm_start=view.show_warm_start)
    if not (folder / "metrics.jsonl").exists():
        return  # another process of the same run leads
    seconds = time.perf_counter() - started
    where = f"the policy is in {folder / 'policy'}, its curves in {folder / 'curves.svg'}"
    screen.print(Text(f"trained in {seconds / 60:.1f} minutes; {where}"))
    if as_json:
        last: dict[str, Any] = json.loads((folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines()[-1])
        sys.stdout.write(json.dumps({"policy": str(folder / "policy"), "seconds": seconds, "last": last}) + "\n")


def _show_estimate(config: "TrainConfig", *, as_json: bool) -> None:
    from podium.training import run

    found = asyncio.run(run.estimate_run(config))
    if as_json:
        sys.stdout.write(json.dumps(asdict(found)) + "\n")
    else:
        Screen().print(Text(found.as_text()))
