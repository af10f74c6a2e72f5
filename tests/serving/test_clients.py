"""Clients that know nothing of Podium, unchanged: LangChain, the ``llm`` command, Inspect's provider for any such API."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from podium.types import Call, Completion, ToolCall
from tests.serving.live import TWO_STEPS, Puppet, catalog_of, live, said

INSPECT = """
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.scorer import includes
[log] = eval(Task(dataset=[Sample(input="6 times 7?", target="42")], scorer=includes()), model="openai-api/podium/podium",
             display="none", log_dir="logs")
print(log.status, log.results.scores[0].metrics["accuracy"].value, log.stats.model_usage)
"""


async def ran(folder: Path, *command: str, **environment: str) -> str:
    """What a command in a process of its own prints; the server goes on meanwhile."""

    def run() -> subprocess.CompletedProcess[str]:
        everything = {**os.environ, **environment}
        return subprocess.run(command, cwd=folder, env=everything, capture_output=True, text=True, timeout=120, check=False)

    done = await asyncio.to_thread(run)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


async def test_langchain(tmp_path: Path) -> None:
    pytest.importorskip("langchain_openai", reason="langchain-openai is not installed")
    code = """
import sys
from langchain_openai import ChatOpenAI
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import tool

@tool
def now() -> str:
    "The time."
    return "noon"

llm = ChatOpenAI(model="podium", base_url=sys.argv[1], api_key="none", max_retries=0, stream_usage=True)
answer = llm.invoke("6 times 7?")
print(answer.content, answer.usage_metadata["total_tokens"] > 0)
pieces = list(llm.stream("6 times 7?"))
print("".join(piece.content for piece in pieces), sum(bool(piece.usage_metadata) for piece in pieces))
asked = [HumanMessage("What time is it?")]
first = llm.bind_tools([now]).invoke(asked)
asked += [first, ToolMessage(now.invoke({}), tool_call_id=first.tool_calls[0]["id"])]
print(llm.bind_tools([now]).invoke(asked).content)
print(ChatOpenAI(model="podium", base_url=sys.argv[1], api_key="none", use_responses_api=True).invoke("6 times 7?").text)
"""

    class Solver(Puppet):
        async def __call__(self, call: Call) -> Completion:
            if call.response_options.tools and not call.turns:
                return Completion(text="", tool_calls=(ToolCall(id="call_1", name="now", arguments="{}"),))
            return await super().__call__(call)

    solver = Solver(lambda call: f"It is {call.turns[-1].content}." if call.turns else "It is 42.")
    async with live(catalog_of(said(TWO_STEPS), said("Plan."), solver), tmp_path) as server:
        said_so = await ran(tmp_path, sys.executable, "-c", code, f"{server.url}/v1")
        assert said_so.splitlines() == ["It is 42. True", "It is 42. 1", "It is noon.", "It is 42."]


async def test_the_llm_command(tmp_path: Path) -> None:
    pytest.importorskip("llm", reason="llm is not installed")
    async with live(catalog_of(said(TWO_STEPS), said("Plan."), said("It is 42.")), tmp_path) as server:
        models = f"- model_id: here\n  model_name: podium\n  api_base: {server.url}/v1\n"
        (tmp_path / "extra-openai-models.yaml").write_text(models)
        for extra in ([], ["--no-stream"]):
            command = [sys.executable, "-m", "llm", "-m", "here", *extra, "6 times 7?"]
            assert "It is 42." in await ran(tmp_path, *command, LLM_USER_PATH=str(tmp_path))


async def test_inspect(tmp_path: Path) -> None:
    pytest.importorskip("inspect_ai", reason="inspect-ai is not installed")
    async with live(catalog_of(said(TWO_STEPS), said("Plan."), said("It is 42.")), tmp_path) as server:
        told = await ran(tmp_path, sys.executable, "-c", INSPECT, PODIUM_API_KEY="none", PODIUM_BASE_URL=f"{server.url}/v1")
        assert told.startswith("success 1.0"), told


async def test_the_openapi_document_names_every_field(tmp_path: Path) -> None:
    async with live(catalog_of(said(TWO_STEPS), said("Plan."), said("42")), tmp_path) as server:
        document = json.loads((await asyncio.to_thread(httpx.get, f"{server.url}/openapi.json")).text)
    fields = document["components"]["schemas"]["RequestOptions"]["properties"]
    budgets = {"budget_usd", "session_usd", "budget_seconds"}
    assert set(fields) == {"workers", "exclude_workers", "policy", "rounds", "tool_steps", *budgets}
    assert {"/v1/chat/completions", "/v1/responses", "/v1/models", "/v1/runs/{run}"} <= set(document["paths"])
