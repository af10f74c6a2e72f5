"""The single entries of a key's account: what ``quotas.py`` does inside its transactions, with the key's row locked."""

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, case, func, insert, select, update

from podium.errors import KeyBusy, QuotaExceeded
from podium.serving.store.clock import minute_left, minute_of, month_left, month_of
from podium.serving.store.money import to_usd
from podium.serving.store.tables import corrections, keys, leases, minutes, months

_LEASES_RETRY_SECONDS = 5.0
"""When to try again where only the leases of runs under way stand in the way."""

_USED = leases.c.used_nano + leases.c.in_flight_nano
_HELD = case((leases.c.cap_nano < _USED, _USED), else_=leases.c.cap_nano)
"""What an open lease keeps from others: its cap, or what it has used where that is more."""
_OPEN = leases.c.reaped_us.is_(None)

_Row = Row[tuple[object, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What a key has used of one month, in dollars. Example: ``Spent(spent_usd=1.5, uncertain_usd=0.02, open_usd=0.1)``."""

    spent_usd: float = 0.0
    uncertain_usd: float = 0.0
    """What calls may have cost at most whose end is not known; it counts against the quota."""
    open_usd: float = 0.0
    """Set aside for runs under way."""
    unpriced: int = 0
    """Runs whose price is unknown."""
    freed_usd: float = 0.0
    """What was uncertain and turned out not to be spent (``corrections.py``)."""
    confirmed_usd: float = 0.0
    """What was uncertain and turned out to be spent; part of ``spent_usd``."""


def lock_key(connection: Connection, key: str) -> _Row | None:
    """The key's row, locked against other transactions until this one ends; None where there is none."""
    return connection.execute(select(keys).where(keys.c.id == key).with_for_update(key_share=True)).first()


def check_busy(connection: Connection, limits: _Row) -> None:
    """Raises :class:`KeyBusy` where as many runs of the key are under way, over all replicas, as it may have at once."""
    if limits.concurrency is None:
        return
    count = select(func.count()).select_from(leases).where(leases.c.key == limits.id, _OPEN)
    if connection.execute(count).scalar_one() >= limits.concurrency:
        raise KeyBusy(
            f"{limits.concurrency} runs of the key are under way, which is all it may have at once", _LEASES_RETRY_SECONDS
        )


def admit_minute(connection: Connection, limits: _Row, tokens: int, now: datetime) -> int:
    """Count one request of ``tokens`` tokens and return its minute. Raises :class:`QuotaExceeded` where a limit is passed."""
    row = connection.execute(select(minutes).where(minutes.c.key == limits.id)).first()
    # A replica whose clock is a little behind must not open a fresh window.
    minute = max(minute_of(now), 0 if row is None else row.minute)
    requests, used = (row.requests, row.tokens) if row is not None and row.minute == minute else (0, 0)
    if limits.tokens_per_minute is not None and tokens > limits.tokens_per_minute:
        raise QuotaExceeded(f"a request of {tokens} tokens is more than the key's {limits.tokens_per_minute} per minute")
    for count, more, limit, what in (
        (requests, 1, limits.requests_per_minute, "requests"),
        (used, tokens, limits.tokens_per_minute, "tokens"),
    ):
        if limit is not None and count + more > limit:
            raise QuotaExceeded(f"{count} of the key's {limit} {what} per minute are used up", minute_left(now))
    window = {"minute": minute, "requests": requests + 1, "tokens": used + tokens}
    if row is None:
        connection.execute(insert(minutes).values(window | {"key": limits.id}))
    else:
        connection.execute(update(minutes).where(minutes.c.key == limits.id).values(window))
    return minute


def charge_minute(connection: Connection, key: str, minute: int, tokens: int) -> None:
    """Add ``tokens`` (which may be negative) to the window of ``minute``; a window that is past is left alone."""
    row = connection.execute(select(minutes).where(minutes.c.key == key)).first()
    if row is None or minute < row.minute:
        return
    requests, used = (row.requests, row.tokens) if row.minute == minute else (0, 0)
    window = {"minute": minute, "requests": requests, "tokens": max(0, used + tokens)}
    connection.execute(update(minutes).where(minutes.c.key == key).values(window))


def check_month(connection: Connection, limits: _Row, nano: int, now: datetime) -> None:
    """Raises :class:`QuotaExceeded` where the key's month has less than ``nano`` nano-dollars left."""
    month = month_of(now)
    spent = months.c.spent_nano + months.c.uncertain_nano
    gone = connection.execute(select(spent).where(months.c.key == limits.id, months.c.month == month)).scalar() or 0
    mine = (leases.c.key == limits.id) & (leases.c.month == month) & _OPEN
    held, runs = connection.execute(select(func.coalesce(func.sum(_HELD), 0), func.count()).where(mine)).one()
    left = limits.monthly_nano - gone - int(held)
    if nano <= left:
        return
    message = (
        f"this may cost ${to_usd(nano):.6g}, and of the key's ${to_usd(limits.monthly_nano):.6g} per month (UTC) "
        f"${to_usd(max(0, left)):.6g} is left; ${to_usd(int(held)):.6g} is set aside for {runs} runs under way"
    )
    if nano > limits.monthly_nano:
        raise QuotaExceeded(message)
    raise QuotaExceeded(message, _LEASES_RETRY_SECONDS if gone + nano <= limits.monthly_nano else month_left(now))


def book(connection: Connection, lease: _Row, used: int, uncertain: int, *, unpriced: int = 0) -> None:
    """Book nano-dollars on the month of ``lease``, instead of what was booked when it was reaped, if it was."""
    before = (0, 0) if lease.reaped_us is None else (lease.used_nano, lease.in_flight_nano)
    this = (months.c.key == lease.key) & (months.c.month == lease.month)
    change = {
        "spent_nano": months.c.spent_nano + used - before[0],
        "uncertain_nano": months.c.uncertain_nano + uncertain - before[1],
        "unpriced": months.c.unpriced + unpriced,
    }
    if not connection.execute(update(months).where(this).values(change)).rowcount:
        first = {"key": lease.key, "month": lease.month, "spent_nano": used, "uncertain_nano": uncertain, "unpriced": unpriced}
        connection.execute(insert(months).values(first))


def spent(connection: Connection, column: str, value: object) -> dict[tuple[str, int], Spent]:
    """What was used, by key id and month (as 202602), of the rows whose ``column`` is ``value``; nothing used is missing."""
    found: defaultdict[tuple[str, int], dict[str, Any]] = defaultdict(dict)
    for row in connection.execute(select(months).where(months.c[column] == value)):
        found[row.key, row.month] = {
            "spent_usd": to_usd(row.spent_nano),
            "uncertain_usd": to_usd(row.uncertain_nano),
            "unpriced": row.unpriced,
        }
    held = select(leases.c.key, leases.c.month, func.sum(_HELD)).where(leases.c[column] == value, _OPEN)
    for key, month, nano in connection.execute(held.group_by(leases.c.key, leases.c.month)):
        found[key, month]["open_usd"] = to_usd(int(nano))
    corrected = select(corrections.c.key, corrections.c.month, corrections.c.was_spent, func.sum(corrections.c.nano))
    grouped = corrected.where(corrections.c[column] == value).group_by(
        corrections.c.key, corrections.c.month, corrections.c.was_spent
    )
    for key, month, was_spent, nano in connection.execute(grouped):
        found[key, month]["confirmed_usd" if was_spent else "freed_usd"] = to_usd(int(nano))
    return {place: Spent(**figures) for place, figures in found.items()}
