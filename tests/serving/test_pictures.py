"""Pictures and files in a user's turn: who is shown them, and that nobody is paid where nobody can see them."""

import base64
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest
from aiohttp import web

from podium.errors import ConfigError
from podium.pools.models import PoolCatalog
from podium.pools.open import open_pool
from podium.pools.opened import OpenPool
from podium.serving.store.tables import run_texts
from podium.types import Attachment, Call, Card, Message, ToolCall
from podium.workers.bound import TOKENS_PER_PICTURE, bound
from podium.workers.budget import Budget
from podium.workers.call_key import call_key
from podium.workers.chat_messages import library_messages
from podium.workers.config import read_pool
from podium.workers.pool import Member, WorkerPool
from tests.serving.live import Puppet, live, said
from tests.serving.test_chat_api import client
from tests.workers.test_chat import reply, serve

PIXEL = base64.b64encode(b"\x89PNG\r\n\x1a\n pretend").decode()
PICTURE: Any = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}", "detail": "low"}}
NOTE = base64.b64encode(b"note").decode()
TURN: Any = {"role": "user", "content": [{"type": "text", "text": "Left: "}, PICTURE, {"type": "text", "text": " What is it?"}]}


def workflow(workers: Sequence[int], access: Sequence[Any]) -> str:
    tasks = json.dumps([f"Task {number}." for number in range(len(workers))])
    return f"model_id = {list(workers)}\nsubtasks = {tasks}\naccess_list = {json.dumps(list(access))}"


def catalog(plan: str, *seeing: bool) -> tuple[PoolCatalog, list[Puppet]]:
    """Workers ``boss`` (who plans and is blind), w1, w2 and so on, of which some see."""
    puppets = [said(plan), *(said(f"answer {number}") for number in range(1, len(seeing) + 1))]
    cards = [Card(name="boss"), *(Card(name=f"w{number}", sees=sees) for number, sees in enumerate(seeing, start=1))]
    members = [Member(worker=puppet, card=card) for puppet, card in zip(puppets, cards, strict=True)]
    return PoolCatalog(OpenPool(workers=WorkerPool(members)), "chat:boss"), puppets


def shown(call: Call) -> bool:
    everything = [*call.question, *(message for step in call.visible for message in step.question), *call.turns]
    return any(message.attachments for message in everything)


async def test_a_worker_that_sees_is_shown_the_picture_and_the_policy_is_told_who_does(tmp_path: Path) -> None:
    models, (boss, w1, w2) = catalog(workflow([1, 2], [[], "all"]), True, True)
    async with live(models, tmp_path) as server, client(server) as ai:
        assert (await ai.chat.completions.create(model="podium", messages=[TURN])).choices[0].message.content == "answer 2"
        [picture] = w1.calls[0].question[0].attachments
        assert (picture.data, picture.media_type, picture.detail) == (PIXEL, "image/png", "low")
        assert w1.calls[0].question[0].content[: picture.at] == "Left: "
        assert shown(w2.calls[0]), "whoever sees the first step knows the question, its picture too"
        prompt = boss.calls[0].question[-1].content
        assert "Model 0 (does not see)\nModel 1 (sees)\nModel 2 (sees)" in prompt
        assert "Left: (a picture, image/png) What is it?" in prompt
        assert not shown(boss.calls[0])
        rows = await server.accounts.database.read(lambda connection: connection.execute(run_texts.select()).all())
        assert PIXEL not in rows[0].transcripts + rows[0].record, "a run keeps words, not pictures"


async def test_a_text_question_is_planned_as_ever(tmp_path: Path) -> None:
    models, (boss, *_) = catalog(workflow([1], [[]]), True)
    async with live(models, tmp_path) as server, client(server) as ai:
        await ai.chat.completions.create(model="podium", messages=[{"role": "user", "content": "?"}])
        assert "see" not in boss.calls[0].question[-1].content.partition("AVAILABLE LANGUAGE MODELS")[2]


@pytest.mark.parametrize(
    ("plan", "fits"),
    [
        (workflow([2], [[]]), False),  # blind, and shown the question
        (workflow([1, 2], [[], []]), True),  # the second one knows nothing of it
        (workflow([1, 2], [[], "all"]), True),  # the first one describes
        (workflow([2, 1], [[], "all"]), False),
        (workflow([1, 2, 2], [[], [0], [1]]), True),
        (workflow([1, 2, 2], [[], [0], [0, 1]]), True),
        (workflow([1, 1, 2], [[], [], [0, 1]]), True),
    ],
)
async def test_a_blind_worker_gets_words_after_a_describing_step_else_nobody_is_asked(
    tmp_path: Path, plan: str, fits: bool
) -> None:
    models, (_, w1, w2) = catalog(plan, True, False)
    async with live(models, tmp_path) as server, client(server) as ai:
        if fits:
            await ai.chat.completions.create(model="podium", messages=[TURN])
            assert shown(w1.calls[0])
        else:
            with pytest.raises(openai.InternalServerError, match="can not see pictures or files"):
                await ai.with_options(max_retries=0).chat.completions.create(model="podium", messages=[TURN])
            assert not w1.calls
            assert not w2.calls
        assert not any(shown(call) for call in w2.calls)


