r"""Times of day: ``8:34 p.m.``, "20:34" and "8:34 PM" are one; "2 pm" is two o'clock."""

import re
from dataclasses import dataclass

from podium.tasks.extraction import IN_TEXT

_MAYBE = re.compile(r":|[0-9].*[apAP]\.? ?[mM]|noon|midnight", re.IGNORECASE)
_DECORATION = re.compile(r"\\[!,;: ]|[~$*\s]+")
_CLOCK = re.compile(
    r"(?P<hours>[0-9]{1,2})(?::(?P<minutes>[0-9]{2})(?::(?P<seconds>[0-9]{2}))?)? ?(?:(?P<half>[ap])|h|hrs|hours|o'clock)?"
)
_POINT = re.compile(r"([0-9]{1,2})\.([0-9]{2})(?= ?[ap]$)")
_NAMED = {"noon": "12:00 p", "12 noon": "12:00 p", "midnight": "12:00 a", "12 midnight": "12:00 a"}
_HALF = re.compile(r"([ap])\.? ?m\b\.?(?= ?$)")
_HALF_DAY = 12 * 3600


@dataclass(frozen=True, slots=True, kw_only=True)
class Time:
    """Seconds since midnight. Example: "8:34 pm" is ``Time(seconds=74040, has_half=True)``."""

    seconds: int
    has_half: bool
    """Whether it says which half of the day, am or pm."""
    hours: int = 0
    """As written."""
    is_full: bool = False
    """Whether it is a full hour."""


def read_time(text: str) -> Time | None:
    r"""The time of day that ``text`` is; None where it is none. Example: ``read_time(r"8\!:\!34 \text{ p.m.}")``."""
    if len(text) > 60 or not _MAYBE.search(text):
        return None
    plain = " ".join(_DECORATION.sub(" ", IN_TEXT.sub(r" \1 ", text)).lower().split()).strip(" .\"'`()")
    plain = _HALF.sub(r"\1", plain).replace(" :", ":").replace(": ", ":")
    match = _CLOCK.fullmatch(_NAMED.get(plain) or _POINT.sub(r"\1:\2", plain))
    if match is None or (match["minutes"] is None and match["half"] is None):
        return None
    hours, minutes, seconds = (int(match[name] or 0) for name in ("hours", "minutes", "seconds"))
    if hours > 24 or minutes > 59 or seconds > 59 or (match["half"] and not 1 <= hours <= 12):
        return None
    of_day = (hours % 12 + (12 if match["half"] == "p" else 0)) if match["half"] else hours
    return Time(
        seconds=of_day * 3600 + minutes * 60 + seconds,
        has_half=match["half"] is not None,
        hours=hours,
        is_full=not minutes and not seconds,
    )


def same_time(gold: Time, found: Time) -> bool:
    """Whether ``found`` is ``gold``, which may leave open which half of the day it means.

    A time on a clock of 24 hours says it as well, so that 20:34 is 8:34 pm. Two times without a half are compared as written:
    they may be ratios.
    """
    if gold.has_half or not found.has_half:
        return gold.seconds == found.seconds
    return (gold.seconds - found.seconds) % _HALF_DAY == 0 if gold.hours <= 12 else gold.seconds == found.seconds
