"""Responses that are kept for their client: found by id and key, for a set time, and so many of each key.

Id and key go into the row's id as a hash, as with paused runs, so another key's response can not even be named.
"""

import hashlib
import json
from datetime import datetime

from sqlalchemy import Connection, delete, func, insert, or_, select

from podium.serving.store.clock import Clock, to_us, utc_now
from podium.serving.store.database import Database
from podium.serving.store.tables import responses

MOST_RESPONSES = 1_000
"""Of one key."""
MOST_BYTES = 256 << 20
"""Of one key's, all together."""


class KeptResponses:
    """The kept responses of a server."""

    def __init__(self, database: Database, *, now: Clock = utc_now) -> None:
        self._database = database
        self._now = now

    async def keep(self, id: str, key: str, state: str, expires: datetime) -> None:  # noqa: A002 - what everybody calls it
        """Keep ``state`` until ``expires``; twice is harmless. Where the key has too much, what expires first goes now."""
        text = json.dumps(state)
        row = {"id": _row(id, key), "state": text, "expires_us": to_us(expires), "key": key, "bytes": len(text)}
        newest = (responses.c.expires_us.desc(), responses.c.id)
        place, size = func.row_number().over(order_by=newest), func.sum(responses.c.bytes).over(order_by=newest)
        ranked = select(responses.c.id, place.label("place"), size.label("size")).where(responses.c.key == key).subquery()
        too_much = select(ranked.c.id).where(or_(ranked.c.place > MOST_RESPONSES, ranked.c.size > MOST_BYTES))

        def replace(connection: Connection) -> None:
            connection.execute(delete(responses).where(responses.c.id == row["id"]))
            connection.execute(insert(responses).values(row))
            connection.execute(delete(responses).where(responses.c.id.in_(too_much)))

        await self._database.run(replace)

    async def get(self, id: str, key: str) -> str | None:  # noqa: A002
        """What was kept; None where there is nothing, where it has expired, or where it is another key's."""
        query = select(responses.c.state).where(responses.c.id == _row(id, key), responses.c.expires_us > to_us(self._now()))
        found = await self._database.read(lambda connection: connection.execute(query).scalar())
        return None if found is None else str(json.loads(found))

    async def delete(self, id: str, key: str) -> bool:  # noqa: A002
        """Forget it; False where there was nothing."""
        gone = delete(responses).where(responses.c.id == _row(id, key), responses.c.expires_us > to_us(self._now()))
        return bool(await self._database.run(lambda connection: connection.execute(gone).rowcount))

    async def forget(self) -> None:
        """Remove what has expired. To be called every few seconds."""
        expired = responses.c.expires_us <= to_us(self._now())
        is_there = select(responses.c.id).where(expired).limit(1)
        if await self._database.read(lambda connection: connection.execute(is_there).first()) is not None:
            await self._database.run(lambda connection: connection.execute(delete(responses).where(expired)))


def _row(id: str, key: str) -> str:  # noqa: A002
    return hashlib.sha256(json.dumps([key, id]).encode()).hexdigest()
