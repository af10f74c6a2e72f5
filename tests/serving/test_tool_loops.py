"""Many rounds of tools: what the provider really sees, each time."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from openai import AsyncOpenAI
from sqlalchemy import delete

from podium.serving.store.tables import paused
from tests.serving.agents import CHAT_TOOLS, Provider, agency, chat_agent, chat_turn, responses_agent
from tests.serving.live import Live, live
from tests.serving.test_chat_api import client

QUESTION = "What is in the box?"
ASKED: Any = {"role": "user", "content": QUESTION}
BEFORE = {
    "solver": [f"u:{QUESTION}"],
    "podium": [f"u:{QUESTION} / Your task: Plan it.", "a:Look around.", "u:Your task: Solve it."],
    "podium-fast": [f"u:{QUESTION} / Your task: Just answer."],
}
"""What a model is shown before its own first turn."""
PLANNED = {"solver": (0, 0), "podium": (1, 1), "podium-fast": (1, 0)}
"""How often the conductor and the planner are asked for one question, whatever number of tools is called."""


def turns(rounds: int, at_once: int = 1, text: str = "") -> list[str]:
    """The solver's own turns and what came of them."""
    said = []
    for n in range(rounds):
        said.append(f"a:{text}" + f" +{n}" * at_once)
        said += [f"t:result {n}.{k}" for k in range(at_once)]
    return said


def seen(rounds: int, at_once: int = 1) -> str:
    return "Seen: " + ", ".join(f"result {n}.{k}" for n in range(rounds) for k in range(at_once))


def planned(provider: Provider) -> tuple[int, int]:
    return len(provider.asked["boss"]), len(provider.asked["planner"])


async def kept(server: Live) -> int:
    """How many steps wait."""
    rows = await server.accounts.database.read(lambda connection: connection.execute(paused.select()).all())
    return len(rows)


async def lose(server: Live) -> None:
    """Everything that waits is gone, as if it had expired."""
    await server.accounts.database.run(lambda connection: connection.execute(delete(paused)))


@pytest.mark.parametrize("model", ["solver", "podium"])
@pytest.mark.parametrize("stream", [False, True])
async def test_usage_is_what_the_last_step_read_and_wrote(tmp_path: Path, model: str, stream: bool) -> None:
    provider = Provider(rounds=2)
    async with agency(provider, tmp_path) as catalog, live(catalog, tmp_path) as server, client(server) as ai:
        used: list[tuple[int, int]] = []
        paid: list[int] = []
        messages: list[Any] = [ASKED]
        for n in range(3):
            if stream:
                options: Any = {"stream": True, "stream_options": {"include_usage": True}}
                pieces = [piece async for piece in await ai.chat.completions.create(
                    model=model, messages=messages, tools=CHAT_TOOLS, **options)]  # fmt: skip
                said: Any = pieces[-1]
                calls = [call for piece in pieces for choice in piece.choices for call in choice.delta.tool_calls or ()]
            else:
                said = await ai.chat.completions.create(model=model, messages=messages, tools=CHAT_TOOLS)
                calls = said.choices[0].message.tool_calls or []
            used.append((said.usage.prompt_tokens, said.usage.completion_tokens))
            paid.append(said.podium["usage"]["prompt_tokens"])
            messages.append({"role": "assistant", "tool_calls": [call.model_dump(exclude={"index"}) for call in calls]})
            messages += [{"role": "tool", "tool_call_id": call.id, "content": f"result {n}.0"} for call in calls]
        assert used == [(100 * (len(BEFORE[model]) + 2 * n), 5) for n in range(3)]
        whole_run = 100 * (2 + 1) if model == "podium" else 0  # the conductor's prompt and the planner's
        assert paid == [used[0][0] + whole_run, used[1][0], used[2][0]]


async def test_usage_of_several_choices_is_one_prompt_and_every_answer(tmp_path: Path) -> None:
    provider = Provider(rounds=0)
    async with agency(provider, tmp_path) as catalog, live(catalog, tmp_path) as server, client(server) as ai:
        answer = await ai.chat.completions.with_raw_response.create(model="podium", messages=[ASKED], n=3)
        usage = answer.parse().usage
        assert usage is not None
        assert (usage.prompt_tokens, usage.completion_tokens) == (300, 15)
        assert answer.headers["x-podium-prompt-tokens"] == str(3 * (200 + 100 + 300))


@pytest.mark.parametrize("at_once", [1, 3])
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("api", ["chat", "responses"])
@pytest.mark.parametrize("model", ["solver", "podium", "podium-fast"])
async def test_four_rounds(tmp_path: Path, model: str, api: str, stream: bool, at_once: int) -> None:
    provider = Provider(rounds=4, at_once=at_once, text="Let me look.")
    async with agency(provider, tmp_path) as catalog, live(catalog, tmp_path) as server, client(server) as ai:
        agent = chat_agent if api == "chat" else responses_agent
        assert await agent(ai, model, [ASKED], stream=stream) == seen(4, at_once)
        assert provider.wires == [BEFORE[model] + turns(n, at_once, "Let me look.") for n in range(5)]
        assert planned(provider) == PLANNED[model]
        assert await kept(server) == 0, "nothing waits that nobody will come for"


