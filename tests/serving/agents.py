"""A provider on a socket whose model calls tools until it has seen enough, and agents that run them.

The model knows nothing but the messages it is sent. Where any are missing it asks again, as real ones do, so a server that
forgets what was said makes the agent loop for ever; :data:`MOST` ends that.
"""

import itertools
import json
import re
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from aiohttp import web
from openai import AsyncOpenAI

from podium.pools.models import PoolCatalog
from podium.pools.open import open_pool
from podium.workers.budget import Budget
from tests.serving.live import TWO_STEPS
from tests.workers.test_chat import chunk, reply, serve, stream

MOST = 14
ONE_STEP = 'model_id = [2]\nsubtasks = ["Just answer."]\naccess_list = [[]]'
PARAMETERS = {"type": "object", "properties": {"n": {"type": "integer"}}}
CHAT_TOOLS: Any = [{"type": "function", "function": {"name": "look", "description": "Looks.", "parameters": PARAMETERS}}]
TOOLS: Any = [{"type": "function", "name": "look", "description": "Looks.", "parameters": PARAMETERS, "strict": None}]
POOL = "".join(
    f'[[worker]]\nname = "{name}"\nmodel = "openai:{name}"\nbase_url = "URL"\nmax_tokens = 256\nretries = 0\n'
    "prompt_usd_per_million = 1.0\ncompletion_usd_per_million = 10.0\n"
    for name in ("boss", "planner", "solver")
)


