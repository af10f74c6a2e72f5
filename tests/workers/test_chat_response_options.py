"""Tools, a form and stop texts on their way to the model, and tool calls on their way back."""

import importlib.util
import json
from dataclasses import replace
from typing import Any

import pytest
from aiohttp import web

from podium.conduct import Conductor
from podium.errors import ConfigError, WorkerUnavailable
from podium.policies.fixed import FixedPolicy
from podium.types import Call, Card, Message, ResponseOptions, Sampling, Tool, ToolCall, ask
from podium.workers.bound import bound
from podium.workers.call_key import call_key
from podium.workers.chat import ChatWorker
from podium.workers.pool import Member, WorkerPool
from podium.workers.vote import MajorityVote
from tests.workers.test_chat import END, anthropic_says, chunk, reply, says, serve, vendor_worker

NOW = Tool(
    name="now", description="The time in a city.", parameters='{"type": "object", "properties": {"city": {"type": "string"}}}'
)
CALLS = [{"id": "call_7", "type": "function", "function": {"name": "now", "arguments": '{"city": "Oslo"}'}}]
ASKED = reply(None, finish="tool_calls", tool_calls=CALLS)
STREAMED = [
    chunk(
        {"tool_calls": [{"index": 0, "id": "call_7", "type": "function", "function": {"name": "now", "arguments": '{"city"'}}]}
    ),
    chunk({"tool_calls": [{"index": 0, "function": {"arguments": ': "Oslo"}'}}]}),
    chunk({}, finish="tool_calls"),
    *END[1:],
]
TOOL_CALL = ToolCall(id="call_7", name="now", arguments='{"city": "Oslo"}')


@pytest.mark.parametrize("streamed", [False, True])
async def test_a_model_asks_for_a_tool_and_gets_its_result(streamed: bool) -> None:
    response_options = ResponseOptions(
        tools=(NOW,), tool_choice="now", stop=("END",), sampling=Sampling(temperature=0.5, max_tokens=77)
    )
    pieces: list[str | None] = []
    call = replace(
        Call.plain("What time is it?"), response_options=response_options, on_token=pieces.append if streamed else None
    )
    async with serve(says(ASKED, STREAMED)) as server, ChatWorker(model="openai:m", base_url=server.url) as worker:
        completion = await worker(call)
        assert completion.tool_calls == (TOOL_CALL,)
        assert (completion.text, completion.finish_reason) == ("", "tool_calls")
        body = server.bodies[-1]
        [tool] = body["tools"]
        assert tool["function"]["name"] == "now"
        assert tool["function"]["parameters"]["properties"] == {"city": {"type": "string"}}
        assert body["tool_choice"] == {"type": "function", "function": {"name": "now"}} or body["tool_choice"] == "required"
        assert (body["stop"], body["temperature"]) == (["END"], 0.5)
        assert 77 in (body.get("max_tokens"), body.get("max_completion_tokens"))
        turns = (
            Message(role="assistant", content="", tool_calls=completion.tool_calls),
            Message(role="tool", content="noon", tool_call_id="call_7"),
        )
        await worker(replace(call, turns=turns))
        *_, assistant, tool = server.bodies[-1]["messages"]
        assert assistant["tool_calls"][0]["id"] == tool["tool_call_id"] == "call_7"
        assert json.loads(assistant["tool_calls"][0]["function"]["arguments"]) == {"city": "Oslo"}
        assert tool["content"] == "noon"


async def test_ids_of_tool_calls_are_such_as_the_provider_takes() -> None:
    called = (replace(TOOL_CALL, id="call_0123456789abcdef01234567"), replace(TOOL_CALL, id="call_1123456789abcdef01234567"))
    results = tuple(Message(role="tool", content="noon", tool_call_id=each.id) for each in called)
    turns = (Message(role="assistant", content="", tool_calls=called), *results)
    call = replace(Call.plain("What time is it?"), turns=turns, response_options=ResponseOptions(tools=(NOW,)))
    for model, fits in (("openai:m", False), ("mistral:mistral-large-latest", True)):
        async with serve(says(reply("noon"))) as server, ChatWorker(model=model, base_url=server.url) as worker:
            await worker(call)
            _, assistant, *answers = server.bodies[-1]["messages"]
            ids = [each["id"] for each in assistant["tool_calls"]]
            assert [answer["tool_call_id"] for answer in answers] == ids
            assert len({*ids}) == 2
            assert all(len(each) == 9 and each.isalnum() for each in ids) == fits
            assert fits or ids == [each.id for each in called]


