"""The loop of a chat model that calls tools by itself: ask, call what it asks for, ask again, until it answers.

The loop is bounded in rounds, calls, seconds and dollars. Each request to the model and each call of a tool has the layers of any
other call: the budgets, the journal, a line in the ledger. So after a crash the loop goes on where it stood, and a tool whose
result is on disk is not called twice.

What goes wrong with one call (unknown tool, arguments that are no JSON, an error that the tool reports) is said to the model,
which may do better. A server that can not be reached fails the step. The model's words are passed on when the answer is whole:
those between two tool calls are not part of it.
"""

import asyncio
import json
import time
from dataclasses import replace
from typing import Any, Protocol

from podium.acting.mcp_config import McpWorkerConfig
from podium.errors import BudgetExceeded, WorkerRefused, WorkerUnavailable
from podium.protocols import Worker
from podium.types import Call, Completion, Message, Tool, ToolCall, ToolUse, Usage
from podium.workers.budget import Budget
from podium.workers.kinds import StackTool
from podium.workers.metered import question_budgets


class Tools(Protocol):
    """What a model can call."""

    identity: str
    """Everything that decides what a call returns, for cache keys, without secrets."""

    async def offered(self) -> tuple[Tool, ...]:
        """The tools. Raises :class:`WorkerUnavailable` where they can not be had."""
        ...

    async def call(self, name: str, arguments: dict[str, Any]) -> tuple[str, bool]:
        """(what the tool said, whether that is a failure). Raises :class:`WorkerUnavailable`."""
        ...


class ToolLoop:
    """A chat worker with tools of its own. Example: ``ToolLoop(table, chat, tools, lambda tool, identity: tool)``."""

    def __init__(self, table: McpWorkerConfig, chat: Worker, tools: Tools, stack_tool: StackTool) -> None:
        self._table = table
        self._chat = chat
        self._tools = tools
        self._tool = stack_tool(_AsWorker(tools, table.result_kib * 1024), tools.identity)

    async def __call__(self, call: Call) -> Completion:
        """Answer ``call``, with as many tools as it takes."""
        budgets = question_budgets.get()
        if self._table.loop_usd is not None:
            budgets = (*budgets, _LoopBudget(self._table.loop_usd, name=f"{self._table.name} loop"))
        token = question_budgets.set(budgets)
        limit = asyncio.timeout(self._table.loop_seconds)
        try:
            async with limit:
                return await self._answered(call)
        except TimeoutError as error:
            if not limit.expired():
                raise
            raise WorkerUnavailable(f"no answer within the {self._table.loop_seconds:g} seconds of its tool loop") from error
        finally:
            question_budgets.reset(token)

    async def _answered(self, call: Call) -> Completion:
        started = time.perf_counter()
        offered = await self._tools.offered()
        turns, uses, used, seconds = list(call.turns), list[ToolUse](), list[Usage](), 0.0
        for number in range(self._table.rounds + 1):
            is_last = number == self._table.rounds or len(uses) >= self._table.calls
            options = replace(call.response_options, tools=offered, tool_choice="none" if is_last else "auto")
            said = await self._chat(replace(call, turns=tuple(turns), response_options=options, on_token=None))
            used.append(said.usage)
            seconds += said.seconds
            if not said.tool_calls:
                if call.on_token is not None:
                    call.on_token(said.text)
                return replace(said, usage=Usage.total(used), seconds=seconds, tool_uses=tuple(uses))
            if is_last:
                break
            asked = Message(role="assistant", content=said.text, tool_calls=said.tool_calls, thoughts=said.thoughts)
            results: list[Message] = []
            for wanted in said.tool_calls:
                use = await self._use(call, (*turns, asked, *results), wanted, started, left=self._table.calls - len(uses))
                seconds += use.seconds
                uses.append(use)
                results.append(Message(role="tool", content=use.result, tool_call_id=wanted.id))
                if call.on_tool is not None:
                    call.on_tool(use)
            turns += [asked, *results]
        raise WorkerRefused(
            f"after {self._table.rounds} rounds and {len(uses)} calls it asked for tools again; raise rounds or calls"
        )

    async def _use(self, call: Call, turns: tuple[Message, ...], wanted: ToolCall, started: float, left: int) -> ToolUse:
        """One call of a tool, in the place where the model asked for it: the same question asked anew may call it anew."""
        begun = time.perf_counter()
        if left < 1:
            said, failed = "(not called: no more tool calls are left; answer with what there is)", True
        else:
            place = Call(
                question=call.question,
                subtask=call.subtask,
                visible=call.visible,
                turns=(*turns, Message(role="assistant", content="", tool_calls=(wanted,))),
                depth=call.depth,
                sample=call.sample,
            )
            done = await self._tool(place)
            said, failed = done.text, done.check_passed is False
        return ToolUse(
            tool=wanted.name,
            arguments=wanted.arguments,
            result=said,
            failed=failed,
            start_seconds=begun - started,
            seconds=time.perf_counter() - begun,
        )


class _AsWorker:
    """Tools as a worker: the call is the last thing said. ``check_passed`` tells whether the tool did what it was asked for."""

    def __init__(self, tools: Tools, most: int) -> None:
        self._tools = tools
        self._most = most

    async def __call__(self, call: Call) -> Completion:
        [wanted] = call.turns[-1].tool_calls
        begun = time.perf_counter()
        said, failed = await self._said(wanted)
        seconds = time.perf_counter() - begun
        return Completion(text=said, usage=Usage(), price_source="a tool", seconds=seconds, check_passed=not failed)

    async def _said(self, wanted: ToolCall) -> tuple[str, bool]:
        if wanted.name not in {tool.name for tool in await self._tools.offered()}:
            return f"(there is no tool {wanted.name[:64]!r})", True
        try:
            arguments = json.loads(wanted.arguments or "{}")
        except (ValueError, RecursionError) as error:
            return f"(not called: the arguments are no JSON: {error})", True
        if not isinstance(arguments, dict):
            return "(not called: the arguments are not a JSON object)", True
        said, failed = await self._tools.call(wanted.name, arguments)
        data = said.encode("utf-8", "replace")
        if len(data) > self._most:
            said = f"{data[: self._most].decode('utf-8', 'ignore')}\n(cut here: the result has {len(data)} bytes)"
        return said, failed


class _LoopBudget(Budget):
    """What one answer may cost. Where it is used up the step fails, and nothing else does."""

    def check(self, usd: float | None, tokens: int) -> None:
        try:
            super().check(usd, tokens)
        except BudgetExceeded as error:
            raise WorkerRefused(f"its next call could pass loop_usd: {error}") from error
