"""Every endpoint that the application has, tried with what is another key's: nothing is told, changed or gone on with."""

import asyncio
import re
from pathlib import Path
from typing import Any

import httpx
from starlette.routing import Route

from podium.acting.human import DESK, HumanWorker, HumanWorkerConfig
from podium.serving.app import make_app
from podium.types import Call
from tests.serving.live import TWO_STEPS, Puppet, catalog_of, live, said, until
from tests.serving.test_tools import TOOLS, ToolUser

SECRET = "the launch code is 7714"  # noqa: S105 - nobody's
ECHO = "The user said: "


def repeated(call: Call) -> str:
    """Everything that the worker was shown, so that whatever reaches it reaches the client."""
    seen = [turn.content for turn in (*call.question, *call.turns)]
    return ECHO + " | ".join([*seen, *(step.response for step in call.visible)])


def attempts(ids: dict[str, str]) -> dict[str, list[dict[str, Any]]]:
    """For each endpoint that takes a body: bodies that name what is another's."""
    ask: Any = {"role": "user", "content": "What was said?"}
    called: Any = {"id": ids["call"], "type": "function", "function": {"name": "now", "arguments": "{}"}}
    use: Any = {"type": "tool_use", "id": ids["call"], "name": "now", "input": {}}
    result: Any = {"type": "tool_result", "tool_use_id": ids["call"], "content": "noon"}
    item: Any = {"type": "function_call", "call_id": ids["call"], "name": "now", "arguments": "{}"}
    output: Any = {"type": "function_call_output", "call_id": ids["call"], "output": "noon"}
    before: Any = {"previous_response_id": ids["response"]}
    spoken: Any = [ask, {"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]
    responses: list[dict[str, Any]] = [
        {"input": "?", **before},
        {"input": [output], **before},
        {"input": [{"role": "user", "content": "?"}, item, output]},
        {"input": [{"type": "item_reference", "id": ids["item"]}, {"role": "user", "content": "?"}]},
        {"input": "?", "prompt_cache_key": ids["session"]},
    ]
    return {
        "/v1/chat/completions": [
            {
                "messages": [
                    ask,
                    {"role": "assistant", "tool_calls": [called]},
                    {"role": "tool", "tool_call_id": ids["call"], "content": "noon"},
                ]
            },
            {"messages": [ask], "prompt_cache_key": ids["session"]},
            {"messages": [ask], "podium": {"command": ["/bin/cat", "/etc/passwd"]}},
            {"messages": [ask], "podium": {"policy": "/etc/passwd"}},
            {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "file:///etc/passwd"}}]}]},
        ],
        "/v1/responses": responses,
        "/v1/responses/compact": [{key: value for key, value in body.items() if key != "tools"} for body in responses],
        "/v1/messages": [
            {"max_tokens": 9, "messages": spoken},
            {"max_tokens": 9, "messages": [ask], "metadata": {"user_id": f"session_{ids['session']}"}},
        ],
        "/v1/messages/count_tokens": [{"messages": spoken}],
        "/v1/questions/{question}": [{"answer": "no"}],
    }


async def test_nothing_of_anothers(tmp_path: Path) -> None:
    catalog = catalog_of(said(TWO_STEPS), Puppet(repeated), ToolUser(repeated))
    editor = HumanWorker(HumanWorkerConfig(name="editor", kind="human"))
    async with live(catalog, tmp_path, with_keys=True) as server, httpx.AsyncClient(base_url=server.url, timeout=60) as http:
        _, hers = await server.accounts.keys.create("ann")
        _, his = await server.accounts.keys.create("bob")

        async def ask(secret: str, method: str, path: str, body: Any = None, **headers: str) -> httpx.Response:
            given = {"Authorization": f"Bearer {secret}", **headers} if secret else headers
            return await http.request(method, path, json=body, headers=given)

        told: Any = {"role": "user", "content": SECRET}
        kept = await ask(hers, "POST", "/v1/responses", {"model": "w1", "input": SECRET, "prompt_cache_key": "mine"})
        paused = await ask(hers, "POST", "/v1/chat/completions", {"model": "podium", "messages": [told], "tools": TOOLS})
        turn = paused.json()["choices"][0]["message"]
        ids = {
            "response": kept.json()["id"],
            "item": kept.json()["output"][0]["id"],
            "run": paused.headers["x-podium-run"],
            "session": paused.headers["x-podium-session"],
            "call": turn["tool_calls"][0]["id"],
        }
        question = asyncio.create_task(editor(Call.plain(SECRET)))
        await until(lambda: bool(DESK.waiting()))
        ids["question"] = DESK.waiting()[0].id
        session = await server.accounts.sessions.get(ids["session"])

        bodies = attempts(ids)
        routes = [route for route in make_app(catalog, server.accounts, version="0").routes if isinstance(route, Route)]
        tried = 0
        for route in routes:
            paths = [re.sub(r"\{[^}]*\}", one, route.path) for one in ids.values()] if "{" in route.path else [route.path]
            for method in sorted((route.methods or set()) - {"HEAD"}):
                wanted = [None] if method != "POST" or route.path == "/v1/{path:path}" else bodies[route.path]
                for path in dict.fromkeys(paths):
                    for body in wanted:
                        whole = {"model": "podium", **body} if body and "answer" not in body else body
                        reply = await ask(his, method, path, whole, **{"X-Podium-Session": ids["session"]})
                        assert SECRET not in reply.text, (method, path, body)
                        assert reply.status_code < 500, (method, path, body, reply.text)
                        nobody = await ask("", method, path, whole)
                        assert SECRET not in nobody.text
                        assert nobody.status_code == 401 or not path.startswith("/v1/"), (method, path)
                        tried += 1
        assert tried > 60

        assert SECRET in (await ask(hers, "GET", f"/v1/responses/{ids['response']}")).text, "it was not deleted"
        assert SECRET in (await ask(hers, "GET", f"/v1/runs/{ids['run']}")).text
        assert await server.accounts.sessions.get(ids["session"]) == session
        assert [each.id for each in DESK.waiting()] == [ids["question"]], "it was not answered"
        result = {"role": "tool", "tool_call_id": ids["call"], "content": "noon"}
        body = {"model": "podium", "messages": [told, turn, result], "tools": TOOLS}
        goes_on = await ask(hers, "POST", "/v1/chat/completions", body)
        assert goes_on.json()["choices"][0]["message"]["content"].startswith(ECHO), "the step waited for her"
        assert goes_on.headers["x-podium-session"] == ids["session"]
        runs = await server.accounts.runs.search(key=None, session=ids["session"])
        assert len(runs) == 2, "nobody else's run is in her session"
        question.cancel()
        await asyncio.gather(question, return_exceptions=True)
