"""What agents send to the Responses endpoint, as OpenAI's own client sees the answers; and what is not served at all."""

import hashlib
import json
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest
from openai.types.responses import ResponseStreamEvent
from pydantic import TypeAdapter

from podium.types import Call, Completion, Message, ToolCall
from tests.serving.live import TWO_STEPS, Live, Puppet, catalog_of, live, said
from tests.serving.test_chat_api import client

THREE_STEPS = """Two plan, one solves.
model_id = [1, 1, 2]
subtasks = ["Plan it.", "Name it.", "Solve it."]
access_list = [[], [], [0]]"""
SHELL = {"type": "function", "name": "shell", "description": "Runs it.", "strict": False, "parameters": {"type": "object"}}
FIND = {"type": "function", "name": "find", "parameters": {"type": "object", "properties": {"q": {"type": "string"}}}}
PATCH = {"type": "custom", "name": "patch", "description": "Edits files."}
GRAMMAR = {"type": "grammar", "syntax": "lark", "definition": "start: LINE+"}
EVENT: TypeAdapter[Any] = TypeAdapter(ResponseStreamEvent)
AGENT: dict[str, Any] = {
    "model": "podium",
    "input": [
        {"type": "message", "id": "msg_1", "role": "developer", "content": [{"type": "input_text", "text": "You are an agent."}]},
        {"type": "message", "id": "msg_2", "role": "user", "content": [{"type": "input_text", "text": "List the files."}]},
    ],
    "tools": [
        SHELL,
        {"type": "namespace", "name": "crm", "description": "Customers.", "tools": [FIND, {**PATCH, "format": GRAMMAR}]},
        PATCH,
        {"type": "web_search", "external_web_access": True},
        {"type": "mcp", "server_label": "x", "server_url": "https://x.example", "require_approval": "never"},
    ],
    "tool_choice": "auto",
    "parallel_tool_calls": False,
    "reasoning": {"effort": "high", "summary": "auto", "context": "all_turns"},
    "store": False,
    "stream": True,
    "include": ["reasoning.encrypted_content"],
    "prompt_cache_key": "p",
    "extra_body": {"client_metadata": {"session": "s"}},
    "text": {"verbosity": "low"},
}


class Caller(Puppet):
    """Calls the tools ``wanted`` once, and then says what the last of them returned."""

    def __init__(self, *wanted: tuple[str, str]) -> None:
        super().__init__(lambda call: f"Done: {(call.turns or call.question)[-1].content}")
        self.wanted = wanted

    async def __call__(self, call: Call) -> Completion:
        if any(message.role == "tool" for message in (*call.turns, *call.question)):
            return await super().__call__(call)
        self.calls.append(call)
        calls = tuple(ToolCall(id=f"c{i}", name=name, arguments=text) for i, (name, text) in enumerate(self.wanted))
        return Completion(text="", finish_reason="tool_calls", tool_calls=calls)


async def asked(server: Live, body: dict[str, Any]) -> tuple[list[Any], httpx.Headers]:
    """The typed events of a streamed response, and the answer's headers."""
    async with client(server) as ai:
        raw = await ai.responses.with_raw_response.create(**body)
        stream: Any = raw.parse()
        events = [event async for event in stream]
        for event in events:
            if event.type != "podium":
                EVENT.validate_python(event.to_dict())  # the client itself reads on whatever it gets
        return events, raw.headers


