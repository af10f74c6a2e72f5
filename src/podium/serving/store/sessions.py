"""What a session has cost, over all replicas, and where it stands: one row each, for a set time after its last request.

A request writes down, before each call is sent and after it came back, what it has cost and may still cost (a *hold*); where a
session has a limit, a hold that would pass it is refused, and the call is not made. A hold of a replica that died stays: what its
calls under way may have cost counts as spent.

A session that no client names is found by the histories of its conversations: for each a row whose id is the history's hash, and
whose state is the session's id.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, delete, func, select, update
from sqlalchemy.dialects import postgresql, sqlite

from podium.serving.store.batched import Batched, Rows
from podium.serving.store.clock import Clock, to_us, utc_now
from podium.serving.store.database import Database
from podium.serving.store.money import to_nano, to_usd
from podium.serving.store.putting import put
from podium.serving.store.tables import session_holds, sessions

SESSION_SECONDS = 24 * 3600.0
"""How long after its last request a session is remembered."""


class Sessions:
    """The sessions of a server. Example: ``await sessions.hold("5f0c...", "run_1", 0.02, limit_usd=1.0)``."""

    def __init__(self, database: Database, *, now: Clock = utc_now) -> None:
        self._database = database
        self._now = now
        self._begun = Batched(database, _begin)

    async def get(self, session: str) -> tuple[str, float | None]:
        """Where it stands, as :meth:`settle` was told ("" where it was not), and what it has cost and may have.

        None: a price was unknown.
        """

        def look(connection: Connection) -> tuple[str, float | None]:
            living = (sessions.c.id == session) & (sessions.c.expires_us > to_us(self._now()))
            row = connection.execute(select(sessions).where(living)).first()
            state, spent, unpriced = ("", 0, 0) if row is None else (row.state, row.spent_nano, row.unpriced)
            return state, None if unpriced else to_usd(spent + _held(connection, session, ""))

        return await self._database.read(look)

    async def hold(self, session: str, request: str, usd: float, *, limit_usd: float | None) -> bool:
        """Write down that ``request`` has cost ``usd``, calls under way at their most. False: that would pass the limit."""
        nano, expires = to_nano(usd), self._expires()

        def write(connection: Connection) -> bool:
            spent = _locked(connection, session, expires, to_us(self._now()))
            own = session_holds.c.id == request
            before = connection.execute(select(session_holds.c.nano).where(own)).scalar() or 0
            # What was allowed before, or became less, is never refused.
            more = nano > before
            if more and limit_usd is not None and spent + _held(connection, session, request) + nano > to_nano(limit_usd):
                return False
            connection.execute(delete(session_holds).where(own))
            row = {"id": request, "session": session, "nano": nano, "expires_us": expires}
            connection.execute(session_holds.insert().values(row))
            return True

        return await self._database.run(write)

    async def of_history(self, history: str) -> str | None:
        """The id of the session in which a conversation with this history was answered last; None: in none that is known."""
        living = (sessions.c.id == history) & (sessions.c.expires_us > to_us(self._now()))
        query = select(sessions.c.state).where(living)
        return await self._database.read(lambda connection: connection.execute(query).scalar())

    async def begin(self, session: str, usd: float | None, state: str | None, histories: Sequence[str] = ()) -> None:
        """A session without a limit, whose id is new, began with a request that is over. ``histories`` as in :meth:`settle`."""
        row = {"id": session, "spent_nano": to_nano(usd or 0.0), "unpriced": int(usd is None), "state": state or ""}
        expires = self._expires()
        await self._begun.add({"rows": [{**row, "expires_us": expires}, *_pointers(session, histories, expires)]})

    async def settle(
        self, session: str, request: str, usd: float | None, state: str | None, histories: Sequence[str] = ()
    ) -> None:
        """The request is over and has cost ``usd``; ``state``: where the session stands now, None: where it stood.

        ``histories``: hashes of the conversations that it ended with, where the client does not name the session.
        """
        nano, expires = to_nano(usd or 0.0), self._expires()

        def close(connection: Connection) -> None:
            spent = _locked(connection, session, expires, to_us(self._now()))
            unpriced = sessions.c.unpriced + int(usd is None)
            connection.execute(delete(session_holds).where(session_holds.c.id == request))
            values: dict[str, object] = {
                "spent_nano": spent + nano,
                "unpriced": unpriced,
                "expires_us": expires,
            }
            if state is not None:
                values["state"] = state
            connection.execute(update(sessions).where(sessions.c.id == session).values(values))
            if histories:
                put(connection, sessions, _pointers(session, histories, expires))

        await self._database.run(close)

    async def forget(self) -> None:
        """Remove what has expired. To be called every few seconds."""
        now = to_us(self._now())
        tables = (sessions, session_holds)

        def is_any(connection: Connection) -> bool:
            found = (select(table.c.id).where(table.c.expires_us <= now).limit(1) for table in tables)
            return any(connection.execute(query).first() is not None for query in found)

        def remove(connection: Connection) -> None:
            for table in tables:
                connection.execute(delete(table).where(table.c.expires_us <= now))

        if await self._database.read(is_any):
            await self._database.run(remove)

    def _expires(self) -> int:
        moment: datetime = self._now() + timedelta(seconds=SESSION_SECONDS)
        return to_us(moment)


def _pointers(session: str, histories: Sequence[str], expires: int) -> list[dict[str, Any]]:
    row = {"spent_nano": 0, "unpriced": 0, "state": session, "expires_us": expires}
    return [{"id": history, **row} for history in histories]


def _begin(connection: Connection, rows: Rows) -> None:
    put(connection, sessions, [row for each in rows for row in each["rows"]])


def _locked(connection: Connection, session: str, expires: int, now: int) -> int:
    """The row of the session, made where there is none and locked until the transaction ends; what it has spent."""
    insert = sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert
    new = {"id": session, "spent_nano": 0, "unpriced": 0, "state": "", "expires_us": expires}
    row = None
    while row is None:  # what was there may be removed between the two: then it is made anew
        connection.execute(insert(sessions).values(new).on_conflict_do_nothing())
        row = connection.execute(select(sessions).where(sessions.c.id == session).with_for_update()).first()
    if row.expires_us <= now:  # it is over, and only not removed yet
        connection.execute(update(sessions).where(sessions.c.id == session).values(new))
        return 0
    return int(row.spent_nano)


def _held(connection: Connection, session: str, but: str) -> int:
    """What other requests under way have cost and may still cost."""
    of_others = (session_holds.c.session == session) & (session_holds.c.id != but)
    return int(connection.execute(select(func.coalesce(func.sum(session_holds.c.nano), 0)).where(of_others)).scalar_one())
