"""``podium keys show | correct``: what a key has used, month by month, and what was corrected of it."""

import getpass
import json
import os
import re
import socket
from dataclasses import asdict

from rich.text import Text

from podium.cli.screen import Screen
from podium.errors import ConfigError
from podium.serving.store.corrections import Correction, Corrections
from podium.serving.store.database import Database
from podium.serving.store.key_words import fields, month_line, terms
from podium.serving.store.keys import Keys
from podium.serving.store.quotas import Quotas
from podium.workflow.draw import plain


async def show(*, db: str, name: str, as_json: bool) -> None:
    """Print one key in the database at ``db``, what it used of each month, and every correction of it."""
    async with Database(db, must_exist=True) as database:
        key = await Keys(database).named(name)
        months = await Quotas(database, "command line").months(key.id)
        made = await Corrections(database).of(key.id)
    if as_json:
        used = [{"month": _month_text(month)} | asdict(spent) for month, spent in months]
        print(json.dumps(fields(key) | {"months": used, "corrections": [_fields(each) for each in made]}))  # noqa: T201 - the command's output
        return
    screen = Screen()
    screen.print(Text(f"{key.id}  {plain(key.name, 40)}", style="bold"), soft_wrap=True)
    screen.print(Text(f"    {terms(key)}"), soft_wrap=True)
    for month, spent in months:
        screen.print(Text(f"    {_month_text(month)}: {month_line(spent, key.monthly_usd)}"), soft_wrap=True)
    for each in made:
        screen.print(Text(f"    {_said(each)}"), soft_wrap=True)


async def correct(
    *,
    db: str,
    name: str,
    free: str | None,
    spent: str | None,
    reason: str,
    by: str | None,
    month: str | None,
    as_json: bool,
) -> None:
    """Settle uncertain money of a key in the database at ``db``: ``free`` it, or count it as ``spent``; dollars or ``all``.

    Raises :class:`ConfigError` where not exactly one of the two is given, and what :meth:`Corrections.make` raises.
    """
    if (free is None) == (spent is None):
        raise ConfigError("say what became of the money: --free USD|all where it was not billed, or --spent USD|all")
    amount = free if free is not None else spent
    async with Database(db, must_exist=True) as database:
        key_id = (await Keys(database).named(name)).id
        made, is_new = await Corrections(database).make(
            key_id,
            usd=_dollars(str(amount)),
            was_spent=spent is not None,
            reason=reason,
            by=by or f"{_user()}@{socket.gethostname()}",
            month=None if month is None else _month(month),
        )
    if as_json:
        print(json.dumps({"corrected": is_new, "correction": None if made is None else _fields(made)}))  # noqa: T201 - the command's output
        return
    if made is None:
        said = f"nothing left to correct: no money of {key_id} is uncertain in {month or 'this month'}"
    elif is_new:
        said = f"corrected {key_id}: {_said(made)}"
    else:
        said = f"nothing changed, this was done before: {_said(made)}. Another one of the same sum needs another reason"
    Screen().print(Text(said), soft_wrap=True)


def _user() -> str:
    """Who runs this; in a container that may be a number without a name."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return f"user {os.getuid()}"


def _said(each: Correction) -> str:
    outcome = "counted as spent" if each.was_spent else "free again"
    who = f"{each.made:%Y-%m-%d %H:%M} UTC by {plain(each.by, 80)}"
    return f"{_month_text(each.month)}: ${each.usd:.6g} uncertain {outcome}, {who}: {plain(each.reason, 500)}"


def _fields(each: Correction) -> dict[str, object]:
    return asdict(each) | {"month": _month_text(each.month), "made": each.made.isoformat()}


def _month_text(month: int) -> str:
    return f"{month // 100:04}-{month % 100:02}"


def _month(text: str) -> int:
    found = re.fullmatch(r"([0-9]{4})-(0[1-9]|1[0-2])", text)
    if found is None:
        raise ConfigError(f"--month is a year and a month, as in 2026-02; not: {plain(text, 40)}")
    return int(found[1]) * 100 + int(found[2])


def _dollars(text: str) -> float | None:
    if text == "all":
        return None
    try:
        return float(text)
    except ValueError:
        raise ConfigError(f"a sum is a number of dollars, as in 0.62, or all; not: {plain(text, 40)}") from None
