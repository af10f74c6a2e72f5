"""What this machine and a pool can do: what is installed, reachable, isolated and priced, and what one goes without."""

import platform
import shutil
from collections.abc import AsyncIterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Literal

from podium.errors import SandboxError
from podium.extras import EXTRAS, missing
from podium.pools.health import check_workers
from podium.tasks.sandbox.probe import probe_isolation
from podium.workers.local_servers import PORTS, local_models

State = Literal["ok", "missing", "fails"]
BROWSERS = ("chromium-headless-shell", "chromium")
WITHOUT = {
    "anthropic": "no worker of Anthropic's own protocol",
    "data": "public benchmarks from local copies only",
    "gepa": "no podium tune --conductor",
    "google": "no worker of Google's own protocol",
    "inspect": "no use in Inspect, no podium export",
    "mcp": "no podium mcp, no workers with tools of MCP servers",
    "otel": "no traces sent to OpenTelemetry",
    "postgres": "a server keeps its runs in SQLite only, on one machine",
    "ray": "studies on this machine only",
    "serve": "no podium serve: no API, no page",
    "stats": "no routers, no --compare, no podium tune, no podium pool probe",
    "train": "no podium train; known workflows instead of the trained Conductor in the built-in pool",
    "trl": "no training of published models",
}
"""Extra -> what one goes without where it is not installed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that was looked at. Example: ``Finding(part="isolated", name="sandbox", state="ok", said="it holds")``."""

    part: Literal["installed", "reachable", "isolated", "priced"]
    name: str
    state: State
    said: str
    costs: str = ""
    """What one goes without; "" where nothing is missing."""
    stops_pool: bool = False
    """Whether the pool can not be used as it is."""


async def examined(pool: Path | None = None, *, seconds: float = 60.0) -> AsyncIterator[Finding]:
    """Everything, as it is found out. The workers of ``pool`` are asked for one word each, which is paid; ``seconds`` is how long
    each may take.

    Raises :class:`ConfigError` for a pool file that can not be used.
    """
    for finding in _installed():
        yield finding
    try:
        await probe_isolation()
        yield Finding(part="isolated", name="sandbox", state="ok", said="a program in it finds no open door")
    except SandboxError as error:
        costs = "programs of answers and of python workers are not run, unless unguarded (--unsafe-local)"
        yield Finding(part="isolated", name="sandbox", state="fails", said=str(error), costs=costs)
    local = await local_models()
    for port, server in PORTS.items():
        names = [model.name for model in local if model.port == port]
        state: State = "ok" if names else "missing"
        said = f"at 127.0.0.1:{port}: {', '.join(names)}" if names else f"nobody at 127.0.0.1:{port}"
        yield Finding(
            part="reachable", name=server, state=state, said=said, costs="" if names else "no models of one's own there"
        )
    if pool is None:
        yield Finding(part="reachable", name="built-in pool", state="ok", said="always; simulated workers, simulated dollars")
        return
    for health in (healths := await check_workers(pool, seconds=seconds)):
        said = f"in {health.seconds:.1f} s" if health.answers else health.said
        costs = "" if health.answers else "no step can be given to it"
        yield Finding(
            part="reachable", name=health.worker, state="ok" if health.answers else "fails", said=said, costs=costs,
            stops_pool=not health.answers,
        )  # fmt: skip
    for health in healths:
        if health.price_known:
            yield Finding(part="priced", name=health.worker, state="ok", said="known")
        else:
            said = "unknown: set prompt_usd_per_million and completion_usd_per_million"
            costs = "no budget in dollars: --budget-usd and --max-usd are refused"
            yield Finding(part="priced", name=health.worker, state="missing", said=said, costs=costs)


def _installed() -> list[Finding]:
    found = [Finding(part="installed", name="python", state="ok", said=platform.python_version())]
    for extra in sorted(EXTRAS):
        absent = missing(extra)
        state: State = "missing" if absent else "ok"
        said = f"pip install 'podium[{extra}]' ({', '.join(absent)})" if absent else _version(extra)
        costs = WITHOUT[extra] if absent else ""
        found.append(Finding(part="installed", name=extra, state=state, said=said, costs=costs))
    for name, programs, package, costs in (
        ("bubblewrap", ("bwrap",), "bubblewrap", "no sandbox: programs are not run, unless unguarded (--unsafe-local)"),
        ("chromium", BROWSERS, BROWSERS[0], "nothing to use Podium; the tests of the page are skipped"),
    ):
        path = next(filter(None, map(shutil.which, programs)), None)
        said = path or f"apt-get install {package}"
        state = "ok" if path else "missing"
        found.append(Finding(part="installed", name=name, state=state, said=said, costs="" if path else costs))
    return found


def _version(extra: str) -> str:
    """The version of the library that an extra is mostly about."""
    library = {"train": "torch", "trl": "trl", "serve": "fastapi", "stats": "scikit-learn"}.get(extra)
    try:
        return "yes" if library is None else f"{library} {version(library)}"
    except PackageNotFoundError:
        return "yes"
