"""Moments in the database: microseconds since 1970, UTC, as integers.

SQLite has no time zones and PostgreSQL has opinions about them; integers compare and come back the same on both.
"""

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta

Clock = Callable[[], datetime]
"""Says what time it is: an aware datetime. Tests pass one of their own."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def utc_now() -> datetime:
    """This moment."""
    return datetime.now(UTC)


def to_us(moment: datetime) -> int:
    """Microseconds since 1970. Raises ValueError for a moment without a time zone."""
    if moment.tzinfo is None:
        raise ValueError(f"{moment} has no time zone")
    return (moment - _EPOCH) // _MICROSECOND


def from_us(microseconds: int) -> datetime:
    """The inverse of :func:`to_us`, in UTC."""
    return _EPOCH + timedelta(microseconds=microseconds)


def day_of(moment: datetime) -> int:
    """The UTC day, counted from 1970-01-01."""
    return (moment - _EPOCH).days


def day_date(day: int) -> date:
    """The inverse of :func:`day_of`."""
    return _EPOCH.date() + timedelta(days=day)


def minute_of(moment: datetime) -> int:
    """The minute, counted from 1970."""
    return (moment - _EPOCH) // timedelta(minutes=1)


def minute_left(moment: datetime) -> float:
    """Seconds until the next minute begins."""
    return 60.0 - ((moment - _EPOCH) % timedelta(minutes=1)).total_seconds()


def month_of(moment: datetime) -> int:
    """The UTC month as a number. Example: 202602 for February 2026."""
    utc = moment.astimezone(UTC)
    return utc.year * 100 + utc.month


def month_left(moment: datetime) -> float:
    """Seconds until the next UTC month begins."""
    utc = moment.astimezone(UTC)
    years, month = divmod(utc.month, 12)
    return (datetime(utc.year + years, month + 1, 1, tzinfo=UTC) - utc).total_seconds()
