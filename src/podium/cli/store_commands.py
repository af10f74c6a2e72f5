"""``podium keys`` (create, list, show, change, revoke, correct) and ``podium runs`` (list, show, export, delete)."""

import asyncio
import importlib.util
from pathlib import Path
from typing import Annotated

import typer

from podium.cli.flags import JsonFlag
from podium.errors import ConfigError

keys_app = typer.Typer(no_args_is_help=True, help="Who may ask the server, and how much.")
runs_app = typer.Typer(no_args_is_help=True, help="What the server was asked and what it answered.")

DbFlag = Annotated[
    str,
    typer.Option("--db", envvar="PODIUM_DB", show_envvar=True, help="The server's database: sqlite:///FILE or postgresql://..."),
]
_HERE = "sqlite:///podium.db"


@keys_app.command("create")
def keys_create(
    name: Annotated[str, typer.Argument(help="What the key is for.")],
    monthly_usd: Annotated[float | None, typer.Option(min=0.0, help="Dollars per calendar month (UTC).")] = None,
    requests_per_minute: Annotated[int | None, typer.Option(min=1, help="Requests per minute.")] = None,
    tokens_per_minute: Annotated[int | None, typer.Option(min=1, help="Tokens per minute.")] = None,
    concurrency: Annotated[int | None, typer.Option(min=1, help="Runs under way at once, over all replicas.")] = None,
    scope: Annotated[
        list[str] | None,
        typer.Option(help="What the key may do: ask (default), read its own runs, or admin; repeat it."),
    ] = None,
    store_content: Annotated[bool, typer.Option(help="Keep questions, answers and transcripts of its runs.")] = True,
    db: DbFlag = _HERE,
    as_json: JsonFlag = False,
) -> None:
    """Make a key and show its secret, once. Makes the database where there is none."""
    from podium.cli.outcome import guarded

    with guarded():
        _need_store()
        from podium.cli.keys import create

        asyncio.run(
            create(
                db,
                name,
                scopes=frozenset(scope or ("ask",)),
                monthly_usd=monthly_usd,
                requests_per_minute=requests_per_minute,
                tokens_per_minute=tokens_per_minute,
                concurrency=concurrency,
                store_content=store_content,
                as_json=as_json,
            )
        )


@keys_app.command("list")
def keys_list(db: DbFlag = _HERE, as_json: JsonFlag = False) -> None:
    """Every key, its limits, and what it has used of this month."""
    from podium.cli.outcome import guarded

    with guarded():
        _need_store()
        from podium.cli.keys import show

        asyncio.run(show(db, as_json=as_json))


@keys_app.command("show")
def keys_show(
    name: Annotated[str, typer.Argument(metavar="NAME_OR_ID", help="Which key.")], db: DbFlag = _HERE, as_json: JsonFlag = False
) -> None:
    """One key: its limits, what it used of each month, and what was corrected of it."""
    from podium.cli.outcome import guarded

    with guarded():
        _need_store()
        from podium.cli.key_account import show

        asyncio.run(show(db, name, as_json=as_json))


@keys_app.command("correct")
def keys_correct(
    name: Annotated[str, typer.Argument(metavar="NAME_OR_ID", help="Which key; a revoked one too.")],
    reason: Annotated[str, typer.Option(help="Why; kept with the correction.")],
    free: Annotated[
        str | None, typer.Option(metavar="USD|all", help="So much of what is uncertain was not billed: give it back.")
    ] = None,
    spent: Annotated[
        str | None, typer.Option(metavar="USD|all", help="So much of what is uncertain was billed: count it as spent.")
    ] = None,
    month: Annotated[str | None, typer.Option(metavar="YYYY-MM", help="Of which month (UTC); default: this one.")] = None,
    by: Annotated[str | None, typer.Option(help="Who says so; default: the user of this machine.")] = None,
    db: DbFlag = _HERE,
    as_json: JsonFlag = False,
) -> None:
    """Settle uncertain money: what calls may have cost whose end is not known. The key's quota follows at once."""
    from podium.cli.outcome import guarded

    with guarded():
        _need_store()
        from podium.cli.key_account import correct

        asyncio.run(correct(db, name, free=free, spent=spent, reason=reason, by=by, month=month, as_json=as_json))


