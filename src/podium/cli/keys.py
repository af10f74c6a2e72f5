"""``podium keys``: make, list and revoke the keys of a server."""

import json
from dataclasses import asdict

from rich.table import Table
from rich.text import Text

from podium.cli.screen import Screen
from podium.serving.store.booking import Spent
from podium.serving.store.database import Database
from podium.serving.store.keys import Key, Keys
from podium.serving.store.quotas import Quotas
from podium.workflow.draw import plain


async def create(
    db: str,
    name: str,
    *,
    scopes: frozenset[str],
    monthly_usd: float | None,
    requests_per_minute: int | None,
    tokens_per_minute: int | None,
    store_content: bool,
    as_json: bool,
) -> None:
    """Make a key in the database at ``db`` and print its secret."""
    async with Database(db) as database:
        key, secret = await Keys(database).create(
            name,
            scopes=scopes,
            monthly_usd=monthly_usd,
            requests_per_minute=requests_per_minute,
            tokens_per_minute=tokens_per_minute,
            store_content=store_content,
        )
    if as_json:
        _print_json(_fields(key) | {"secret": secret})
        return
    screen = Screen()
    screen.print(Text(f"made {key.id} ({plain(key.name)}). Its secret is shown this once and stored nowhere:"), soft_wrap=True)
    screen.print(Text(secret), soft_wrap=True)


async def show(db: str, *, as_json: bool) -> None:
    """Print every key in the database at ``db`` with what it has used of this month."""
    async with Database(db, must_exist=True) as database:
        keys = await Keys(database).list()
        spent = await Quotas(database, "command line").spent()
    if as_json:
        _print_json([_fields(key) | {"month": asdict(spent.get(key.id, Spent()))} for key in keys])
        return
    table = Table("id", "name", "scopes", "this month", "set aside", "per minute", "content", "state")
    for key in keys:
        used = spent.get(key.id, Spent())
        limit = "" if key.monthly_usd is None else f" of ${key.monthly_usd:.2f}"
        unpriced = f" + {used.unpriced} runs of unknown price" if used.unpriced else ""
        cells = (
            key.id,
            plain(key.name, 40),
            " ".join(sorted(key.scopes)),
            f"${used.spent_usd + used.uncertain_usd:.4f}{limit}{unpriced}",
            f"${used.open_usd:.4f}",
            _per_minute(key),
            "kept" if key.store_content else "not kept",
            "live" if key.revoked is None else f"revoked {key.revoked:%Y-%m-%d}",
        )
        table.add_row(*(Text(cell) for cell in cells))
    Screen().print(table)


async def revoke(db: str, id_or_name: str) -> None:
    """End a key in the database at ``db``. Raises :class:`podium.errors.ConfigError` where there is no such key."""
    async with Database(db, must_exist=True) as database:
        key = await Keys(database).revoke(id_or_name)
    Screen().print(Text(f"revoked {key.id} ({plain(key.name)})"), soft_wrap=True)


def _per_minute(key: Key) -> str:
    limits = ((key.requests_per_minute, "requests"), (key.tokens_per_minute, "tokens"))
    return ", ".join(f"{limit} {what}" for limit, what in limits if limit is not None) or "no limit"


def _fields(key: Key) -> dict[str, object]:
    moments = {"created": key.created.isoformat(), "revoked": None if key.revoked is None else key.revoked.isoformat()}
    return asdict(key) | {"scopes": sorted(key.scopes)} | moments


def _print_json(what: object) -> None:
    print(json.dumps(what))  # noqa: T201 - the command's output
