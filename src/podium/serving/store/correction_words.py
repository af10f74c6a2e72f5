"""Corrections of uncertain money, in words and as JSON takes them, and what a person types to make one."""

import getpass
import os
import re
from dataclasses import asdict

from podium.errors import ConfigError
from podium.serving.store.corrections import Correction
from podium.workflow.draw import plain


def user_here() -> str:
    """Who runs this; in a container that may be a number without a name."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return f"user {os.getuid()}"


def correction_line(each: Correction) -> str:
    """A correction on one line."""
    outcome = "counted as spent" if each.was_spent else "free again"
    who = f"{each.made:%Y-%m-%d %H:%M} UTC by {plain(each.by, 80)}"
    return f"{month_text(each.month)}: ${each.usd:.6g} uncertain {outcome}, {who}: {plain(each.reason, 500)}"


def correction_fields(each: Correction) -> dict[str, object]:
    """A correction as JSON takes it."""
    return asdict(each) | {"month": month_text(each.month), "made": each.made.isoformat()}


def month_text(month: int) -> str:
    """Example: ``month_text(202602) == "2026-02"``."""
    return f"{month // 100:04}-{month % 100:02}"


def month_number(text: str) -> int:
    """Example: ``month_number("2026-02") == 202602``. Raises :class:`ConfigError`."""
    found = re.fullmatch(r"([0-9]{4})-(0[1-9]|1[0-2])", text)
    if found is None:
        raise ConfigError(f"--month is a year and a month, as in 2026-02; not: {plain(text, 40)}")
    return int(found[1]) * 100 + int(found[2])


def dollars_or_all(text: str) -> float | None:
    """A sum; None for ``all``. Raises :class:`ConfigError`."""
    if text == "all":
        return None
    try:
        return float(text)
    except ValueError:
        raise ConfigError(f"a sum is a number of dollars, as in 0.62, or all; not: {plain(text, 40)}") from None
