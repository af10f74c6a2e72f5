"""Steps before the last that call tools, against clients, keys, replicas and providers that do the wrong thing."""

import asyncio
import os
import re
import signal
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest
from openai import AsyncOpenAI

from podium.serving.store.database import Database
from podium.serving.store.runs import Runs
from tests.serving.agents import CHAT_TOOLS
from tests.serving.crew import ALL, CHAIN, CREW_POOL, QUESTION, Crew, chat_results, chat_say, crew_of
from tests.serving.live import live, until
from tests.serving.test_chat_api import client
from tests.serving.test_killed_replica import replica
from tests.serving.test_tool_loops import kept
from tests.workers.test_chat import serve

ASKED: Any = {"role": "user", "content": QUESTION}
ENDS = "judge saw nothing (left saw 0.0) (right saw 0.0)"


async def refused(ai: AsyncOpenAI, messages: list[Any], *, stream: bool = False) -> tuple[int, str]:
    """Status and message."""
    with pytest.raises(openai.APIStatusError) as found:
        await chat_say(ai, messages, stream=stream)
    return found.value.status_code, found.value.message


def without(turn: dict[str, Any], step: str) -> dict[str, Any]:
    return {**turn, "tool_calls": [call for call in turn["tool_calls"] if not call["id"].startswith(f"call_{step}_")]}


@pytest.mark.parametrize("stream", [False, True])
async def test_results_that_are_missing_unknown_or_anothers_are_refused_and_the_steps_wait_on(
    tmp_path: Path, stream: bool
) -> None:
    crew = Crew(at_once=2)
    async with crew_of(crew, tmp_path) as catalog, live(catalog, tmp_path, with_keys=True) as server:
        secrets = [(await server.accounts.keys.create(name, monthly_usd=5.0))[1] for name in ("ann", "bob")]
        async with client(server, secrets[0]) as ann, client(server, secrets[1]) as bob:
            turn, other = await chat_say(ann, [ASKED]), await chat_say(ann, [ASKED])
            asked = crew.counts()
            results, ids = chat_results(turn), [call["id"] for call in turn["tool_calls"]]
            status, message = await refused(ann, [ASKED, turn, *results[:3]], stream=stream)
            assert (status, ids[3] in message) == (400, True), "one of the results of one step is missing"
            status, message = await refused(ann, [ASKED, turn, *results[:2]], stream=stream)
            assert (status, ids[2] in message) == (400, True), "all of one step's are"
            status, message = await refused(ann, [ASKED, without(turn, "s1"), *results[:2]], stream=stream)
            assert (status, ids[0] in message) == (404, True), "a step's calls are left out with their results"
            status, _ = await refused(bob, [ASKED, turn, *results], stream=stream)
            assert status == 404, "another key has the whole turn"
            mixed = {**turn, "tool_calls": [*without(turn, "s1")["tool_calls"], *without(other, "s0")["tool_calls"]]}
            status, _ = await refused(ann, [ASKED, mixed, *chat_results(mixed)], stream=stream)
            assert status == 404, "one step's of one question, the other's of another"
            forged = {**turn, "tool_calls": [{**call, "id": call["id"].replace("_s1_", "_s2_")} for call in turn["tool_calls"]]}
            assert (await refused(ann, [ASKED, forged, *chat_results(forged)], stream=stream))[0] == 404
            unknown = [*results[:3], {**results[3], "tool_call_id": "call_s1_0123456789abcdef01234567"}]
            assert (await refused(ann, [ASKED, turn, *unknown], stream=stream))[0] == 400
            assert crew.counts() == asked, "nobody was asked for any of that"
            answer = await chat_say(ann, [ASKED, turn, *reversed(results)], stream=stream)
            assert answer["content"] == "judge saw nothing (left saw 0.1, 0.0) (right saw 0.1, 0.0)", "in the client's order"
            spent = await server.accounts.quotas.spent()
            assert [spent[key.id].spent_usd > 0 for key in await server.accounts.keys.list() if key.id in spent].count(True) == 1


