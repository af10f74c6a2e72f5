"""A chat worker that calls tools by itself: a real MCP server over its pipes and over HTTP, a scripted model behind a socket."""

import asyncio
import json
import os
import socket
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

pytest.importorskip("mcp", reason="mcp is not installed: pip install 'podium[mcp]'")

import uvicorn
from aiohttp import web

import podium
from podium.acting.pool_file import read_pool
from podium.conduct import Conductor
from podium.errors import ConfigError, WorkerRefused, WorkerUnavailable
from podium.events import Event, StepFinished, ToolCalled
from podium.jsonl import dumps, loads
from podium.policies.fixed import solo
from podium.serving.shown import event_object
from podium.tasks.sandbox.inside.trial import children_of
from podium.types import Call, ResponseOptions, Tool, Transcript
from podium.workers.journal import Journal
from tests.acting.tool_server import server_of
from tests.serving.live import until
from tests.workers.test_chat import reply, serve

SERVER = str(Path(__file__).with_name("tool_server.py"))
Script = Callable[[dict[str, Any]], list[tuple[str, Any]] | str]
"""(a request's body) -> the tools to be called with their arguments, or the answer."""


def asks(*rounds: list[tuple[str, Any]]) -> Script:
    """A model that asks for these tools, round after round, and then says what the last ones returned."""

    def script(body: dict[str, Any]) -> list[tuple[str, Any]] | str:
        done = sum(1 for message in body["messages"] if message.get("tool_calls"))
        if done < len(rounds):
            return rounds[done]
        return "; ".join(message["content"] for message in body["messages"] if message["role"] == "tool")

    return script


@asynccontextmanager
async def model(script: Script) -> AsyncIterator[tuple[str, list[dict[str, Any]]]]:
    """Its address, and what it was sent."""
    bodies: list[dict[str, Any]] = []

    async def answer(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        bodies.append(body)
        said = script(body)
        if isinstance(said, str):
            return web.json_response(reply(said, usage=(100, 10)))
        calls = [
            {
                "id": f"c{len(bodies)}x{number}",
                "type": "function",
                "function": {"name": name, "arguments": given if isinstance(given, str) else json.dumps(given)},
            }
            for number, (name, given) in enumerate(said)
        ]
        return web.json_response(reply("Let me see.", finish="tool_calls", usage=(100, 10), tool_calls=calls))

    async with serve(answer) as server:
        yield server.url, bodies


def started(folder: Path) -> str:
    """The line of a table that has the server started."""
    return f"server = {json.dumps([sys.executable, SERVER, str(folder / 'log')])}"


def pool_file(folder: Path, url: str, *lines: str, server: str) -> Path:
    path = folder / "pool.toml"
    path.write_text(
        f'[[worker]]\nname = "it"\nkind = "mcp"\nmodel = "openai:m"\nbase_url = "{url}"\nretries = 0\nmax_tokens = 100\n'
        "prompt_usd_per_million = 1.0\ncompletion_usd_per_million = 10.0\n" + f"{server}\n" + "\n".join(lines) + "\n"
    )
    return path


def log(folder: Path) -> list[str]:
    path = folder / "log"
    return path.read_text().splitlines() if path.exists() else []


async def asked(path: Path, question: str = "?", **options: Any) -> podium.Completion:
    async with podium.open_pool(path, **options) as pool:
        return await pool["it"](Call.plain(question))


@asynccontextmanager
async def over_http(folder: Path, token: str = "") -> AsyncIterator[str]:
    """The same server behind a port of this machine; with ``token`` it wants that."""
    inner = server_of(folder / "log").streamable_http_app()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        headers = dict(scope.get("headers", ()))
        if scope["type"] == "http" and token and headers.get(b"authorization") != f"Bearer {token}".encode():
            await send({"type": "http.response.start", "status": 401, "headers": []})
            await send({"type": "http.response.body", "body": b""})
            return
        await inner(scope, receive, send)

    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        server = uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="on"))
        task = asyncio.create_task(server.serve(sockets=[listening]))
        while not server.started:
            await asyncio.sleep(0.01)
            if task.done():
                task.result()
        try:
            yield f'url = "http://127.0.0.1:{listening.getsockname()[1]}/mcp"'
        finally:
            server.should_exit = True
            await task


