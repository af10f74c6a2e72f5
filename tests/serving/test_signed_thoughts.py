"""Thoughts that a provider has signed: unchanged back to it in every round of a loop of tool calls, and to nobody else."""

import hashlib
import json
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from podium.parts import Thought
from podium.pools.models import PoolCatalog
from podium.pools.open import open_pool
from podium.types import Call, Message, Thoughts, ToolCall, ask
from podium.workers.bound import bound
from podium.workers.budget import Budget
from podium.workers.call_key import call_key
from tests.serving.agents import Provider, chat_agent, responses_agent
from tests.serving.live import live
from tests.serving.test_chat_api import client
from tests.serving.test_fallback_loops import blocks, wrong
from tests.serving.test_messages import claude, claude_agent
from tests.workers.test_chat import serve

ROUNDS = 4
QUIET = 2
"""The round in which the model calls tools without having thought anew, as models without interleaved thinking do."""
BLOCKS = {
    "text": {"text"},
    "thinking": {"thinking", "signature"},
    "redacted_thinking": {"data"},
    "tool_use": {"id", "name", "input"},
    "tool_result": {"tool_use_id", "content", "is_error"},
}
"""Kind -> the fields that it has to have; they are texts, but for those of ``OTHERS``."""
OTHERS: dict[str, type | tuple[type, ...]] = {"input": dict, "content": (str, list), "is_error": bool}


def malformed(turns: Sequence[dict[str, Any]]) -> str:
    """What is no message by the documents of the API; "" for nothing."""
    for turn in turns:
        if set(turn) != {"role", "content"} or turn["role"] not in ("user", "assistant") or not turn["content"]:
            return f"no message: {turn}"
        for block in blocks(turn):
            fields = {name: value for name, value in block.items() if name not in ("type", "cache_control")}
            if set(fields) != BLOCKS.get(block["type"]):
                return f"no {block['type']} block: {block}"
            if not all(isinstance(value, OTHERS.get(name, str)) for name, value in fields.items()):
                return f"a field of another type: {block}"
    return ""


