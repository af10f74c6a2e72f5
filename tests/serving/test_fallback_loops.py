"""A provider that dies in the middle of a loop of tool calls: the other one finishes it, and is sent nothing that it refuses."""

import json
import re
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from podium.pools.models import PoolCatalog
from podium.pools.open import open_pool
from podium.workers.budget import Budget
from tests.serving.agents import chat_agent
from tests.serving.live import live
from tests.serving.test_chat_api import client
from tests.workers.test_chat import reply, serve

ROUNDS = 3
"""Of two calls each: six calls."""
ASKED: Any = {"role": "user", "content": "What is in the boxes?"}


class OpenAi:
    """As OpenAI's chat API, strict; dead from its request number ``dies`` on, for ``dead`` requests."""

    def __init__(self, dies: int, dead: int = 99) -> None:
        self.dying = range(dies, dies + dead)
        self.asked = self.answered = 0

    async def answer(self, request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        self.asked += 1
        waiting: set[str] = set()
        for message in body["messages"]:
            if message["role"] == "tool":
                assert message["tool_call_id"] in waiting
                waiting.remove(message["tool_call_id"])
                continue
            assert not waiting, "every call has its result right behind it"
            waiting = {call["id"] for call in message.get("tool_calls") or ()}
            assert all(len(each) <= 40 for each in waiting)
        assert not waiting
        if self.asked - 1 in self.dying:
            return web.json_response({"error": {"message": "gone", "type": "server_error"}}, status=503)
        self.answered += 1
        looked = sum(1 for message in body["messages"] if message.get("tool_calls"))
        if looked == ROUNDS:
            return web.json_response(reply("Done by A.", usage=(100, 5)))
        calls = [
            {"id": f"functions.look:{looked}/{k}", "type": "function", "function": {"name": "look", "arguments": arguments}}
            for k, arguments in enumerate(json.dumps({"n": looked, "k": k}) for k in range(2))
        ]
        return web.json_response(reply(None, finish="tool_calls", usage=(100, 5), tool_calls=calls))


class Anthropic:
    """As Anthropic's Messages API of a model that signs its thoughts, strict about ids, results, and thoughts."""

    def __init__(self) -> None:
        self.answered = 0

    async def answer(self, request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        turns = body["messages"]
        problem = wrong(turns, thinks=body.get("thinking", {}).get("type") == "enabled")
        if problem:
            said = {"type": "error", "error": {"type": "invalid_request_error", "message": problem}}
            return web.json_response(said, status=400)
        self.answered += 1
        looked = sum(1 for turn in turns if any(block["type"] == "tool_use" for block in blocks(turn)))
        content: list[dict[str, Any]] = [{"type": "text", "text": "Done by B."}]
        if looked < ROUNDS:
            content = [{"type": "text", "text": "Looking."}]
            content += [{"type": "tool_use", "id": f"toolu_{looked}_{k}", "name": "look", "input": {"n": looked, "k": k}} for k in (0, 1)]  # fmt: skip  # noqa: E501
        whole = {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": body["model"],
            "content": content,
            "stop_reason": "end_turn" if looked == ROUNDS else "tool_use",
            "stop_sequence": None,
            "usage": {"input_tokens": 100, "output_tokens": 5},
        }
        return web.json_response(whole)


def blocks(turn: dict[str, Any]) -> Sequence[dict[str, Any]]:
    content = turn["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def wrong(turns: Sequence[dict[str, Any]], *, thinks: bool) -> str:
    """What Anthropic would refuse; "" for nothing."""
    waiting: list[str] = []
    for number, turn in enumerate(turns):
        if number and turn["role"] == turns[number - 1]["role"]:
            return "roles alternate"
        found = [block["tool_use_id"] for block in blocks(turn) if block["type"] == "tool_result"]
        if sorted(found) != sorted(waiting):
            return f"tool_use ids were found without tool_result blocks: {waiting} {found}"
        waiting = [block["id"] for block in blocks(turn) if block["type"] == "tool_use"]
        if not all(re.fullmatch(r"[A-Za-z0-9_-]+", each) for each in waiting):
            return f"ids match a pattern: {waiting}"
        if any(block["type"] == "text" and not block["text"].strip() for block in blocks(turn)):
            return "text blocks are not empty"
    last = next((turn for turn in reversed(turns) if turn["role"] == "assistant"), None)
    goes_on = any(block["type"] == "tool_result" for block in blocks(turns[-1]))
    if thinks and last is not None and goes_on and blocks(last)[0]["type"] not in ("thinking", "redacted_thinking"):
        return "Expected `thinking` or `redacted_thinking`, but found `tool_use`"
    return ""


POOL = """
[[worker]]
name = "a"
model = "openai:a"
base_url = "A"
retries = 0
max_tokens = 256
fallback = "b"
STAYS
prompt_usd_per_million = 1.0
completion_usd_per_million = 1.0

[[worker]]
name = "b"
model = "anthropic:claude-haiku-4-5"
base_url = "B"
retries = 0
max_tokens = 4096
thinking_tokens = 1024
prompt_usd_per_million = 1.0
completion_usd_per_million = 1.0
"""


async def loop(tmp_path: Path, first: OpenAi, second: Anthropic, *, stays: bool, model: str = "podium") -> str:
    """What the agent is told in the end; checks that the ledger has every answer once."""
    async with AsyncExitStack() as stack:
        a, b = [await stack.enter_async_context(serve(each.answer)) for each in (first, second)]
        text = POOL.replace('"A"', f'"{a.url}"').replace('"B"', f'"{b.url.removesuffix("/v1")}"')
        (tmp_path / "pool.toml").write_text(text.replace("STAYS", f"fallback_stays = {str(stays).lower()}"))
        budget = Budget(None, None, None)
        opened = open_pool(tmp_path / "pool.toml", budget=budget, journal=None, run="test")
        pool = await stack.enter_async_context(opened)
        server = await stack.enter_async_context(live(PoolCatalog(pool, "solo:a"), tmp_path))
        ai = await stack.enter_async_context(client(server))
        said = await chat_agent(ai, model, [ASKED], stream=False)
        assert budget.spent.tokens == 105 * (first.answered + second.answered) == 105 * (ROUNDS + 1), "nothing is paid twice"
        return said


@pytest.mark.parametrize("dies", range(ROUNDS + 1))
@pytest.mark.parametrize("stays", [False, True])
async def test_the_other_finishes_wherever_the_first_dies(tmp_path: Path, dies: int, stays: bool) -> None:
    first, second = OpenAi(dies), Anthropic()
    assert await loop(tmp_path, first, second, stays=stays) == "Done by B."
    assert (first.answered, second.answered) == (dies, ROUNDS + 1 - dies)
    assert first.asked == (dies + 1 if stays else ROUNDS + 1), "who stays does not ask the first one again"


async def test_the_first_returns_when_it_is_back(tmp_path: Path) -> None:
    first, second = OpenAi(1, dead=1), Anthropic()
    assert await loop(tmp_path, first, second, stays=False) == "Done by A."
    assert (first.answered, second.answered) == (ROUNDS, 1)


async def test_the_second_loop_is_another_one(tmp_path: Path) -> None:
    for _ in range(2):
        first, second = OpenAi(1), Anthropic()
        assert await loop(tmp_path, first, second, stays=True, model="a") == "Done by B."


def test_the_check_would_notice() -> None:
    use = {"role": "assistant", "content": [{"type": "tool_use", "id": "a.b", "name": "look", "input": {}}]}
    result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a.b", "content": "x"}]}
    good = json.loads(json.dumps([ASKED, use, result]).replace("a.b", "a_b"))
    assert "pattern" in wrong([ASKED, use, result], thinks=False)
    assert wrong(good, thinks=False) == ""
    assert "Expected `thinking`" in wrong(good, thinks=True)
    assert "without tool_result" in wrong([ASKED, good[1], ASKED], thinks=False)
