"""A provider whose models all call the client's tools where they are offered any, and agents that run them over each API.

Every model says who it is in the arguments of its calls, and whoever runs them answers in that name, so a result that reaches
another step than the one that asked is seen at once: the provider refuses it.
"""

import asyncio
import itertools
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

from aiohttp import web
from anthropic import AsyncAnthropic
from openai import AsyncOpenAI

from podium.pools.models import PoolCatalog
from podium.pools.open import open_pool
from podium.workers.budget import Budget
from tests.serving.agents import CHAT_TOOLS, MOST, PARAMETERS, TOOLS, answered
from tests.workers.test_chat import serve

QUESTION = "What is in the boxes?"
MODELS = ("boss", "left", "right", "judge")
PRICES = "prompt_usd_per_million = 1.0\ncompletion_usd_per_million = 10.0\n"
CREW_POOL = "".join(
    f'[[worker]]\nname = "{name}"\nmodel = "openai:{name}"\nbase_url = "URL"\nmax_tokens = 256\nretries = 0\n{PRICES}'
    for name in MODELS
)
PARALLEL = 'model_id = [1, 2, 3]\nsubtasks = ["Look left.", "Look right.", "Say it."]\naccess_list = [[], [], "all"]'
CHAIN = 'model_id = [1, 2, 3]\nsubtasks = ["Look left.", "Look right.", "Say it."]\naccess_list = [[], [0], [1]]'
ALL: Any = {"podium": {"tool_steps": "all"}}
Rounds = Mapping[str, int]
ONCE: Rounds = MappingProxyType({"left": 1, "right": 1})


