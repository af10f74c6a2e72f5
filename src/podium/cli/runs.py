"""``podium runs``: look at what a server was asked, take it elsewhere, delete it. Everything shown was written by others."""

import asyncio
import json
from datetime import datetime, timedelta
from pathlib import Path

from rich.text import Text

from podium import jsonl
from podium.cli.asking import agreed
from podium.cli.screen import Screen
from podium.errors import ConfigError
from podium.serving.store.clock import utc_now
from podium.serving.store.database import Database
from podium.serving.store.keys import Keys
from podium.serving.store.runs import Runs
from podium.workflow.draw import as_text, counted, dollars, plain, price

_SHOWN = 800
"""Characters at the beginning of a question that are looked at to show it on one line."""


async def show_list(*, db: str, key: str | None, text: str, failed: bool, n: int, as_json: bool) -> None:
    """Print the latest ``n`` runs in the database at ``db`` that fit."""
    async with Database(db, must_exist=True) as database:
        names = await Keys(database).names()
        of = await _key_id(database, key)
        found = await Runs(database).search(key=of, text=text, status="unanswered" if failed else "", limit=n)
    if as_json:
        print(f"[{','.join(jsonl.dumps(run) for run in found)}]")  # noqa: T201 - the command's output
        return
    screen = Screen()
    if not found:
        screen.print("no run fits")
    for run in found:
        # No table: a run's id alone is a third of a terminal's width, and it has to be whole to be copied.
        facts = (
            run.id,
            f"{run.created:%Y-%m-%d %H:%M:%S}",
            plain(names.get(run.key, run.key), 24) or "no key",
            plain(run.model, 24),
            plain(run.failure, 32) or ("asks the client" if run.asks_client else "answered"),
            counted(run.steps, "step"),
            f"{run.seconds:.1f} s",
            dollars(run.usage),
        )
        screen.print(Text("  ".join(facts), style="bold"), soft_wrap=True)
        question = "(not kept)" if run.question is None else plain(run.question[:_SHOWN], _SHOWN // 8)
        screen.print(Text(f"    {question}"), soft_wrap=True)


async def show(*, db: str, run: str, as_json: bool) -> None:
    """Print one run. Raises :class:`ConfigError` where there is none of that id."""
    async with Database(db, must_exist=True) as database:
        names = await Keys(database).names()
        found = await Runs(database).get(run, key=None)
    if found is None:
        raise ConfigError(f"there is no run {plain(run, 80)}; see: podium runs list")
    if as_json:
        print(jsonl.dumps(found))  # noqa: T201 - the command's output
        return
    cost = price(found.usage, found.paid_usd)
    figures = f"{counted(found.steps, 'step')}   {found.seconds:.2f} s   {found.usage.tokens} tokens   {cost}"
    lines = [
        f"{found.id}   {found.created:%Y-%m-%d %H:%M:%S} UTC   key {plain(names.get(found.key, found.key), 40) or 'none'}",
        f"model {plain(found.model, 60)}   {figures}",
    ]
    if found.question is None:
        lines.append("question, answer and workflow are not kept for this key")
    else:
        lines += ["", "question", plain(found.question)]
    for number, transcript in enumerate(found.transcripts, 1):
        lines += ["", f"round {number}", as_text(transcript)]
    if found.answer is not None:
        lines += ["", "answer", plain(found.answer)]
    if found.failure:
        lines += ["", f"no answer: {plain(found.why)}"]
    Screen().print(Text("\n".join(lines)), soft_wrap=True)


async def export(*, db: str, out: Path, key: str | None) -> None:
    """Write every run, newest first, into the new file ``out``. Raises :class:`ConfigError` where that can not be made."""
    async with Database(db, must_exist=True) as database:
        of = await _key_id(database, key)
        try:
            out.touch(mode=0o600, exist_ok=False)  # it holds what users wrote
        except OSError as error:
            raise ConfigError(f"{out} can not be made: {error.strerror}") from error
        count = 0
        async for run in Runs(database).every(key=of):
            jsonl.append(out, jsonl.dumps(run))
            count += 1
    Screen().print(Text(f"wrote {counted(count, 'run')} to {out}"), soft_wrap=True)


def delete(*, db: str, older_than: int, key: str | None, yes: bool, as_json: bool) -> None:
    """Delete the runs in the database at ``db`` that are older; without ``yes``, once a person has seen how many.

    Raises :class:`ConfigError` where the key is unknown, and where it was not confirmed.
    """
    before = utc_now() - timedelta(days=older_than)
    of, name, count = asyncio.run(_older(db, before, key))
    what = f"from before {before:%Y-%m-%d %H:%M} UTC" + ("" if of is None else f" of the key {of} ({plain(name, 40)})")
    # Asked outside the event loop, which would keep Ctrl-C to itself until there is an answer.
    if count and not yes and not agreed(f"Delete {counted(count, 'run')} {what}? They can not be had back."):
        raise ConfigError("nothing was deleted: answer y, or say --yes where nobody can answer")
    gone = asyncio.run(_delete_older(db, before, of))
    if as_json:
        print(json.dumps({"deleted": gone, "before": before.isoformat(), "key": of}))  # noqa: T201 - the command's output
        return
    Screen().print(Text(f"deleted {counted(gone, 'run')} {what}"), soft_wrap=True)


async def _older(db: str, before: datetime, key: str | None) -> tuple[str | None, str, int]:
    """The key's id and name, and how many of its runs there are."""
    async with Database(db, must_exist=True) as database:
        names = await Keys(database).names()
        of = await _key_id(database, key)
        return of, "" if of is None else names[of], await Runs(database).count_older(before, key=of)


async def _delete_older(db: str, before: datetime, key: str | None) -> int:
    async with Database(db, must_exist=True) as database:
        return await Runs(database).delete_older(before, key=key)


async def _key_id(database: Database, id_or_name: str | None) -> str | None:
    return None if id_or_name is None else (await Keys(database).named(id_or_name)).id
