"""What a journal has paid, under the names that people gave.

A journal knows a worker by what answers (its model and settings), because a name tells nothing of that. The pool file knows its
name. Without the file a model stands for its worker, and where two rows of a run would be called the same, what tells them apart.
"""

import json
import os
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from podium.acting.pool_file import read_pool
from podium.errors import ConfigError
from podium.types import Usage
from podium.workers.connections import Connections
from podium.workers.journal import Journal
from podium.workers.kinds import build_worker
from podium.workers.ledger import LedgerRow
from podium.workflow.draw import dollars


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedRow:
    """A row of the ledger. Example: ``NamedRow(name="strong", row=LedgerRow(...))``."""

    name: str
    """The worker's name in the pool file, else its model."""
    row: LedgerRow

    @property
    def uncertain(self) -> str:
        """What calls without a reply, or without a cost, may have used at most, in words; "" for nothing."""
        row = self.row
        if row.uncertain_usd == 0 and row.uncertain_tokens == 0:
            return ""
        tokens = "unknown" if row.uncertain_tokens is None else row.uncertain_tokens
        return f" (at most {dollars(Usage(cost_usd=row.uncertain_usd))}, {tokens} tokens)"


async def read_ledger(journal: Path, pool: Path | None = None) -> list[NamedRow]:
    """What ``journal`` has paid, per run and worker; ``pool`` is the file whose names are wanted.

    Raises :class:`ConfigError` where there is no journal, and for a pool file that can not be read.
    """
    if not journal.is_file():
        raise ConfigError(f"there is no journal at {journal}")
    names = {} if pool is None else await _names(pool)
    with Journal(journal, mode="replay") as opened:
        rows = [replace(row, run=_without_password(row.run)) for row in await opened.ledger()]
    short = [names.get(row.worker) or _model(row.worker) for row in rows]
    often = Counter(zip((row.run for row in rows), short, strict=True))
    return [
        NamedRow(name=name if often[row.run, name] == 1 or row.worker in names else f"{name} {_settings(row.worker)}", row=row)
        for name, row in zip(short, rows, strict=True)
    ]


async def _names(pool: Path) -> dict[str, str]:
    """Identity of each worker of the file -> its name; of workers that answer alike, all their names."""
    found: dict[str, list[str]] = {}
    async with Connections() as connections:
        for table in read_pool(pool).workers:
            key = getattr(table, "key_env", None)
            # A worker that is only named is asked nothing, so its key need not be set.
            environ = os.environ if key is None else {**os.environ, key: os.environ.get(key) or "none"}
            found.setdefault(build_worker(table, environ, connections).identity, []).append(table.name)
    return {identity: " or ".join(names) for identity, names in found.items()}


def _without_password(run: str) -> str:
    """A run's name; servers of earlier versions named theirs by the database's whole URL."""
    return re.sub(r"^(serve [\w+]+://)(?:.*@)?([^?]*).*$", r"\1\2", run, flags=re.DOTALL)


def _parts(identity: str) -> Mapping[str, Any]:
    """What an identity says; {} where it is no JSON object."""
    try:
        parts = json.loads(identity)
    except ValueError:
        return {}
    return parts if isinstance(parts, dict) else {}


def _model(identity: str) -> str:
    """The model in a chat worker's identity; any other identity as it is."""
    parts = _parts(identity)
    return f"{parts['provider']}:{parts['model']}" if {"provider", "model"} <= parts.keys() else identity


def _settings(identity: str) -> str:
    """What tells a chat worker from another one of the same model."""
    parts = _parts(identity)
    told = {**(parts.get("sampling") or {}), **(parts.get("extra_body") or {}), "at": parts.get("base_url", "")}
    return "(" + ", ".join(f"{name} {value}" for name, value in told.items()) + ")"