@pytest.mark.parametrize("model", ["podium", "podium-recursive", "w2"])
async def test_where_nobody_sees_not_even_the_policy_is_asked(tmp_path: Path, model: str) -> None:
    models, puppets = catalog(workflow([1], [[]]), False, False)
    async with live(models, tmp_path) as server, client(server) as ai:
        with pytest.raises(openai.BadRequestError, match="see pictures"):
            await ai.chat.completions.create(model=model, messages=[TURN])
        assert not any(puppet.calls for puppet in puppets)


@pytest.mark.parametrize("model", ["w1", "podium"])
async def test_responses_take_pictures_and_files_and_tools_may_return_them(tmp_path: Path, model: str) -> None:
    models, (_, w1) = catalog(workflow([1], [[]]), True)
    items: Any = [
        {"role": "user", "content": [
            {"type": "input_file", "filename": "a.pdf", "file_data": f"data:application/pdf;base64,{PIXEL}"},
            {"type": "input_file", "filename": "b.txt", "file_data": f"data:text/plain;base64,{NOTE}"},
            {"type": "input_image", "image_url": "https://example.org/a.png"},
            {"type": "input_text", "text": "?"},
        ]},
        {"type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": [
            {"type": "input_image", "image_url": f"data:image/png;base64,{PIXEL}"}]},
    ]  # fmt: skip
    async with live(models, tmp_path) as server, client(server) as ai:
        await ai.responses.create(model=model, input=items)
    user, _, result = w1.calls[0].question[:3]
    assert [each.media_type for each in user.attachments] == ["application/pdf", "image/*"]
    assert user.attachments[1].url == "https://example.org/a.png"
    assert "<document name='b.txt'>\nnote\n</document>" in user.content
    assert result.attachments[0].data == PIXEL


@pytest.mark.parametrize(
    ("part", "says"),
    [
        ({"type": "image_url", "image_url": {"url": "file:///etc/passwd"}}, "a picture is a data: URL"),
        ({"type": "image_url", "image_url": {"url": "https:///x"}}, "a picture is a data: URL"),
        ({"type": "image_url", "image_url": {"url": "http://[x"}}, "a picture is a data: URL"),
        ({"type": "image_url", "image_url": {"url": "data:image/png;base64,%%"}}, "is not base64"),
        ({"type": "image_url", "image_url": {"url": "data:image/png,xx"}}, "a data: URL begins with"),
        ({"type": "image_url", "image_url": {"url": f"data:image/svg+xml;base64,{PIXEL}"}}, "image/svg+xml is not served"),
        ({"type": "file", "file": {"file_data": "https://example.org/a.pdf"}}, "this server opens no addresses"),
        ({"type": "file", "file": {}}, "comes along as a data: URL"),
        ({"type": "input_audio", "input_audio": {}}, "sound is not served"),
    ],
)
async def test_what_is_no_picture_is_refused_in_a_sentence(tmp_path: Path, part: Any, says: str) -> None:
    models, puppets = catalog(workflow([1], [[]]), True)
    async with live(models, tmp_path) as server, client(server) as ai:
        with pytest.raises(openai.BadRequestError, match=re.escape(says)):
            await ai.chat.completions.create(model="podium", messages=[{"role": "user", "content": [part]}])
        system: Any = [{"role": "system", "content": [PICTURE]}, {"role": "user", "content": "?"}]
        with pytest.raises(openai.BadRequestError, match="belong into a user's turn"):
            await ai.chat.completions.create(model="podium", messages=system)
    assert not any(puppet.calls for puppet in puppets)


POOL = """
[[worker]]
name = "eyes"
model = "openai:eyes"
base_url = "URL"
sees = true
context_tokens = 1000
[[worker]]
name = "ears"
model = "openai:ears"
base_url = "URL"
"""