async def test_the_tenth_round_and_the_next_question(tmp_path: Path) -> None:
    provider = Provider(rounds=10)
    async with agency(provider, tmp_path) as catalog, live(catalog, tmp_path) as server, client(server) as ai:
        messages: list[Any] = [{"role": "system", "content": "Be brief."}, ASKED]
        assert await chat_agent(ai, "podium", messages, stream=True) == seen(10)
        assert provider.wires[-1] == ["s:Be brief.", *BEFORE["podium"], *turns(10)]
        before = ["s:Be brief.", f"u:{QUESTION}", *turns(10), f"a:{seen(10)}"]
        messages.append({"role": "user", "content": "And in the other one?"})
        assert await chat_agent(ai, "podium", messages, stream=True) == seen(10)
        assert planned(provider) == (2, 2), "each question is planned once"
        asked = ["u:And in the other one? / Your task: Plan it.", "a:Look around.", "u:Your task: Solve it."]
        assert provider.wires[-1] == [*before, *asked, *turns(10)]


async def test_two_conversations_side_by_side(tmp_path: Path) -> None:
    provider = Provider(rounds=4)
    async with agency(provider, tmp_path) as catalog, live(catalog, tmp_path) as server, client(server) as ai:
        asked: list[list[Any]] = [[{"role": "user", "content": name}] for name in ("Alice?", "Bob?")]
        answers = await asyncio.gather(*(chat_agent(ai, "podium", messages, stream=False) for messages in asked))
        assert answers == [seen(4), seen(4)]
        for name in ("Alice?", "Bob?"):
            mine = [wire for wire in provider.wires if wire[0].startswith(f"u:{name}")]
            assert [len(wire) for wire in mine] == [3, 5, 7, 9, 11]


async def test_a_client_that_shortens_old_results(tmp_path: Path) -> None:
    """What opencode does: the step goes on, and sees what the client sends."""

    def shortened(messages: list[Any]) -> list[Any]:
        old = [index for index, message in enumerate(messages) if message["role"] == "tool"][:-1]
        return [{**message, "content": "[cleared]"} if index in old else message for index, message in enumerate(messages)]

    provider = Provider(rounds=4)
    async with agency(provider, tmp_path) as catalog, live(catalog, tmp_path) as server, client(server) as ai:
        await chat_agent(ai, "podium", [ASKED], stream=False, edit=shortened)
        assert [word for word in provider.wires[-1] if word[0] == "t"] == ["t:[cleared]"] * 3 + ["t:result 3.0"]
        assert planned(provider) == (1, 1)


async def test_a_client_that_drops_old_turns_and_changes_its_system_prompt(tmp_path: Path) -> None:
    clock = iter(range(100))

    def windowed(messages: list[Any]) -> list[Any]:
        return [{"role": "system", "content": f"It is {next(clock)} o'clock."}, ASKED, *messages[-2:]]

    provider = Provider(rounds=1)
    async with agency(provider, tmp_path) as catalog, live(catalog, tmp_path) as server, client(server) as ai:
        messages: list[Any] = [{"role": "system", "content": "It is early."}, ASKED]
        messages.append(await chat_turn(ai, "podium", messages, stream=False))
        for n in range(3):
            provider.rounds = 2 if n < 2 else 1
            [call] = messages[-1]["tool_calls"]
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": f"result {n}.0"})
            messages = windowed(messages)
            messages.append(await chat_turn(ai, "podium", messages, stream=False))
        assert provider.wires[-1][:2] == ["s:It is 2 o'clock.", f"u:{QUESTION} / Your task: Plan it."]
        assert provider.wires[-1][4:] == ["a: +1", "t:result 2.0"]
        assert messages[-1]["content"] == "Seen: result 2.0"
        assert planned(provider) == (1, 1)


async def test_a_client_that_changes_its_question_is_conducted_anew(tmp_path: Path) -> None:
    provider = Provider(rounds=1)
    async with agency(provider, tmp_path) as catalog, live(catalog, tmp_path) as server, client(server) as ai:
        edited: Any = {"role": "user", "content": "What is on the table?"}
        answer = await chat_agent(ai, "podium", [ASKED], stream=False, edit=lambda messages: [edited, *messages[1:]])
        assert answer == "Seen: result 0.0"
        assert planned(provider) == (2, 2)
        assert provider.wires[-1][:3] == ["u:What is on the table?", "a: +0", "t:result 0.0"]


