"""Podium's server beside LiteLLM's proxy, same worker, same machine, one run: ``python -m benchmarks.server [LITELLM]``.

LITELLM is the path of a ``litellm`` command; without it, one is installed into ``.venv/litellm`` (some 300 MB). The worker is
``benchmarks.mock_upstream``. LiteLLM passes a request through; Podium conducts it: the policy ``solo`` writes a workflow of one
step, which is parsed, carried out, metered, kept in the database and told in full.

``rps_ratio``: requests per second of 64 clients, Podium over LiteLLM. ``p99_ratio``: the 99th percentile of their latency less
that of asking the worker directly, Podium over LiteLLM. ``first_token_ms``: how old the worker's first token is when a client
reads it. ``cpu_ms``: CPU time of the server's process per request; ``cpu_ratio``: LiteLLM's over Podium's, which a busy machine
changes least. Medians over rounds in which all three take turns.
"""

import asyncio
import json
import os
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import aiohttp

OFFLINE = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",  # else it asks the network
    "LITELLM_LOG": "ERROR",
    "LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY": "true",  # it listens on this machine only
}
CLIENTS = 64
SECONDS = 5.0
ROUNDS = 3
BODY = {"model": "podium", "messages": [{"role": "user", "content": "6 times 7?"}]}
POOL = """
[[worker]]
name = "mock"
model = "openai:mock"
base_url = "http://127.0.0.1:{port}/v1"
concurrency = 1024
prompt_usd_per_million = 1.0
completion_usd_per_million = 2.0
"""
PROXY = """
model_list:
  - model_name: podium
    litellm_params: {{model: openai/mock, api_base: "http://127.0.0.1:{port}/v1", api_key: none}}
"""


def main(litellm: str | None) -> dict[str, Any]:
    """Measure."""
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        port, worker = stack.enter_context(started([sys.executable, "-m", "benchmarks.mock_upstream"], r"(\d+)"))
        (folder / "pool.toml").write_text(POOL.format(port=port))
        (folder / "proxy.yaml").write_text(PROXY.format(port=port))
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
        serve += ["--db", f"sqlite:///{folder / 'podium.db'}", "--no-page", "--concurrency", "1024"]
        podium, ours = stack.enter_context(started(serve, r"127\.0\.0\.1:(\d+)/v1"))
        other = _free_port()
        command = [litellm or _installed(), "--config", str(folder / "proxy.yaml"), "--host", "127.0.0.1", "--port", str(other)]
        _, theirs = stack.enter_context(started([*command, "--num_workers", "1"], r"(initialized with Config)", **OFFLINE))
        _wait_for(other)
        targets = {"direct": int(port), "podium": int(podium), "litellm": other}
        processes = {"direct": worker.pid, "podium": ours.pid, "litellm": theirs.pid}
        rounds: dict[str, list[tuple[float, float, float]]] = {target: [] for target in targets}
        for at in targets.values():
            asyncio.run(_load(at, 1.0))  # warm
        for _ in range(ROUNDS):
            for target, at in targets.items():
                before = _cpu_seconds(processes[target])
                rate, p99, count = asyncio.run(_load(at, SECONDS))
                rounds[target].append((rate, p99, (_cpu_seconds(processes[target]) - before) / count))
        first = {target: asyncio.run(_first_tokens(at)) for target, at in targets.items()}
    rps = {target: statistics.median(each[0] for each in found) for target, found in rounds.items()}
    p99s = {target: statistics.median(each[1] for each in found) for target, found in rounds.items()}
    cpu = {target: statistics.median(each[2] for each in found) for target, found in rounds.items()}
    added = {target: p99s[target] - p99s["direct"] for target in ("podium", "litellm")}
    return {
        "rps_ratio": round(rps["podium"] / rps["litellm"], 2),
        "p99_ratio": round(added["podium"] / added["litellm"], 3),
        "cpu_ratio": round(cpu["litellm"] / cpu["podium"], 2),
        "cpu_ms": {target: round(1000 * value, 2) for target, value in cpu.items()},
        "first_token_ms": round(first["podium"], 2),
        "first_token_ms_litellm": round(first["litellm"], 2),
        "first_token_ms_direct": round(first["direct"], 2),
        "rps": {target: round(value, 1) for target, value in rps.items()},
        "p99_ms": {target: round(1000 * value, 1) for target, value in p99s.items()},
        "clients": CLIENTS,
    }


async def _load(port: int, seconds: float) -> tuple[float, float, int]:
    """Requests per second, the 99th percentile of their latency in seconds, and how many, of clients that ask again at once."""
    url = f"http://127.0.0.1:{port}/v1/chat/completions"
    taken: list[float] = []
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as http:
        end = time.perf_counter() + seconds

        async def client() -> None:
            while (begun := time.perf_counter()) < end:
                async with http.post(url, json=BODY) as reply:
                    body = await reply.read()
                if reply.status != 200 or b"It is 42." not in body:
                    raise RuntimeError(f"{reply.status}: {body[:500]!r}")
                taken.append(time.perf_counter() - begun)

        started = time.perf_counter()
        await asyncio.gather(*(client() for _ in range(CLIENTS)))
        wall = time.perf_counter() - started
    return len(taken) / wall, sorted(taken)[int(len(taken) * 0.99)], len(taken)


async def _first_tokens(port: int, times: int = 40) -> float:
    """Median age, in milliseconds, of the worker's first token when a lone client reads it."""
    url, ages = f"http://127.0.0.1:{port}/v1/chat/completions", []
    async with aiohttp.ClientSession() as http:
        for _ in range(times):
            async with http.post(url, json={**BODY, "stream": True}) as reply:
                text = ""
                async for line in reply.content:
                    if not line.startswith(b"data: {"):
                        continue
                    choices = json.loads(line[6:]).get("choices") or [{}]
                    text += choices[0].get("delta", {}).get("content") or ""
                    if text.endswith(" ") and (sent := re.match(r"[\d.]+ $", text)):
                        ages.append(1000 * (time.time() - float(sent[0])))
                        text = "done"
    return statistics.median(ages)


@contextmanager
def started(command: list[str], ready: str, **environment: str) -> "Iterator[tuple[str, subprocess.Popen[Any]]]":
    """A server in a process of its own: what ``ready`` finds in its output, and the process."""
    env = {**os.environ, **environment}
    with tempfile.TemporaryFile("w+") as log, subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, env=env) as server:
        try:
            end = time.monotonic() + 120
            while True:
                log.seek(0)
                said = log.read()
                if found := re.search(ready, said):
                    break
                if server.poll() is not None or time.monotonic() > end:
                    raise RuntimeError(f"{command[0]} does not start: {said[-2000:]}")
                time.sleep(0.1)
            yield found[1], server
        finally:
            server.terminate()


def _cpu_seconds(pid: int) -> float:
    """What all threads of a process have computed so far, for itself and in the kernel."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _installed() -> str:
    folder = Path(sys.prefix) / "litellm"
    if not (folder / "bin" / "litellm").exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        subprocess.run([str(folder / "bin" / "pip"), "install", "--quiet", "litellm[proxy]"], check=True)
    return str(folder / "bin" / "litellm")


def _wait_for(port: int) -> None:
    end = time.monotonic() + 120
    while time.monotonic() < end:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.2)
    raise RuntimeError(f"nothing listens on port {port}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1] if len(sys.argv) > 1 else None)))
