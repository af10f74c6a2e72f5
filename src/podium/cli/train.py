"""``podium train``: a recipe, a folder, and a live view; interrupted at any moment, it goes on where it was."""

import asyncio
import importlib.util
import json
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from podium.cli.extras import need_trl
from podium.cli.screen import Screen
from podium.cli.training_view import TrainingView
from podium.cli.verifying import open_verifiers
from podium.cli.wiring import open_team
from podium.errors import ConfigError, PodiumError
from podium.policies.local import LocalPolicy, use_threads
from podium.training.budgeted import budgeted
from podium.training.checkpoint import RunFolder
from podium.training.config import TrainConfig
from podium.training.curves import draw_curves
from podium.training.engine import ReferenceEngine
from podium.training.estimate import estimate
from podium.training.imitation import warm_started
from podium.training.monitor import Iteration
from podium.training.recipe import fingerprint
from podium.training.rollout import RolloutGroup
from podium.training.trainer import Engine, Trainer, Untrained
from podium.training.warm_start import WarmStart
from podium.workers.budget import Budget
from podium.workers.pool import WorkerPool
from podium.workflow.language import Language


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
        config = load_recipe(flags.recipe, seed)
        if flags.only_estimate:
            asyncio.run(_show_estimate(config, flags))
            return
        folder = (flags.out or Path("runs") / config.name) / f"seed-{seed}"
        if config.pretrained is None:
            asyncio.run(_run(config, folder, flags, None))
            continue
        need_trl()
        from podium.training.trl import pretrained_engine

        with pretrained_engine(config, config.pretrained) as engine:
            if engine.leads:
                asyncio.run(_run(config, folder, flags, engine))
            else:
                engine.follow()


def load_recipe(name: str, seed: int) -> TrainConfig:
    """The recipe ``FILE.py`` or ``FILE.py:FUNCTION`` for ``seed``. Raises :class:`ConfigError` where it can not be used."""
    file, _, function = name.partition(":")
    path = Path(file)
    if not path.is_file():
        raise ConfigError(f"there is no recipe {path}; a recipe is a Python file with a function config(seed), see recipes/")
    spec = importlib.util.spec_from_file_location(f"recipe_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise ConfigError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
        made = getattr(module, function or "config")(seed)
    except PodiumError:
        raise
    except Exception as error:  # the recipe is the user's own code: whatever it raises is said with its name
        raise ConfigError(f"the recipe {name} fails: {type(error).__name__}: {error}") from error
    if not isinstance(made, TrainConfig):
        raise ConfigError(f"{name} returns a {type(made).__name__}, not a TrainConfig")
    return made


async def _run(config: TrainConfig, path: Path, flags: TrainFlags, engine: Engine | None) -> None:
    started = time.perf_counter()
    screen = Screen(stderr=flags.as_json)
    if flags.only_warm_start:
        await asyncio.to_thread(_start, config, RunFolder(path, fingerprint(config)), screen)
        screen.print(Text(f"the start policy is in {path / 'start'}"))
        return
    budget = Budget(flags.max_usd, None, None if flags.minutes is None else 60 * flags.minutes)
    await train_in(path, config, budget, screen, engine)
    seconds = time.perf_counter() - started
    screen.print(
        Text(f"trained in {seconds / 60:.1f} minutes; the policy is in {path / 'policy'}, its curves in {path / 'curves.svg'}")
    )
    if flags.as_json:
        last: dict[str, Any] = json.loads((path / "metrics.jsonl").read_text(encoding="utf-8").splitlines()[-1])
        sys.stdout.write(json.dumps({"policy": str(path / "policy"), "seconds": seconds, "last": last}) + "\n")


async def train_in(path: Path, config: TrainConfig, budget: Budget, screen: Console, engine: Engine | None = None) -> None:
    """Train in the folder ``path``, or go on there, with a view on ``screen``; ``path/policy`` is the trained policy.

    Without ``engine`` the reference engine learns, from the recipe's start. Raises :class:`BudgetExceeded` where a cap was
    reached: the policy so far is in ``path/policy`` then, and the run can go on.
    """
    folder = RunFolder(path, fingerprint(config))
    untrained: Untrained
    before: Untrained
    if engine is None:
        start = await asyncio.to_thread(_start, config, folder, screen)
        engine = ReferenceEngine(start, config.learner, iterations=config.iterations)
        before = untrained = ReferenceEngine(start, config.learner, iterations=config.iterations)
        if config.drafts is not None:
            drafting = LocalPolicy.load(config.drafts, temperature=1.0, seed=0)
            untrained = ReferenceEngine(drafting, config.learner, iterations=config.iterations)
    elif config.exploration.opened or config.exploration.anchor:
        raise ConfigError(
            "openings and drafts come from a second, untrained model, which this engine does not hold: opened=0.0, anchor=0.0"
        )
    else:
        before = untrained = engine
    try:
        async with AsyncExitStack() as stack:
            if config.verifier is None:
                kinds = {problem.kind for problem in config.problems()}
                config = replace(config, verifier=await stack.enter_async_context(open_verifiers(kinds)))
            pool = await stack.enter_async_context(_pool(config, budget, path / "calls.db"))
            view = stack.enter_context(TrainingView(screen, config))

            def on_iteration(seen: Iteration, groups: Sequence[RolloutGroup]) -> None:
                view.show(seen, groups)
                if seen.iteration % 10 == 9:
                    draw_curves(path / "metrics.jsonl", path / "curves.svg")

            await Trainer(config, engine, untrained, pool, folder, on_iteration=on_iteration, start=before).run()
    finally:
        if folder.done():
            engine.save(path / "policy", version=f"{config.name}, seed {config.seed}, {folder.done()} iterations")
            draw_curves(path / "metrics.jsonl", path / "curves.svg")


@asynccontextmanager
async def _pool(config: TrainConfig, budget: Budget, journal: Path) -> AsyncIterator[WorkerPool]:
    """The recipe's workers under budget and journal; those of a pool file with their limits and retries as well."""
    if isinstance(config.pool, Path):
        async with open_team(config.pool, budget, journal, run=config.name) as team:
            yield team.pool
    else:
        async with budgeted(config.pool(), budget, journal, run=config.name) as pool:
            yield pool


def _start(config: TrainConfig, folder: RunFolder, screen: Console) -> LocalPolicy:
    """The start policy: loaded where it was made before, else made now."""
    path = folder.path / "start"
    if not (path / "podium.json").exists():
        if config.start is not None:
            LocalPolicy.load(config.start).save(path)
        elif config.warm_start is not None:
            _warm_started(config.warm_start, config.language, screen).save(path)
        else:
            raise ConfigError("the recipe names no start: a warm start, a folder with a policy, or a pretrained model")
    return LocalPolicy.load(path, temperature=1.0, seed=0)


def _warm_started(warm: WarmStart, language: Language, screen: Console) -> LocalPolicy:
    with screen.status("learning to write workflows ...") as status:

        def on_step(step: int, loss: float) -> None:
            if step % 10 == 0:
                status.update(f"learning to write workflows: {step} of {warm.lessons + warm.steps}, {loss:.3f} nats per token")

        return warm_started(warm, language, on_step=on_step)


async def _show_estimate(config: TrainConfig, flags: TrainFlags) -> None:
    if isinstance(config.pool, Path):
        async with open_team(config.pool, Budget(), None, run=config.name) as team:
            found = estimate(config, team.pool.cards)
    else:
        found = estimate(config, config.pool().cards)
    if flags.as_json:
        sys.stdout.write(json.dumps(found.as_json()) + "\n")
    else:
        Screen().print(Text(found.as_text()))