async def test_the_pool_file_says_who_sees_and_the_provider_gets_the_picture(tmp_path: Path) -> None:
    asked: list[dict[str, Any]] = []

    async def answer(_: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        asked.append(body)
        return web.json_response(reply("A cat."))

    async with serve(answer) as upstream:
        (tmp_path / "pool.toml").write_text(POOL.replace("URL", upstream.url))
        async with open_pool(tmp_path / "pool.toml", budget=Budget(None, None, None), journal=None, run="test") as pool:
            assert [(card.sees, card.context_tokens) for card in pool.workers.cards] == [(True, 1000), (False, None)]
            async with live(PoolCatalog(pool, "chat:ears"), tmp_path) as server, client(server) as ai:
                assert (await ai.chat.completions.create(model="eyes", messages=[TURN])).choices[0].message.content == "A cat."
                with pytest.raises(openai.BadRequestError, match="'ears' can not see"):
                    await ai.chat.completions.create(model="ears", messages=[TURN])
    [body] = asked
    text: Any = [{"type": "text", "text": "Left: "}, PICTURE, {"type": "text", "text": " What is it?"}]
    assert body["messages"] == [{"role": "user", "content": text}]


async def test_an_address_is_handed_on_and_never_opened_here(tmp_path: Path) -> None:
    """Else a client could have this machine ask its neighbours."""
    opened: list[str] = []
    asked: list[str] = []

    async def neighbour(request: web.Request) -> web.StreamResponse:
        opened.append(request.path)
        return web.Response(body=b"a secret", content_type="image/png")

    async def answer(_: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        asked.append(json.dumps(body))
        return web.json_response(reply("A cat."))

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", neighbour)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    address = f"http://127.0.0.1:{runner.addresses[0][1]}/a.png"
    look: Any = [{"type": "text", "text": "?"}, {"type": "image_url", "image_url": {"url": address}}]
    called: Any = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    loop: Any = [
        {"role": "user", "content": "?"},
        {"role": "assistant", "tool_calls": [called]},
        {"role": "tool", "tool_call_id": "c1", "content": look},
    ]
    picture: Any = {"type": "image", "source": {"type": "url", "url": address}}
    document: Any = {"type": "document", "source": {"type": "url", "url": address}}
    file: Any = {"type": "file", "file": {"file_data": address}}

    def user(part: Any) -> list[Any]:
        return [{"role": "user", "content": [part]}]

    try:
        async with serve(answer) as upstream:
            (tmp_path / "pool.toml").write_text(POOL.replace("URL", upstream.url))
            async with (
                open_pool(tmp_path / "pool.toml", budget=Budget(None, None, None), journal=None, run="test") as pool,
                live(PoolCatalog(pool, "solo:eyes"), tmp_path) as server,
                httpx.AsyncClient(base_url=server.url) as http,
            ):
                taken: list[tuple[str, dict[str, Any]]] = [
                    ("chat/completions", {"messages": [{"role": "user", "content": look}]}),
                    ("chat/completions", {"messages": loop}),
                    ("responses", {"input": user({"type": "input_image", "image_url": address})}),
                    ("messages", {"max_tokens": 9, "messages": user(picture)}),
                ]
                for path, body in taken:
                    said = await http.post(f"/v1/{path}", json={"model": "podium", **body})
                    assert said.status_code == 200, said.text
                refused: list[tuple[str, dict[str, Any]]] = [
                    ("chat/completions", {"messages": user(file)}),
                    ("responses", {"input": user({"type": "input_file", "file_url": address})}),
                    ("messages", {"max_tokens": 9, "messages": user(document)}),
                ]
                for path, body in refused:
                    said = await http.post(f"/v1/{path}", json={"model": "podium", **body})
                    assert said.status_code == 400, said.text
    finally:
        await runner.cleanup()
    assert len(asked) == len(taken)
    assert all(address in each for each in asked)
    assert opened == []


def test_files_of_several_results_follow_all_of_them() -> None:
    """OpenAI refuses a user's turn between two results of one turn."""
    picture = Attachment(media_type="image/png", data=PIXEL)
    calls = tuple(ToolCall(id=f"c{number}", name="look", arguments="{}") for number in range(2))
    conversation = (
        Message(role="user", content="?"),
        Message(role="assistant", content="", tool_calls=calls),
        Message(role="tool", content="one", tool_call_id="c0", attachments=(picture,)),
        Message(role="tool", content="two", tool_call_id="c1"),
    )
    last = library_messages(conversation, "openai", Call().response_options)[-1]
    assert [part.part_kind for part in last.parts] == ["tool-return", "tool-return"]


def test_two_pictures_are_two_calls_and_each_is_paid_for() -> None:
    def asked(*attachments: Attachment) -> Call:
        return Call.plain((Message(role="user", content="?", attachments=attachments),))

    one, other = (Attachment(media_type="image/png", data=data) for data in (PIXEL, PIXEL[::-1]))
    assert call_key("w", asked(one)) != call_key("w", asked(other))
    assert bound(asked(one, other), 10).prompt_tokens == bound(asked(), 10).prompt_tokens + 2 * TOKENS_PER_PICTURE
    paper = Attachment(media_type="application/pdf", data="A" * 400_000)
    assert bound(asked(paper), 10).prompt_tokens >= 150_000


def test_a_cached_price_needs_the_other_two(tmp_path: Path) -> None:
    (tmp_path / "pool.toml").write_text('[[worker]]\nname = "a"\nmodel = "openai:gpt-5-mini"\ncached_usd_per_million = 0.1\n')
    with pytest.raises(ConfigError, match="cached_usd_per_million belongs to prompt_usd_per_million"):
        read_pool(tmp_path / "pool.toml")
