"""The days between which runs are looked for, as a visitor writes them."""

from datetime import UTC, date, datetime, time, timedelta

from podium.errors import ConfigError
from podium.page.shown import line


def period(first: str, last: str) -> tuple[datetime | None, datetime | None]:
    """From when, inclusive, until when, exclusive; the whole of the ``last`` day belongs to it. "" is no bound.

    Days are those of UTC, as in the list. Raises :class:`ConfigError` for what is no date, or days in the wrong order.
    Example: ``period("", "2026-05-03") == (None, datetime(2026, 5, 4, tzinfo=UTC))``.
    """
    since, until = _day("From", first), _day("Until", last)
    if since is not None and until is not None and since > until:
        raise ConfigError(f"Nothing lies between: from {since} is after until {until}.")
    if until == date.max:
        until = None  # the calendar has no day after it, so nothing is left out
    return (
        None if since is None else _midnight(since),
        None if until is None else _midnight(until + timedelta(days=1)),
    )


def _day(field: str, written: str) -> date | None:
    if not written:
        return None
    try:
        return date.fromisoformat(written)
    except ValueError:
        shown = "what stands there" if written == "?" else f'"{line(written, 40)}"'
        raise ConfigError(f"{field}: {shown} is not a day. Write year, month and day, like 2026-05-03.") from None


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), tzinfo=UTC)
