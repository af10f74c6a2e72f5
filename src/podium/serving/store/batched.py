"""Rows that are wanted while others are being written go into one transaction: a commit is what a write costs."""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from sqlalchemy import Connection

from podium.serving.store.database import Database

Rows = Sequence[dict[str, Any]]
MOST = 200
"""Rows of one transaction."""


class Batched:
    """Writes rows with ``write(connection, rows=...)``. Example: ``await Batched(database, write).add({"id": "run_1"})``."""

    def __init__(self, database: Database, write: Callable[..., None]) -> None:
        self._database = database
        self._write = write
        self._waiting: list[tuple[dict[str, Any], asyncio.Future[None]]] = []
        self._writing: asyncio.Task[None] | None = None

    async def add(self, row: dict[str, Any]) -> None:
        """Returns once ``row`` is on disk. Raises what the write of its batch raised."""
        written: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((row, written))
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write_waiting())
        await written

    async def _write_waiting(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting[:MOST], self._waiting[MOST:]
            rows = [row for row, _ in batch]
            work: Callable[[Connection], None] = partial(self._write, rows=rows)
            try:
                await self._database.run(work)
            except Exception as error:  # handed to everybody whose row it was
                for _, written in batch:
                    if not written.done():
                        written.set_exception(error)
            else:
                for _, written in batch:
                    if not written.done():  # a caller who left meanwhile waits no more
                        written.set_result(None)