@pytest.mark.parametrize("stream", [False, True])
async def test_results_sent_again_are_answered_again_and_paid_once(tmp_path: Path, stream: bool) -> None:
    crew = Crew(rounds={"left": 2, "right": 1})
    async with crew_of(crew, tmp_path) as catalog, live(catalog, tmp_path) as server, client(server) as ai:
        first = await chat_say(ai, [ASKED])
        sent: list[Any] = [ASKED, first, *chat_results(first)]
        turns = [await chat_say(ai, list(sent), stream=stream) for _ in range(3)]
        assert crew.counts() == (1, 2, 2, 0), "each step goes on once"
        assert len({turn["tool_calls"][0]["id"] for turn in turns}) == 3
        ends = [await chat_say(ai, [*sent, turn, *chat_results(turn)], stream=stream) for turn in turns for _ in range(2)]
        assert {end["content"] for end in ends} == {"judge saw nothing (left saw 0.0, 1.0) (right saw 0.0)"}
        assert crew.counts() == (1, 2 + 3, 2, 3), "each of the three is a conversation of its own, told once"


async def test_both_at_once_are_one(tmp_path: Path) -> None:
    crew = Crew()
    async with crew_of(crew, tmp_path) as catalog, live(catalog, tmp_path) as server, client(server) as ai:
        turn = await chat_say(ai, [ASKED])
        gate = asyncio.Event()
        crew.hold = lambda model, number: gate
        both = [asyncio.create_task(chat_say(ai, [ASKED, turn, *chat_results(turn)])) for _ in range(2)]
        await until(lambda: len(crew.asked["left"]) == 2 and len(crew.asked["right"]) == 2)
        await asyncio.sleep(0.3)  # the second one is there as well
        gate.set()
        assert [(await each)["content"] for each in both] == [ENDS] * 2
        assert crew.counts() == (1, 2, 2, 1)


async def test_other_results_are_another_question(tmp_path: Path) -> None:
    crew = Crew()
    async with crew_of(crew, tmp_path) as catalog, live(catalog, tmp_path) as server, client(server) as ai:
        turn = await chat_say(ai, [ASKED])
        answers = []
        for more in ("", "!", ""):
            results = [{**result, "content": result["content"] + more} for result in chat_results(turn)]
            answers.append((await chat_say(ai, [ASKED, turn, *results]))["content"])
        assert answers == [ENDS, ENDS.replace("0.0", "0.0!"), ENDS]


async def test_a_fault_of_one_step_costs_the_other_nothing(tmp_path: Path) -> None:
    crew = Crew(fails=[("right", 1), ("right", 2), ("judge", 0)])
    async with crew_of(crew, tmp_path) as catalog, live(catalog, tmp_path) as server, client(server) as ai:
        turn = await chat_say(ai, [ASKED])
        sent = [ASKED, turn, *chat_results(turn)]
        gate = asyncio.Event()
        crew.hold = lambda model, number: gate if (model, number) == ("right", 1) else None
        failing = asyncio.create_task(refused(ai, sent))
        await until(lambda: len(crew.asked["left"]) == 2)
        await asyncio.sleep(0.3)  # its answer is there, and written down
        gate.set()
        assert (await failing)[0] == 503
        assert (await refused(ai, sent))[0] == 503
        assert crew.counts() == (1, 2, 3, 0), "the left one was not asked again"
        assert (await refused(ai, sent))[0] == 503, "the judge's turn to fail"
        assert (await chat_say(ai, sent))["content"] == ENDS
        assert crew.counts() == (1, 2, 4, 2)
        runs = [run async for run in server.accounts.runs.every(key=None)]
        assert sum(run.paid_usd or 0.0 for run in runs) == pytest.approx(
            sum(run.usage.prompt_tokens * 1e-6 + run.usage.completion_tokens * 1e-5 for run in runs)
        )


async def test_a_client_that_leaves_while_they_go_on_comes_back(tmp_path: Path) -> None:
    crew = Crew(CHAIN)
    async with crew_of(crew, tmp_path) as catalog, live(catalog, tmp_path) as server, client(server) as ai:
        turn = await chat_say(ai, [ASKED])
        sent = [ASKED, turn, *chat_results(turn)]
        crew.hold = lambda model, number: asyncio.Event() if (model, number) == ("right", 0) else None
        leaving = asyncio.create_task(chat_say(ai, sent, stream=True))
        await until(lambda: len(crew.asked["right"]) == 1)
        leaving.cancel()
        await asyncio.sleep(0.3)
        turn2 = await chat_say(ai, sent)
        assert crew.counts() == (1, 2, 2, 0), "the left one had answered, and the right one is asked anew"
        answer = await chat_say(ai, [*sent, turn2, *chat_results(turn2)])
        assert answer["content"] == "judge saw nothing (right saw 0.0 (left saw 0.0))"


