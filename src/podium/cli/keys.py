"""``podium keys create | list | change | revoke``: the keys of a server."""

import json
from collections.abc import Callable
from dataclasses import asdict
from typing import TypeVar

from rich.text import Text

from podium.cli.screen import Screen
from podium.errors import ConfigError
from podium.serving.store.booking import Spent
from podium.serving.store.database import Database
from podium.serving.store.key_words import at_once, fields, month_line, per_minute, per_session, terms
from podium.serving.store.keys import Keys, Terms
from podium.serving.store.quotas import Quotas
from podium.workflow.draw import plain

Number = TypeVar("Number", int, float)


async def create(
    *,
    db: str,
    name: str,
    scope: list[str] | None,
    monthly_usd: float | None,
    session_usd: float | None,
    requests_per_minute: int | None,
    tokens_per_minute: int | None,
    concurrency: int | None,
    store_content: bool,
    as_json: bool,
) -> None:
    """Make a key in the database at ``db`` and print its secret."""
    async with Database(db) as database:
        key, secret = await Keys(database).create(
            name,
            scopes=frozenset(scope or ("ask",)),
            monthly_usd=monthly_usd,
            session_usd=session_usd,
            requests_per_minute=requests_per_minute,
            tokens_per_minute=tokens_per_minute,
            concurrency=concurrency,
            store_content=store_content,
        )
    if as_json:
        _print_json(fields(key) | {"secret": secret})
        return
    screen = Screen()
    screen.print(Text(f"made {key.id} ({plain(key.name)}). Its secret is shown this once and stored nowhere:"), soft_wrap=True)
    screen.print(Text(secret), soft_wrap=True)


async def show(*, db: str, as_json: bool) -> None:
    """Print every key in the database at ``db`` with what it has used of this month."""
    async with Database(db, must_exist=True) as database:
        keys = await Keys(database).list()
        spent = await Quotas(database, "command line").spent()
    if as_json:
        _print_json([fields(key) | {"month": asdict(spent.get(key.id, Spent()))} for key in keys])
        return
    screen = Screen()
    if not keys:
        screen.print("no keys yet; make one: podium keys create NAME")
    for key in keys:
        used = spent.get(key.id, Spent())
        state = "live" if key.revoked is None else f"revoked {key.revoked:%Y-%m-%d}"
        content = "content kept" if key.store_content else "content not kept"
        facts = (key.id, plain(key.name, 40), state, f"scopes {' '.join(sorted(key.scopes))}", content)
        screen.print(Text("  ".join(facts), style="bold"), soft_wrap=True)
        month = f"this month {month_line(used, key.monthly_usd)}"
        screen.print(Text(f"    {month}; per minute: {per_minute(key)}{at_once(key)}{per_session(key)}"), soft_wrap=True)


async def change(
    *,
    db: str,
    name: str,
    monthly_usd: str | None,
    session_usd: str | None,
    requests_per_minute: str | None,
    tokens_per_minute: str | None,
    concurrency: str | None,
    scope: list[str] | None,
    store_content: bool | None,
    as_json: bool,
) -> None:
    """Change a living key in the database at ``db`` and print it as it is now.

    Limits are as they were typed: a number, or ``none``. What is None, or no scope at all, stays as it is. Raises
    :class:`ConfigError` where nothing is to change, for what is no limit, and for a key that is unknown or revoked.
    """
    changes = Terms()
    if monthly_usd is not None:
        changes["monthly_usd"] = _limit("--monthly-usd", monthly_usd, float, "20")
    if session_usd is not None:
        changes["session_usd"] = _limit("--session-usd", session_usd, float, "2")
    if requests_per_minute is not None:
        changes["requests_per_minute"] = _limit("--requests-per-minute", requests_per_minute, int, "60")
    if tokens_per_minute is not None:
        changes["tokens_per_minute"] = _limit("--tokens-per-minute", tokens_per_minute, int, "10000")
    if concurrency is not None:
        changes["concurrency"] = _limit("--concurrency", concurrency, int, "8")
    if scope:
        changes["scopes"] = frozenset(scope)
    if store_content is not None:
        changes["store_content"] = store_content
    if not changes:
        raise ConfigError("nothing to change: say what, as in --monthly-usd 20; see: podium keys change --help")
    async with Database(db, must_exist=True) as database:
        key = await Keys(database).change(name, **changes)
    if as_json:
        _print_json(fields(key))
        return
    Screen().print(Text(f"changed {key.id} ({plain(key.name)}): {terms(key)}"), soft_wrap=True)


async def revoke(*, db: str, name: str) -> None:
    """End a key in the database at ``db``. Raises :class:`podium.errors.ConfigError` where there is no such key."""
    async with Database(db, must_exist=True) as database:
        key = await Keys(database).revoke(name)
    Screen().print(Text(f"revoked {key.id} ({plain(key.name)})"), soft_wrap=True)


def _limit(flag: str, text: str, number: Callable[[str], Number], example: str) -> Number | None:
    if text == "none":
        return None
    try:
        return number(text)
    except ValueError:
        raise ConfigError(f"{flag} is a number, as in {flag} {example}, or none; not: {plain(text, 40)}") from None


def _print_json(what: object) -> None:
    print(json.dumps(what))  # noqa: T201 - the command's output
