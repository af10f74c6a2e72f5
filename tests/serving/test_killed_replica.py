"""Two servers over one database, one of them killed in a tool loop: the other goes on, and nothing is paid twice."""

import asyncio
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path
from typing import Any

import openai
import pytest
from aiohttp import web
from openai import AsyncOpenAI

from podium.serving.store.database import Database
from podium.serving.store.runs import Runs
from tests.serving.agents import POOL, Provider, chat_turn
from tests.serving.test_tool_loops import planned, seen
from tests.workers.test_chat import serve

ASKED: Any = {"role": "user", "content": "What is in the boxes?"}
ROUNDS = 4


class Stalling(Provider):
    """Leaves one request of the solver's without an answer: its number ``stalls``, counted from 0."""

    def __init__(self, stalls: int) -> None:
        super().__init__(rounds=ROUNDS)
        self.stalls = stalls
        self.stalled, self.answered = asyncio.Event(), 0

    async def answer(self, request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        if body["model"] != "solver":
            return await super().answer(request, body)
        if len(self.asked["solver"]) == self.stalls and not self.stalled.is_set():
            self.stalled.set()
            await asyncio.Event().wait()  # until its client is gone
        said = await super().answer(request, body)
        self.answered += 1
        return said


@contextmanager
def replica(folder: Path) -> Iterator[tuple[str, "subprocess.Popen[str]"]]:
    """A server in a process of its own, and its address."""
    command = [sys.executable, "-m", "podium", "serve", "--pool", str(folder / "pool.toml"), "--policy", "chat:boss"]
    command += ["--port", "0", "--no-page", "--db", f"sqlite:///{folder / 'podium.db'}"]
    with subprocess.Popen(command, stderr=subprocess.STDOUT, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            found = next(filter(None, (re.search(r"127\.0\.0\.1:\d+/v1", line) for line in server.stdout)))
            yield f"http://{found[0]}", server
        finally:
            server.kill()


async def test_the_other_one_goes_on_where_the_killed_one_stood(tmp_path: Path) -> None:
    provider = Stalling(stalls=2)
    async with serve(provider.answer) as upstream:
        (tmp_path / "pool.toml").write_text(POOL.replace("URL", upstream.url))
        async with AsyncExitStack() as stack:
            started = [await asyncio.to_thread(stack.enter_context, replica(tmp_path)) for _ in range(2)]
            clients = [AsyncOpenAI(base_url=url, api_key="none", max_retries=0) for url, _ in started]
            first, second = [await stack.enter_async_context(each) for each in clients]
            victim = started[0][1]
            messages: list[Any] = [ASKED]
            for turn in range(ROUNDS + 1):
                ai = (first, second)[turn % 2] if turn < provider.stalls else second
                if turn == provider.stalls:
                    lost = asyncio.create_task(chat_turn(first, "podium", messages, stream=False))
                    await asyncio.wait_for(provider.stalled.wait(), 60)
                    os.kill(victim.pid, signal.SIGKILL)
                    with pytest.raises(openai.APIConnectionError):
                        await lost
                messages.append(await chat_turn(ai, "podium", messages, stream=False))
                calls = messages[-1].get("tool_calls") or []
                messages += [{"role": "tool", "tool_call_id": call["id"], "content": f"result {turn}.0"} for call in calls]
    assert messages[-1]["content"] == seen(ROUNDS), "the answer of somebody who has seen every result"
    assert planned(provider) == (1, 1), "neither the plan nor the step before is paid again"
    assert provider.answered == ROUNDS + 1, "each round was answered once"
    async with Database(f"sqlite:///{tmp_path / 'podium.db'}") as database:
        runs = await Runs(database).search(key=None)
    assert len(runs) == ROUNDS + 1
    assert len({run.session for run in runs}) == 1, "and it is one session"
    assert all(not run.failure for run in runs)
