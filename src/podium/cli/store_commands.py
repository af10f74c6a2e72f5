"""``podium keys`` (create, list, show, change, revoke, correct) and ``podium runs`` (list, show, export, problems, delete)."""

from pathlib import Path
from typing import Annotated

import typer

from podium.cli.flags import DB_HERE, DbFlag, JsonFlag
from podium.cli.forward import carried_out_by

keys_app = typer.Typer(no_args_is_help=True, help="Who may ask the server, and how much.")
runs_app = typer.Typer(no_args_is_help=True, help="What the server was asked and what it answered.")


@keys_app.command("create")
@carried_out_by("podium.cli.keys:create", "serve")
def keys_create(
    name: Annotated[str, typer.Argument(help="What the key is for.")],
    monthly_usd: Annotated[float | None, typer.Option(min=0.0, help="Dollars per calendar month (UTC).")] = None,
    session_usd: Annotated[float | None, typer.Option(min=0.0, help="Dollars per session.")] = None,
    requests_per_minute: Annotated[int | None, typer.Option(min=1, help="Requests per minute.")] = None,
    tokens_per_minute: Annotated[int | None, typer.Option(min=1, help="Tokens per minute.")] = None,
    concurrency: Annotated[int | None, typer.Option(min=1, help="Runs under way at once, over all replicas.")] = None,
    scope: Annotated[
        list[str] | None,
        typer.Option(help="What the key may do: ask (default), read its own runs, or admin; repeat it."),
    ] = None,
    store_content: Annotated[bool, typer.Option(help="Keep questions, answers and transcripts of its runs.")] = True,
    db: DbFlag = DB_HERE,
    as_json: JsonFlag = False,
) -> None:
    """Make a key and show its secret, once. Makes the database where there is none."""


@keys_app.command("list")
@carried_out_by("podium.cli.keys:show", "serve")
def keys_list(db: DbFlag = DB_HERE, as_json: JsonFlag = False) -> None:
    """Every key, its limits, and what it has used of this month."""


@keys_app.command("show")
@carried_out_by("podium.cli.key_account:show", "serve")
def keys_show(
    name: Annotated[str, typer.Argument(metavar="NAME_OR_ID", help="Which key.")], db: DbFlag = DB_HERE, as_json: JsonFlag = False
) -> None:
    """One key: its limits, what it used of each month, and what was corrected of it."""


@keys_app.command("correct")
@carried_out_by("podium.cli.key_account:correct", "serve")
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
    db: DbFlag = DB_HERE,
    as_json: JsonFlag = False,
) -> None:
    """Settle uncertain money: what calls may have cost whose end is not known. The key's quota follows at once."""


@keys_app.command("change")
@carried_out_by("podium.cli.keys:change", "serve")
def keys_change(
    name: Annotated[str, typer.Argument(metavar="NAME_OR_ID", help="Which key.")],
    monthly_usd: Annotated[str | None, typer.Option(metavar="USD|none", help="Dollars per calendar month (UTC).")] = None,
    session_usd: Annotated[str | None, typer.Option(metavar="USD|none", help="Dollars per session.")] = None,
    requests_per_minute: Annotated[str | None, typer.Option(metavar="N|none", help="Requests per minute.")] = None,
    tokens_per_minute: Annotated[str | None, typer.Option(metavar="N|none", help="Tokens per minute.")] = None,
    concurrency: Annotated[str | None, typer.Option(metavar="N|none", help="Runs under way at once, over all replicas.")] = None,
    scope: Annotated[
        list[str] | None,
        typer.Option(help="What the key may do from now on, instead of what it could: ask, read, answer, or admin; repeat it."),
    ] = None,
    store_content: Annotated[
        bool | None,
        typer.Option("--store-content/--no-store-content", help="Keep questions, answers and transcripts of its runs."),
    ] = None,
    db: DbFlag = DB_HERE,
    as_json: JsonFlag = False,
) -> None:
    """Change a key: what is not named stays, "none" lifts a limit. A running server follows within seconds."""


@keys_app.command("revoke")
@carried_out_by("podium.cli.keys:revoke", "serve")
def keys_revoke(name: Annotated[str, typer.Argument(metavar="NAME_OR_ID", help="Which key.")], db: DbFlag = DB_HERE) -> None:
    """End a key. A running server follows within seconds."""


@runs_app.command("list")
@carried_out_by("podium.cli.runs:show_list", "serve")
def runs_list(
    key: Annotated[str | None, typer.Option(help="Only runs of this key, by name or id.")] = None,
    text: Annotated[str, typer.Option(help="Only runs whose question or answer holds this.")] = "",
    failed: Annotated[bool, typer.Option("--failed", help="Only runs without an answer.")] = False,
    n: Annotated[int, typer.Option("-n", "--n", min=1, max=10_000, help="How many at most.")] = 20,
    db: DbFlag = DB_HERE,
    as_json: JsonFlag = False,
) -> None:
    """The latest runs, newest first."""


@runs_app.command("show")
@carried_out_by("podium.cli.runs:show", "serve")
def runs_show(run: Annotated[str, typer.Argument(metavar="ID")], db: DbFlag = DB_HERE, as_json: JsonFlag = False) -> None:
    """One run: the question, each round's workflow, the answer."""


@runs_app.command("export")
@carried_out_by("podium.cli.runs:export", "serve")
def runs_export(
    out: Annotated[Path, typer.Option(help="The new file: one JSON object per run, newest first, transcripts included.")],
    key: Annotated[str | None, typer.Option(help="Only runs of this key, by name or id.")] = None,
    db: DbFlag = DB_HERE,
) -> None:
    """Write every run into a file."""


@runs_app.command("problems")
@carried_out_by("podium.cli.feedback:problems", "serve")
def runs_problems(
    out: Annotated[Path, typer.Option(help="The new file: one JSON object per problem, as podium.load_problems reads them.")],
    key: Annotated[str | None, typer.Option(help="Only runs of this key, by name or id.")] = None,
    db: DbFlag = DB_HERE,
) -> None:
    """Write every question whose right answer somebody wrote, or whose answer somebody called right, into a file of problems."""


@runs_app.command("delete")
@carried_out_by("podium.cli.runs:delete", "serve")
def runs_delete(
    older_than: Annotated[
        int, typer.Option(metavar="DAYS", min=0, max=36_500, help="Delete what was asked longer ago than this; 0 is every run.")
    ],
    key: Annotated[str | None, typer.Option(help="Only runs of this key, by name or id.")] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask first.")] = False,
    db: DbFlag = DB_HERE,
    as_json: JsonFlag = False,
) -> None:
    """Delete old runs for good. What keys have spent stays booked."""
