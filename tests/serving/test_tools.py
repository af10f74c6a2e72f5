"""Tools and forms: to the last step, out to the client, and back to the step that asked."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import openai
import pytest

from podium.errors import WorkerUnavailable
from podium.types import Call, Completion, ToolCall
from podium.workers.vote import MajorityVote
from tests.serving.live import TWO_STEPS, Puppet, catalog_of, live, said
from tests.serving.test_chat_api import client

TOOLS: Any = [
    {
        "type": "function",
        "function": {"name": "now", "description": "The time.", "parameters": {"type": "object", "properties": {}}},
    }
]
QUESTION: Any = [{"role": "user", "content": "What time is it?"}]


class ToolUser(Puppet):
    """Asks for the time, and repeats what it is told."""

    async def __call__(self, call: Call) -> Completion:
        if call.response_options.tools and not call.turns and not any(message.tool_calls for message in call.question):
            self.calls.append(call)
            wanted = ToolCall(id=f"call_{len(self.calls)}", name="now", arguments="{}")
            return Completion(text="", finish_reason="tool_calls", tool_calls=(wanted,))
        return await super().__call__(call)


def told(call: Call) -> str:
    turns = call.turns or call.question
    return f"It is {turns[-1].content}, planned: {[step.response for step in call.visible]}"


def answered(message: Any, result: str) -> list[Any]:
    """The conversation with the tool's result."""
    return [*QUESTION, message, {"role": "tool", "tool_call_id": message["tool_calls"][0]["id"], "content": result}]


@pytest.mark.parametrize("stream", [False, True])
async def test_the_workflow_goes_on_with_what_the_clients_tool_returned(tmp_path: Path, stream: bool) -> None:
    planner, solver = said("Look at a clock."), ToolUser(told)
    async with live(catalog_of(said(TWO_STEPS), planner, solver), tmp_path) as server, client(server) as ai:
        if stream:
            chunks = [
                c async for c in await ai.chat.completions.create(model="podium", messages=QUESTION, tools=TOOLS, stream=True)
            ]
            [calls] = [c.choices[0].delta.tool_calls for c in chunks if c.choices[0].delta.tool_calls]
            assert chunks[-1].choices[0].finish_reason == "tool_calls"
            message: Any = {
                "role": "assistant",
                "content": None,
                "tool_calls": [call.model_dump(exclude={"index"}) for call in calls],
            }
        else:
            first = await ai.chat.completions.create(model="podium", messages=QUESTION, tools=TOOLS)
            assert first.choices[0].finish_reason == "tool_calls"
            assert first.choices[0].message.content is None
            message = first.choices[0].message.model_dump(exclude_none=True, include={"role", "tool_calls"})
        second = await ai.chat.completions.create(model="podium", messages=answered(message, "noon"), tools=TOOLS)
        assert second.choices[0].message.content == "It is noon, planned: ['Look at a clock.']"
        assert len(planner.calls) == 1, "the steps before it are not asked, and not paid, once more"
        assert [step["worker"] for step in second.model_dump()["podium"]["rounds"][0]["steps"]] == ["w2"]


async def test_results_that_nobody_waits_for_are_a_conversation_like_any_other(tmp_path: Path) -> None:
    called = {
        "role": "assistant",
        "tool_calls": [{"id": "call_9", "type": "function", "function": {"name": "now", "arguments": "{}"}}],
    }
    planner, solver = said("Look."), ToolUser(told)
    async with live(catalog_of(said(TWO_STEPS), planner, solver), tmp_path) as server, client(server) as ai:
        await ai.chat.completions.create(model="podium", messages=answered(called, "noon"), tools=TOOLS)
        assert [message.role for message in planner.calls[0].question] == ["user", "assistant", "tool"]


