"""What an open page costs the server: bytes that Python holds more for each page, by ``tracemalloc``, and the time to build one.

``python -m benchmarks.open_pages``: a server over the built-in workers with 200 kept runs; every page is fetched 20 times, and
NiceGUI keeps what belongs to each for a minute, whether its socket comes or not.
"""

import asyncio
import gc
import json
import tempfile
import time
import tracemalloc
from pathlib import Path

import httpx2 as httpx
import uvicorn

from benchmarks.runs_list import Language, a_run
from podium.page.attach import attach
from podium.serving.accounts import Accounts
from podium.serving.app import make_app
from podium.serving.store.database import Database
from tests.page.server import Small

PAGES = 20
RUNS = 200


async def measure(folder: Path) -> dict[str, dict[str, float]]:
    """Kilobytes and milliseconds of CPU for each address."""
    language = Language()
    async with Database(f"sqlite:///{folder}/runs.db") as database:
        accounts = Accounts(database=database, replica="page", with_keys=False, store_content=True, request_usd=0.1)
        await asyncio.gather(*(accounts.runs.add(a_run(number, language)) for number in range(RUNS)))
        app = make_app(Small(folder), accounts, version="0")
        attach(app, app.state.service, training=folder)
        server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_level="warning"))
        serving = asyncio.create_task(server.serve())
        while not server.started:  # noqa: ASYNC110 - nothing announces it
            await asyncio.sleep(0.05)
        port = server.servers[0].sockets[0].getsockname()[1]
        found = {}
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=120) as client:
            first, second = (f"run_{RUNS - number:024x}" for number in (1, 2))
            with_runs = (f"/?run={first}", f"/runs/{first}", f"/compare?a={first}&b={second}")
            for path in ("/", "/runs", "/runs?by=worker", *with_runs, "/play", "/pool", "/models", "/training"):
                found[path] = await _one(client, path)
        server.should_exit = True
        await serving
    return found


async def _one(client: httpx.AsyncClient, path: str) -> dict[str, float]:
    await client.get(path)  # what is loaded once
    gc.collect()
    tracemalloc.start()
    before, cpu = tracemalloc.get_traced_memory()[0], time.process_time()
    for _ in range(PAGES):
        (await client.get(path)).raise_for_status()
    cpu = time.process_time() - cpu
    gc.collect()
    more = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    return {"kB": round(more / PAGES / 1e3, 1), "cpu_ms_while_traced": round(1e3 * cpu / PAGES, 1)}


def main() -> None:
    """Measure and print one JSON object."""
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(asyncio.run(measure(Path(folder)))))


if __name__ == "__main__":
    main()
