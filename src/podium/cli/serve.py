"""``podium serve``: a pool, opened and served, and one line that says where."""

from dataclasses import dataclass
from pathlib import Path

from podium.cli.screen import note
from podium.hosting import Serving, serve
from podium.pools.conducting import AUTO
from podium.pools.open import open_pool
from podium.serving.app import ServerLimits
from podium.serving.origins import ANY
from podium.serving.store.address import shown_address
from podium.workers.budget import Budget


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeFlags:
    """The flags of ``podium serve`` as the user set them."""

    pool: Path | None
    policy: str | None
    host: str
    port: int
    db: str
    with_keys: bool | None
    """None: unless the server listens on this machine only."""
    store_content: bool
    budget: Budget
    request_usd: float
    journal: Path | None
    limits: ServerLimits
    training: Path
    page: bool
    origins: tuple[str, ...] = ()
    """Whose web pages may ask the API from a browser."""


async def serve_pool(flags: ServeFlags) -> None:
    """Carry the command out. Raises :class:`PodiumError`."""

    def on_ready(serving: Serving) -> None:
        page = f", page at {serving.url}" if flags.page else ""
        keys = "keys asked for" if serving.asks_for_keys else "no keys asked for"
        note(f"OpenAI-compatible at {serving.url}/v1 ({keys}){page}; models: {', '.join(serving.models)}")
        if ANY in flags.origins and not serving.asks_for_keys:
            note("Every web page that is open in a browser here may ask this server; nobody is asked for a key.")

    run = f"serve {shown_address(flags.db)}"
    async with open_pool(flags.pool, budget=flags.budget, journal=flags.journal, run=run) as pool:
        await serve(
            pool,
            flags.policy or AUTO,
            host=flags.host,
            port=flags.port,
            db=flags.db,
            page=flags.page,
            keys=flags.with_keys,
            store_content=flags.store_content,
            request_usd=flags.request_usd,
            limits=flags.limits,
            origins=flags.origins,
            training=flags.training,
            on_ready=on_ready,
        )
