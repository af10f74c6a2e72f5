"""``podium serve`` and ``podium mcp``: their flags."""

from pathlib import Path
from typing import Annotated

import typer

from podium.cli.flags import DB_HERE, DbFlag, JournalFlag, MaxUsdFlag, PoolFlag
from podium.cli.forward import carried_out_by


@carried_out_by("podium.cli.serve:serve", "serve")
def serve(
    pool: PoolFlag = None,
    policy: Annotated[str | None, typer.Option(help="Who writes the workflows; default: the pool's own choice.")] = None,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free one.")] = 8000,
    db: DbFlag = DB_HERE,
    keys: Annotated[
        bool | None,
        typer.Option("--keys/--no-keys", help="Ask for keys (podium keys create); default: unless on this machine only."),
    ] = None,
    store_content: Annotated[bool, typer.Option(help="Keep questions and answers of requests without a key.")] = True,
    max_usd: MaxUsdFlag = None,
    request_usd: Annotated[
        float, typer.Option(min=0.0001, help="What a request of a key with a quota may cost, unless it says.")
    ] = 1.0,
    journal: JournalFlag = None,
    concurrency: Annotated[int, typer.Option(min=1, max=100_000, help="Requests worked on at once.")] = 256,
    queue: Annotated[int, typer.Option(min=0, max=1_000_000, help="Requests that may wait; more are turned away.")] = 1024,
    concurrency_per_key: Annotated[
        int | None, typer.Option(min=1, help="Requests of one key worked on at once, unless it has a number of its own.")
    ] = None,
    training: Annotated[Path, typer.Option(help="Folder of training runs that the page shows.")] = Path("runs"),
    page: Annotated[bool, typer.Option(help="Serve the page as well.")] = True,
    allow_origin: Annotated[
        list[str] | None,
        typer.Option(
            help="A web page of this origin (https://chat.example) may ask the API from a browser; may be given several times, "
            "* is every page."
        ),
    ] = None,
) -> None:
    """Serve the pool as one model: an OpenAI-compatible API, and a page on which one watches it think."""


@carried_out_by("podium.integrations.mcp_server:serve", "serve", "mcp")
def mcp(
    pool: PoolFlag = None,
    policy: Annotated[str | None, typer.Option(help="Who writes the workflows; default: the pool's own choice.")] = None,
    db: DbFlag = DB_HERE,
    max_usd: MaxUsdFlag = None,
) -> None:
    """Offer the pool as tools of the Model Context Protocol (ask, list_workers, get_run), over standard input and output."""
