"""What makes two runs the same run: the fingerprint of a recipe, kept in the run's folder."""

import hashlib
from dataclasses import asdict, is_dataclass
from typing import Any

from podium.training.config import TrainConfig

_MADE = ("problems", "pool", "verifier", "warm_start", "start", "concurrency", "notes")
_CALLED = ("problems", "carried_out")


def fingerprint(config: TrainConfig) -> dict[str, Any]:
    """The choices of ``config`` as JSON, and hashes of its problems and its pool.

    Concurrency and notes do not change what a run comes to, so they may differ.
    """
    described = {
        name: asdict(value) if is_dataclass(value) and not isinstance(value, type) else value
        for name, value in ((name, getattr(config, name)) for name in config.__dataclass_fields__)
        if name not in _MADE
    }
    warm = {name: getattr(config.warm_start, name) for name in config.warm_start.__dataclass_fields__ if name not in _CALLED}
    plain: dict[str, Any] = _plain(
        {
            **described,
            "start": None if config.start is None else str(config.start),
            "verifier": type(config.verifier).__name__,
            "warm_start": {
                **warm,
                "again": warm["again"] if config.warm_start.carried_out else 0.0,
                "problems": _hash(problem.id for problem in config.warm_start.problems()),
            },
            "problems": _hash(problem.id for problem in config.problems()),
            "pool": list(config.pool().names),
        }
    )
    return plain


def _plain(value: Any) -> Any:
    """``value`` as it comes back from a JSON file: tuples are lists."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value


def _hash(parts: Any) -> str:
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()[:16]
