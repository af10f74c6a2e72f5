"""``podium mcp``: the pool as tools of the Model Context Protocol, over standard input and output."""

import json
import secrets
from pathlib import Path
from typing import Any

from mcp.server import MCPServer

from podium import __version__
from podium.errors import ConfigError
from podium.jsonl import dumps
from podium.pools.conducting import AUTO
from podium.pools.models import PODIUM, PoolCatalog
from podium.pools.open import open_pool
from podium.request_options import RequestOptions
from podium.serving.accounts import Accounts
from podium.serving.asking import conducted
from podium.serving.concurrency import ConcurrencyGate
from podium.serving.conversation import ParsedRequest
from podium.serving.metrics import Metrics
from podium.serving.service import RequestService
from podium.serving.store.address import shown_address
from podium.serving.store.database import Database
from podium.types import Call
from podium.workers.budget import Budget
from podium.workflow.draw import price


async def serve(*, pool: Path | None, policy: str | None, db: str, max_usd: float | None) -> None:
    """``podium mcp``: serve until the client closes its end. Raises :class:`PodiumError`."""
    async with (
        open_pool(pool, budget=Budget(max_usd, name="server"), run=f"mcp {shown_address(db)}") as opened,
        Database(db) as database,
    ):
        catalog = PoolCatalog(opened, policy or AUTO)
        accounts = Accounts(
            database=database, replica=f"mcp-{secrets.token_hex(4)}", with_keys=False, store_content=True, request_usd=1.0
        )
        service = RequestService(catalog=catalog, accounts=accounts, gate=ConcurrencyGate(64, 256), metrics=Metrics())
        await tools(service).run_stdio_async()


def tools(service: RequestService) -> MCPServer[Any]:
    """``ask``, ``list_workers`` and ``get_run`` over ``service``."""
    server: MCPServer[Any] = MCPServer(
        name="podium",
        version=__version__,
        instructions="Several language models, conducted as one. Ask it what one model gets wrong.",
    )

    @server.tool()
    async def ask(question: str, model: str = PODIUM, rounds: int | None = None, budget_usd: float | None = None) -> str:
        """Ask a question. A conductor writes a workflow over several language models and carries it out; returns the answer.

        model: one of list_workers' models. rounds: above 1 it may look at its answer and try again. budget_usd: most it may cost.
        The run's id and cost stand in the last line; get_run tells how the answer came to be.
        """
        options = RequestOptions(rounds=rounds, budget_usd=budget_usd)
        parsed = ParsedRequest(model=model, call=Call.plain(question), options=options)
        async with service.admitted(None, parsed) as active:
            dones = await conducted(active.conductors, active.call)
            await service.finish(active, dones)
        [done] = dones
        if done.failure is not None:
            raise done.failure.error()
        cost = price(done.completion.usage, active.admission.budget.paid.cost_usd)
        return f"{done.completion.text}\n\n({active.run}, cost {cost})"

    @server.tool()
    async def list_workers() -> str:
        """The models that can be asked, and the workers behind them: what for, at what price, measured how good."""
        workers = [json.loads(dumps(card)) for card in service.catalog.cards]
        return json.dumps({"models": list(service.catalog.models), "workers": workers})

    @server.tool()
    async def get_run(run: str) -> str:
        """How an answer came to be: the workflow, and what each step was told, saw, said and cost."""
        found = await service.accounts.runs.get(run, key=None)
        if found is None:
            raise ConfigError(f"there is no run {run[:60]!r}")
        return dumps(found)

    return server
