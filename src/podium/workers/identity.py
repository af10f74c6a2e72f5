"""What answers under a name, as a hash: kept beside results, so that a changed worker does not inherit another's answers.

Settings that change how a call is made but not what comes back (keys, prices, limits, retries, time-outs) do not count.
"""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # a hash needs none of what reads a pool file
    from podium.workers.config import PoolConfig
    from podium.workers.table import WorkerConfig

_CARD = frozenset({"about", "skills"})


def hashed(*parts: Any) -> str:
    """A short hash of JSON values. Example: ``hashed("solo:gpt", {"rounds": 1})``."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()[:16]


def content_hash(*paths: Path) -> str:
    """A hash of the files at ``paths`` and, of folders, of all files in them with their places there.

    Compiled Python is left out. Raises OSError where a file can not be read.
    """
    found = hashlib.sha256()
    for path in paths:
        files = [path] if path.is_file() else sorted(file for file in path.rglob("*") if file.is_file())
        for file in files:
            if "__pycache__" not in file.parts:
                place = "" if file == path else file.relative_to(path).as_posix()
                with file.open("rb") as content:
                    found.update(f"{place}\0{hashlib.file_digest(content, 'sha256').hexdigest()}\n".encode())
    return found.hexdigest()[:16]


def worker_identities(config: "PoolConfig") -> dict[str, str]:
    """Name of each worker -> what tells apart who answers under it: model, address, settings, and the same of its fallbacks."""
    workers = {worker.name: worker for worker in config.workers}
    return {name: hashed(_chain(worker, workers)) for name, worker in workers.items()}


def pool_identity(config: "PoolConfig") -> str:
    """What tells apart what a policy over the whole pool sees and calls: the workers in order, their cards, the conductor."""
    identities = worker_identities(config)
    cards = [worker.model_dump(mode="json", include=set(_CARD)) for worker in config.workers]
    conductor = None if config.conductor is None else config.conductor.model_dump(mode="json")
    return hashed(list(identities.items()), cards, conductor)


def _chain(worker: "WorkerConfig", workers: "dict[str, WorkerConfig]") -> Sequence[Any]:
    chain, seen = list[Any](), set[str]()
    name: str | None = worker.name
    while name is not None and name not in seen and name in workers:
        seen.add(name)
        # The name itself tells nothing of who answers.
        chain.append(workers[name].answering())
        name = workers[name].fallback
    return chain
