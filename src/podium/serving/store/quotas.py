"""What a key may use, enforced before a call and exact, however many replicas share the database.

A run is admitted with a lease: the most it may cost is set aside, and only what is left can be leased again. So
``spent + open leases <= monthly_usd`` holds at every moment, and a run can not be refused half-way. Every change of one
key's figures happens under that key's row lock, so two replicas never decide on the same dollar.

Times are those of the replica's clock; replicas need clocks that agree to a second or so (NTP).
"""

import asyncio
import logging
import secrets
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

from sqlalchemy import Connection, Row, delete, insert, select, update

from podium.errors import AccessDenied, ConfigError, StoreUnavailable
from podium.serving.store.booking import (
    Spent,
    admit_minute,
    book,
    charge_minute,
    check_busy,
    check_month,
    lock_key,
    spent,
)
from podium.serving.store.clock import Clock, minute_of, month_of, to_us, utc_now
from podium.serving.store.database import Database
from podium.serving.store.keys import Key
from podium.serving.store.money import to_nano
from podium.serving.store.tables import leases

log = logging.getLogger(__name__)

_AT_ONCE = 500
"""Leases named in one statement."""
_KEEP_REAPED = timedelta(days=1)
"""How long a reaped lease is remembered, so that a replica that was only slow can still say what it used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """One admitted run. Example: ``Lease(id="lease_9c", key="key_1f", usd=0.05, tokens=120)``."""

    id: str
    key: str
    """The key's id."""
    usd: float | None
    """The most the run may cost; None = not limited."""
    tokens: int
    """Estimate of the prompt, which the minute's window was charged with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """A request that was counted before it was let in. Example: ``Counted(minute=29525760, tokens=120)``."""

    minute: int
    tokens: int


class Quotas:
    """What keys have used, as one replica writes it down. ``replica`` is its name and only for people who look into the
    database."""

    def __init__(self, database: Database, replica: str, *, now: Clock = utc_now) -> None:
        self._database = database
        self._replica = replica[:128]
        self._now = now
        self._mine: dict[str, tuple[int, int]] = {}  # lease id -> the latest progress, in nano-dollars
        self._closing: set[asyncio.Future[None]] = set()

    async def count(self, key: Key, tokens: int) -> Counted:
        """Count one request of ``tokens`` tokens, which is admitted later.

        Raises :class:`QuotaExceeded` where the minute has too little left, :class:`AccessDenied` where the key is revoked.
        """
        now = self._now()

        def work(connection: Connection) -> int:
            return admit_minute(connection, _living(connection, key), tokens, now)

        return Counted(minute=await self._database.run(work), tokens=tokens)

    async def uncount(self, key: Key, counted: Counted) -> None:
        """The request was not admitted: its tokens are free again; it still counts as one request."""

        def work(connection: Connection) -> None:
            lock_key(connection, key.id)
            charge_minute(connection, key.id, counted.minute, -counted.tokens)

        await self._database.run(work)

    async def admit(
        self,
        key: Key,
        usd: float | None,
        tokens: int,
        *,
        otherwise_usd: float | None = None,
        counted: Counted | None = None,
    ) -> Lease:
        """Set aside ``usd`` dollars and count one request of ``tokens`` tokens (an estimate of the prompt).

        The key's limits are those in the database, whatever ``key`` remembers of them. ``otherwise_usd`` is set aside where
        ``usd`` is None and the key has dollars per month: what may cost anything can not be held to a limit. A request that
        was ``counted`` before is not counted again.

        Raises :class:`QuotaExceeded` where the minute or the month has too little left, :class:`KeyBusy` where as many runs
        of the key are under way as may be, :class:`AccessDenied` where the key is revoked, and :class:`ConfigError` where
        the key has dollars per month and neither sum is given.
        """
        if tokens < 0:
            raise ValueError(f"{tokens} is no number of tokens")
        now = self._now()
        lease_id = f"lease_{secrets.token_hex(12)}"
        row = {
            "id": lease_id,
            "key": key.id,
            "month": month_of(now),
            "replica": self._replica,
            "used_nano": 0,
            "in_flight_nano": 0,
            "tokens": tokens,
            "beat_us": to_us(now),
        }

        def lend(connection: Connection) -> Lease:
            limits = _living(connection, key)
            check_busy(connection, limits)
            minute = admit_minute(connection, limits, tokens, now) if counted is None else counted.minute
            cap_usd = otherwise_usd if usd is None and limits.monthly_nano is not None else usd
            cap_nano = to_nano(cap_usd or 0.0)
            if limits.monthly_nano is not None:
                if cap_usd is None:
                    raise ConfigError(f"the key {key.name} has a quota in dollars, so a run needs a cap in dollars")
                check_month(connection, limits, cap_nano, now)
            connection.execute(insert(leases).values(row | {"minute": minute, "cap_nano": cap_nano}))
            return Lease(id=lease_id, key=key.id, usd=cap_usd, tokens=tokens)

        lending = asyncio.ensure_future(self._database.run(lend))
        try:
            lease = await asyncio.shield(lending)
        except asyncio.CancelledError:
            # What was counted before is the caller's to take back.
            lending.add_done_callback(partial(self._give_back, tokens=0 if counted is None else tokens))
            raise
        # Only a lease that its run was really given is kept alive.
        self._mine[lease.id] = (0, 0)
        return lease

    def _give_back(self, lending: asyncio.Future[Lease], tokens: int) -> None:
        """Close a lease whose caller was cancelled while it was lent: nothing was used of it."""
        if lending.cancelled() or lending.exception() is not None:
            return
        closing = asyncio.ensure_future(self.settle(lending.result(), 0.0, 0.0, tokens))
        self._closing.add(closing)
        closing.add_done_callback(self._closed)

    def _closed(self, closing: asyncio.Future[None]) -> None:
        self._closing.discard(closing)
        if not closing.cancelled() and closing.exception() is not None:
            log.warning("a lease that nobody uses stays open until it is reaped", exc_info=closing.exception())

    async def progress(self, lease: Lease, usd: float, in_flight_usd: float) -> bool:
        """Record what the run has used so far, and the most that its calls under way can cost.

        Both are what a reaped lease is charged with, because a killed replica can not say more: what it had paid is
        sure, what was under way may have been paid, and the rest of the cap was never asked of anybody. Returns False
        where the lease is no longer open (reaped, because this replica seemed dead, or settled): the run should stop.
        """
        said = to_nano(usd), to_nano(in_flight_usd)
        if lease.id in self._mine:
            self._mine[lease.id] = said
        this = leases.c.id == lease.id

        def write(connection: Connection) -> None:
            # Steps report side by side and their writes may overtake each other, so the last one to write, with the row
            # locked, writes what was said last.
            used, in_flight = self._mine.get(lease.id, said)
            connection.execute(update(leases).where(this).values(used_nano=used, in_flight_nano=in_flight))

        def note(connection: Connection) -> bool:
            is_open = connection.execute(select(leases.c.id).where(this, leases.c.reaped_us.is_(None)).with_for_update()).first()
            if is_open is not None:
                write(connection)
            return is_open is not None

        def correct(connection: Connection) -> None:
            lock_key(connection, lease.key)
            row = connection.execute(select(leases).where(this).with_for_update()).first()
            if row is not None and row.reaped_us is not None:
                book(connection, row, *self._mine.get(lease.id, said))
                write(connection)

        if await self._database.run(note):
            return True
        # A transaction of its own, because the key is always locked before the lease, or two could wait for each other.
        await self._database.run(correct)
        return False

    async def settle(self, lease: Lease, usd: float | None, uncertain_usd: float, tokens: int) -> None:
        """Close the lease: book ``usd`` and ``uncertain_usd`` dollars on the month in which it was admitted.

        ``usd`` None is an unknown price: the whole lease counts as uncertain then. ``tokens`` is what the run really
        used: what is above the estimate is charged to the minute that is now, what is below it is given back to the
        lease's own minute. Settling twice books once, and a lease that was reaped is corrected to the true figures.
        """
        said = self._mine.pop(lease.id, None)
        priced = None if usd is None else (to_nano(usd), to_nano(uncertain_usd))
        now = minute_of(self._now())

        def close(connection: Connection) -> None:
            lock_key(connection, lease.key)
            row = connection.execute(select(leases).where(leases.c.id == lease.id).with_for_update()).first()
            if row is None:
                return
            rest = max(row.cap_nano - row.used_nano, row.in_flight_nano)
            used, uncertain = (row.used_nano, rest) if priced is None else priced
            book(connection, row, used, uncertain, unpriced=int(priced is None))
            more = tokens - row.tokens
            minute = max(now, row.minute) if more > 0 else row.minute
            charge_minute(connection, lease.key, minute, more)
            connection.execute(delete(leases).where(leases.c.id == lease.id))

        try:
            await self._database.run(close)
        except StoreUnavailable:
            if said is not None:  # still ours, and open until the database takes it
                self._mine[lease.id] = said
            raise

    async def beat(self) -> None:
        """Renew the open leases of this replica, so that they are not reaped. To be called every few seconds."""
        mine, now = sorted(self._mine), to_us(self._now())

        def refresh(connection: Connection) -> None:
            for start in range(0, len(mine), _AT_ONCE):
                alive = leases.c.id.in_(mine[start : start + _AT_ONCE]) & leases.c.reaped_us.is_(None)
                connection.execute(update(leases).where(alive).values(beat_us=now))

        if mine:
            await self._database.run(refresh)

    async def reap(self, older_than_seconds: float) -> int:
        """Close the leases that no replica has renewed for so long; returns how many. Any replica may do it, at any time.

        Each is charged with what :meth:`progress` last recorded: the used part as spent, the part in flight as uncertain.
        """
        now = self._now()
        oldest = to_us(now - timedelta(seconds=older_than_seconds))
        silent = leases.c.reaped_us.is_(None) & (leases.c.beat_us < oldest)

        def close(connection: Connection, lease_id: str, key: str) -> bool:
            lock_key(connection, key)
            row = connection.execute(select(leases).where(leases.c.id == lease_id, silent).with_for_update()).first()
            if row is None:
                return False
            book(connection, row, row.used_nano, row.in_flight_nano)
            connection.execute(update(leases).where(leases.c.id == lease_id).values(reaped_us=to_us(now)))
            return True

        found = await self._database.read(
            lambda connection: connection.execute(select(leases.c.id, leases.c.key).where(silent)).all()
        )
        closed, bugs = 0, []
        for row in found:
            try:
                closed += await self._database.run(partial(close, lease_id=row.id, key=row.key))
            except StoreUnavailable:
                raise
            except Exception as error:  # raised below: one lease that can not be closed keeps no other one open
                bugs.append(error)
        forgotten = delete(leases).where(leases.c.reaped_us < to_us(now - _KEEP_REAPED))
        await self._database.run(lambda connection: connection.execute(forgotten))
        if bugs:
            raise ExceptionGroup(f"{len(bugs)} leases could not be closed", bugs)
        return closed

    async def spent(self) -> dict[str, Spent]:
        """What every key has used of the current UTC month, by key id; a key that used nothing is missing."""
        month = month_of(self._now())
        found = await self._database.read(lambda connection: spent(connection, "month", month))
        return {key: used for (key, _), used in found.items()}

    async def months(self, key: str) -> list[tuple[int, Spent]]:
        """What ``key`` (an id) has used of each month (as 202602), oldest first."""
        found = await self._database.read(lambda connection: spent(connection, "key", key))
        return sorted((month, used) for (_, month), used in found.items())


def _living(connection: Connection, key: Key) -> Row[tuple[object, ...]]:
    """The key's row, locked. Raises :class:`AccessDenied` where it is revoked."""
    limits = lock_key(connection, key.id)
    if limits is None or limits.revoked_us is not None:
        raise AccessDenied(f"the key {key.name} was revoked")
    return limits
