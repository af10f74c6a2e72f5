"""The server against requests made up from its own OpenAPI document: ``python -m benchmarks.server_fuzz [CASES]``.

Schemathesis makes requests, valid ones and broken ones, for every endpoint; Hypothesis makes request options of any shape for
otherwise good requests of each API. ``unhandled`` counts answers with status 500 (a bug), ``shapeless`` errors in no API's shape.
"""

import argparse
import asyncio
import itertools
import json
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable
from schemathesis.core.result import Ok
from schemathesis.generation import GenerationMode

from podium.pools.models import PoolCatalog
from podium.pools.opened import OpenPool
from podium.types import Call, Card
from podium.workers.pool import Member, WorkerPool
from podium.workers.render import render
from podium.workers.scripted import Scripted
from tests.serving.live import TWO_STEPS, live

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(st.text(max_size=8), inside, max_size=3),
    max_leaves=6,
)
NAMES = ("workers", "exclude_workers", "policy", "rounds", "tool_steps", "budget_usd", "session_usd", "budget_seconds")
EXTENSIONS = st.dictionaries(st.sampled_from(NAMES) | st.text(max_size=10), JSON_VALUES, max_size=4) | JSON_VALUES


def fuzz(cases: int) -> dict[str, Any]:
    """Send about ``cases`` requests, a third of them with made-up request options."""
    statuses: Counter[int] = Counter()
    wrong: list[str] = []
    shapeless = 0

    def note(reply: Any, asked: str) -> None:
        nonlocal shapeless
        statuses[reply.status_code] += 1
        if reply.status_code == 500:
            wrong.append(asked[:500])
        elif reply.status_code >= 400 and not _has_shape(reply.content):
            shapeless += 1

    with _server() as url:
        document = httpx.get(f"{url}/openapi.json", timeout=60).json()
        for name in ("ChatRequest", "ResponsesRequest", "CompactRequest", "MessagesRequest", "CountRequest"):
            # Any text is a name; one that is served gets further.
            document["components"]["schemas"][name]["properties"]["model"] = {"enum": ["podium", "w1"]}
        schema = schemathesis.openapi.from_dict(document)
        schema.config.update(base_url=url)
        operations = [found.ok() for found in schema.get_all_operations() if isinstance(found, Ok)]
        posts = [each for each in operations if each.method.upper() == "POST"]
        share = cases * 2 // 3
        with httpx.Client(base_url=url, timeout=30) as http:
            for operation in operations:
                # What takes a body has more to get wrong.
                each = share * 4 // 5 // len(posts) if operation in posts else share // 5 // (len(operations) - len(posts))
                for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
                    _run(
                        each // 2,
                        operation.as_strategy(generation_mode=mode),
                        lambda case: note(case.call(), case.as_curl_command()),
                    )
            question = [{"role": "user", "content": "6 times 7?"}]
            asked: dict[str, dict[str, Any]] = {
                "/v1/chat/completions": {"messages": question},
                "/v1/responses": {"input": question},
                "/v1/messages": {"messages": question, "max_tokens": 100},
            }
            turns = itertools.cycle(asked)

            def extended(extension: object) -> None:
                path = next(turns)
                body = json.dumps({"model": "podium", **asked[path], "podium": extension})
                note(http.post(path, content=body, headers={"Content-Type": "application/json"}), body)

            _run(cases - sum(statuses.values()), EXTENSIONS, extended)
    return {
        "cases": sum(statuses.values()),
        "unhandled": len(wrong),
        "shapeless": shapeless,
        "statuses": {str(status): count for status, count in sorted(statuses.items())},
        "examples": wrong[:3],
    }


def _run(cases: int, strategy: st.SearchStrategy[Any], send: Any) -> None:
    if cases < 1:
        return
    healthy = list(HealthCheck)
    quiet = settings(max_examples=cases, deadline=None, database=None, phases=[Phase.generate], suppress_health_check=healthy)
    with suppress(Unsatisfiable):  # what takes no parameters has nothing to get wrong
        quiet(given(strategy)(lambda made: send(made)))()


def _has_shape(content: bytes) -> bool:
    try:
        return set(json.loads(content)["error"]) == {"message", "type", "param", "code"}
    except (ValueError, KeyError, TypeError):
        return False


@contextmanager
def _server() -> Iterator[str]:
    """A server in a thread, over workers that answer at once, or sometimes not."""

    def answer(call: Call) -> str:
        asked = render(call)[-1].content
        return TWO_STEPS.replace("[1, 2]", "[1, 1]") if "AVAILABLE LANGUAGE MODELS" in asked else "42"

    names = ("boss", "w1")
    pool = WorkerPool([Member(worker=Scripted(answer), card=Card(name=name)) for name in names])
    ready, stop = threading.Event(), asyncio.Event()
    found: list[Any] = []

    async def serve() -> None:
        with tempfile.TemporaryDirectory() as folder:
            async with live(PoolCatalog(OpenPool(workers=pool), "chat:boss"), Path(folder)) as server:
                found.extend((server.url, asyncio.get_running_loop()))
                ready.set()
                await stop.wait()

    thread = threading.Thread(target=lambda: asyncio.run(serve()), daemon=True)
    thread.start()
    if not ready.wait(30):
        raise RuntimeError("the server does not start")
    try:
        yield found[0]
    finally:
        found[1].call_soon_threadsafe(stop.set)
        thread.join(10)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="?", type=int, default=20_000, help="about how many requests; default: 20,000")
    print(json.dumps(fuzz(parser.parse_args().cases)))