async def test_a_provider_that_numbers_its_calls_anew_mixes_nobody_up(tmp_path: Path) -> None:
    class Numbered(ToolUser):
        async def __call__(self, call: Call) -> Completion:
            completion = await super().__call__(call)
            return replace(completion, tool_calls=tuple(replace(each, id="call_0") for each in completion.tool_calls))

    def recalled(call: Call) -> str:
        return f"{call.visible[0].question[0].content} {call.turns[-1].content}"

    async with live(catalog_of(said(TWO_STEPS), said("Look."), Numbered(recalled)), tmp_path) as server, client(server) as ai:
        asked: list[Any] = [[{"role": "user", "content": name}] for name in ("alice", "bob")]
        messages: list[Any] = []
        for question in asked:
            first = await ai.chat.completions.create(model="podium", messages=question, tools=TOOLS)
            messages.append(first.choices[0].message.model_dump(exclude_none=True, include={"role", "tool_calls"}))
        assert messages[0]["tool_calls"][0]["id"] != messages[1]["tool_calls"][0]["id"]
        for question, message in zip(asked, messages, strict=True):
            result: Any = {"role": "tool", "tool_call_id": message["tool_calls"][0]["id"], "content": "noon"}
            second = await ai.chat.completions.create(model="podium", messages=[*question, message, result], tools=TOOLS)
            assert str(second.choices[0].message.content) == f"{question[0]['content']} noon"


async def test_a_step_whose_results_came_to_nothing_waits_again(tmp_path: Path) -> None:
    tries = []

    def first_time_fails(call: Call) -> str:
        tries.append(call)
        if len(tries) == 1:
            raise WorkerUnavailable("gone")
        return told(call)

    planner = said("Look.")
    async with live(catalog_of(said(TWO_STEPS), planner, ToolUser(first_time_fails)), tmp_path) as server, client(server) as ai:
        first = await ai.chat.completions.create(model="podium", messages=QUESTION, tools=TOOLS)
        message = first.choices[0].message.model_dump(exclude_none=True, include={"role", "tool_calls"})
        with pytest.raises(openai.APIStatusError):
            await ai.chat.completions.create(model="podium", messages=answered(message, "noon"), tools=TOOLS)
        second = await ai.chat.completions.create(model="podium", messages=answered(message, "noon"), tools=TOOLS)
        assert second.choices[0].message.content == "It is noon, planned: ['Look.']"
        assert len(planner.calls) == 1


async def test_tools_at_the_responses_endpoint(tmp_path: Path) -> None:
    tools: Any = [{"type": "function", "name": "now", "parameters": {"type": "object", "properties": {}}, "strict": None}]
    async with live(catalog_of(said(TWO_STEPS), said("Look."), ToolUser(told)), tmp_path) as server, client(server) as ai:
        first = await ai.responses.create(model="podium", input="What time is it?", tools=tools)
        [*_, call] = first.output
        assert call.type == "function_call"
        items: Any = [
            {"role": "user", "content": "What time is it?"},
            call.model_dump(exclude_none=True),
            {"type": "function_call_output", "call_id": call.call_id, "output": "noon"},
        ]
        second = await ai.responses.create(model="podium", input=items, tools=tools)
        assert second.output_text == "It is noon, planned: ['Look.']"


async def test_a_form_reaches_the_last_step_or_is_refused(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"sum": {"type": "integer"}}}
    form: Any = {"type": "json_schema", "json_schema": {"name": "sum", "schema": schema}}
    solver = said('{"sum": 42}')
    catalog = catalog_of(said(TWO_STEPS), said("Plan."), solver)
    async with live(catalog, tmp_path) as server, client(server) as ai:
        await ai.chat.completions.create(model="podium", messages=QUESTION, response_format=form)
        assert json.loads(solver.calls[0].response_options.response_format or "") == schema
        catalog._pool.workers.named("w2").worker._worker = MajorityVote(lambda question, texts: texts)  # type: ignore[attr-defined]
        with pytest.raises(openai.BadRequestError, match="follows no response_format"):
            await ai.chat.completions.create(model="podium", messages=QUESTION, response_format=form)
