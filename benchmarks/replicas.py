"""Two servers over one PostgreSQL, one of them killed under load: ``python -m benchmarks.replicas postgresql://...``.

The database is empty at first. Clients ask both; in the middle one gets SIGKILL, and the clients go on with the other. Then the
books are compared with what the worker answered and what the clients were told.

``over_quota_usd``: what was booked beyond the key's quota. ``drift_calls``: calls the worker answered less those booked as spent,
which is at most ``in_flight``, the calls under way when the server died; ``uncertain_usd`` is what is booked for those, at most
what each could have cost. ``lost_runs``: answers that a client has and whose run is not in the database.
"""

import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import aiohttp

from benchmarks.server import BODY, POOL, started
from podium.serving.store.database import Database
from podium.serving.store.keys import Keys
from podium.serving.store.quotas import Quotas
from podium.serving.store.runs import Runs

CALL_USD = 9e-6 + 5 * 2e-6
"""What a call of the mock worker costs at the prices of the pool."""
SILENT_SECONDS = 12.0
"""After how long without a beat the drill takes a server for dead; a server's own patience is a minute."""


def drill(url: str, *, clients: int, requests: int) -> dict[str, Any]:
    """``clients`` ask ``requests`` times each, of a key that can pay for three quarters of it."""
    quota = round(0.75 * clients * requests * CALL_USD, 9)
    secret = asyncio.run(_key(url, quota))
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        upstream = [sys.executable, "-m", "benchmarks.mock_upstream"]
        port, _ = stack.enter_context(started(upstream, r"(\d+)", SECONDS="0.1"))
        (folder / "pool.toml").write_text(POOL.format(port=port) + "max_tokens = 16\n")
        serve = [
            sys.executable,
            "-m",
            "podium",
            "serve",
            "--pool",
            str(folder / "pool.toml"),
            "--policy",
            "solo:mock",
            "--port",
            "0",
        ]
        serve += ["--db", url, "--keys", "--request-usd", "0.0001"]
        replicas = [stack.enter_context(started(serve, r"127\.0\.0\.1:(\d+)/v1")) for _ in range(2)]
        told = asyncio.run(_load(secret, [int(each[0]) for each in replicas], replicas[0][1], clients, requests))
        time.sleep(SILENT_SECONDS + 1)
        answered = asyncio.run(_stats(int(port)))["completions"]
        figures = asyncio.run(_books(url, told["runs"]))
    booked = figures["spent_usd"] + figures["uncertain_usd"]
    return {
        "clients": clients,
        "answered": len(told["runs"]),
        "refused": told["refused"],
        "broken_off": told["broken"],
        "in_flight": told["in_flight"],
        "worker_answered": answered,
        "quota_usd": quota,
        "booked_usd": booked,
        "over_quota_usd": max(0.0, booked - quota),
        "drift_calls": round(answered - figures["spent_usd"] / CALL_USD, 2),
        "uncertain_usd": figures["uncertain_usd"],
        "open_usd": figures["open_usd"],
        "lost_runs": figures["lost_runs"],
    }


async def _load(secret: str, ports: list[int], victim: "subprocess.Popen[Any]", clients: int, requests: int) -> dict[str, Any]:
    runs: list[str] = []
    counts = {"refused": 0, "broken": 0, "in_flight": 0, "open": 0}
    alive = list(ports)

    async def client(http: aiohttp.ClientSession, number: int) -> None:
        for turn in range(requests):
            port = alive[(number + turn) % len(alive)]
            on_victim = port == ports[0]
            counts["open"] += on_victim
            try:
                async with http.post(f"http://127.0.0.1:{port}/v1/chat/completions", json=BODY) as reply:
                    await reply.read()
                    if reply.status == 200:
                        runs.append(reply.headers["X-Podium-Run"])
                    elif reply.status == 429:
                        counts["refused"] += 1
                    else:
                        raise RuntimeError(f"{reply.status}: {await reply.text()}")
            except (aiohttp.ClientConnectionError, aiohttp.ClientPayloadError):  # the second: killed in the middle of an answer
                counts["broken"] += 1
            finally:
                counts["open"] -= on_victim

    async def kill() -> None:
        while len(runs) < clients * requests // 4:  # noqa: ASYNC110 - nothing announces it
            await asyncio.sleep(0.005)
        alive[:] = ports[1:]
        counts["in_flight"] = counts["open"]
        os.kill(victim.pid, signal.SIGKILL)

    async with aiohttp.ClientSession(headers={"Authorization": f"Bearer {secret}"}) as http:
        await asyncio.gather(kill(), *(client(http, number) for number in range(clients)))
    return {**counts, "runs": runs}


async def _key(url: str, quota: float) -> str:
    async with Database(url) as database:
        _, secret = await Keys(database).create("drill", monthly_usd=quota)
        return secret


async def _books(url: str, runs: list[str]) -> dict[str, Any]:
    async with Database(url) as database:
        quotas = Quotas(database, "drill")
        await quotas.reap(SILENT_SECONDS)
        [spent] = (await quotas.spent()).values()
        lost = [run for run in runs if await Runs(database).get(run, key=None) is None]
    return {
        "spent_usd": spent.spent_usd,
        "uncertain_usd": spent.uncertain_usd,
        "open_usd": spent.open_usd,
        "lost_runs": len(lost),
    }


async def _stats(port: int) -> dict[str, int]:
    async with aiohttp.ClientSession() as http, http.get(f"http://127.0.0.1:{port}/stats") as reply:
        counts: dict[str, int] = await reply.json()
        return counts


if __name__ == "__main__":
    print(json.dumps(drill(sys.argv[1], clients=32, requests=30)))
