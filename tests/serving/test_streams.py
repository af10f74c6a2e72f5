"""Streams that can not end well: an answer that is taken back, a client that goes away."""

import asyncio
import gc
import json
from pathlib import Path
from typing import Any

import openai
import pytest

from podium.errors import WorkerUnavailable
from podium.serving.store.tables import paused
from podium.types import Call, Completion, ToolCall, Usage
from tests.serving.live import TWO_STEPS, Live, Puppet, catalog_of, live, said, until
from tests.serving.test_chat_api import client

ASKED: Any = [{"role": "user", "content": "6 times 7?"}]
TOOLS: Any = [{"type": "function", "function": {"name": "now", "parameters": {"type": "object", "properties": {}}}}]


class Wavering:
    """Says ``pieces`` (None: it begins anew), and in the end that its answer is ``whole``."""

    def __init__(self, pieces: list[str | None], whole: str, calls: tuple[ToolCall, ...] = ()) -> None:
        self.pieces, self.whole, self.calls = pieces, whole, calls

    async def __call__(self, call: Call) -> Completion:
        for piece in self.pieces:
            assert call.on_token is not None
            call.on_token(piece)
        usage = Usage(prompt_tokens=10, completion_tokens=1, cost_usd=0.001)
        return Completion(text=self.whole, tool_calls=self.calls, usage=usage)


CALLS = (ToolCall(id="call_1", name="now", arguments="{}"),)
GOOD: dict[str, Wavering] = {
    "in the same words": Wavering(["It is ", None, "It ", "is ", "42."], "It is 42."),
    "twice": Wavering(["It is ", None, "It", None, "It is 42."], "It is 42."),
    "and the rest comes in one piece": Wavering(["It is ", None, "It"], "It is 42."),
    "before anything was sent": Wavering([None, "No idea."], "No idea."),
    "with tools": Wavering(["Let me ", None, "Let me look."], "Let me look.", CALLS),
}
BAD: dict[str, Wavering] = {
    "in other words": Wavering(["It is ", None, "No idea."], "No idea."),
    "in fewer words": Wavering(["It is 42, or 43.", None, "It is 42"], "It is 42"),
    "with nothing but tools": Wavering(["It is ", None], "", CALLS),
    "at the end only, in other words": Wavering(["It is ", None], "No idea."),
    "at the end only, in fewer": Wavering(["It is 42, or 43."], "It is 42"),
    "in fewer words and then in others": Wavering(["It is 42.", None, "It is", None, "It i"], "It i"),
}


def stand_in(worker: Wavering) -> Any:
    """An offer whose last step is ``worker``'s."""
    catalog = catalog_of(said(TWO_STEPS), said("Plan."), said("x"))
    catalog._pool.workers.named("w2").worker._worker = worker  # type: ignore[attr-defined]
    return catalog


@pytest.mark.parametrize("model", ["w2", "podium"])
@pytest.mark.parametrize("how", [*GOOD, *BAD])
async def test_an_answer_that_is_begun_anew(tmp_path: Path, how: str, model: str) -> None:
    worker = GOOD.get(how) or BAD[how]
    async with live(stand_in(worker), tmp_path) as server, client(server) as ai:
        stream = await ai.chat.completions.create(model=model, messages=ASKED, tools=TOOLS, stream=True)
        text, ends, error = "", [], ""
        try:
            async for chunk in stream:
                text += chunk.choices[0].delta.content or ""
                ends.append(chunk.choices[0].finish_reason)
        except openai.APIError as raised:
            error = str(raised)
        events = [event async for event in await ai.responses.create(model=model, input=ASKED, stream=True)]
        runs = await server.accounts.runs.search(key=None)
        waiting = await server.accounts.database.read(lambda connection: connection.execute(paused.select()).all())
    assert len(runs) == 2
    assert len(waiting) == (how == "with tools" and model == "podium") * 2, "nothing waits that nobody will come for"
    if how in GOOD:
        assert (text, ends[-1], error) == (worker.whole, "tool_calls" if worker.calls else "stop", "")
        assert events[-1].type == "response.completed"
        assert "".join(event.delta for event in events if event.type == "response.output_text.delta") == worker.whole
        assert [run.failure for run in runs] == ["", ""]
    else:
        assert "other words" in error
        assert set(ends) <= {None}, "nobody is told that this is the answer"
        assert events[-1].type == "response.failed"
        assert [run.failure for run in runs] == ["WorkerUnavailable"] * 2
        whole_usd = 0.001 if model == "w2" else 0.003
        assert all((run.usage.cost_usd or 0) >= whole_usd - 0.001 - 1e-9 for run in runs), "what was paid by then is known"


async def test_a_choice_that_fails_first_does_not_hide_what_the_others_used(tmp_path: Path) -> None:
    tries = []

    class Uneven(Puppet):
        async def __call__(self, call: Call) -> Completion:
            tries.append(call)
            if len(tries) == 2:
                raise WorkerUnavailable("gone")
            return await super().__call__(call)

    catalog = catalog_of(said(TWO_STEPS), said("Plan."), Uneven(lambda call: "42 " * 100, seconds=0.05))
    async with live(catalog, tmp_path) as server, client(server) as ai:
        with pytest.raises(openai.APIError):
            async for _ in await ai.chat.completions.create(model="podium", messages=ASKED, stream=True, n=2):
                pass
        [run] = await server.accounts.runs.search(key=None)
    assert run.failure == "WorkerUnavailable"
    assert run.usage.cost_usd == pytest.approx(0.004), "two workflows and two plans"


async def sent(server: Live, path: str, body: dict[str, Any]) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    reader, writer = await asyncio.open_connection("127.0.0.1", int(server.url.rpartition(":")[2]))
    content = json.dumps(body).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n"
    writer.write(head.encode() + content)
    await writer.drain()
    return reader, writer


@pytest.mark.parametrize("when", ["before it is answered", "while it streams", "while it is silent"])
@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/responses"])
@pytest.mark.parametrize("stream", [False, True])
async def test_a_client_that_hangs_up_leaves_nothing_behind(tmp_path: Path, stream: bool, path: str, when: str) -> None:
    loop, complaints = asyncio.get_running_loop(), list[dict[str, Any]]()
    loop.set_exception_handler(lambda _, context: complaints.append(context))
    solver = Puppet(lambda call: "word " * 1000, seconds=30.0 if when == "while it is silent" else 0.01)
    planner = Puppet(lambda call: "Plan.", seconds=0.3 if when == "before it is answered" else 0.0)
    many = {"n": 3} if "chat" in path else {}
    async with live(catalog_of(said(TWO_STEPS), planner, solver), tmp_path) as server:
        said_by = planner if when == "before it is answered" else solver
        for _ in range(3):
            body = {"model": "podium", "stream": stream, "messages" if many else "input": ASKED, **many}
            reader, writer = await sent(server, path, body)
            await until(lambda: said_by.under_way == (3 if many else 1))
            if stream and when == "while it streams":
                await reader.readuntil(b"word ")
            writer.transport.abort()
            await until(lambda: planner.under_way == solver.under_way == 0)
        async with asyncio.timeout(5):
            while len(kept := await server.accounts.runs.search(key=None)) < 3:  # noqa: ASYNC110 - nothing announces it
                await asyncio.sleep(0.02)
    assert {run.failure for run in kept} == {"Cancelled"}
    for _ in range(3):
        gc.collect()
        await asyncio.sleep(0)
    assert complaints == []
