"""What a client or a worker can write that fits into no header, no JSON and no later request: told, and never a bug."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from podium.pools.models import PoolCatalog
from podium.pools.opened import OpenPool
from podium.types import Call, Card, Completion, ToolCall, Usage
from podium.workers.pool import Member, WorkerPool
from tests.serving.live import TWO_STEPS, catalog_of, live, said

TOOL: Any = {"name": "look", "description": "Looks.", "input_schema": {"type": "object"}}


@dataclass(eq=False)
class Caller:
    """A worker that calls the tool with these arguments."""

    arguments: str

    async def __call__(self, call: Call) -> Completion:
        wanted = ToolCall(id="c", name="look", arguments=self.arguments)
        usage = Usage(prompt_tokens=1, completion_tokens=1, cost_usd=0.001)
        return Completion(text="", usage=usage, tool_calls=(wanted,))


async def asked(url: str, path: str, **body: Any) -> httpx.Response:
    async with httpx.AsyncClient(base_url=url, timeout=30) as client:
        return await client.post(path, json=body)


def message(content: Any = "?", **more: Any) -> dict[str, Any]:
    return {"model": "w2", "max_tokens": 9, "messages": [{"role": "user", "content": content}], **more}


@pytest.mark.parametrize("kind", ["bash_२०२५०१२४", "web_search_２０２５０３０５", "bash_20250124\n"])
async def test_a_tool_whose_name_fits_into_no_header_is_refused_before_anything_is_paid(tmp_path: Path, kind: str) -> None:
    worker = said("42")
    async with live(catalog_of(said(TWO_STEPS), said("1"), worker), tmp_path) as server:
        answer = await asked(server.url, "/v1/messages", **message(tools=[{"type": kind, "name": "bash"}]))
        assert (answer.status_code, answer.json()["error"]["type"]) == (400, "invalid_request_error")
        assert not worker.calls
        fine = await asked(server.url, "/v1/messages", **message(tools=[{"type": "bash_20250124", "name": "bash"}]))
        assert fine.headers["x-podium-ignored"] == "tools.bash_20250124"


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("arguments", ['{"x": NaN}', '{"x": [-Infinity]}', '{"x":' + "[" * 150 + "]" * 150 + "}"])
async def test_arguments_that_are_no_json_to_others_are_handed_on_as_text(tmp_path: Path, arguments: str, stream: bool) -> None:
    pool = WorkerPool([Member(worker=Caller(arguments), card=Card(name="w"))])
    async with live(PoolCatalog(OpenPool(workers=pool), "solo:w"), tmp_path) as server:
        answer = await asked(server.url, "/v1/messages", **{**message(tools=[TOOL], stream=stream), "model": "w"})
        assert answer.status_code == 200
        if not stream:
            [block] = json.loads(answer.text, parse_constant=pytest.fail)["content"]
            given = block["input"]
        else:
            events = [
                json.loads(line[6:], parse_constant=pytest.fail) for line in answer.text.split("\n") if line[:6] == "data: "
            ]
            [given] = [
                json.loads(e["delta"]["partial_json"], parse_constant=pytest.fail)
                for e in events
                if "delta" in e and "partial_json" in e["delta"]
            ]
        assert given == {"input": arguments}


async def test_a_reference_to_an_item_that_can_not_be_sent_on_is_refused(tmp_path: Path) -> None:
    worker = said("half \ud83d a character")
    async with live(catalog_of(said(TWO_STEPS), worker), tmp_path) as server:
        first = (await asked(server.url, "/v1/responses", model="w1", input="?")).json()
        item = next(item["id"] for item in first["output"] if item["type"] == "message")
        again = [{"type": "item_reference", "id": item}, {"role": "user", "content": "And?"}]
        answer = await asked(server.url, "/v1/responses", model="w1", input=again)
        assert (answer.status_code, answer.json()["error"]["type"]) == (400, "invalid_request_error"), answer.text
        on = await asked(server.url, "/v1/responses", model="w1", input="And?", previous_response_id=first["id"])
        assert on.status_code == 200


async def test_questions_take_a_key_in_every_header_that_other_endpoints_take_it_in(tmp_path: Path) -> None:
    async with live(catalog_of(said(TWO_STEPS), said("1")), tmp_path, with_keys=True) as server:
        _, secret = await server.accounts.keys.create("desk", scopes=frozenset({"answer"}))
        async with httpx.AsyncClient(base_url=server.url) as client:
            for headers in ({"Authorization": f"Bearer {secret}"}, {"x-api-key": secret}):
                assert (await client.get("/v1/questions", headers=headers)).status_code == 200
                assert (await client.post("/v1/questions/q", headers=headers, json={"answer": "a"})).status_code == 404
