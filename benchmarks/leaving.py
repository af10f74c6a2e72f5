"""Clients that leave in the middle: ``python -m benchmarks.leaving [--clients 1000] [--waves 2] [--seconds 8]``.

Waves of 1,000 clients ask at once, half of them for a stream; when all of their calls are under way, every second client
hangs up. ``still_under_way``: calls of those that left which the worker was still working on one second later.
``memory_ratio``: the server's memory after the last wave over that after the first, ``memory_mib`` after each: what leaks grows
with every wave, by the same. ``drift_calls``: calls in the key's books
less calls the worker answered; ``uncertain_calls``: what is booked, at most, for calls that were cut off; ``open_usd``: what is
still set aside when all is booked, or after a minute.
"""

import argparse
import asyncio
import json
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import aiohttp

from benchmarks.replicas import CALL_USD
from benchmarks.server import BODY, POOL, started
from podium.serving.store.database import Database
from podium.serving.store.keys import Keys
from podium.serving.store.quotas import Quotas

SECONDS = 8.0
"""How long the worker takes: long enough for all calls to be under way on a slow machine."""


def drill(clients: int, seconds: float = SECONDS, waves: int = 2) -> dict[str, Any]:
    """``waves`` of ``clients``, over a worker that takes ``seconds``."""
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        url = f"sqlite:///{folder / 'podium.db'}"
        secret = asyncio.run(_key(url))
        port, _ = stack.enter_context(started([sys.executable, "-m", "benchmarks.mock_upstream"], r"(\d+)", SECONDS=str(seconds)))
        (folder / "pool.toml").write_text(POOL.format(port=port).replace("1024", "4096") + "max_tokens = 16\n")
        serve = [sys.executable, "-m", "podium", "serve", "--pool", str(folder / "pool.toml"), "--policy", "solo:mock"]
        serve += ["--port", "0", "--db", url, "--keys", "--request-usd", "0.0001", "--concurrency", "4096"]
        at, server = stack.enter_context(started(serve, r"127\.0\.0\.1:(\d+)/v1"))
        counted: list[dict[str, int]] = []
        memory: list[int] = []
        for _ in range(waves):
            counted.append(asyncio.run(_wave(int(at), int(port), secret, clients)))
            memory.append(_memory(server.pid))
        books, counts = asyncio.run(_books(url)), asyncio.run(_stats(int(port)))
    return {
        "clients": clients,
        "left": sum(wave["left"] for wave in counted),
        "answered": sum(wave["answered"] for wave in counted),
        "still_under_way": max(wave["late"] for wave in counted),
        "memory_mib": [round(each / 2**20, 1) for each in memory],
        "memory_ratio": round(memory[-1] / memory[0], 3),
        "worker_answered": counts["completions"],
        "cut_off": counts["cut_off"],
        "drift_calls": round(books["spent_usd"] / CALL_USD - counts["completions"], 2),
        "uncertain_calls": round(books["uncertain_usd"] / CALL_USD, 1),
        "open_usd": books["open_usd"],
    }


async def _wave(at: int, upstream: int, secret: str, clients: int) -> dict[str, int]:
    answered = 0

    async def client(http: aiohttp.ClientSession, stream: bool) -> None:
        nonlocal answered
        async with http.post(f"http://127.0.0.1:{at}/v1/chat/completions", json={**BODY, "stream": stream}) as reply:
            body = await reply.read()
            if reply.status != 200:
                raise RuntimeError(f"{reply.status}: {body[:300]!r}")
            answered += 1

    connector, patience = aiohttp.TCPConnector(limit=0), aiohttp.ClientTimeout(total=120)
    async with aiohttp.ClientSession(
        headers={"Authorization": f"Bearer {secret}"}, connector=connector, timeout=patience
    ) as http:
        tasks = [asyncio.create_task(client(http, number % 4 < 2)) for number in range(clients)]
        while (await _stats(upstream))["under_way"] < clients:
            await asyncio.sleep(0.05)
            if any(task.done() for task in tasks):
                raise RuntimeError("some were answered before all were asked: the machine is too slow for this drill")
        leaving = tasks[::2]
        for task in leaving:
            task.cancel()
        await asyncio.gather(*leaving, return_exceptions=True)
        await asyncio.sleep(1.0)
        late = (await _stats(upstream))["under_way"] - (clients - len(leaving))
        await asyncio.gather(*tasks[1::2])
    return {"left": len(leaving), "answered": answered, "late": max(0, late)}


async def _key(url: str) -> str:
    async with Database(url) as database:
        _, secret = await Keys(database).create("drill", monthly_usd=10.0)
        return secret


async def _books(url: str) -> dict[str, float]:
    async with Database(url) as database:
        for _ in range(60):
            [spent] = (await Quotas(database, "drill").spent()).values()
            if not spent.open_usd:
                break
            await asyncio.sleep(1.0)
    return {"spent_usd": spent.spent_usd, "uncertain_usd": spent.uncertain_usd, "open_usd": spent.open_usd}


async def _stats(port: int) -> dict[str, int]:
    async with aiohttp.ClientSession() as http, http.get(f"http://127.0.0.1:{port}/stats") as reply:
        counts: dict[str, int] = await reply.json()
        return counts


def _memory(pid: int) -> int:
    """Resident bytes."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmRSS"))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clients", type=int, default=1000)
    parser.add_argument("--waves", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=SECONDS)
    options = parser.parse_args()
    print(json.dumps(drill(options.clients, options.seconds, options.waves)))
