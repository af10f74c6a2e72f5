"""Calls and their results belong together: what is missing is named, and nobody is asked or paid."""

from pathlib import Path
from typing import Any

import openai
import pytest

from podium.errors import ConfigError
from podium.serving.conversation import of_chat
from podium.serving.messages_conversation import of_messages
from podium.serving.messages_requests import MessagesRequest
from podium.serving.requests import ChatRequest
from podium.serving.responses_conversation import of_responses
from podium.serving.responses_requests import ResponsesRequest
from podium.types import Message
from tests.serving.agents import CHAT_TOOLS, TOOLS, Provider, agency, chat_turn
from tests.serving.live import live
from tests.serving.test_chat_api import client

ASKED: Any = {"role": "user", "content": "What is in the box?"}


def calls(*ids: str) -> dict[str, Any]:
    return {
        "role": "assistant",
        "tool_calls": [{"id": each, "type": "function", "function": {"name": "look", "arguments": "{}"}} for each in ids],
    }


def result(call_id: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": f"result {call_id}"}


def called(call_id: str) -> dict[str, Any]:
    return {"type": "function_call", "call_id": call_id, "name": "look", "arguments": "{}"}


def output(call_id: str) -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": call_id, "output": f"result {call_id}"}


def chat(*messages: dict[str, Any]) -> tuple[Message, ...]:
    return of_chat(ChatRequest.model_validate({"model": "podium", "messages": messages})).call.question


def responses(*items: dict[str, Any]) -> tuple[Message, ...]:
    return of_responses(ResponsesRequest.model_validate({"model": "podium", "input": items})).call.question


def words(question: tuple[Message, ...]) -> list[str]:
    return [
        f"{turn.role[0]}:{turn.content}" + "".join(f" +{call.id}" for call in turn.tool_calls) + turn.tool_call_id
        for turn in question
    ]


@pytest.mark.parametrize(
    ("messages", "missing"),
    [
        ((ASKED, calls("a", "b"), result("a")), "'b'"),
        ((ASKED, calls("a", "b", "c"), result("b")), "'a', 'c'"),
        ((ASKED, calls("a"), ASKED), "'a'"),
        ((ASKED, calls("a", "b"), result("a"), ASKED, result("b")), "'b'"),
        ((ASKED, calls("a"), result("a"), calls("b"), calls("c"), result("c")), "'b'"),
    ],
)
def test_a_result_that_is_missing_is_named(messages: tuple[Any, ...], missing: str) -> None:
    with pytest.raises(ConfigError, match=f"no result of {missing}: "):
        chat(*messages)


@pytest.mark.parametrize(
    "messages",
    [
        (ASKED, result("a")),
        (ASKED, calls("a"), result("a"), result("b")),
        (ASKED, calls("a"), result("a"), ASKED, result("a")),
        (ASKED, calls("a"), result("a"), calls("b"), result("b"), result("a")),
    ],
)
def test_a_result_of_what_was_not_called_just_before_is_refused(messages: tuple[Any, ...]) -> None:
    with pytest.raises(ConfigError, match="did not call"):
        chat(*messages)


def test_providers_that_number_their_calls_anew_in_each_turn() -> None:
    assert len(chat(ASKED, calls("call_0"), result("call_0"), calls("call_0"), result("call_0"))) == 5
    with pytest.raises(ConfigError, match="no result of 'call_0'"):
        chat(ASKED, calls("call_0"), result("call_0"), calls("call_0"), ASKED)


HURRY: Any = {"type": "message", "role": "user", "content": "Hurry."}
NOTED: Any = {"type": "message", "role": "assistant", "content": "I look."}


@pytest.mark.parametrize(
    ("items", "turns"),
    [
        ([called("a"), called("b"), output("a"), output("b")], ["a: +a +b", "t:result aa", "t:result bb"]),
        ([called("a"), output("a"), called("b"), output("b")], ["a: +a", "t:result aa", "a: +b", "t:result bb"]),
        ([called("a"), NOTED, called("b"), output("b"), output("a")], ["a:I look. +a +b", "t:result bb", "t:result aa"]),
        ([called("a"), NOTED, output("a")], ["a:I look. +a", "t:result aa"]),
        ([called("a"), HURRY, output("a")], ["a: +a", "t:result aa", "u:Hurry."]),
        ([called("a"), called("b"), output("a"), HURRY, output("b")], ["a: +a +b", "t:result aa", "t:result bb", "u:Hurry."]),
        (
            [called("a"), HURRY, called("b"), output("a"), output("b")],
            ["a: +a", "t:result aa", "u:Hurry.", "a: +b", "t:result bb"],
        ),
    ],
)
def test_items_in_any_order_are_a_conversation_that_providers_take(items: list[Any], turns: list[str]) -> None:
    assert words(responses(ASKED, *items)) == ["u:What is in the box?", *turns]


def test_items_whose_result_is_missing_are_refused() -> None:
    with pytest.raises(ConfigError, match="no result of 'b'"):
        responses(ASKED, called("a"), called("b"), output("a"))
    with pytest.raises(ConfigError, match="did not call"):
        responses(ASKED, output("a"), called("a"), HURRY)


def test_two_calls_of_one_turn_have_two_ids() -> None:
    use: Any = {"type": "tool_use", "id": "a", "name": "look", "input": {}}
    said: Any = {"type": "tool_result", "tool_use_id": "a", "content": "x"}
    turns: Any = [ASKED, {"role": "assistant", "content": [use, use]}, {"role": "user", "content": [said]}]
    with pytest.raises(ConfigError, match="the id 'a'"):
        of_messages(MessagesRequest.model_validate({"model": "podium", "max_tokens": 9, "messages": turns}))
    with pytest.raises(ConfigError, match="the id 'a'"):
        chat(ASKED, calls("a", "a"), result("a"))
    with pytest.raises(ConfigError, match="the id 'a'"):
        responses(ASKED, called("a"), called("a"), output("a"))
    assert chat(ASKED, calls("a"), result("a"), calls("a"), result("a")), "a provider may count anew in every turn"


@pytest.mark.parametrize("model", ["solver", "podium"])
async def test_half_of_the_results_is_a_400_and_the_step_waits_on(tmp_path: Path, model: str) -> None:
    provider = Provider(rounds=1, at_once=2)
    async with agency(provider, tmp_path) as catalog, live(catalog, tmp_path) as server, client(server) as ai:
        messages: list[Any] = [ASKED, await chat_turn(ai, model, [ASKED], stream=False)]
        first, second = (call["id"] for call in messages[1]["tool_calls"])
        asked = len(provider.wires)
        items: Any = [ASKED, called(first), called(second), output(first)]
        for stream in (False, True):
            with pytest.raises(openai.BadRequestError, match=second):
                await ai.chat.completions.create(
                    model=model, messages=[*messages, result(first)], tools=CHAT_TOOLS, stream=stream
                )
            with pytest.raises(openai.BadRequestError, match=second):
                await ai.responses.create(model=model, input=items, tools=TOOLS, stream=stream)
        assert len(provider.wires) == asked, "nobody was asked"
        whole = [*messages, result(second), result(first)]
        assert (await chat_turn(ai, model, whole, stream=False))["content"] == f"Seen: result {second}, result {first}"
        assert len(provider.asked["boss"]) == (model == "podium"), "the step had waited"


def test_a_tool_is_required_and_none_is_left() -> None:
    hosted: Any = {"model": "podium", "input": "?", "tools": [{"type": "web_search"}], "tool_choice": "required"}
    with pytest.raises(ConfigError, match="none that can be called here"):
        of_responses(ResponsesRequest.model_validate(hosted))
