"""How an operator settles uncertain money once the provider's bill is known: it was spent, or it is free again.

Uncertain is what calls may have cost at most whose end is not known; it counts against a key's month until it is corrected.
Every correction is kept with who made it, when, and why.
"""

import secrets
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, Row, insert, select, update

from podium.errors import ConfigError
from podium.serving.store.booking import lock_key
from podium.serving.store.clock import Clock, from_us, month_of, to_us, utc_now
from podium.serving.store.database import Database
from podium.serving.store.money import to_nano, to_usd
from podium.serving.store.tables import corrections, leases, months
from podium.workflow.draw import plain

_LONGEST = 500
"""Characters of a reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """Uncertain dollars of a key's month that are uncertain no more.

    Example: ``Correction(id="cor_9c", key="key_1f", month=202602, usd=0.62, was_spent=False, reason="not on the bill of
    February", by="ann@ops", made=now)``.
    """

    id: str
    key: str
    """The key's id."""
    month: int
    """As 202602."""
    usd: float
    was_spent: bool
    """Whether they count as spent now; else they are free again."""
    reason: str
    by: str
    """Who says so."""
    made: datetime


class Corrections:
    """The corrections of what a server wrote down as used."""

    def __init__(self, database: Database, *, now: Clock = utc_now) -> None:
        self._database = database
        self._now = now

    async def make(
        self, key: str, *, usd: float | None, was_spent: bool, reason: str, by: str, month: int | None = None
    ) -> tuple[Correction | None, bool]:
        """Book ``usd`` uncertain dollars (None: all there are) of the key's ``month`` (None: this one) as spent, or back.

        ``key`` is an id. The key's quota follows at once. Returns the correction, None where nothing is uncertain, and whether
        it is a new one: the same again, which is one of the same sum with the same reason, is not made twice, and the first
        one is returned.

        Raises :class:`ConfigError` for a sum that is none or is more than what is uncertain, and without a reason.
        """
        now = self._now()
        reason, by = reason.strip(), by.strip()
        if not reason or len(reason) > _LONGEST or not reason.isprintable():
            raise ConfigError(f"a correction needs a reason, of {_LONGEST} printable characters at most: --reason '...'")
        try:
            nano = None if usd is None else to_nano(usd)
        except ValueError as error:
            raise ConfigError(f"a correction: {error}") from None
        if nano == 0:
            raise ConfigError("a correction of no dollars changes nothing; give a sum, or all")
        row: dict[str, object] = {
            "id": f"cor_{secrets.token_hex(8)}",
            "key": key,
            "month": month_of(now) if month is None else month,
            "was_spent": was_spent,
            "reason": reason,
            "by": plain(by, 128),
            "made_us": to_us(now),
        }

        def correct(connection: Connection) -> tuple[Correction | None, bool]:
            lock_key(connection, key)
            mine = (months.c.key == key) & (months.c.month == row["month"])
            uncertain = connection.execute(select(months.c.uncertain_nano).where(mine)).scalar() or 0
            if nano is not None:
                same = [corrections.c[name] == row[name] for name in ("key", "month", "was_spent", "reason")]
                before = connection.execute(select(corrections).where(*same, corrections.c.nano == nano)).first()
                if before is not None:
                    return _correction(before), False
            if not uncertain:
                return None, False
            amount = uncertain if nano is None else nano
            if amount > uncertain:
                raise ConfigError(f"only ${to_usd(uncertain):.9g} of that month is uncertain, not ${to_usd(amount):.9g}")
            _take_from_reaped(connection, key, row["month"], uncertain - amount, spent=was_spent)
            change = {"uncertain_nano": months.c.uncertain_nano - amount}
            if was_spent:
                change["spent_nano"] = months.c.spent_nano + amount
            connection.execute(update(months).where(mine).values(change))
            connection.execute(insert(corrections).values(row | {"nano": amount}))
            return _correction(connection.execute(select(corrections).where(corrections.c.id == row["id"])).one()), True

        return await self._database.run(correct)

    async def of(self, key: str | None = None) -> tuple[Correction, ...]:
        """Those of one key, by its id, or all; oldest first."""
        query = select(corrections).order_by(corrections.c.made_us, corrections.c.id)
        if key is not None:
            query = query.where(corrections.c.key == key)
        return tuple(_correction(row) for row in await self._database.read(lambda connection: connection.execute(query).all()))


def _take_from_reaped(connection: Connection, key: str, month: object, left: int, *, spent: bool) -> None:
    """Say in reaped leases what is corrected of them; ``left`` is what stays uncertain of the month.

    A reaped lease holds what is booked for it, and its replica, if it was only slow, still books the true figures instead.
    So what is no longer booked as uncertain must no longer stand there either, or it would be taken off a second time.
    """
    mine = (leases.c.key == key) & (leases.c.month == month) & leases.c.reaped_us.is_not(None)
    for lease in connection.execute(select(leases).where(mine).order_by(leases.c.id).with_for_update()):
        keeps = min(left, lease.in_flight_nano)
        left -= keeps
        taken = lease.in_flight_nano - keeps
        used = lease.used_nano + taken if spent else lease.used_nano
        connection.execute(update(leases).where(leases.c.id == lease.id).values(in_flight_nano=keeps, used_nano=used))


def _correction(row: Row[tuple[object, ...]]) -> Correction:
    return Correction(
        id=row.id,
        key=row.key,
        month=row.month,
        usd=to_usd(row.nano),
        was_spent=row.was_spent,
        reason=row.reason,
        by=row.by,
        made=from_us(row.made_us),
    )