class Provider:
    """What was asked of each model, and how often the solver wants to look, ``at_once`` times in a turn."""

    def __init__(self, rounds: int = 4, at_once: int = 1, text: str = "") -> None:
        self.rounds, self.at_once, self.text = rounds, at_once, text
        self.asked: dict[str, list[list[dict[str, Any]]]] = {"boss": [], "planner": [], "solver": []}
        self._numbers = itertools.count()

    @property
    def wires(self) -> list[list[str]]:
        """Every request to the solver, a word per message."""
        return [[_word(message) for message in messages] for messages in self.asked["solver"]]

    async def answer(self, request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        model, messages = body["model"], body["messages"]
        self.asked[model].append(messages)
        text, calls = "", []
        if model == "boss":
            text = ONE_STEP if "at most 1 steps" in messages[0]["content"] else TWO_STEPS
        elif model == "planner":
            text = "Look around."
        else:
            _check(messages)
            asked = [i for i, m in enumerate(messages) if m["role"] == "user" and not m["content"].startswith("Your task: ")]
            since = messages[asked[-1] + 1 if asked else 0 :]
            looked = sum(1 for message in since if message.get("tool_calls"))
            if looked < self.rounds and body.get("tools"):
                text = self.text
                calls = [
                    {"id": f"p{next(self._numbers)}", "type": "function", "function": {"name": "look", "arguments": arguments}}
                    for arguments in (json.dumps({"n": looked, "k": k}) for k in range(self.at_once))
                ]
            else:
                text = "Seen: " + ", ".join(message["content"] for message in since if message["role"] == "tool")
        return await answered(request, body, text, calls)


async def answered(request: web.Request, body: dict[str, Any], text: str, calls: Sequence[dict[str, Any]]) -> web.StreamResponse:
    """The words and calls of a model, whole or streamed as ``body`` asks; each message that it read counts 100 tokens."""
    usage = (100 * len(body["messages"]), 5)
    finish = "tool_calls" if calls else "stop"
    if not body.get("stream"):
        message = {"tool_calls": calls} if calls else {}
        return web.json_response(reply(text or None, finish=finish, usage=usage, **message))
    pieces = [chunk({"content": piece}) for piece in re.findall(r"\S+\s*", text)]
    pieces += [chunk({"tool_calls": [{"index": i, **call} for i, call in enumerate(calls)]})] if calls else []
    return await stream(request, [*pieces, chunk({}, finish=finish), chunk(usage=usage), "[DONE]"])


def _check(messages: Sequence[dict[str, Any]]) -> None:
    """As OpenAI does: every call has its result right behind it."""
    waiting: set[str] = set()
    for message in messages:
        if message["role"] == "tool":
            assert message["tool_call_id"] in waiting, messages
            waiting.discard(message["tool_call_id"])
        else:
            assert not waiting, messages
            waiting = {call["id"] for call in message.get("tool_calls") or ()}
    assert not waiting, messages


def _word(message: dict[str, Any]) -> str:
    calls = "".join(f" +{json.loads(call['function']['arguments'])['n']}" for call in message.get("tool_calls") or ())
    return f"{message['role'][0]}:{(message.get('content') or '').replace(chr(10) * 2, ' / ')}{calls}"


@asynccontextmanager
async def agency(provider: Provider, folder: Path) -> AsyncIterator[PoolCatalog]:
    """An offer over a pool file whose three workers are ``provider``'s: ``boss`` writes the workflows."""
    async with serve(provider.answer) as server:
        (folder / "pool.toml").write_text(POOL.replace("URL", server.url))
        async with open_pool(folder / "pool.toml", budget=Budget(None, None, None), journal=None, run="test") as pool:
            yield PoolCatalog(pool, "chat:boss")


Edit = Callable[[list[Any]], list[Any]]


async def chat_agent(
    ai: AsyncOpenAI, model: str, messages: list[Any], *, stream: bool, edit: Edit = list, most: int = MOST, **more: Any
) -> str:
    """Ask and run tools until there is an answer; ``messages`` grows, ``edit`` changes it between rounds."""
    for _ in range(most):
        messages.append(await chat_turn(ai, model, messages, stream=stream, **more))
        calls = messages[-1].get("tool_calls") or []
        if not calls:
            return str(messages[-1]["content"])
        for call in calls:
            arguments = json.loads(call["function"]["arguments"])
            content = f"result {arguments['n']}.{arguments['k']}"
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": content})
        messages[:] = edit(messages)
    raise AssertionError(f"no answer after {most} rounds")


async def chat_turn(ai: AsyncOpenAI, model: str, messages: list[Any], *, stream: bool, **more: Any) -> dict[str, Any]:
    """The assistant's next turn, as clients put it together."""
    if not stream:
        whole = await ai.chat.completions.create(model=model, messages=messages, tools=CHAT_TOOLS, **more)
        return dict(whole.choices[0].message.model_dump(exclude_none=True, include={"role", "content", "tool_calls"}))
    text, calls = "", []
    async for piece in await ai.chat.completions.create(model=model, messages=messages, tools=CHAT_TOOLS, stream=True, **more):
        for choice in piece.choices:
            text += choice.delta.content or ""
            calls += [call.model_dump(exclude={"index"}, exclude_none=True) for call in choice.delta.tool_calls or ()]
    turn: dict[str, Any] = {"role": "assistant", "content": text or None}
    return {**turn, "tool_calls": calls} if calls else turn


async def responses_agent(ai: AsyncOpenAI, model: str, items: list[Any], *, stream: bool, most: int = MOST) -> str:
    """The same over the Responses endpoint."""
    for _ in range(most):
        if stream:
            async for event in await ai.responses.create(model=model, input=items, tools=TOOLS, stream=True):
                if event.type == "response.completed":
                    response = event.response
        else:
            response = await ai.responses.create(model=model, input=items, tools=TOOLS)
        items += [item.model_dump(exclude_none=True) for item in response.output]
        calls = [item for item in response.output if item.type == "function_call"]
        if not calls:
            return str(response.output_text)
        for call in calls:
            arguments = json.loads(call.arguments)
            output = f"result {arguments['n']}.{arguments['k']}"
            items.append({"type": "function_call_output", "call_id": call.call_id, "output": output})
    raise AssertionError(f"no answer after {most} rounds")
