"""Steps before the last that call the client's tools: whose call it was, whose result it is, and nothing paid twice."""

import re
from pathlib import Path
from typing import Any

import openai
import pytest

from podium.page.story import planned
from podium.parts import Thought
from podium.types import Call, Completion, Thoughts, ToolCall
from tests.serving.agents import CHAT_TOOLS
from tests.serving.crew import (
    ALL,
    CHAIN,
    PARALLEL,
    QUESTION,
    Crew,
    by_chat,
    by_messages,
    by_responses,
    chat_results,
    chat_say,
    crew_of,
)
from tests.serving.live import Puppet, catalog_of, live, said
from tests.serving.test_chat_api import client
from tests.serving.test_messages import claude
from tests.serving.test_tool_loops import lose

ASKED: Any = {"role": "user", "content": QUESTION}


def saw(rounds: int, at_once: int = 1) -> str:
    return ", ".join(f"{n}.{k}" for n in range(rounds) for k in range(at_once))


def steps_of(ids: list[str]) -> list[int]:
    """Which step each call is of, as its id says."""
    found = [re.fullmatch(r"call_s(\d+)_[0-9a-f]{24}", each) for each in ids]
    return [int(each[1]) for each in found if each is not None]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("api", ["chat", "responses", "messages"])
async def test_two_steps_four_rounds_and_two_calls_in_each(tmp_path: Path, api: str, stream: bool) -> None:
    crew = Crew(rounds={"left": 4, "right": 2}, at_once=2)
    async with crew_of(crew, tmp_path) as catalog, live(catalog, tmp_path) as server, client(server) as ai, claude(server) as an:
        if api == "messages":
            answer, rounds = await by_messages(an, stream=stream)
        else:
            answer, rounds = await (by_chat if api == "chat" else by_responses)(ai, stream=stream)
        assert answer == f"judge saw nothing (left saw {saw(4, 2)}) (right saw {saw(2, 2)})"
        assert [steps_of(ids) for ids in rounds] == [[0, 0, 1, 1], [0, 0, 1, 1], [0, 0], [0, 0]]
        assert crew.counts() == (1, 5, 3, 1), "planned once, and no step is asked again that is over"
        assert crew.offered["judge"] == [True]


async def test_it_is_off_unless_the_client_or_the_pool_file_says_so(tmp_path: Path) -> None:
    for folder, more, body, offered in (
        ("a", "", {}, [False]),
        ("b", "", ALL, [True, True]),
        ("c", '[server]\ntool_steps = "all"\n', {}, [True, True]),
        ("d", '[server]\ntool_steps = "all"\n', {"podium": {"tool_steps": "last"}}, [False]),
    ):
        (tmp_path / folder).mkdir()
        crew = Crew()
        place = tmp_path / folder
        async with crew_of(crew, place, more) as catalog, live(catalog, place) as server, client(server) as ai:
            await by_chat(ai, stream=False, extra_body=body)
            assert crew.offered["left"] == offered, more
            if folder == "b":
                crew.offered["left"].clear()
                await by_chat(ai, stream=False, extra_body={}, extra_headers={"X-Podium-Tool-Steps": "all"})
                assert crew.offered["left"] == [True, True], "the header says the same"


async def test_a_chain_of_three_that_all_call_tools(tmp_path: Path) -> None:
    crew = Crew(CHAIN, rounds={"left": 2, "right": 2, "judge": 2})
    async with crew_of(crew, tmp_path) as catalog, live(catalog, tmp_path) as server, client(server) as ai:
        answer, rounds = await by_chat(ai, stream=True)
        assert answer == "judge saw 0.0, 1.0 (right saw 0.0, 1.0 (left saw 0.0, 1.0))"
        assert [steps_of(ids) for ids in rounds] == [[0], [0], [1], [1], [], []]
        assert crew.counts() == (1, 3, 3, 3)
        knows = [[message["content"] for message in wire if message["role"] == "user"] for wire in crew.asked["judge"]]
        assert knows == [["Your task: Look right.", "Your task: Say it."]] * 3, "and sees what its access list says"


