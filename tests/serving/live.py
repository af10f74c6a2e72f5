"""A real server on a real socket inside the test's own event loop, over workers that say what the test tells them."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import uvicorn

from podium.pools.models import PoolCatalog
from podium.pools.opened import OpenPool
from podium.serving.accounts import Accounts
from podium.serving.app import ServerLimits, make_app
from podium.serving.catalog import ModelCatalog
from podium.serving.run import listening
from podium.serving.service import RequestService
from podium.serving.store.database import Database
from podium.types import Call, Card, Completion, Usage
from podium.workers.metered import Metered
from podium.workers.pool import Member, WorkerPool

TWO_STEPS = 'Think.\nmodel_id = [1, 2]\nsubtasks = ["Plan it.", "Solve it."]\naccess_list = [[], "all"]'
Says = Callable[[Call], str]


@dataclass(eq=False)
class Puppet:
    """A worker: says ``says(call)`` in pieces, ``seconds`` after one another; counts what is under way and what was cancelled."""

    says: Says
    seconds: float = 0.0
    calls: list[Call] = field(default_factory=list)
    under_way: int = 0
    cancelled: int = 0

    async def __call__(self, call: Call) -> Completion:
        self.calls.append(call)
        self.under_way += 1
        try:
            text = self.says(call)
            pieces = text.split(" ")
            for number, piece in enumerate(pieces):
                if self.seconds:
                    await asyncio.sleep(self.seconds)
                if call.on_token is not None:
                    call.on_token(piece if number == len(pieces) - 1 else f"{piece} ")
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        finally:
            self.under_way -= 1
        usage = Usage(prompt_tokens=10, completion_tokens=len(pieces), cost_usd=0.001)
        return Completion(text=text, usage=usage, seconds=self.seconds * len(pieces))


def said(text: str) -> Puppet:
    return Puppet(lambda call: text)


def catalog_of(conductor: Puppet, *workers: Puppet) -> PoolCatalog:
    """A pool whose first worker, ``boss``, writes the workflows; the others are called ``w1``, ``w2`` and so on."""
    members = []
    for index, puppet in enumerate((conductor, *workers)):
        card = Card(name="boss" if index == 0 else f"w{index}", prompt_usd=1e-6, completion_usd=1e-5)
        members.append(Member(worker=Metered(puppet, card, 100, []), card=card))
    return PoolCatalog(OpenPool(workers=WorkerPool(members)), "chat:boss")


@dataclass(eq=False)
class Live:
    """A server that is up."""

    url: str
    accounts: Accounts
    service: RequestService


@asynccontextmanager
async def live(
    catalog: ModelCatalog,
    folder: Path,
    *,
    with_keys: bool = False,
    limits: ServerLimits = ServerLimits(),
    origins: Sequence[str] = (),
    url: str | None = None,
    replica: str = "one",
    store_content: bool = True,
) -> AsyncIterator[Live]:
    """Serve ``catalog`` inside the block."""
    async with Database(url or f"sqlite:///{folder / 'podium.db'}") as database:
        accounts = Accounts(database=database, replica=replica, with_keys=with_keys, store_content=store_content, request_usd=0.5)
        app = make_app(catalog, accounts, version="0", limits=limits, origins=origins)
        bound = listening("127.0.0.1", 0)
        server = uvicorn.Server(uvicorn.Config(app, log_config=None, access_log=False, timeout_graceful_shutdown=2))
        server.install_signal_handlers = lambda: None  # type: ignore[attr-defined]
        serving = asyncio.create_task(server.serve(sockets=[bound]))
        try:
            while not server.started:
                await asyncio.sleep(0.01)
                if serving.done():
                    serving.result()
            yield Live(url=f"http://127.0.0.1:{bound.getsockname()[1]}", accounts=accounts, service=app.state.service)
        finally:
            server.should_exit = True
            await serving
            bound.close()


async def until(true: Callable[[], bool], seconds: float = 5.0) -> None:
    """Wait until ``true()``, which nothing announces."""
    async with asyncio.timeout(seconds):
        while not true():  # noqa: ASYNC110 - as the docstring says
            await asyncio.sleep(0.01)
