"""Steps before the last that call tools, where a client changes its mind in the middle: its tools, its choice, its words."""

import asyncio
import json
import sqlite3
from pathlib import Path
from typing import Any

import anthropic as anthropic_sdk
import openai
import pytest
from anthropic import AsyncAnthropic
from openai import AsyncOpenAI

from tests.serving.agents import CHAT_TOOLS, PARAMETERS
from tests.serving.crew import ALL, QUESTION, Crew, chat_results, chat_say, crew_of, result_of
from tests.serving.live import live
from tests.serving.test_chat_api import client
from tests.serving.test_messages import claude

ASKED: Any = {"role": "user", "content": QUESTION}
ENDS = "judge saw nothing (left saw 0.0) (right saw 0.0)"
GREP: Any = {"type": "function", "function": {"name": "grep", "description": "Finds.", "parameters": PARAMETERS}}
ONE: Any = {"parallel_tool_calls": False}


def tool(name: str) -> Any:
    return {"type": "function", "function": {"name": name, "description": "Does it.", "parameters": PARAMETERS}}


async def test_a_client_that_offers_no_tools_any_more_is_given_no_calls(tmp_path: Path) -> None:
    crew = Crew()
    async with crew_of(crew, tmp_path) as catalog, live(catalog, tmp_path) as server, client(server) as ai:
        for more in ({"tool_choice": "none", **ONE}, {"tools": openai.NOT_GIVEN}):
            before = crew.counts()
            turn = await chat_say(ai, [ASKED], **ONE)
            assert len(turn["tool_calls"]) == 1, "the right one's call waits for its turn"
            answer = await chat_say(ai, [ASKED, turn, *chat_results(turn)], **more)
            assert answer["content"] == "judge saw nothing (left saw 0.0) (right saw nothing)"
            assert [now - then for now, then in zip(crew.counts(), before, strict=True)] == [1, 2, 2, 1]
        turn = await chat_say(ai, [ASKED], **ONE)
        crew.rounds = {}
        answer = await chat_say(ai, [ASKED, turn, *chat_results(turn)], tools=[GREP], **ONE)
        assert not answer.get("tool_calls"), "what it asked for is not among the tools that are offered now"


async def test_the_same_results_without_tools_are_answered(tmp_path: Path) -> None:
    crew = Crew(rounds={"left": 3, "right": 1})
    async with crew_of(crew, tmp_path) as catalog, live(catalog, tmp_path) as server, client(server) as ai:
        turn = await chat_say(ai, [ASKED])
        sent = [ASKED, turn, *chat_results(turn)]
        assert (await chat_say(ai, sent))["tool_calls"]
        assert (await chat_say(ai, sent, tool_choice="none"))["content"] == ENDS
        assert crew.counts() == (1, 3, 2, 1), "and only the left one was asked anew"
        crew.offered = {name: [] for name in crew.offered}
        demanded: Any = {"type": "function", "function": {"name": "grep"}}
        await chat_say(ai, [ASKED], tools=[*CHAT_TOOLS, GREP], tool_choice=demanded)
        assert crew.offered == {"boss": [False], "left": [False], "right": [False], "judge": [True]}, "one tool is demanded"
        planned = [wire[1]["content"] for wire in crew.asked["boss"]]
        assert ['"look": "Looks."' in each for each in planned] == [True, False], "who plans is told what steps may call"


async def test_a_tool_whose_name_means_something_else_is_not_demanded_by_it(tmp_path: Path) -> None:
    crew = Crew()
    async with (
        crew_of(crew, tmp_path) as catalog,
        live(catalog, tmp_path) as server,
        client(server) as ai,
        claude(server) as anthropic,
    ):
        for name in ("none", "auto", "required"):
            for refused in (_by_chat(ai, name), _by_responses(ai, name), _by_messages(anthropic, name)):
                with pytest.raises((openai.BadRequestError, anthropic_sdk.BadRequestError), match="rename it"):
                    await refused
    assert crew.counts() == (0, 0, 0, 0)


async def _by_chat(ai: AsyncOpenAI, name: str) -> None:
    await chat_say(ai, [ASKED], tools=[tool(name)], tool_choice={"type": "function", "function": {"name": name}})


async def _by_responses(ai: AsyncOpenAI, name: str) -> None:
    tools: Any = [{"type": "function", **tool(name)["function"], "strict": None}]
    await ai.responses.create(model="podium", input=QUESTION, tools=tools, tool_choice={"type": "function", "name": name})


async def _by_messages(ai: AsyncAnthropic, name: str) -> None:
    tools: Any = [{"name": name, "input_schema": PARAMETERS}]
    asked: Any = [ASKED]
    await ai.messages.create(
        model="podium", max_tokens=9, messages=asked, tools=tools, tool_choice={"type": "tool", "name": name}
    )


async def test_words_that_come_in_between_are_not_lost(tmp_path: Path) -> None:
    crew = Crew(rounds={"left": 2, "right": 1})
    async with crew_of(crew, tmp_path) as catalog, live(catalog, tmp_path) as server, client(server) as ai:
        turn = await chat_say(ai, [ASKED])
        sent = [ASKED, turn, *chat_results(turn)]
        second = await chat_say(ai, [*sent, {"role": "system", "content": "Be quick."}])
        assert crew.counts() == (1, 2, 2, 0), "the steps go on"
        assert all(wires[-1][-1]["content"] == "Be quick." for wires in (crew.asked["left"], crew.asked["right"]))
        crew.lenient = True
        sent += [{"role": "user", "content": "And the third box?"}, second, *chat_results(second)]
        await chat_say(ai, sent)
        assert len(crew.asked["boss"]) == 2, "the user has spoken, so it is planned anew"
        assert "And the third box?" in json.dumps(crew.asked["left"][-1])


