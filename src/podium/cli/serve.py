"""``podium serve``: a pool, opened and served, and one line that says where."""

import asyncio
from pathlib import Path

import typer

from podium import hosting
from podium.cli.outcome import INTERRUPTED
from podium.cli.screen import note
from podium.hosting import Serving
from podium.pools.conducting import AUTO
from podium.pools.open import open_pool
from podium.serving.app import ServerLimits
from podium.serving.origins import ANY
from podium.serving.run import new_event_loop
from podium.serving.store.address import shown_address
from podium.workers.budget import Budget


def serve(
    *,
    pool: Path | None,
    policy: str | None,
    host: str,
    port: int,
    db: str,
    keys: bool | None,
    store_content: bool,
    max_usd: float | None,
    request_usd: float,
    journal: Path | None,
    concurrency: int,
    queue: int,
    concurrency_per_key: int | None,
    training: Path,
    page: bool,
    allow_origin: list[str] | None,
) -> None:
    """Carry the command out. Raises :class:`PodiumError`."""
    origins = tuple(allow_origin or ())

    def on_ready(serving: Serving) -> None:
        where = f", page at {serving.url}" if page else ""
        asked_for = "keys asked for" if serving.asks_for_keys else "no keys asked for"
        note(f"OpenAI-compatible at {serving.url}/v1 ({asked_for}){where}; models: {', '.join(serving.models)}")
        if ANY in origins and not serving.asks_for_keys:
            note("Every web page that is open in a browser here may ask this server; nobody is asked for a key.")

    async def opened() -> None:
        run = f"serve {shown_address(db)}"
        async with open_pool(pool, budget=Budget(max_usd, name="server"), journal=journal, run=run) as opened:
            await hosting.serve(
                opened,
                policy or AUTO,
                host=host,
                port=port,
                db=db,
                page=page,
                keys=keys,
                store_content=store_content,
                request_usd=request_usd,
                limits=ServerLimits(concurrency=concurrency, queue=queue, concurrency_per_key=concurrency_per_key),
                origins=origins,
                training=training,
                pool_file=pool,
                on_ready=on_ready,
            )

    stopped = f"stopped serving; keys and runs are kept in {shown_address(db)}, and the same command serves on with them"
    try:
        with asyncio.Runner(loop_factory=new_event_loop) as runner:
            runner.run(opened())
    except KeyboardInterrupt:  # before it listened
        note(stopped)
        raise typer.Exit(INTERRUPTED) from None
    note(stopped)