@pytest_asyncio.fixture
async def tools(tmp_path: Path) -> AsyncIterator[str]:
    """The line of a table that names the server behind a port."""
    async with over_http(tmp_path) as line:
        yield line


async def test_the_loop_over_standard_input_and_output(tmp_path: Path) -> None:
    before = set(children_of(os.getpid()))
    script = asks([("add", {"a": 1, "b": 2}), ("files_read", {"name": "a.txt"})], [("add", {"a": 3, "b": 4})])
    async with model(script) as (url, bodies):
        path = pool_file(tmp_path, url, server=started(tmp_path))
        budget = podium.Budget(usd=1.0)
        async with podium.open_pool(path, budget=budget) as pool:
            for number in (1, 2):  # the server is started once, and answers again
                done = await pool["it"](Call.plain(f"question {number}"))
                assert done.text == "3; the file a.txt; 7"
                assert [(use.tool, use.result, use.failed) for use in done.tool_uses] == [
                    ("add", "3", False),
                    ("files_read", "the file a.txt", False),
                    ("add", "7", False),
                ]
                assert done.usage.tokens == 3 * 110, "what all rounds used"
                assert budget.spent.cost_usd == pytest.approx(number * 3 * (100e-6 + 10 * 10e-6))
                assert all(use.seconds > 0 for use in done.tool_uses)
            assert len(set(children_of(os.getpid())) - before) == 1
            [card] = pool.workers.cards
            assert card.abilities == ("calls tools by itself: those of an MCP server",)
    assert set(children_of(os.getpid())) <= before, "the server ends with the pool"
    names = [tool["function"]["name"] for tool in bodies[0]["tools"]]
    assert names == ["add", "files_read", "fails", "long", "slow", "variables", "dies"]
    assert [message["role"] for message in bodies[2]["messages"]] == ["user", "assistant", "tool", "tool", "assistant", "tool"]