async def test_what_an_agent_sends_is_taken_and_what_is_left_out_is_named(tmp_path: Path) -> None:
    planner, solver = said("Look."), Caller(("crm__find", '{"q": "x"}'), ("patch", '{"input": "*** Begin"}'), ("shell", "{}"))
    async with live(catalog_of(said(TWO_STEPS), planner, solver), tmp_path) as server:
        events, headers = await asked(server, AGENT)
        assert headers["x-podium-ignored"].split(", ") == [
            "text.verbosity",
            "reasoning.context",
            "include.reasoning.encrypted_content",
            "tools.patch.format",
            "tools.web_search",
            "tools.mcp",
        ]
        [call] = solver.calls
        assert (call.response_options.effort, call.response_options.one_tool_call, planner.calls[0].response_options.effort) == (
            "high",
            True,
            None,
        )
        assert [tool.name for tool in call.response_options.tools] == ["shell", "crm__find", "crm__patch", "patch"]
        assert "start: LINE+" in call.response_options.tools[2].description
        assert json.loads(call.response_options.tools[3].parameters)["required"] == ["input"]
        *_, find, patch, shell = events[-1].response.output
        assert (find.type, find.name, find.namespace, find.arguments) == ("function_call", "find", "crm", '{"q": "x"}')
        assert (patch.type, patch.name, patch.input) == ("custom_tool_call", "patch", "*** Begin")
        assert (shell.type, shell.name, shell.namespace) == ("function_call", "shell", None)
        items = [item.to_dict() for item in events[-1].response.output]
        results = [
            {"type": "function_call_output", "call_id": find.call_id, "output": [{"type": "input_text", "text": "found"}]},
            {"type": "custom_tool_call_output", "call_id": patch.call_id, "output": "patched"},
            {"type": "function_call_output", "call_id": shell.call_id, "output": "ran"},
        ]
        events, _ = await asked(server, {**AGENT, "input": [*AGENT["input"], *items, *results]})
        assert events[-1].response.output_text == "Done: ran"
        assert [turn.content for turn in solver.calls[-1].turns] == ["", "found", "patched", "ran"]
        assert [c.name for c in solver.calls[-1].turns[0].tool_calls] == ["crm__find", "patch", "shell"]
        assert json.loads(solver.calls[-1].turns[0].tool_calls[1].arguments) == {"input": "*** Begin"}


async def test_the_steps_before_the_answer_are_a_reasoning_item(tmp_path: Path) -> None:
    solver = Puppet(lambda call: "It is 42.", seconds=0.02)
    body: dict[str, Any] = {"model": "podium", "input": "6 times 7?"}
    async with live(catalog_of(said(TWO_STEPS), said("Multiply."), solver), tmp_path) as server, client(server) as ai:
        events, _ = await asked(server, {**body, "stream": True})
        whole = await ai.responses.create(**body)
    final = events[-1].response
    assert [item.type for item in final.output] == [item.type for item in whole.output] == ["reasoning", "message"]
    summary = [part.text for part in final.output[0].summary]
    assert summary == [part.text for part in whole.output[0].summary]
    assert [line.partition(" (")[0] for line in summary[0].splitlines()[:2]] == ["step 0, w1", "step 1, w2"]
    assert summary[1:] == ["step 0, w1: Multiply.\n\n"]
    assert heard(events) == [item.to_dict() for item in final.output]
    assert [event.delta for event in events if event.type == "response.output_text.delta"] == ["It ", "is ", "42."]


def heard(events: list[Any]) -> list[dict[str, Any]]:
    """What a client puts together from events alone, each of them where it has to be."""
    items: list[dict[str, Any]] = []
    opened: set[int] = set()
    assert [event.sequence_number for event in events] == list(range(len(events)))
    for event in events:
        if event.type == "response.output_item.added":
            assert event.output_index == len(items)
            items.append(event.item.to_dict())
            opened.add(event.output_index)
        elif getattr(event, "output_index", None) is not None:
            assert opened == {event.output_index}
            item = items[event.output_index]
            assert event.type == "response.output_item.done" or event.item_id == item["id"]
            match event.type:
                case "response.reasoning_summary_part.added":
                    assert event.summary_index == len(item["summary"])
                    item["summary"].append(event.part.to_dict())
                case "response.reasoning_summary_text.delta":
                    item["summary"][event.summary_index]["text"] += event.delta
                case "response.reasoning_summary_text.done":
                    assert item["summary"][event.summary_index]["text"] == event.text
                case "response.reasoning_summary_part.done":
                    assert item["summary"][event.summary_index] == event.part.to_dict()
                case "response.content_part.added":
                    item["content"].append(event.part.to_dict())
                case "response.output_text.delta":
                    item["content"][0]["text"] += event.delta
                case "response.output_item.done":
                    opened.remove(event.output_index)
                    assert {**item, "status": "completed"} == {**event.item.to_dict(), "status": "completed"}
                    items[-1] = event.item.to_dict()
    return items


async def test_a_step_that_the_answer_did_not_wait_for_is_told_after_it(tmp_path: Path) -> None:
    class Later(Puppet):
        async def __call__(self, call: Call) -> Completion:
            if call.subtask == "Name it.":
                self.seconds = 0.15
            return await super().__call__(call)

    slow = Later(lambda call: "Slow." if call.subtask == "Name it." else "Fast.")
    solver = Puppet(lambda call: "It is 42 or so.", seconds=0.05)
    async with live(catalog_of(said(THREE_STEPS), slow, solver), tmp_path) as server:
        events, _ = await asked(server, {"model": "podium", "input": "6 times 7?", "stream": True})
    items = heard(events)
    assert [item["type"] for item in items] == ["reasoning", "message", "reasoning"]
    assert [part["text"] for part in items[2]["summary"]] == ["step 1, w1: Slow.\n\n"]
    assert len({item["id"] for item in items}) == 3
    assert items == [item.to_dict() for item in events[-1].response.output]


