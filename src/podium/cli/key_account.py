"""``podium keys show | correct``: what a key has used, month by month, and what was corrected of it."""

import json
import socket
from dataclasses import asdict

from rich.text import Text

from podium.cli.screen import Screen
from podium.errors import ConfigError
from podium.serving.store.correction_words import (
    correction_fields,
    correction_line,
    dollars_or_all,
    month_number,
    month_text,
    user_here,
)
from podium.serving.store.corrections import Corrections
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
        used = [{"month": month_text(month)} | asdict(spent) for month, spent in months]
        print(json.dumps(fields(key) | {"months": used, "corrections": [correction_fields(each) for each in made]}))  # noqa: T201 - the command's output
        return
    screen = Screen()
    screen.print(Text(f"{key.id}  {plain(key.name, 40)}", style="bold"), soft_wrap=True)
    screen.print(Text(f"    {terms(key)}"), soft_wrap=True)
    for month, spent in months:
        screen.print(Text(f"    {month_text(month)}: {month_line(spent, key.monthly_usd)}"), soft_wrap=True)
    for each in made:
        screen.print(Text(f"    {correction_line(each)}"), soft_wrap=True)


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
            usd=dollars_or_all(str(amount)),
            was_spent=spent is not None,
            reason=reason,
            by=by or f"{user_here()}@{socket.gethostname()}",
            month=None if month is None else month_number(month),
        )
    if as_json:
        print(json.dumps({"corrected": is_new, "correction": None if made is None else correction_fields(made)}))  # noqa: T201 - the command's output
        return
    if made is None:
        said = f"nothing left to correct: no money of {key_id} is uncertain in {month or 'this month'}"
    elif is_new:
        said = f"corrected {key_id}: {correction_line(made)}"
    else:
        said = f"nothing changed, this was done before: {correction_line(made)}. Another one of the same sum needs another reason"
    Screen().print(Text(said), soft_wrap=True)