async def test_whoever_asks_for_a_tool_that_nobody_offered_has_not_answered() -> None:
    async with serve(says(ASKED)) as server, ChatWorker(model="openai:m", base_url=server.url) as worker:
        with pytest.raises(WorkerUnavailable, match="no text"):
            await worker(Call.plain("What time is it?"))


async def test_a_form_is_demanded_as_the_api_has_it() -> None:
    schema = {"type": "object", "properties": {"sum": {"type": "integer"}}, "required": ["sum"], "additionalProperties": False}
    async with serve(says(reply('{"sum": 42}'))) as server, ChatWorker(model="openai:m", base_url=server.url) as worker:
        await worker(replace(Call.plain("6 times 7?"), response_options=ResponseOptions(response_format=json.dumps(schema))))
        form = server.bodies[-1]["response_format"]
        assert form["type"] == "json_schema"
        assert form["json_schema"]["schema"]["properties"] == schema["properties"]
        await worker(replace(Call.plain("6 times 7?"), response_options=ResponseOptions(response_format="{}")))
        assert server.bodies[-1]["response_format"] == {"type": "json_object"}
        with pytest.raises(ConfigError, match="is no JSON"):
            await worker(replace(Call.plain("6 times 7?"), response_options=ResponseOptions(response_format="{")))


async def test_demands_reach_the_last_step_only_and_its_tool_calls_the_caller() -> None:
    text = 'model_id = [0, 0]\nsubtasks = ["Plan.", "Solve."]\naccess_list = [[], "all"]'
    asked = Call(question=ask("What time is it?"), sampling=Sampling(temperature=0.9))
    response_options = ResponseOptions(tools=(NOW,), sampling=Sampling(temperature=0.0))

    async def model(request: web.Request, body: dict[str, Any]) -> web.Response:
        return web.json_response(ASKED if "tools" in body else reply("Look at a clock."))

    async with serve(model) as server, ChatWorker(model="openai:m", base_url=server.url) as worker:
        pool = WorkerPool([Member(worker=worker, card=Card(name="m"))])
        completion = await Conductor(FixedPolicy(text), pool, rounds=3)(replace(asked, response_options=response_options))
        first, last = server.bodies
        assert "tools" not in first
        assert (first["temperature"], last["temperature"]) == (0.9, 0.0)
        assert completion.tool_calls == (TOOL_CALL,)
        assert len(completion.transcripts) == 1, "whoever waits for a tool has no answer that another round could look at"


async def test_a_vote_refuses_what_it_can_not_do() -> None:
    with pytest.raises(ConfigError, match="calls no tools"):
        await MajorityVote(lambda question, texts: texts)(
            replace(Call.plain("?"), response_options=ResponseOptions(tools=(NOW,)))
        )


def test_demands_make_another_call_and_count_towards_its_bound() -> None:
    plain = Call.plain("What time is it?")
    wanting = replace(plain, response_options=ResponseOptions(tools=(NOW,), sampling=Sampling(max_tokens=10)))
    turned = replace(plain, turns=(Message(role="tool", content="noon", tool_call_id="call_7"),))
    assert len({call_key("m", call) for call in (plain, wanting, turned)}) == 3
    assert bound(wanting, 100).prompt_tokens > bound(plain, 100).prompt_tokens
    assert bound(wanting, 100).completion_tokens == 10


@pytest.mark.skipif(importlib.util.find_spec("anthropic") is None, reason="needs pip install 'podium[anthropic]'")
@pytest.mark.parametrize("may_call", [False, True])
async def test_anthropic_reads_of_tools_in_words_where_it_may_call_none(may_call: bool) -> None:
    called = (TOOL_CALL, replace(TOOL_CALL, id="call_8", arguments="{}"))
    question = (
        *ask("What time is it?"),
        Message(role="assistant", content="Let me see.", tool_calls=called),
        *(Message(role="tool", content="noon", tool_call_id=each.id) for each in called),
    )
    call = Call(
        question=question, subtask="Plan.", response_options=ResponseOptions(tools=(NOW,)) if may_call else ResponseOptions()
    )
    async with serve(anthropic_says()) as server, vendor_worker(server, "anthropic") as worker:
        await worker(call)
    [body] = server.bodies
    kinds = [block["type"] for message in body["messages"] for block in message["content"]]
    assert ("tool_use" in kinds, "tool_result" in kinds, "tools" in body) == (may_call, may_call, may_call)
    if not may_call:
        texts = [block["text"] for message in body["messages"] for block in message["content"]]
        shown = 'Let me see.\n(calls now with {"city": "Oslo"})\n(calls now with {})'
        result = "(result of now)\nnoon"
        assert texts == ["What time is it?", shown, result, result, "Your task: Plan."]
