"""Results of tools that a client sends twice at once: the step that waits for them is asked once, and paid once."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.serving.agents import Provider, agency, chat_turn
from tests.serving.live import live
from tests.serving.test_chat_api import client

ASKED: Any = {"role": "user", "content": "What is in the boxes?"}


class Slow(Provider):
    """Takes its time, so that what comes at once is under way at once."""

    async def answer(self, request: Any, body: dict[str, Any]) -> Any:
        await asyncio.sleep(0.3)
        return await super().answer(request, body)


def results(turn: dict[str, Any], text: str = "a ball") -> list[Any]:
    return [{"role": "tool", "tool_call_id": call["id"], "content": text} for call in turn["tool_calls"]]


@pytest.mark.parametrize("stream", [False, True])
async def test_the_step_is_asked_once(tmp_path: Path, stream: bool) -> None:
    provider = Slow(rounds=2)
    async with agency(provider, tmp_path) as catalog, live(catalog, tmp_path) as server, client(server) as ai:
        turn = await chat_turn(ai, "podium", [ASKED], stream=False)
        sent = [ASKED, turn, *results(turn)]
        both = await asyncio.gather(*(chat_turn(ai, "podium", list(sent), stream=stream) for _ in range(2)))
        assert len(provider.asked["solver"]) == 2, "the first call, and one for both"
        assert [each["tool_calls"][0]["function"] for each in both] == [both[0]["tool_calls"][0]["function"]] * 2
        ends = [await chat_turn(ai, "podium", [*sent, each, *results(each)], stream=stream) for each in both]
        assert [end["content"] for end in ends] == ["Seen: a ball, a ball"] * 2, "each of the two can go on"
        spent = [run.paid_usd async for run in server.accounts.runs.every(key=None)]
        assert spent.count(0.0) == 1, f"who came second has paid nothing: {spent}"


async def test_other_results_are_another_question(tmp_path: Path) -> None:
    provider = Slow(rounds=1)
    async with agency(provider, tmp_path) as catalog, live(catalog, tmp_path) as server, client(server) as ai:
        turn = await chat_turn(ai, "podium", [ASKED], stream=False)
        both = await asyncio.gather(
            *(chat_turn(ai, "podium", [ASKED, turn, *results(turn, text)], stream=False) for text in ("a ball", "a box"))
        )
        assert [end["content"] for end in both] == ["Seen: a ball", "Seen: a box"]


async def test_the_second_gets_it_where_the_first_one_leaves(tmp_path: Path) -> None:
    provider = Slow(rounds=1)
    async with agency(provider, tmp_path) as catalog, live(catalog, tmp_path) as server, client(server) as ai:
        turn = await chat_turn(ai, "podium", [ASKED], stream=False)
        sent = [ASKED, turn, *results(turn)]
        first = asyncio.create_task(chat_turn(ai, "podium", list(sent), stream=False))
        await asyncio.sleep(0.1)
        second = asyncio.create_task(chat_turn(ai, "podium", list(sent), stream=False))
        await asyncio.sleep(0.1)
        first.cancel()
        assert (await second)["content"] == "Seen: a ball"
        assert len(provider.asked["solver"]) <= 3
