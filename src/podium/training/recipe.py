"""What makes two runs the same run: the fingerprint of a recipe, kept in the run's folder."""

import hashlib
from collections.abc import Callable
from dataclasses import asdict, is_dataclass
from functools import partial
from pathlib import Path
from typing import Any

import podium.gym
from podium.evaluation.registered_identity import registered_identity
from podium.evaluation.verifier_identity import verifier_identity
from podium.training.config import TrainConfig
from podium.training.questions import questions_of
from podium.training.warm_start import WarmStart
from podium.workers.identity import content_hash, hashed, pool_identity
from podium.workers.pool import WorkerPool

_MADE = ("problems", "pool", "verifier", "warm_start", "held_reading", "concurrency", "notes")
_WEIGHTS = ("start", "drafts")
_CALLED = ("problems", "also_read", "carried_out")


def fingerprint(config: TrainConfig) -> dict[str, Any]:
    """The choices of ``config`` as JSON, with hashes of its problems, of who answers in its pool, and of its first weights.

    Concurrency and notes do not change what a run comes to, so they may differ.
    """
    described = {
        name: asdict(value) if is_dataclass(value) and not isinstance(value, type) else value
        for name, value in ((name, getattr(config, name)) for name in config.__dataclass_fields__)
        if name not in _MADE
    }
    # Left out where there is nothing to hold, and so below: a run of before there was such a setting can go on.
    held = questions_of("held_reading", config.held_reading)
    plain: dict[str, Any] = _plain(
        {
            **described,
            "verifier": _judge(config),
            "warm_start": None if config.warm_start is None else _described(config.warm_start),
            "problems": _hash(problem.id for problem in config.problems()),
            **({"held_reading": _hash(problem.id for problem in held)} if held else {}),
            "pool": _pool(config.pool),
            "weights": {name: content_hash(path) for name in _WEIGHTS if (path := getattr(config, name)) is not None},
        }
    )
    return plain


def _described(warm: WarmStart) -> dict[str, Any]:
    plain = {name: getattr(warm, name) for name in warm.__dataclass_fields__ if name not in _CALLED}
    again = warm.again if warm.carried_out else 0.0
    plain |= {"again": again, "problems": _hash(problem.id for problem in warm.problems())}
    if also_read := questions_of("WarmStart.also_read", warm.also_read):
        made_from = [repr(warm.template(problem)) if warm.mixed else "" for problem in also_read]
        plain["also_read"] = _hash([*(problem.id for problem in also_read), *made_from])
    return plain


def _pool(pool: Callable[[], WorkerPool] | Path) -> dict[str, Any]:
    """The workers' names, and what answers under them: their settings, their recordings, or the gym."""
    if isinstance(pool, Path):
        from podium.acting.pool_file import read_pool

        config = read_pool(pool)
        return {"names": [worker.name for worker in config.workers], "identity": pool_identity(config)}
    made = pool()
    recorded = [getattr(member.worker, "identity", "") for member in made]
    return {"names": list(made.names), "identity": hashed(recorded, content_hash(Path(podium.gym.__file__).parent))}


def _judge(config: TrainConfig) -> dict[str, str]:
    """Kind of problem -> what judges it."""
    kinds = sorted({problem.kind for problem in config.problems()})
    verifier = config.verifier
    return {kind: registered_identity(kind) if verifier is None else verifier_identity(verifier, kind) for kind in kinds}


def _plain(value: Any) -> Any:
    """``value`` as it comes back from a JSON file: tuples are lists, paths are texts, functions are their names."""
    if is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, partial):
        return [_plain(value.func), _plain(value.args), _plain(value.keywords)]
    if callable(value) and not hasattr(value, "__qualname__"):
        value = type(value)
    if callable(value):
        return f"{value.__module__}.{value.__qualname__}"
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value


def _hash(parts: Any) -> str:
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()[:16]
