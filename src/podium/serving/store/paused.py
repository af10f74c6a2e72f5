"""Runs that wait for their client: a worker called the client's tools, and the results come with a later request.

A pause is found by exactly the tool calls it waits for and by the key that asked. Both go into the row's id as a hash,
so another key's pause can not even be named. A pause holds content also of keys that store none, until its step has gone on or
it expires.
"""

import hashlib
import json
from collections.abc import Collection
from datetime import datetime

from sqlalchemy import delete, select

from podium.serving.store.clock import Clock, to_us, utc_now
from podium.serving.store.database import Database
from podium.serving.store.putting import put
from podium.serving.store.tables import paused


class Paused:
    """The paused runs of a server."""

    def __init__(self, database: Database, *, now: Clock = utc_now) -> None:
        self._database = database
        self._now = now

    async def keep(self, tool_call_ids: Collection[str], key: str, state: str, expires: datetime) -> None:
        """Keep ``state`` until ``expires``, instead of an earlier one for the same calls.

        Raises ValueError without any tool call.
        """
        # As JSON, because PostgreSQL takes no NUL and no lone surrogate, and the state holds what workers wrote.
        row = {"id": _id(tool_call_ids, key), "state": json.dumps(state), "expires_us": to_us(expires)}
        await self._database.run(lambda connection: put(connection, paused, [row]))

    async def get(self, tool_call_ids: Collection[str], key: str) -> str | None:
        """The state kept for exactly these calls, in any order; None where there is none.

        It stays until it is dropped: a replica that dies while it goes on with a step leaves it for another one.
        """
        wanted = select(paused.c.state).where(paused.c.id == _id(tool_call_ids, key), paused.c.expires_us > to_us(self._now()))
        found = await self._database.read(lambda connection: connection.execute(wanted).scalar())
        return None if found is None else _text(found)

    async def drop(self, tool_call_ids: Collection[str], key: str) -> None:
        """The step has gone on. Twice is harmless."""
        gone = delete(paused).where(paused.c.id == _id(tool_call_ids, key))
        await self._database.run(lambda connection: connection.execute(gone))

    async def forget(self) -> None:
        """Remove what has expired: it may be content of keys that store none. To be called every few seconds."""
        expired = paused.c.expires_us <= to_us(self._now())
        is_there = select(paused.c.id).where(expired).limit(1)
        if await self._database.read(lambda connection: connection.execute(is_there).first()) is not None:
            await self._database.run(lambda connection: connection.execute(delete(paused).where(expired)))


def _text(state: str) -> str:
    text = json.loads(state)
    if not isinstance(text, str):
        raise TypeError(f"a paused state is a text, not {type(text).__name__}")
    return text


def _id(tool_call_ids: Collection[str], key: str) -> str:
    if not tool_call_ids:
        raise ValueError("a pause waits for at least one tool call")
    return hashlib.sha256(json.dumps([key, *sorted(set(tool_call_ids))]).encode()).hexdigest()