class Signing:
    """A model of Anthropic's: thinks, signs, and refuses what was left out, moved, changed, or signed by another model."""

    def __init__(self, name: str, dies: range = range(0), *, hides: bool = False) -> None:
        self.name, self.dies, self.hides = name, dies, hides
        self.asked = 0
        self.refused: list[str] = []
        self.thought: list[bool] = []
        """Of each request that was answered, whether thinking was wanted."""
        self.given: list[int] = []
        """How many blocks of thoughts came back with it."""

    def signed(self, text: str) -> str:
        return hashlib.sha256(f"{self.name} {text}".encode()).hexdigest()

    def thoughts(self, number: int) -> list[dict[str, Any]]:
        if number == QUIET:
            return []
        text = f"Round {number}: ‘hm’ \n"
        if self.hides:
            return [{"type": "redacted_thinking", "data": self.signed(text)}]
        return [{"type": "thinking", "thinking": text, "signature": self.signed(text)}]

    def problem(self, body: dict[str, Any]) -> str:
        turns = body["messages"]
        thinks = body.get("thinking", {}).get("type") == "enabled"
        if said := malformed(turns) or wrong(turns, thinks=False):
            return said
        loop = self._loop(turns)
        found = [block for turn in turns for block in blocks(turn) if "thinking" in block["type"]]
        if not thinks:
            return "thoughts without thinking" if found else ""
        expected = [block for number in range(len(loop)) for block in self.thoughts(number)]
        if found != expected:
            return f"`thinking` blocks cannot be modified: {found}"
        return "Expected `thinking`" if loop and "thinking" not in blocks(loop[0])[0]["type"] else ""

    def _loop(self, turns: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        own = [turn for turn in turns if any(block["type"] == "tool_use" for block in blocks(turn))]
        return own if any(block["type"] == "tool_result" for block in blocks(turns[-1])) else []

    async def answer(self, request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        self.asked += 1
        if self.asked - 1 in self.dies:
            return web.json_response({"type": "error", "error": {"type": "api_error", "message": "gone"}}, status=503)
        if problem := self.problem(body):
            self.refused.append(problem)
            return web.json_response(
                {"type": "error", "error": {"type": "invalid_request_error", "message": problem}}, status=400
            )
        thinks = body.get("thinking", {}).get("type") == "enabled"
        self.thought.append(thinks)
        self.given.append(json.dumps(body["messages"]).count('thinking", "'))
        looked = sum("tool_use" in json.dumps(turn) for turn in body["messages"] if turn["role"] == "assistant")
        content = self.thoughts(looked) if thinks else []
        if looked < ROUNDS:
            content += [{"type": "text", "text": f"Looking {looked}."}] if looked != 1 else []
            content += [{"type": "tool_use", "id": f"toolu_{looked}", "name": "look", "input": {"n": looked, "k": 0}}]
        else:
            content += [{"type": "text", "text": f"Done by {self.name}."}]
        whole = {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": body["model"],
            "content": content,
            "stop_reason": "tool_use" if looked < ROUNDS else "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 100, "output_tokens": 5},
        }
        return await _streamed(request, whole) if body.get("stream") else web.json_response(whole)


async def _streamed(request: web.Request, whole: dict[str, Any]) -> web.StreamResponse:
    events: list[dict[str, Any]] = [{"type": "message_start", "message": {**whole, "content": [], "stop_reason": None}}]
    for index, block in enumerate(whole["content"]):
        deltas: list[dict[str, Any]] = []
        match block["type"]:
            case "thinking":
                deltas = [{"type": "thinking_delta", "thinking": part} for part in (block["thinking"][:5], block["thinking"][5:])]
                deltas.append({"type": "signature_delta", "signature": block["signature"]})
                block = {**block, "thinking": "", "signature": ""}
            case "text":
                deltas, block = [{"type": "text_delta", "text": block["text"]}], {**block, "text": ""}
            case "tool_use":
                deltas = [{"type": "input_json_delta", "partial_json": json.dumps(block["input"])}]
                block = {**block, "input": {}}
        events.append({"type": "content_block_start", "index": index, "content_block": block})
        events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        events.append({"type": "content_block_stop", "index": index})
    delta = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    events += [{"type": "message_delta", "delta": delta, "usage": {"output_tokens": 5}}, {"type": "message_stop"}]
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    for event in events:
        await response.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())
    return response


PLAIN = """
[[worker]]
name = "NAME"
model = "MODEL"
base_url = "URL"
retries = 0
max_tokens = 4096
prompt_usd_per_million = 1.0
completion_usd_per_million = 1.0
"""
SIGNS = PLAIN.replace("MODEL", "anthropic:claude-haiku-4-5") + "thinking_tokens = 1024\n"


async def agent(
    tmp_path: Path,
    api: str,
    model: str,
    first: Signing,
    *,
    stream: bool = False,
    other: Signing | None = None,
    said: str = "boxes",
) -> str:
    """What an agent is told in the end, over one of the three APIs."""

    async with AsyncExitStack() as stack:
        boss, a = [await stack.enter_async_context(serve(answer)) for answer in (Provider().answer, first.answer)]
        text = "".join(
            PLAIN.replace("NAME", name).replace("MODEL", f"openai:{name}").replace("URL", boss.url)
            for name in ("boss", "planner")
        )
        text += SIGNS.replace("NAME", "solver").replace("URL", a.url.removesuffix("/v1"))
        if other is not None:
            b = await stack.enter_async_context(serve(other.answer))
            text += 'fallback = "other"\n' + SIGNS.replace("NAME", "other").replace("URL", b.url.removesuffix("/v1"))
        (tmp_path / "pool.toml").write_text(text)
        opened = open_pool(tmp_path / "pool.toml", budget=Budget(None, None, None), journal=None, run="test")
        pool = await stack.enter_async_context(opened)
        server = await stack.enter_async_context(live(PoolCatalog(pool, "chat:boss"), tmp_path))
        asked: list[Any] = [{"role": "user", "content": said}]
        if api == "messages":
            return await claude_agent(await stack.enter_async_context(claude(server)), model, asked, stream=stream)
        ai = await stack.enter_async_context(client(server))
        return await (chat_agent if api == "chat" else responses_agent)(ai, model, asked, stream=stream)


@pytest.mark.parametrize(
    ("api", "model", "stream", "hides"),
    [
        ("chat", "solver", False, False),
        ("chat", "podium", True, False),
        ("responses", "podium", False, True),
        ("responses", "solver", True, False),
        ("messages", "podium", True, True),
        ("messages", "solver", False, False),
    ],
)
async def test_it_thinks_to_the_end_of_the_loop(tmp_path: Path, api: str, model: str, stream: bool, hides: bool) -> None:
    solver = Signing("solver", hides=hides)
    assert await agent(tmp_path, api, model, solver, stream=stream) == "Done by solver."
    assert solver.refused == []
    assert solver.thought == [True] * (ROUNDS + 1)
    assert solver.asked == ROUNDS + 1


@pytest.mark.parametrize(("dies", "dead"), [(0, 9), (1, 1), (2, 1), (3, 9), (ROUNDS, 9)])
async def test_another_provider_is_sent_none_of_them(tmp_path: Path, dies: int, dead: int) -> None:
    first, second = Signing("first", range(dies, dies + dead)), Signing("second")
    said = await agent(tmp_path, "chat", "podium", first, other=second)
    assert said == ("Done by second." if dead > 1 or dies == ROUNDS else "Done by first.")
    assert first.refused == second.refused == []
    assert second.thought[0] is (dies == 0), "it does not think where it was not it who thought before"
    if dead == 1 and 0 < dies < ROUNDS:
        assert first.thought == [True] * dies + [False] * (ROUNDS - dies), "it did not make all of the loop"


def test_what_was_thought_costs_what_a_prompt_costs() -> None:
    calls = (ToolCall(id="a", name="look", arguments="{}"),)
    turn = Message(role="assistant", content="", tool_calls=calls)
    thought = Message(
        role="assistant",
        content="",
        tool_calls=calls,
        thoughts=Thoughts(by="x", thoughts=(Thought(text="y" * 600, signature="z" * 400),)),
    )
    without, with_it = (Call(question=ask("q"), turns=(each,)) for each in (turn, thought))
    assert bound(with_it, 10).prompt_tokens == bound(without, 10).prompt_tokens + 500
    assert call_key("w", with_it) != call_key("w", without)


def test_the_check_would_notice() -> None:
    model = Signing("m")
    asked = {"role": "user", "content": "q"}
    use = {"type": "tool_use", "id": "a", "name": "look", "input": {}}
    result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "x", "is_error": False}]}

    def problem(*content: dict[str, Any]) -> str:
        turns = [asked, {"role": "assistant", "content": [*content, use]}, result]
        return model.problem({"messages": turns, "max_tokens": 9, "model": "m", "thinking": {"type": "enabled"}})

    good = model.thoughts(0)[0]
    assert problem(good) == ""
    assert "modified" in problem({**good, "thinking": "other"})
    assert "modified" in problem({**good, "signature": Signing("n").thoughts(0)[0]["signature"]})
    assert "modified" in problem()
    assert "modified" in problem(good, good)
