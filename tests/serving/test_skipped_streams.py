"""A client hears the answer where the last step is skipped: whole, streamed, of n answers, over both endpoints, and once."""

from pathlib import Path
from typing import Any

import pytest

from podium.pools.models import PoolCatalog
from podium.pools.opened import OpenPool
from podium.types import Card
from podium.workers.metered import Metered
from podium.workers.pool import Member, WorkerPool
from tests.serving.live import Puppet, live, said
from tests.serving.test_chat_api import client

ASKED: Any = [{"role": "user", "content": "6 times 7?"}]
TOOLS: Any = [{"type": "function", "function": {"name": "now", "parameters": {"type": "object", "properties": {}}}}]
SAME = "It is 42.\nAnswer: 42"


def cascade(*puppets: Puppet) -> PoolCatalog:
    members = []
    for index, puppet in enumerate(puppets):
        card = Card(name=f"w{index}", prompt_usd=1e-6, completion_usd=1e-5)
        members.append(Member(worker=Metered(puppet, card, 100, []), card=card))
    return PoolCatalog(OpenPool(workers=WorkerPool(members)), "cascade:w0,w1,w2")


@pytest.mark.parametrize("n", [1, 3])
async def test_every_one_of_n_streamed_answers_comes_once(tmp_path: Path, n: int) -> None:
    dear = said("never")
    async with live(cascade(said(SAME), said("Answer: 42"), dear), tmp_path) as server, client(server) as ai:
        options: Any = {"n": n, "stream": True, "stream_options": {"include_usage": True}}
        stream = await ai.chat.completions.create(model="podium", messages=ASKED, **options)
        texts, ends, usage = [""] * n, [""] * n, None
        async for chunk in stream:
            for choice in chunk.choices:
                texts[choice.index] += choice.delta.content or ""
                ends[choice.index] = choice.finish_reason or ends[choice.index]
            usage = chunk.usage or usage
        whole = await ai.chat.completions.create(model="podium", messages=ASKED, n=n)
    assert (texts, ends) == ([SAME] * n, ["stop"] * n)
    assert [choice.message.content for choice in whole.choices] == [SAME] * n
    assert dear.calls == []
    assert usage is not None
    assert usage == whole.usage
    assert (usage.prompt_tokens, usage.completion_tokens) == (10, 4 * n), "of the step whose answer it is"
    assert whole.model_dump()["podium"]["usage"]["prompt_tokens"] == 20 * n, "of all that were asked"


async def test_a_response_is_streamed_and_completed(tmp_path: Path) -> None:
    async with live(cascade(said(SAME), said("Answer: 42"), said("never")), tmp_path) as server, client(server) as ai:
        async with ai.responses.stream(model="podium", input="6 times 7?") as stream:
            events = [event async for event in stream]
            final = await stream.get_final_response()
        whole = await ai.responses.create(model="podium", input="6 times 7?")
    assert "".join(event.delta for event in events if event.type == "response.output_text.delta") == SAME
    assert final.output_text == whole.output_text == SAME
    assert final.usage is not None
    assert whole.usage is not None
    assert (final.usage.input_tokens, final.usage.output_tokens) == (10, 4)
    assert (whole.usage.input_tokens, whole.usage.output_tokens) == (10, 4)


async def test_whoever_is_offered_tools_is_asked_although_two_agree(tmp_path: Path) -> None:
    dear = said("Answer: 41")
    async with live(cascade(said(SAME), said("Answer: 42"), dear), tmp_path) as server, client(server) as ai:
        answer = await ai.chat.completions.create(model="podium", messages=ASKED, tools=TOOLS)
    assert answer.choices[0].message.content == "Answer: 41"
    assert len(dear.calls) == 1