@pytest.mark.parametrize("stores", [True, False])
async def test_a_key_that_stores_nothing_leaves_nothing_behind(tmp_path: Path, stores: bool) -> None:
    crew = Crew(rounds={"left": 2, "right": 1})
    async with (
        crew_of(crew, tmp_path) as catalog,
        live(catalog, tmp_path, store_content=stores) as server,
        client(server) as ai,
    ):
        messages: list[Any] = [ASKED]
        for _ in range(3):
            turn = await chat_say(ai, messages)
            messages += [turn, *chat_results(turn)]
        assert messages[-1]["content"].startswith("judge")
        assert (await kept(server) == 0) is not stores


@pytest.mark.parametrize("changed", ["question", "model", "option"])
async def test_what_is_no_longer_the_same_is_conducted_anew(tmp_path: Path, changed: str) -> None:
    crew = Crew()
    async with crew_of(crew, tmp_path) as catalog, live(catalog, tmp_path) as server, client(server) as ai:
        turn = await chat_say(ai, [ASKED])
        question: Any = {"role": "user", "content": "Other?"} if changed == "question" else ASKED
        more: dict[str, Any] = {"model": "boss"} if changed == "model" else {}
        if changed == "option":
            more = {"extra_body": {"podium": {"tool_steps": "last"}}}
        crew.says = dict.fromkeys(("left", "right", "judge"), "so")
        crew.lenient = True
        await chat_say(ai, [question, turn, *chat_results(turn)], **more)
        assert len(crew.asked["boss"]) == 2


async def test_a_budget_is_kept_over_all_steps_and_nothing_is_lost(tmp_path: Path) -> None:
    crew = Crew(rounds={"left": 1, "right": 1})
    async with crew_of(crew, tmp_path) as catalog, live(catalog, tmp_path) as server, client(server) as ai:
        turn = await chat_say(ai, [ASKED])
        sent = [ASKED, turn, *chat_results(turn)]
        poor: Any = {"podium": {"tool_steps": "all", "budget_usd": 1e-6}}
        with pytest.raises(openai.APIStatusError, match="budget") as found:
            await chat_say(ai, sent, extra_body=poor)
        assert found.value.status_code == 402
        assert crew.counts() == (1, 1, 1, 0)
        assert (await chat_say(ai, sent))["content"] == ENDS
        headers = {"X-Podium-Session": "small"}
        small: Any = {"podium": {"tool_steps": "all", "session_usd": 0.02}}
        turn = await chat_say(ai, [ASKED], extra_body=small, extra_headers=headers)
        least: Any = {"podium": {"tool_steps": "all", "session_usd": 1e-5}}
        with pytest.raises(openai.APIStatusError, match="session"):
            await chat_say(ai, [ASKED, turn, *chat_results(turn)], extra_body=least, extra_headers=headers)
        answer = await chat_say(ai, [ASKED, turn, *chat_results(turn)], extra_body=small, extra_headers=headers)
        assert answer["content"] == ENDS


