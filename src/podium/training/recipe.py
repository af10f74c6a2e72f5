"""What makes two runs the same run: the fingerprint of a recipe, kept in the run's folder."""

import hashlib
from collections.abc import Callable
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Any

from podium.training.config import TrainConfig
from podium.training.warm_start import WarmStart
from podium.workers.config import read_pool
from podium.workers.pool import WorkerPool

_MADE = ("problems", "pool", "verifier", "warm_start", "concurrency", "notes")
_CALLED = ("problems", "carried_out", "written")


def fingerprint(config: TrainConfig) -> dict[str, Any]:
    """The choices of ``config`` as JSON, and hashes of its problems and its pool.

    Concurrency and notes do not change what a run comes to, so they may differ.
    """
    described = {
        name: asdict(value) if is_dataclass(value) and not isinstance(value, type) else value
        for name, value in ((name, getattr(config, name)) for name in config.__dataclass_fields__)
        if name not in _MADE
    }
    plain: dict[str, Any] = _plain(
        {
            **described,
            "verifier": type(config.verifier).__name__,
            "warm_start": None if config.warm_start is None else _described(config.warm_start),
            "problems": _hash(problem.id for problem in config.problems()),
            "pool": _names(config.pool),
        }
    )
    return plain


def _described(warm: WarmStart) -> dict[str, Any]:
    plain = {name: getattr(warm, name) for name in warm.__dataclass_fields__ if name not in _CALLED}
    again = warm.again if warm.carried_out else 0.0
    return {**plain, "again": again, "problems": _hash(problem.id for problem in warm.problems())}


def _names(pool: Callable[[], WorkerPool] | Path) -> list[str]:
    return [worker.name for worker in read_pool(pool).workers] if isinstance(pool, Path) else list(pool().names)


def _plain(value: Any) -> Any:
    """``value`` as it comes back from a JSON file: tuples are lists, paths are texts."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, Path):
        return str(value)
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value


def _hash(parts: Any) -> str:
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()[:16]