async def test_what_is_kept_does_not_hold_the_conversation_again(tmp_path: Path) -> None:
    crew = Crew(rounds={"left": 1, "right": 1, "judge": 1})
    asked = {"role": "user", "content": QUESTION + " " * 100_000 + "!"}
    async with crew_of(crew, tmp_path) as catalog, live(catalog, tmp_path) as server, client(server) as ai:
        messages: list[Any] = [asked]
        for _ in range(2):
            turn = await chat_say(ai, messages)
            messages += [turn, *chat_results(turn)]
            with sqlite3.connect(tmp_path / "podium.db") as database:
                [most] = database.execute("SELECT max(length(state)) FROM paused").fetchone()
            assert most < 20_000
        assert (await chat_say(ai, messages))["content"].startswith("judge saw 0.0")
        assert crew.asked["left"][-1][0]["content"].startswith(asked["content"]), "and the step that goes on is shown all of it"


async def test_results_of_the_last_steps_calls_are_answered_again_too(tmp_path: Path) -> None:
    crew = Crew(rounds={"left": 1, "judge": 2})
    async with crew_of(crew, tmp_path) as catalog, live(catalog, tmp_path) as server, client(server) as ai:
        messages: list[Any] = [ASKED]
        for _ in range(3):
            turn = await chat_say(ai, messages)
            messages += [turn, *chat_results(turn)]
        answers = [await chat_say(ai, messages, stream=stream) for stream in (False, True)]
        assert [answer["content"] for answer in answers] == ["judge saw 0.0, 1.0 (left saw 0.0) (right saw nothing)"] * 2
        assert crew.counts() == (1, 2, 1, 3), "and nobody is asked again"
        form: Any = {"type": "json_object"}
        answer = await chat_say(ai, messages, response_format=form)
        assert answer == answers[0], "a client that wants the answer in another form is given that"
        assert crew.counts() == (1, 2, 1, 4), "by the last step alone, with all that it has seen"
        await chat_say(ai, messages, response_format=form)
        assert crew.counts() == (1, 2, 1, 4)


async def test_a_step_that_nobody_needs_any_more_is_not_begun_when_others_go_on(tmp_path: Path) -> None:
    plan = (
        'model_id = [1, 2, 3, 3, 3, 3, 3]\nsubtasks = ["A.", "B.", "C.", "D.", "E.", "F.", "Say it."]\n'
        "access_list = [[], [], [], [2], [0, 1, 3], [4], [5]]\n"
        'conditions = ["always", "always", "always", "always", "unless 2 agree", "always", "always"]'
    )
    more = '[conductor]\nworker = "boss"\nconditions = true\nmax_steps = 7\n'
    crew = Crew(plan, rounds={"judge": 1}, says={"left": "42", "right": "42"})
    crew.hold = lambda model, number: asyncio.Event() if (model, number) == ("judge", 0) else None
    async with crew_of(crew, tmp_path, more, "chat") as catalog, live(catalog, tmp_path) as server, client(server) as ai:
        turn = await chat_say(ai, [ASKED])
        assert crew.counts() == (1, 1, 1, 2), "C was stopped, and D not begun: A and B agree"
        await chat_say(ai, [ASKED, turn, *chat_results(turn)])
        told = [wire[-1]["content"] for wire in crew.asked["judge"] if wire[-1]["role"] == "user"]
        assert [told.count(f"Your task: {each}.") for each in "CDEF"] == [1, 0, 0, 1]


async def test_calls_that_come_back_one_by_one_each_with_its_result_are_one_round(tmp_path: Path) -> None:
    crew = Crew(rounds={"left": 1, "right": 1, "judge": 1}, at_once=2)
    async with crew_of(crew, tmp_path) as catalog, live(catalog, tmp_path) as server, client(server) as ai:
        messages: list[Any] = [ASKED]
        for _ in range(3):
            turn = await chat_say(ai, messages)
            for call, result in zip(turn.get("tool_calls") or (), chat_results(turn), strict=True):
                messages += [{"role": "assistant", "content": "judge looks.", "tool_calls": [call]}, result]
        assert turn["content"] == "judge saw 0.0, 0.1 (left saw 0.0, 0.1) (right saw 0.0, 0.1)"
        assert crew.counts() == (1, 2, 2, 2)


async def test_what_an_agent_says_beside_its_results_is_no_turn_of_the_users(tmp_path: Path) -> None:
    crew = Crew(rounds={"left": 2, "right": 1})
    tools: Any = [{"name": "look", "input_schema": PARAMETERS}]
    reminder: Any = {"type": "text", "text": "<system-reminder>\nThe list is empty.\n</system-reminder>\n"}
    async with crew_of(crew, tmp_path) as catalog, live(catalog, tmp_path) as server, claude(server) as ai:
        messages: list[Any] = [ASKED]
        for last in (reminder, reminder, {"type": "text", "text": "And the third box?"}):
            crew.lenient = "third" in last["text"]
            body: Any = {"model": "podium", "max_tokens": 99, "messages": messages, "tools": tools, "extra_body": ALL}
            said = await ai.messages.create(**body)
            results = [
                {"type": "tool_result", "tool_use_id": block.id, "content": result_of(json.dumps(block.input))}
                for block in said.content
                if block.type == "tool_use"
            ]
            messages += [said.to_param(), {"role": "user", "content": [*results, last]}]
        assert crew.counts() == (1, 3, 2, 1)
        assert crew.asked["right"][1][-1]["content"] == f"right 0.0\n\n{reminder['text']}", "it stands behind the last result"
        await ai.messages.create(**body)
        assert len(crew.asked["boss"]) == 2, "but this the user has said"
