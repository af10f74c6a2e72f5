"""``serve``: a pool as one model behind HTTP, with keys, quotas, kept runs and the page."""

import secrets
import socket
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from starlette.middleware.trustedhost import TrustedHostMiddleware

from podium import __version__
from podium.conduct import Conductor
from podium.errors import ConfigError
from podium.page.attach import attach
from podium.page.site import Playground
from podium.policies.fixed import FixedPolicy
from podium.pools.conducting import AUTO
from podium.pools.models import PoolCatalog
from podium.pools.opened import OpenPool
from podium.pools.verifiers import open_verifiers
from podium.serving.accounts import Accounts
from podium.serving.app import ServerLimits, make_app
from podium.serving.origins import checked_origin
from podium.serving.run import is_local, listening, run
from podium.serving.store.database import Database
from podium.serving.telemetry import exporting


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    """What a server that listens says of itself."""

    url: str
    models: Sequence[str]
    asks_for_keys: bool


async def serve(
    pool: OpenPool,
    policy: str = AUTO,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    db: str = "sqlite:///podium.db",
    page: bool = True,
    keys: bool | None = None,
    store_content: bool = True,
    request_usd: float = 1.0,
    limits: ServerLimits = ServerLimits(),
    origins: Sequence[str] = (),
    training: Path = Path("runs"),
    pool_file: Path | None = None,
    on_ready: Callable[[Serving], None] = lambda serving: None,
) -> None:
    """Serve ``pool`` until SIGINT or SIGTERM: an OpenAI-compatible API, and the page.

    ``policy`` writes the workflows of the model ``podium``. ``port`` 0 takes a free one; ``on_ready`` is told the address. ``db``
    holds keys, quotas and runs. ``keys`` says whether callers need one (None: unless only this machine can reach the server).
    ``store_content`` keeps questions and answers of callers without a key. ``request_usd`` is what a request of a key with a
    quota may cost, unless it says. ``origins`` are web pages that may ask from a browser. ``training`` is the folder of runs that
    the page shows; ``pool_file`` is where ``pool`` was opened from, for what is tuned from the page. Raises
    :class:`ConfigError`, before anything listens.
    """
    with_keys = not is_local(host) if keys is None else keys
    if limits.concurrency_per_key is not None and not with_keys:
        raise ConfigError("--concurrency-per-key is for servers that ask for keys: say --keys, or leave it out")
    checked = tuple(dict.fromkeys(checked_origin(origin) for origin in origins))
    async with Database(db) as database, _playground(pool if page else None) as playground:
        catalog = PoolCatalog(pool, policy)
        accounts = Accounts(
            database=database,
            replica=f"{socket.gethostname()}-{secrets.token_hex(4)}",
            with_keys=with_keys,
            store_content=store_content,
            request_usd=request_usd,
        )
        await database.migrate()
        if with_keys and not await accounts.keys.list():
            raise ConfigError("nobody could ask this server: make a key first (podium keys create NAME), or say --no-keys")
        app = make_app(catalog, accounts, version=__version__, limits=limits, origins=checked)
        if page:
            pool_files = Path.cwd() if with_keys or is_local(host) else None
            attach(app, app.state.service, training=training, playground=playground, pool_files=pool_files, pool_file=pool_file)
        if not with_keys and is_local(host):
            # A page elsewhere may point a name of its own at this machine, and its visitors' browsers would ask us for it.
            app.add_middleware(TrustedHostMiddleware, allowed_hosts=["localhost", "127.0.0.1", "[::1]", host])
        bound = listening(host, port)
        shown = f"[{host}]" if ":" in host else host
        on_ready(Serving(url=f"http://{shown}:{bound.getsockname()[1]}", models=catalog.models, asks_for_keys=with_keys))
        with exporting():
            await run(app, bound)
        await accounts.settled()


@asynccontextmanager
async def _playground(pool: OpenPool | None) -> AsyncIterator[Playground | None]:
    """What visitors of the page can play with; None without a page, or where the pool brings no problems of its own."""
    if pool is None or pool.problems is None:
        yield None
        return
    problems = pool.problems()
    async with open_verifiers({problem.kind for problem in problems}) as verifier:
        yield Playground(
            problems=problems,
            verifier=verifier,
            conductor=lambda text: Conductor(FixedPolicy(text), pool.workers),
            check_question=pool.check_question,
            answers_only_these=pool.answers_text_only,
        )