async def test_a_worker_by_its_own_name_has_no_steps_to_tell(tmp_path: Path) -> None:
    async with live(catalog_of(said(TWO_STEPS), said("Plan."), said("42")), tmp_path) as server:
        events, _ = await asked(server, {"model": "w2", "input": "6 times 7?", "stream": True})
        assert [item.type for item in events[-1].response.output] == ["message"]


async def test_items_that_others_made_are_left_out_and_named(tmp_path: Path) -> None:
    solver = said("42")
    items: Any = [
        {"role": "user", "content": "6 times 7?"},
        {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "hm"}], "encrypted_content": "x"},
        {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "42"}},
        {"type": "local_shell_call", "id": "l", "call_id": "c", "status": "completed", "action": {"type": "exec", "command": []}},
        {"type": "message", "role": "assistant", "phase": "commentary", "content": [{"type": "output_text", "text": "Hm."}]},
        {"type": "additional_tools", "role": "developer", "tools": [SHELL]},
        {"role": "developer", "content": "Be brief."},
    ]
    async with live(catalog_of(said(TWO_STEPS), said("Plan."), solver), tmp_path) as server, client(server) as ai:
        raw = await ai.responses.with_raw_response.create(model="w2", input=items)
        assert raw.headers["x-podium-ignored"] == "input.web_search_call, input.local_shell_call"
        [call] = solver.calls
        assert [tool.name for tool in call.response_options.tools] == ["shell"]
        assert call.question == (
            Message(role="user", content="6 times 7?"),
            Message(role="assistant", content="Hm."),
            Message(role="system", content="Be brief."),
        )


ALLOWED = {"type": "allowed_tools", "mode": "required", "tools": [{"type": "function", "name": "shell"}]}


async def test_only_some_of_the_tools(tmp_path: Path) -> None:
    solver = said("42")
    both: Any = [SHELL, FIND]
    only: Any = ALLOWED
    async with live(catalog_of(said(TWO_STEPS), said("Plan."), solver), tmp_path) as server, client(server) as ai:
        await ai.responses.create(model="w2", input="?", tools=both, tool_choice=only)
        tools: Any = [{"type": "function", "function": {k: v for k, v in tool.items() if k != "type"}} for tool in both]
        named = [{"type": "function", "function": {"name": "shell"}}]
        choice: Any = {"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": named}}
        await ai.chat.completions.create(
            model="w2",
            messages=[{"role": "user", "content": "?"}],
            tools=tools,
            tool_choice=choice,
        )
        for call in solver.calls:
            assert ([tool.name for tool in call.response_options.tools], call.response_options.tool_choice) == (
                ["shell"],
                "required",
            )


async def test_long_names_of_tools_stay_apart_and_find_their_way_back(tmp_path: Path) -> None:
    long = "n" * 60
    tools: Any = [
        {"type": "namespace", "name": long, "description": "", "tools": [{**FIND, "name": name} for name in ("aaaaaa", "bbbbbb")]}
    ]
    names = [f"{long}__{name}" for name in ("aaaaaa", "bbbbbb")]
    flat = [f"{name[:55]}_{hashlib.sha256(name.encode()).hexdigest()[:8]}" for name in names]
    solver = Caller((flat[1], "{}"))
    async with live(catalog_of(said(TWO_STEPS), said("Plan."), solver), tmp_path) as server, client(server) as ai:
        answer: Any = await ai.responses.create(model="w2", input="?", tools=tools)
        assert [tool.name for tool in solver.calls[0].response_options.tools] == flat
        assert (answer.output[0].name, answer.output[0].namespace) == ("bbbbbb", long)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"tools": [SHELL, SHELL]}, "two tools have the same name"),
        ({"tools": [{"type": "functoin", "name": "x"}]}, "tools.0: this is a tool of no known type"),
        (
            {"tools": [{"type": "web_search"}], "tool_choice": {"type": "web_search"}},
            "tool_choice: web_search is not served here",
        ),
        ({"tools": [SHELL], "tool_choice": {"type": "function", "name": "x"}}, "there is no tool 'x'"),
        ({"tools": [FIND], "tool_choice": ALLOWED}, "there is no tool 'shell'"),
        ({"input": [{"type": "item_reference", "id": "msg_1"}]}, "input[0] is an item_reference to what is not kept"),
        ({"input": [{"type": "thing"}]}, "input.0: this is an item of no known type"),
        ({"input": [{"role": "user", "content": [{"type": "input_image", "image_url": "x"}]}]}, "a picture is a data: URL"),
        ({"input": [{"role": "user", "content": [{"type": "input_file", "file_id": "x"}]}]}, "file_id: Input should be None"),
        ({"reasoning": {"effort": "huge"}}, "reasoning.effort: Input should be"),
        ({"include": ["a\nb"]}, "include.0"),
    ],
)
async def test_what_can_not_be_taken_is_refused_in_a_sentence(tmp_path: Path, change: dict[str, Any], says: str) -> None:
    async with live(catalog_of(said(TWO_STEPS), said("Plan."), said("42")), tmp_path) as server, client(server) as ai:
        with pytest.raises(openai.BadRequestError) as refused:
            await ai.responses.create(**{"model": "podium", "input": "?", **change})
        assert says in refused.value.message