@keys_app.command("change")
def keys_change(
    name: Annotated[str, typer.Argument(metavar="NAME_OR_ID", help="Which key.")],
    monthly_usd: Annotated[str | None, typer.Option(metavar="USD|none", help="Dollars per calendar month (UTC).")] = None,
    requests_per_minute: Annotated[str | None, typer.Option(metavar="N|none", help="Requests per minute.")] = None,
    tokens_per_minute: Annotated[str | None, typer.Option(metavar="N|none", help="Tokens per minute.")] = None,
    concurrency: Annotated[str | None, typer.Option(metavar="N|none", help="Runs under way at once, over all replicas.")] = None,
    scope: Annotated[
        list[str] | None,
        typer.Option(help="What the key may do from now on, instead of what it could: ask, read, or admin; repeat it."),
    ] = None,
    store_content: Annotated[
        bool | None,
        typer.Option("--store-content/--no-store-content", help="Keep questions, answers and transcripts of its runs."),
    ] = None,
    db: DbFlag = _HERE,
    as_json: JsonFlag = False,
) -> None:
    """Change a key: what is not named stays, "none" lifts a limit. A running server follows within seconds."""
    from podium.cli.outcome import guarded

    with guarded():
        _need_store()
        from podium.cli.keys import change

        asyncio.run(
            change(
                db,
                name,
                monthly_usd=monthly_usd,
                requests_per_minute=requests_per_minute,
                tokens_per_minute=tokens_per_minute,
                concurrency=concurrency,
                scopes=frozenset(scope or ()),
                store_content=store_content,
                as_json=as_json,
            )
        )


@keys_app.command("revoke")
def keys_revoke(name: Annotated[str, typer.Argument(metavar="NAME_OR_ID", help="Which key.")], db: DbFlag = _HERE) -> None:
    """End a key. A running server follows within seconds."""
    from podium.cli.outcome import guarded

    with guarded():
        _need_store()
        from podium.cli.keys import revoke

        asyncio.run(revoke(db, name))


@runs_app.command("list")
def runs_list(
    key: Annotated[str | None, typer.Option(help="Only runs of this key, by name or id.")] = None,
    text: Annotated[str, typer.Option(help="Only runs whose question or answer holds this.")] = "",
    failed: Annotated[bool, typer.Option("--failed", help="Only runs without an answer.")] = False,
    n: Annotated[int, typer.Option("-n", "--n", min=1, max=10_000, help="How many at most.")] = 20,
    db: DbFlag = _HERE,
    as_json: JsonFlag = False,
) -> None:
    """The latest runs, newest first."""
    from podium.cli.outcome import guarded

    with guarded():
        _need_store()
        from podium.cli.runs import show_list

        asyncio.run(show_list(db, key=key, text=text, failed=failed, n=n, as_json=as_json))


@runs_app.command("show")
def runs_show(run: Annotated[str, typer.Argument(metavar="ID")], db: DbFlag = _HERE, as_json: JsonFlag = False) -> None:
    """One run: the question, each round's workflow, the answer."""
    from podium.cli.outcome import guarded

    with guarded():
        _need_store()
        from podium.cli.runs import show

        asyncio.run(show(db, run, as_json=as_json))


@runs_app.command("export")
def runs_export(
    out: Annotated[Path, typer.Option(help="The new file: one JSON object per run, newest first, transcripts included.")],
    key: Annotated[str | None, typer.Option(help="Only runs of this key, by name or id.")] = None,
    db: DbFlag = _HERE,
) -> None:
    """Write every run into a file."""
    from podium.cli.outcome import guarded

    with guarded():
        _need_store()
        from podium.cli.runs import export

        asyncio.run(export(db, out, key=key))


@runs_app.command("delete")
def runs_delete(
    older_than: Annotated[
        int, typer.Option(metavar="DAYS", min=0, max=36_500, help="Delete what was asked longer ago than this; 0 is every run.")
    ],
    key: Annotated[str | None, typer.Option(help="Only runs of this key, by name or id.")] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask first.")] = False,
    db: DbFlag = _HERE,
    as_json: JsonFlag = False,
) -> None:
    """Delete old runs for good. What keys have spent stays booked."""
    from podium.cli.outcome import guarded

    with guarded():
        _need_store()
        from podium.cli.runs import delete

        delete(db, older_than_days=older_than, key=key, yes=yes, as_json=as_json)


def _need_store() -> None:
    missing = [name for name in ("sqlalchemy", "alembic") if importlib.util.find_spec(name) is None]
    if missing:
        raise ConfigError(f"the server's database needs {', '.join(missing)}: pip install 'podium[serve]'")