async def test_a_user_who_speaks_up_in_the_middle_is_a_new_question(tmp_path: Path) -> None:
    provider = Provider(rounds=2)
    hurry: Any = {"role": "user", "content": "Hurry."}

    def interrupted(messages: list[Any]) -> list[Any]:
        return [*messages, hurry] if len(messages) == 3 else messages

    async with agency(provider, tmp_path) as catalog, live(catalog, tmp_path) as server, client(server) as ai:
        await chat_agent(ai, "podium", [ASKED], stream=True, edit=interrupted)
        assert planned(provider) == (2, 2), "once for each thing the user said"
        first = [f"u:{QUESTION}", "a: +0", "t:result 0.0", "u:Hurry. / Your task: Plan it.", "a:Look around."]
        assert provider.wires[-1] == [*first, "u:Your task: Solve it.", *turns(2)]


async def test_a_step_that_is_not_kept_any_more_is_conducted_anew_with_all_that_happened(tmp_path: Path) -> None:
    provider = Provider(rounds=4)
    async with agency(provider, tmp_path) as catalog, live(catalog, tmp_path) as server, client(server) as ai:
        messages: list[Any] = [ASKED]
        for _ in range(2):
            messages.append(await chat_turn(ai, "podium", messages, stream=False))
            [call] = messages[-1]["tool_calls"]
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": f"result {len(messages) // 3}.0"})
        await lose(server)
        assert await chat_agent(ai, "podium", messages, stream=False) == seen(4)
        assert planned(provider) == (2, 2)
        told = str(provider.asked["boss"][-1][-1]["content"])
        assert 'calls look with {"n": 1' in told
        assert "result 1.0" in told, "the conductor knows what was found out before"
        again = [f"u:{QUESTION}", *turns(2), "u:Your task: Plan it.", "a:Look around.", "u:Your task: Solve it."]
        assert provider.wires[2] == again
        later = ["a: +2", "t:result 2.0", "a: +3", "t:result 3.0"]
        assert provider.wires[-1] == [*again, *later], "the step that took over goes on where it was, too"


async def test_another_model_is_asked_for_and_answers(tmp_path: Path) -> None:
    provider = Provider(rounds=1)
    async with agency(provider, tmp_path) as catalog, live(catalog, tmp_path) as server, client(server) as ai:
        messages: list[Any] = [ASKED, await chat_turn(ai, "podium", [ASKED], stream=False)]
        messages.append({"role": "tool", "tool_call_id": messages[1]["tool_calls"][0]["id"], "content": "result 0.0"})
        assert await chat_agent(ai, "solver", messages, stream=False) == seen(1)
        assert provider.wires[-1] == [f"u:{QUESTION}", *turns(1)]


async def test_another_replica_goes_on(url: str, tmp_path: Path) -> None:
    provider = Provider(rounds=4)
    async with (
        agency(provider, tmp_path) as catalog,
        live(catalog, tmp_path, url=url, replica="one") as one,
        live(catalog, tmp_path, url=url, replica="two") as two,
        client(one) as here,
        client(two) as there,
    ):
        messages: list[Any] = [ASKED]
        for n in range(4):
            ai: AsyncOpenAI = (here, there)[n % 2]
            messages.append(await chat_turn(ai, "podium", messages, stream=bool(n // 2)))
            [call] = messages[-1]["tool_calls"]
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": f"result {n}.0"})
        assert (await chat_turn(here, "podium", messages, stream=False))["content"] == seen(4)
        assert provider.wires == [BEFORE["podium"] + turns(n) for n in range(5)]
        assert planned(provider) == (1, 1)


async def test_what_another_version_kept_is_no_obstacle(tmp_path: Path) -> None:
    provider = Provider(rounds=1)
    async with agency(provider, tmp_path) as catalog, live(catalog, tmp_path) as server, client(server) as ai:
        messages: list[Any] = [ASKED, await chat_turn(ai, "podium", [ASKED], stream=False)]
        await server.accounts.database.run(
            lambda connection: connection.execute(paused.update().values(state='"{\\"worker\\": \\"solver\\"}"'))
        )
        messages.append({"role": "tool", "tool_call_id": messages[1]["tool_calls"][0]["id"], "content": "result 0.0"})
        assert await chat_agent(ai, "podium", messages, stream=False) == seen(1)
        assert planned(provider) == (2, 2)


async def test_what_is_kept_of_a_run_is_what_the_user_asked_and_what_the_step_saw(tmp_path: Path) -> None:
    provider = Provider(rounds=2)
    async with agency(provider, tmp_path) as catalog, live(catalog, tmp_path) as server, client(server) as ai:
        await chat_agent(ai, "podium", [ASKED], stream=False)
        runs = await server.accounts.runs.search(key=None)
        assert [run.question for run in runs] == [QUESTION] * 3
        last = await server.accounts.runs.get(runs[0].id, key=None)
        assert last is not None
        [transcript] = last.transcripts
        assert [turn.content for turn in transcript.question] == [
            f"{QUESTION}\n\nYour task: Plan it.", "Look around.", "", "result 0.0", "", "result 1.0",
        ]  # fmt: skip
        assert transcript.results[0].step.subtask == "Solve it."