@pytest.mark.parametrize("plan", [PARALLEL, CHAIN])
async def test_a_last_step_that_knows_the_question_is_not_shown_the_turns_of_others(tmp_path: Path, plan: str) -> None:
    plan = plan.replace("[1]]", "[0, 1]]")
    crew = Crew(plan, rounds={"left": 1, "right": 1, "judge": 2})
    async with crew_of(crew, tmp_path) as catalog, live(catalog, tmp_path) as server, client(server) as ai:
        await by_chat(ai, stream=False)
        for wire in crew.asked["judge"]:
            assert wire[0]["content"] == f"{QUESTION}\n\nYour task: Look left."
        assert len(crew.asked["judge"]) == 3


async def test_one_call_at_a_time_is_one_steps_call(tmp_path: Path) -> None:
    crew = Crew(rounds={"left": 2, "right": 1})
    async with crew_of(crew, tmp_path) as catalog, live(catalog, tmp_path) as server, client(server) as ai:
        answer, rounds = await by_chat(ai, stream=False, parallel_tool_calls=False)
        assert [steps_of(ids) for ids in rounds] == [[0], [0], [1]]
        assert answer == "judge saw nothing (left saw 0.0, 1.0) (right saw 0.0)"
        assert crew.counts() == (1, 3, 2, 1), "who waits for its turn is not asked again"


async def test_a_step_that_nobody_needs_is_carried_out_without(tmp_path: Path) -> None:
    crew = Crew(PARALLEL.replace('"all"', "[0]"))
    async with crew_of(crew, tmp_path) as catalog, live(catalog, tmp_path) as server, client(server) as ai:
        _, rounds = await by_chat(ai, stream=False)
        assert [steps_of(ids) for ids in rounds] == [[0]]
        assert crew.offered["right"] == [False], "no answer needs it, so no answer waits for it"
        assert crew.counts() == (1, 2, 1, 1)


async def test_a_condition_waits_with_what_it_looks_at(tmp_path: Path) -> None:
    plan = (
        'model_id = [1, 2, 3, 3]\nsubtasks = ["A.", "B.", "C.", "Say it."]\naccess_list = [[], [], [0, 1], "all"]\n'
        'conditions = ["always", "always", "unless 2 agree", "always"]'
    )
    more = '[conductor]\nworker = "boss"\nconditions = true\n'
    for says, judged in (({"left": "42", "right": "42"}, 1), ({"left": "42", "right": "43"}, 2)):
        crew = Crew(plan, says=says)
        folder = tmp_path / str(judged)
        folder.mkdir()
        async with crew_of(crew, folder, more, "chat") as catalog, live(catalog, folder) as server, client(server) as ai:
            _, rounds = await by_chat(ai, stream=False)
            assert [steps_of(ids) for ids in rounds] == [[0, 1]]
            assert crew.counts() == (1, 2, 2, judged), "decided when both have answered, and not before"


async def test_a_step_if_failed_does_not_begin_while_what_it_stands_in_for_waits(tmp_path: Path) -> None:
    plan = (
        'model_id = [1, 2, 3]\nsubtasks = ["A.", "B.", "Say it."]\naccess_list = [[], [0], [1]]\n'
        'conditions = ["always", "if failed", "always"]'
    )
    more = '[conductor]\nworker = "boss"\nconditions = true\n'
    crew = Crew(plan, rounds={"left": 1}, fails=[("left", 1)])
    async with crew_of(crew, tmp_path, more, "chat") as catalog, live(catalog, tmp_path) as server, client(server) as ai:
        messages: list[Any] = [ASKED]
        turn = await chat_say(ai, messages)
        assert crew.counts() == (1, 1, 0, 0)
        answer = await chat_say(ai, [*messages, turn, *chat_results(turn)])
        assert answer["content"] == "judge saw nothing (right saw nothing)"
        assert crew.counts() == (1, 2, 1, 1), "the one that goes on failed, and its stand-in was asked"