async def test_a_chat_request_of_today_is_taken(tmp_path: Path) -> None:
    solver = said("42")
    body: dict[str, Any] = {
        "model": "w2",
        "messages": [
            {"role": "developer", "content": "Be brief."},
            {"role": "user", "content": [{"type": "text", "text": "6 times 7?", "cache_control": {"type": "ephemeral"}}]},
            {"role": "assistant", "content": "41", "reasoning": "hm", "reasoning_content": "hm"},
            {"role": "user", "content": "Sure?"},
        ],
        "reasoning_effort": "low",
        "verbosity": "low",
        "service_tier": "flex",
        "modalities": ["text"],
        "web_search_options": {},
        "prompt_cache_retention": "24h",
        "parallel_tool_calls": False,
    }
    async with live(catalog_of(said(TWO_STEPS), said("Plan."), solver), tmp_path) as server, httpx.AsyncClient() as http:
        reply = await http.post(f"{server.url}/v1/chat/completions", json=body)
        assert reply.status_code == 200, reply.text
        assert reply.headers["x-podium-ignored"] == "verbosity, web_search_options, service_tier"
        assert (solver.calls[0].response_options.effort, solver.calls[0].response_options.one_tool_call) == ("low", True)
        picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
        shown = await http.post(
            f"{server.url}/v1/chat/completions", json={"model": "w2", "messages": [{"role": "user", "content": [picture]}]}
        )
        error = shown.json()["error"]
        assert (shown.status_code, error["code"], error["param"]) == (400, "invalid_request", None)
        assert error["message"] == "'w2' can not see pictures or files; take a model that does (GET /v1/models)"


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("embeddings", "embeddings are not served"),
        ("completions", "legacy completions are not served"),
        ("messages/batches", "of Anthropic's Messages API only POST /v1/messages"),
        ("images/generations", "pictures are not made here"),
        ("responses/resp_1/cancel", "of kept responses there are GET and DELETE"),
        ("audio/speech", "sound is not served"),
    ],
)
async def test_other_endpoints_say_what_there_is_instead(tmp_path: Path, path: str, says: str) -> None:
    async with live(catalog_of(said(TWO_STEPS), said("Plan."), said("42")), tmp_path) as server, httpx.AsyncClient() as http:
        reply = await http.post(f"{server.url}/v1/{path}", json={"model": "podium"})
        assert (reply.status_code, reply.json()["error"]["code"]) == (404, "not_served")
        assert reply.json()["error"]["message"].startswith(says)
        assert "POST /v1/chat/completions" in reply.json()["error"]["message"]


async def test_openais_and_anthropics_clients_raise_their_own_errors(tmp_path: Path) -> None:
    anthropic = pytest.importorskip("anthropic", reason="anthropic is not installed")
    async with live(catalog_of(said(TWO_STEPS), said("Plan."), said("42")), tmp_path) as server, client(server) as ai:
        with pytest.raises(openai.NotFoundError, match="embeddings are not served"):
            await ai.embeddings.create(model="podium", input="x")
        async with anthropic.AsyncAnthropic(base_url=server.url, api_key="none", max_retries=0) as claude:
            with pytest.raises(anthropic.NotFoundError, match="only POST /v1/messages"):
                await claude.messages.batches.list()