class Crew:
    """What was asked of each model; ``rounds`` says how often each calls tools, ``at_once`` how many in a turn.

    ``fails`` are (model, number of the request) that get a 503. ``says`` are answers instead of what a model saw.
    """

    def __init__(
        self,
        plan: str = PARALLEL,
        *,
        rounds: Rounds = ONCE,
        at_once: int = 1,
        fails: Sequence[tuple[str, int]] = (),
        says: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self.plan, self.rounds, self.at_once, self.fails, self.says = plan, rounds, at_once, fails, says
        self.asked: dict[str, list[list[dict[str, Any]]]] = {name: [] for name in MODELS}
        self.offered: dict[str, list[bool]] = {name: [] for name in MODELS}
        self.lenient = False
        """Whether a step may be shown calls of others: a conversation that is conducted anew holds all of them."""
        self.hold: Callable[[str, int], asyncio.Event | None] = lambda model, number: None
        self._numbers = itertools.count()

    def counts(self) -> tuple[int, ...]:
        """How often each model was asked, the one that plans first."""
        return tuple(len(self.asked[name]) for name in MODELS)

    async def answer(self, request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        model, messages = body["model"], body["messages"]
        number = len(self.asked[model])
        self.asked[model].append(messages)
        self.offered[model].append(bool(body.get("tools")))
        if (event := self.hold(model, number)) is not None:
            await event.wait()
        if (model, number) in self.fails:
            return web.json_response({"error": {"message": "no luck"}}, status=503)
        text, calls = "", []
        if model == "boss":
            text = self.plan
        else:
            said = [i for i, m in enumerate(messages) if m["role"] == "user" and not m["content"].startswith("Your task: ")]
            since = messages[said[-1] if said else 0 :]
            results = [] if self.lenient else _own(model, since)
            looked = sum(1 for message in since if _mine(model, message))
            if looked < self.rounds.get(model, 0) and body.get("tools"):
                text = f"{model} looks."
                wanted = [json.dumps({"who": model, "n": looked, "k": k}) for k in range(self.at_once)]
                # As some providers do, each conversation counts its calls anew.
                calls = [
                    {"id": f"call_{looked}_{k}", "type": "function", "function": {"name": "look", "arguments": each}}
                    for k, each in enumerate(wanted)
                ]
            else:
                shown = [m["content"] for m in since if m["role"] == "assistant" and not m.get("tool_calls")]
                text = self.says.get(model, f"{model} saw {', '.join(results) or 'nothing'}") + "".join(f" ({s})" for s in shown)
        return await answered(request, body, text, calls)


def _mine(model: str, message: dict[str, Any]) -> bool:
    calls = message.get("tool_calls") or ()
    return any(json.loads(call["function"]["arguments"])["who"] == model for call in calls)


def _own(model: str, messages: Sequence[dict[str, Any]]) -> list[str]:
    """The results that ``model`` was given, each of which has to be its own, behind a call of its own."""
    waiting: set[str] = set()
    results = []
    for message in messages:
        if message["role"] == "tool":
            assert message["tool_call_id"] in waiting, messages
            waiting.discard(message["tool_call_id"])
            assert message["content"].startswith(f"{model} "), f"{model} was given {message['content']}"
            results.append(message["content"].removeprefix(f"{model} "))
            continue
        assert not waiting, messages
        calls = message.get("tool_calls") or ()
        assert all(json.loads(call["function"]["arguments"])["who"] == model for call in calls), messages
        assert not calls or message["content"] == f"{model} looks.", "its words beside the calls, and no other's"
        waiting = {call["id"] for call in calls}
    assert not waiting, messages
    return results


def result_of(arguments: str) -> str:
    """What the tool says: for whom, and which of the calls it was."""
    given = json.loads(arguments)
    return f"{given['who']} {given['n']}.{given['k']}"


@asynccontextmanager
async def crew_of(crew: Crew, folder: Path, more: str = "", policy: str = "chat:boss") -> AsyncIterator[PoolCatalog]:
    """A catalog over a pool file with the four models of ``crew``, and ``more`` in that file."""
    async with serve(crew.answer) as server:
        (folder / "pool.toml").write_text(CREW_POOL.replace("URL", server.url) + more)
        async with open_pool(folder / "pool.toml", budget=Budget(None, None, None), journal=None, run="test") as pool:
            yield PoolCatalog(pool, policy)


async def chat_say(ai: AsyncOpenAI, messages: list[Any], *, stream: bool = False, **more: Any) -> dict[str, Any]:
    """The assistant's next turn over chat completions, as clients put it together."""
    body = {"model": "podium", "messages": messages, "tools": CHAT_TOOLS, "extra_body": ALL, **more}
    if not stream:
        whole = await ai.chat.completions.create(**body)
        return dict(whole.choices[0].message.model_dump(exclude_none=True, include={"role", "content", "tool_calls"}))
    text, calls = "", []
    async for piece in await ai.chat.completions.create(stream=True, **body):
        for choice in piece.choices:
            text += choice.delta.content or ""
            calls += [call.model_dump(exclude={"index"}, exclude_none=True) for call in choice.delta.tool_calls or ()]
    turn: dict[str, Any] = {"role": "assistant", "content": text or None}
    return {**turn, "tool_calls": calls} if calls else turn


def chat_results(turn: dict[str, Any]) -> list[Any]:
    """What the client's tools say to the calls of ``turn``."""
    return [
        {"role": "tool", "tool_call_id": call["id"], "content": result_of(call["function"]["arguments"])}
        for call in turn.get("tool_calls") or ()
    ]


async def by_chat(ai: AsyncOpenAI, *, stream: bool, **more: Any) -> tuple[str, list[list[str]]]:
    """Ask and run tools until there is an answer; also the ids of each round."""
    messages: list[Any] = [{"role": "user", "content": QUESTION}]
    rounds: list[list[str]] = []
    for _ in range(MOST):
        turn = await chat_say(ai, messages, stream=stream, **more)
        if not turn.get("tool_calls"):
            return str(turn["content"]), rounds
        rounds.append([call["id"] for call in turn["tool_calls"]])
        messages += [turn, *chat_results(turn)]
    raise AssertionError("no answer")


async def by_responses(ai: AsyncOpenAI, *, stream: bool, **more: Any) -> tuple[str, list[list[str]]]:
    """The same over responses."""
    items: list[Any] = [{"role": "user", "content": QUESTION}]
    rounds: list[list[str]] = []
    for _ in range(MOST):
        body = {"model": "podium", "input": items, "tools": TOOLS, "extra_body": ALL, **more}
        if stream:
            async for event in await ai.responses.create(stream=True, **body):
                if event.type == "response.completed":
                    response = event.response
        else:
            response = await ai.responses.create(**body)
        calls = [item for item in response.output if item.type == "function_call"]
        if not calls:
            return str(response.output_text), rounds
        rounds.append([call.call_id for call in calls])
        items += [item.model_dump(exclude_none=True) for item in response.output]
        items += [
            {"type": "function_call_output", "call_id": call.call_id, "output": result_of(call.arguments)} for call in calls
        ]
    raise AssertionError("no answer")


async def by_messages(ai: AsyncAnthropic, *, stream: bool, **more: Any) -> tuple[str, list[list[str]]]:
    """The same over Anthropic's messages."""
    tools: Any = [{"name": "look", "description": "Looks.", "input_schema": PARAMETERS}]
    messages: list[Any] = [{"role": "user", "content": QUESTION}]
    rounds: list[list[str]] = []
    for _ in range(MOST):
        body = {"model": "podium", "max_tokens": 99, "messages": messages, "tools": tools, "extra_body": ALL, **more}
        if stream:
            async with ai.messages.stream(**body) as streamed:
                message = await streamed.get_final_message()
        else:
            message = await ai.messages.create(**body)
        calls = [block for block in message.content if block.type == "tool_use"]
        if not calls:
            return "".join(block.text for block in message.content if block.type == "text"), rounds
        rounds.append([call.id for call in calls])
        results = [
            {"type": "tool_result", "tool_use_id": call.id, "content": result_of(json.dumps(call.input))} for call in calls
        ]
        messages += [message.to_param(), {"role": "user", "content": results}]
    raise AssertionError("no answer")