@pytest.mark.parametrize("stream", [False, True])
async def test_what_the_client_is_told_of_usage_dollars_and_steps(tmp_path: Path, stream: bool) -> None:
    crew = Crew(rounds={"left": 1, "right": 1})
    async with crew_of(crew, tmp_path) as catalog, live(catalog, tmp_path) as server, client(server) as ai:
        messages: list[Any] = [ASKED]
        seen: list[Any] = []
        for _ in range(2):
            body: Any = {"model": "podium", "messages": messages, "tools": CHAT_TOOLS, "extra_body": ALL}
            if stream:
                pieces = [
                    piece
                    async for piece in await ai.chat.completions.create(
                        **body, stream=True, stream_options={"include_usage": True}
                    )
                ]
                assert pieces[-1].usage is not None
                told = pieces[-2].model_dump()["podium"]
                usage: Any = pieces[-1].usage
                calls = [call for piece in pieces for choice in piece.choices for call in choice.delta.tool_calls or ()]
                words = "".join(
                    getattr(choice.delta, "reasoning_content", "") or "" for piece in pieces for choice in piece.choices
                )
                assert ("step 0, left: left looks. (calls look)" in words) is not bool(seen)
            else:
                whole = await ai.chat.completions.create(**body)
                told, usage, calls = whole.model_dump()["podium"], whole.usage, whole.choices[0].message.tool_calls or []
            seen.append((usage.prompt_tokens, usage.completion_tokens, told))
            turn = {"role": "assistant", "tool_calls": [call.model_dump(exclude={"index"}) for call in calls]}
            messages += [turn, *chat_results(turn)]
        (prompt, completion, first), (prompt2, completion2, second) = seen
        assert (prompt, completion) == (100, 10), "one prompt of two alike, and both answers"
        assert (prompt2, completion2) == (500, 5), "the judge's"
        assert [step["failure"] for step in first["rounds"][0]["steps"]] == [None, None, "NotYet"]
        assert [step["kept"] for step in second["rounds"][0]["steps"]] == [False, False, False]
        assert first["usage"]["prompt_tokens"] == 200 + 100 + 100
        assert second["usage"]["prompt_tokens"] == 300 + 300 + 500
        runs = [run async for run in server.accounts.runs.every(key=None)]
        assert sorted(run.steps for run in runs) == [2, 3]
        assert len({run.session for run in runs}) == 1
        paid = sum(run.paid_usd or 0.0 for run in runs)
        tokens = sum(run.usage.prompt_tokens * 1e-6 + run.usage.completion_tokens * 1e-5 for run in runs)
        assert paid == pytest.approx(tokens)
        spent = (await server.accounts.sessions.get(runs[0].session))[1]
        assert spent == pytest.approx(paid), "and the session's dollars are the same"


async def test_what_was_told_in_an_earlier_round_is_not_told_again(tmp_path: Path) -> None:
    crew = Crew(CHAIN)
    async with crew_of(crew, tmp_path) as catalog, live(catalog, tmp_path) as server, client(server) as ai:
        messages: list[Any] = [ASKED]
        told = []
        for _ in range(3):
            body: Any = {"model": "podium", "messages": messages, "tools": CHAT_TOOLS, "extra_body": ALL, "stream": True}
            choices = [choice async for piece in await ai.chat.completions.create(**body) for choice in piece.choices]
            told.append("".join(getattr(choice.delta, "reasoning_content", None) or "" for choice in choices))
            calls = [call for choice in choices for call in choice.delta.tool_calls or ()]
            turn = {"role": "assistant", "tool_calls": [call.model_dump(exclude={"index"}) for call in calls]}
            messages += [turn, *chat_results(turn)]
        first, second, third = told
        assert first.endswith("step 0, left: left looks. (calls look)\n\n")
        assert second == "step 0, left: left saw 0.0\n\nstep 1, right: right looks. (calls look)\n\n"
        assert third == "step 1, right: right saw 0.0 (left saw 0.0)\n\n"
        runs = [run async for run in server.accounts.runs.every(key=None)]
        assert sorted((run.steps, run.workers) for run in runs) == [
            (1, ("left",)), (2, ("left", "right")), (2, ("right", "judge")),
        ]  # fmt: skip
        assert sorted(tuple(share.worker for share in run.shares) for run in runs) == [
            ("", "left"), ("left", "right"), ("right", "judge"),
        ]  # fmt: skip


