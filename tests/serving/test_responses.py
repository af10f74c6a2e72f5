"""The Responses endpoint as OpenAI's own client sees it."""

import json
from pathlib import Path
from typing import Any

import openai
import pytest

from podium.errors import WorkerUnavailable
from podium.types import Call, Message
from tests.serving.live import TWO_STEPS, Puppet, catalog_of, live, said
from tests.serving.test_chat_api import client


async def test_an_answer_whole_and_streamed(tmp_path: Path) -> None:
    solver = Puppet(lambda call: "It is 42.", seconds=0.01)
    async with live(catalog_of(said(TWO_STEPS), said("Multiply."), solver), tmp_path) as server, client(server) as ai:
        answer = await ai.responses.create(model="podium", input="6 times 7?", instructions="Be brief.")
        assert answer.output_text == "It is 42."
        assert answer.usage is not None
        assert (answer.usage.input_tokens, answer.usage.output_tokens) == (10, 3), "of the last step: the client's context"
        assert answer.model_dump()["podium"]["usage"]["prompt_tokens"] == 30
        assert answer.model_dump()["podium"]["rounds"][0]["steps"][1]["worker"] == "w2"
        async with ai.responses.stream(model="podium", input="6 times 7?") as stream:
            events = [event async for event in stream]
            final = await stream.get_final_response()
        assert final.output_text == "It is 42."
        assert final.usage is not None
        assert (final.usage.input_tokens, final.usage.output_tokens) == (10, 3)
        kinds = [kind for event in events if (kind := str(event.type)) != "podium"]
        assert kinds[0] == "response.created"
        assert kinds[-1] == "response.completed"
        assert [event.delta for event in events if event.type == "response.output_text.delta"] == ["It ", "is ", "42."]


async def test_a_conversation_of_items(tmp_path: Path) -> None:
    solver = said("42")
    items: Any = [
        {"role": "user", "content": "6 times 7?"},
        {"type": "reasoning", "id": "rs_1", "summary": []},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "41."}]},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Sure?"}]},
    ]
    async with live(catalog_of(said(TWO_STEPS), said("Plan."), solver), tmp_path) as server, client(server) as ai:
        await ai.responses.create(model="w2", input=items)
        [call] = solver.calls
        assert call.question == (
            Message(role="user", content="6 times 7?"),
            Message(role="assistant", content="41."),
            Message(role="user", content="Sure?"),
        )


@pytest.mark.parametrize("change", [{"background": True}, {"conversation": "c"}])
async def test_what_would_go_on_without_the_client_is_refused(tmp_path: Path, change: dict[str, Any]) -> None:
    async with live(catalog_of(said(TWO_STEPS), said("Plan."), said("42")), tmp_path) as server, client(server) as ai:
        with pytest.raises(openai.BadRequestError, match=next(iter(change))):
            await ai.responses.create(model="podium", input="6 times 7?", **change)


async def test_a_fault_in_the_middle_is_a_failed_response(tmp_path: Path) -> None:
    def fail(call: Call) -> str:
        raise WorkerUnavailable("gone")

    async with live(catalog_of(said(TWO_STEPS), said("Plan."), Puppet(fail)), tmp_path) as server, client(server) as ai:
        stream = await ai.responses.create(model="podium", input="6 times 7?", stream=True)
        events = [event async for event in stream]
        assert events[-1].type == "response.failed"
        assert "gone" in json.dumps(events[-1].to_dict())