async def test_the_loop_over_http(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOOLS_TOKEN", "let-me-in")
    async with over_http(tmp_path, token="let-me-in") as address, model(asks([("add", {"a": 1, "b": 2})])) as (url, _):
        path = pool_file(tmp_path, url, 'token_env = "TOOLS_TOKEN"', server=address)
        async with podium.open_pool(path) as pool:
            found = await asyncio.gather(*(pool["it"](Call.plain(f"{number}?")) for number in range(5)))
        assert [done.text for done in found] == ["3"] * 5
        monkeypatch.setenv("TOOLS_TOKEN", "wrong")
        with pytest.raises(WorkerUnavailable, match="can not be used"):
            await asked(path)
    with pytest.raises(WorkerUnavailable, match="can not be used"):
        await asked(path)


async def test_what_goes_wrong_with_a_call_is_said_to_the_model(tmp_path: Path, tools: str) -> None:
    wrong = [
        ("nothing", {}),
        ("add", "{broken"),
        ("add", "[1]"),
        ("add", {"a": "x"}),
        ("fails", {}),
        ("long", {"size": 3000}),
    ]
    async with model(asks(wrong)) as (url, _):
        done = await asked(pool_file(tmp_path, url, "result_kib = 1", 'tools = ["add", "fails", "long"]', server=tools))
    said = [use.result for use in done.tool_uses]
    assert "there is no tool 'nothing'" in said[0]
    assert "no JSON" in said[1]
    assert "not a JSON object" in said[2]
    assert said[4] == "Error executing tool fails", "what a crash of the tool held is its server's own business"
    assert said[5] == "x" * 1024 + "\n(cut here: the result has 3000 bytes)"
    assert [use.failed for use in done.tool_uses] == [True] * 5 + [False]
    assert log(tmp_path) == ["fails"], "what can not be right is not called"


async def test_only_the_tools_that_are_named_can_be_called(tmp_path: Path, tools: str) -> None:
    async with model(asks([("dies", {}), ("files_read", {"name": "x"}), ("files.read", {"name": "x"})])) as (url, bodies):
        done = await asked(pool_file(tmp_path, url, 'tools = ["add"]', server=tools))
        assert [tool["function"]["name"] for tool in bodies[0]["tools"]] == ["add"]
        assert all(use.failed for use in done.tool_uses)
        assert log(tmp_path) == []
        with pytest.raises(ConfigError, match="has no tool 'ad'; it has add"):
            await asked(pool_file(tmp_path, url, 'tools = ["ad"]', server=tools))


async def test_the_loop_is_bounded(tmp_path: Path, tools: str) -> None:
    def endless(body: dict[str, Any]) -> list[tuple[str, Any]] | str:
        if body.get("tool_choice") == "none":
            return "enough"
        return [("add", {"a": len(body["messages"]), "b": k}) for k in range(3)]

    async with model(endless) as (url, bodies):
        done = await asked(pool_file(tmp_path, url, "rounds = 2", server=tools))
        assert (done.text, len(done.tool_uses), len(bodies)) == ("enough", 6, 3)
        done = await asked(pool_file(tmp_path, url, "calls = 4", server=tools))
        assert [use.failed for use in done.tool_uses] == [False] * 4 + [True] * 2
        assert done.text == "enough"
        bodies.clear()
        with pytest.raises(WorkerRefused, match="loop_usd"):
            await asked(pool_file(tmp_path, url, "rounds = 50", "loop_usd = 0.004", server=tools))
        assert 1 < len(bodies) < 20
        with pytest.raises(podium.PodiumError, match="run budget"):
            await asked(pool_file(tmp_path, url, "rounds = 50", server=tools), budget=podium.Budget(usd=0.004))
    stubborn = asks(*[[("add", {"a": 1, "b": 1})]] * 9)
    async with model(stubborn) as (url, _):
        with pytest.raises(WorkerRefused, match="asked for tools again"):
            await asked(pool_file(tmp_path, url, "rounds = 2", server=tools))
    async with model(asks([("slow", {})])) as (url, _):
        done = await asked(pool_file(tmp_path, url, "tool_seconds = 2.0", server=tools))
        assert "no result within 2 seconds" in done.text
        with pytest.raises(WorkerUnavailable, match="2 seconds of its tool loop"):
            await asked(pool_file(tmp_path, url, "loop_seconds = 2.0", server=tools))


async def test_a_server_that_dies_fails_the_step_and_the_next_call_starts_it_anew(tmp_path: Path) -> None:
    def script(body: dict[str, Any]) -> list[tuple[str, Any]] | str:
        return asks([("dies", {})] if "die" in body["messages"][0]["content"] else [("add", {"a": 1, "b": 2})])(body)

    async with model(script) as (url, _):
        async with podium.open_pool(pool_file(tmp_path, url, server=started(tmp_path))) as pool:
            for _ in range(2):
                with pytest.raises(WorkerUnavailable, match="MCP server"):
                    await pool["it"](Call.plain("die"))
                assert (await pool["it"](Call.plain("live"))).text == "3"
        with pytest.raises(WorkerUnavailable, match="can not be used"):
            await asked(pool_file(tmp_path, url, server='server = ["/nowhere/at-all"]'))


async def test_after_a_crash_it_goes_on_where_it_stood(tmp_path: Path, tools: str) -> None:
    """The first run is lost before its answer: no request is paid and no tool called a second time for what is on disk."""
    lost = True

    def script(body: dict[str, Any]) -> list[tuple[str, Any]] | str:
        if lost and len(body["messages"]) > 3:
            raise web.HTTPServiceUnavailable
        return asks([("add", {"a": 1, "b": 2})], [("add", {"a": 3, "b": 4})])(body)

    async with model(script) as (url, bodies):
        path = pool_file(tmp_path, url, server=tools)
        with pytest.raises(WorkerUnavailable):
            await asked(path, journal=tmp_path / "calls.db")
        lost = False
        done = await asked(path, journal=tmp_path / "calls.db")
        assert done.text == "3; 7"
        assert log(tmp_path) == ["add 1 2", "add 3 4"]
        assert len(bodies) == 4, "asked, asked in vain, asked again, answered"
        await asked(path, journal=tmp_path / "calls.db")
        assert (len(bodies), len(log(tmp_path))) == (4, 2)
        await asked(path, "another question", journal=tmp_path / "calls.db")
        assert len(log(tmp_path)) == 4, "a tool is asked anew for another question"
    with Journal(tmp_path / "calls.db", mode="replay") as journal:
        rows = {json.loads(row.worker).get("kind", "chat"): row for row in await journal.ledger()}
    assert (rows["mcp"].calls, rows["chat"].calls) == (4, 6)


async def test_a_client_that_leaves(tmp_path: Path, tools: str) -> None:
    before = set(children_of(os.getpid()))
    async with model(asks([("slow", {})])) as (url, _), podium.open_pool(pool_file(tmp_path, url, server=tools)) as pool:
        for _ in range(2):
            calls = [asyncio.create_task(pool["it"](Call.plain(f"{n}?"))) for n in range(3)]
            await until(lambda: "slow" in log(tmp_path), 60)
            for call in calls:
                call.cancel()
            ends = await asyncio.gather(*calls, return_exceptions=True)
            assert all(isinstance(end, asyncio.CancelledError) for end in ends)
    assert set(children_of(os.getpid())) <= before


async def test_the_server_sees_the_variables_that_were_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_SECRET", "sk-not-for-it")
    monkeypatch.setenv("ALLOWED", "yes")
    async with model(asks([("variables", {})])) as (url, _):
        done = await asked(pool_file(tmp_path, url, 'environment = ["ALLOWED"]', server=started(tmp_path)))
        assert "('ALLOWED', 'yes')" in done.text
        assert "sk-not-for-it" not in done.text
        monkeypatch.delenv("ALLOWED")
        with pytest.raises(ConfigError, match="ALLOWED is not set"):
            await asked(pool_file(tmp_path, url, 'environment = ["ALLOWED"]', server=started(tmp_path)))


async def test_every_call_is_in_the_transcript_and_the_events(tmp_path: Path, tools: str) -> None:
    seen: list[Event] = []
    script = asks([("add", {"a": 1, "b": 2})], [("fails", {})])
    async with model(script) as (url, _), podium.open_pool(pool_file(tmp_path, url, server=tools)) as pool:
        conductor = Conductor(solo(0), pool.workers)
        done = await conductor.conduct(Call.plain("?"), seen.append)
    live = [event.use for event in seen if isinstance(event, ToolCalled)]
    [finished] = [event.result for event in seen if isinstance(event, StepFinished)]
    assert finished.completion is not None
    assert [use.tool for use in live] == ["add", "fails"]
    assert tuple(live) == finished.completion.tool_uses
    [told, _] = [event_object(event) for event in seen if isinstance(event, ToolCalled)]
    assert told is not None
    assert (told["event"], told["step"], told["tool"], told["result"]) == ("tool_called", 0, "add", "3")
    [transcript] = done.transcripts
    assert loads(Transcript, dumps(transcript)).results[0].completion == finished.completion


async def test_what_it_can_not_do(tmp_path: Path, tools: str) -> None:
    async with model(asks()) as (url, _), podium.open_pool(pool_file(tmp_path, url, server=tools)) as pool:
        with pytest.raises(ConfigError, match="none of the client's"):
            Conductor(solo(0), pool.workers).check(ResponseOptions(tools=(Tool(name="now"),)))


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ((), "one of them"),
        (('server = ["x"]', 'url = "http://localhost/mcp"'), "one of them"),
        (('server = ["x"]', 'token_env = "TOKEN"'), "over HTTP"),
        (('url = "http://localhost/mcp"', 'environment = ["A"]'), "started here"),
        (('server = "x y"',), "list"),
        (('server = ["x"]', "rounds = 0"), "rounds"),
    ],
)
def test_mistakes_in_its_table(lines: tuple[str, ...], says: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        read_pool(pool_file(tmp_path, "http://localhost/v1", *lines, server="# "))
    assert says in str(caught.value)