async def test_over_replicas_and_databases(url: str, tmp_path: Path) -> None:
    crew = Crew(CHAIN, rounds={"left": 2, "right": 2, "judge": 1})
    async with (
        crew_of(crew, tmp_path) as catalog,
        live(catalog, tmp_path, url=url, replica="one") as one,
        live(catalog, tmp_path, url=url, replica="two") as two,
        client(one) as here,
        client(two) as there,
    ):
        messages: list[Any] = [ASKED]
        for number in range(6):
            turn = await chat_say((here, there)[number % 2], messages, stream=bool(number // 2 % 2))
            messages += [turn, *chat_results(turn)]
        assert messages[-1]["content"] == "judge saw 0.0 (right saw 0.0, 1.0 (left saw 0.0, 1.0))"
        assert crew.counts() == (1, 3, 3, 2)


async def test_ten_rounds_and_a_restart_between_each(tmp_path: Path) -> None:
    crew = Crew(rounds={"left": 10, "right": 3})
    messages: list[Any] = [ASKED]
    async with crew_of(crew, tmp_path) as catalog:
        for _ in range(11):
            async with live(catalog, tmp_path) as server, client(server) as ai:
                turn = await chat_say(ai, messages)
                messages += [turn, *chat_results(turn)]
    assert messages[-1]["content"].startswith("judge saw nothing (left saw 0.0, 1.0, 2.0,")
    assert "9.0) (right saw 0.0, 1.0, 2.0)" in messages[-1]["content"]
    assert crew.counts() == (1, 11, 4, 1)


async def test_a_replica_that_is_killed_between_and_in_the_middle_of_steps(tmp_path: Path) -> None:
    crew = Crew(CHAIN, rounds={"left": 1, "right": 1})
    never = asyncio.Event()
    crew.hold = lambda model, number: never if (model, number) == ("right", 0) else None
    async with serve(crew.answer) as upstream:
        (tmp_path / "pool.toml").write_text(CREW_POOL.replace("URL", upstream.url))
        async with AsyncExitStack() as stack:
            started = [await asyncio.to_thread(stack.enter_context, replica(tmp_path)) for _ in range(2)]
            clients = [AsyncOpenAI(base_url=url, api_key="none", max_retries=0) for url, _ in started]
            first, second = [await stack.enter_async_context(each) for each in clients]
            messages: list[Any] = [ASKED]
            turn = await chat_say(first, messages)
            messages += [turn, *chat_results(turn)]
            lost = asyncio.create_task(chat_say(first, messages))
            await until(lambda: len(crew.asked["right"]) == 1, seconds=60)
            os.kill(started[0][1].pid, signal.SIGKILL)
            with pytest.raises(openai.APIConnectionError):
                await lost
            for _ in range(2):
                turn = await chat_say(second, messages)
                messages += [turn, *chat_results(turn)]
    assert messages[-1]["content"] == "judge saw nothing (right saw 0.0 (left saw 0.0))"
    assert crew.counts() == (1, 2, 3, 1), "the left step's answer was there; only the call under way is made again"
    async with Database(f"sqlite:///{tmp_path / 'podium.db'}") as database:
        runs = await Runs(database).search(key=None)
    assert len({run.session for run in runs}) == 1


async def test_what_a_kept_response_goes_on_from(tmp_path: Path) -> None:
    crew = Crew()
    tools: Any = [{"type": "function", **CHAT_TOOLS[0]["function"], "strict": None}]
    async with crew_of(crew, tmp_path) as catalog, live(catalog, tmp_path) as server, client(server) as ai:
        first = await ai.responses.create(model="podium", input=QUESTION, tools=tools, extra_body=ALL)
        calls = [item for item in first.output if item.type == "function_call"]
        results: Any = [
            {"type": "function_call_output", "call_id": call.call_id, "output": f"{name} 0.0"}
            for call, name in zip(calls, ("left", "right"), strict=True)
        ]
        half: Any = results[:1]
        with pytest.raises(openai.BadRequestError, match=calls[1].call_id):
            await ai.responses.create(model="podium", input=half, tools=tools, extra_body=ALL, previous_response_id=first.id)
        second = await ai.responses.create(
            model="podium", input=results, tools=tools, extra_body=ALL, previous_response_id=first.id
        )
        assert second.output_text == ENDS
        run = await server.accounts.runs.get(f"run_{second.id.removeprefix('resp_')}", key=None)
        assert run is not None
        assert run.steps == 3


async def test_pictures_that_tools_return_are_words_for_who_does_not_see(tmp_path: Path) -> None:
    crew = Crew()
    async with crew_of(crew, tmp_path) as catalog, live(catalog, tmp_path) as server, httpx.AsyncClient(timeout=60) as http:
        body: dict[str, Any] = {"model": "podium", "tools": CHAT_TOOLS, "messages": [ASKED], **ALL}
        turn = (await http.post(f"{server.url}/v1/chat/completions", json=body)).json()["choices"][0]["message"]
        picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
        results = [{**each, "content": [{"type": "text", "text": each["content"]}, picture]} for each in chat_results(turn)]
        said = {"role": "assistant", "tool_calls": turn["tool_calls"]}
        reply = await http.post(f"{server.url}/v1/chat/completions", json={**body, "messages": [ASKED, said, *results]})
        assert re.search(r"left saw 0\.0\(a picture", reply.json()["choices"][0]["message"]["content"])