async def test_a_session_has_one_plan_for_each_turn_and_knows_who_acts(tmp_path: Path) -> None:
    crew = Crew(rounds={"left": 1, "right": 1, "judge": 1})
    async with crew_of(crew, tmp_path) as catalog, live(catalog, tmp_path) as server, client(server) as ai:
        messages: list[Any] = [ASKED]
        told = []
        for _ in range(2):
            while True:
                headers = {"X-Podium-Session": "mine"}
                body: Any = {"messages": messages, "model": "podium", "tools": CHAT_TOOLS, "extra_body": ALL}
                whole = await ai.chat.completions.create(**body, extra_headers=headers)
                session = whole.model_dump()["podium"]["session"]
                told.append((session["turn"], session["worker"]))
                turn = whole.choices[0].message.model_dump(exclude_none=True, include={"role", "content", "tool_calls"})
                messages += [turn, *chat_results(turn)]
                if not turn.get("tool_calls"):
                    break
            messages.append({"role": "user", "content": "And now?"})
            crew.plan = crew.plan.replace("Look left.", "Look again.")
        assert told[:3] == [(1, "judge")] * 3
        assert {turn for turn, _ in told[3:]} == {2}
        assert len(crew.asked["boss"]) == 2
        assert "Look left." in crew.asked["boss"][1][-1]["content"], "the policy knows the plan of the turn before"


async def test_each_of_several_choices_goes_on_by_itself(tmp_path: Path) -> None:
    crew = Crew()
    async with crew_of(crew, tmp_path) as catalog, live(catalog, tmp_path) as server, client(server) as ai:
        body: Any = {"model": "podium", "tools": CHAT_TOOLS, "extra_body": ALL}
        both = await ai.chat.completions.create(messages=[ASKED], n=2, **body)
        for choice in both.choices:
            turn = choice.message.model_dump(exclude_none=True, include={"role", "content", "tool_calls"})
            answer = await chat_say(ai, [ASKED, turn, *chat_results(turn)])
            assert answer["content"] == "judge saw nothing (left saw 0.0) (right saw 0.0)"
        assert crew.counts() == (2, 4, 4, 2)


class Thinker(Puppet):
    """Thinks before it calls a tool, and has to get its own thought back with the result."""

    async def __call__(self, call: Call) -> Completion:
        mine = Thoughts(by="w", thoughts=(Thought(text=f"of {call.subtask}", signature="s"),))
        if call.response_options.tools and not call.turns and call.subtask != "Say it.":
            wanted = ToolCall(id="call_0", name="look", arguments="{}")
            return Completion(text="", tool_calls=(wanted,), thoughts=mine)
        assert [turn.thoughts for turn in call.turns if turn.tool_calls] == ([mine] if call.turns else [])
        return await super().__call__(call)


async def test_each_step_gets_its_own_thoughts_back(tmp_path: Path) -> None:
    workers = [Thinker(lambda call: "done") for _ in range(3)]
    async with live(catalog_of(said(PARALLEL), *workers), tmp_path) as server, client(server) as ai:
        turn = await chat_say(ai, [ASKED])
        results = [{"role": "tool", "tool_call_id": call["id"], "content": "x"} for call in turn["tool_calls"]]
        assert (await chat_say(ai, [ASKED, turn, *results]))["content"] == "done"
        assert [len(worker.calls) for worker in workers] == [1, 1, 1]


async def test_the_story_of_a_session_says_who_waits(tmp_path: Path) -> None:
    crew = Crew()
    async with crew_of(crew, tmp_path) as catalog, live(catalog, tmp_path) as server, client(server) as ai:
        turn = await chat_say(ai, [ASKED])
        await chat_say(ai, [ASKED, turn, *chat_results(turn)])
        runs = [run async for run in server.accounts.runs.every(key=None)]
        assert [run.asks_client for run in runs] == [False, True]
        found = [planned(transcript) for run in runs for transcript in run.transcripts]
        assert sorted(found) == [
            "Planned 3 steps: left, right, judge; left and right ask the client.",
            "Without a plan: left, right, judge; judge answered.",
        ]


async def test_nothing_is_kept_that_is_too_long_gone_and_that_is_said(tmp_path: Path) -> None:
    crew = Crew()
    async with crew_of(crew, tmp_path) as catalog, live(catalog, tmp_path) as server, client(server) as ai:
        turn = await chat_say(ai, [ASKED])
        await lose(server)
        reply = await server_says(ai, [ASKED, turn, *chat_results(turn)])
        assert reply == (404, "tool_call_not_found")
        assert crew.counts() == (1, 1, 1, 0), "nobody was asked"


async def server_says(ai: Any, messages: list[Any]) -> tuple[int, str]:
    with pytest.raises(openai.APIStatusError) as found:
        await chat_say(ai, messages)
    body: Any = found.value.body
    return found.value.status_code, body["code"]
