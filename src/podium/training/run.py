"""``train``: a recipe and a folder -> a trained policy. Interrupted at any moment, it goes on where it was."""

import asyncio
import importlib.util
import threading
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path

from podium.errors import ConfigError, PodiumError
from podium.extras import need
from podium.policies.local import LocalPolicy
from podium.pools.open import open_pool
from podium.pools.verifiers import open_verifiers
from podium.training.checkpoint import RunFolder
from podium.training.config import TrainConfig
from podium.training.curves import draw_curves
from podium.training.engine import ReferenceEngine
from podium.training.estimate import Estimate, estimate
from podium.training.imitation import warm_started
from podium.training.monitor import Iteration
from podium.training.recipe import fingerprint
from podium.training.rollout import RolloutGroup
from podium.training.trainer import Engine, Trainer, Untrained
from podium.workers.budget import Budget

OnIteration = Callable[[Iteration, Sequence[RolloutGroup]], None]
"""Is told the figures of an iteration and its rollouts."""
OnStep = Callable[[int, float], None]
"""Is told a step of the warm start and its loss in nats per token."""


async def train(
    config: TrainConfig | str,
    out: Path | str,
    *,
    budget: Budget | None = None,
    on_iteration: OnIteration | None = None,
    on_warm_start: OnStep | None = None,
) -> Path:
    """Train in the folder ``out``, or go on there, and return the folder of the trained policy, ``out/policy``.

    ``config`` is a run, or a recipe as on the command line (``"recipes/gym.py"``, of seed 0). Raises :class:`ConfigError` for a
    recipe that can not be used, and :class:`BudgetExceeded` where a cap was reached: the policy so far is in ``out/policy`` then,
    and the run can go on.
    """
    config = config if isinstance(config, TrainConfig) else load_recipe(config, 0)
    path, budget = Path(out), Budget() if budget is None else budget
    if config.pretrained is None:
        await _train_small(path, config, budget, on_iteration, on_warm_start)
        return path / "policy"
    need("trl")
    from podium.training.trl_engine import pretrained_engine  # TRL, which only published models need

    with pretrained_engine(config, config.pretrained) as engine:
        if not engine.leads:
            engine.follow()
            return path / "policy"
        if config.exploration.forced_prefix.start or config.exploration.draft_sft_weight.start or not config.reinforced:
            raise ConfigError(
                "forced prefixes and drafts come from a second, untrained model, which this engine does not hold: leave out "
                "forced_prefix and draft_sft_weight, and let rollouts be reinforced"
            )
        await _run(path, config, budget, engine, engine, engine, on_iteration)
    return path / "policy"


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
        is_renamed = isinstance(error, ImportError) or "unexpected keyword argument" in str(error)
        hint = " (names changed in 0.2: see docs/changes_0_2.md)" if is_renamed else ""
        raise ConfigError(f"the recipe {name} fails: {type(error).__name__}: {error}{hint}") from error
    if not isinstance(made, TrainConfig):
        raise ConfigError(f"{name} returns a {type(made).__name__}, not a TrainConfig")
    return made


async def estimate_run(config: TrainConfig) -> Estimate:
    """What the run would take; no worker is asked."""
    if isinstance(config.pool, Path):
        async with open_pool(config.pool, run=config.name) as pool:
            return estimate(config, pool.workers.cards)
    workers = config.pool()
    # By where a worker's class is from, so that nothing that wraps one passes for free.
    simulated = all(type(member.worker).__module__.startswith("podium.gym.") for member in workers)
    return replace(estimate(config, workers.cards), is_simulated=simulated)


def start_policy(config: TrainConfig, path: Path, on_step: OnStep | None = None) -> LocalPolicy:
    """The policy that the run in ``path`` starts from: loaded where it was made before, else made now and kept there.

    Raises :class:`ConfigError` where the recipe names none.
    """
    start = RunFolder(path, fingerprint(config)).path / "start"
    if not (start / "podium.json").exists():
        if config.start is not None:
            LocalPolicy.load(config.start).save(start)
        elif config.warm_start is not None:
            warm_started(config.warm_start, config.syntax, on_step=on_step).save(start)
        else:
            raise ConfigError("the recipe names no start: a warm start, a folder with a policy, or a pretrained model")
    return LocalPolicy.load(start, temperature=1.0, seed=0)


async def _train_small(
    path: Path, config: TrainConfig, budget: Budget, on_iteration: OnIteration | None, on_warm_start: OnStep | None
) -> None:
    """The reference engine learns, from the recipe's start."""
    is_left = threading.Event()

    def told(step: int, loss: float) -> None:
        if is_left.is_set():  # a thread can not be cancelled, and the process would wait for it
            raise asyncio.CancelledError
        if on_warm_start is not None:
            on_warm_start(step, loss)

    try:
        start = await asyncio.to_thread(start_policy, config, path, told)
    finally:
        is_left.set()
    engine = ReferenceEngine(start, config.learner, iterations=config.iterations)
    before: Untrained = ReferenceEngine(start, config.learner, iterations=config.iterations)
    untrained = before
    if config.drafts is not None:
        drafting = LocalPolicy.load(config.drafts, temperature=1.0, seed=0)
        untrained = ReferenceEngine(drafting, config.learner, iterations=config.iterations)
    await _run(path, config, budget, engine, untrained, before, on_iteration)


async def _run(
    path: Path,
    config: TrainConfig,
    budget: Budget,
    engine: Engine,
    untrained: Untrained,
    before: Untrained,
    on_iteration: OnIteration | None,
) -> None:
    folder = RunFolder(path, fingerprint(config))

    def report_iteration(seen: Iteration, groups: Sequence[RolloutGroup]) -> None:
        if on_iteration is not None:
            on_iteration(seen, groups)
        if seen.iteration % 10 == 9:
            draw_curves(path / "metrics.jsonl", path / "curves.svg")

    try:
        async with AsyncExitStack() as stack:
            if config.verifier is None:
                kinds = {problem.kind for problem in config.problems()}
                config = replace(config, verifier=await stack.enter_async_context(open_verifiers(kinds)))
            workers = config.pool if isinstance(config.pool, Path) else list(config.pool())
            opened = open_pool(workers, budget=budget, journal=path / "calls.db", run=config.name)
            pool = await stack.enter_async_context(opened)
            await Trainer(config, engine, untrained, pool.workers, folder, on_iteration=report_iteration, start=before).run()
    finally:
        if folder.done():
            engine.save(path / "policy", version=f"{config.name}, seed {config.seed}, {folder.done()} iterations")
            draw_curves(path / "metrics.jsonl", path / "curves.svg")
