"""Responses that are kept: gone on from, fetched, deleted, cut down; never another tenant's."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import openai
import pytest
from openai import AsyncOpenAI

from podium.serving.accounts import RESPONSE_SECONDS
from podium.serving.store import responses as store
from podium.serving.store.database import Database
from podium.serving.summaries import closed_summary
from podium.types import Call
from tests.serving.agents import TOOLS, Provider, agency
from tests.serving.conftest import ManualClock
from tests.serving.live import TWO_STEPS, Puppet, catalog_of, live, said
from tests.serving.test_chat_api import client
from tests.serving.test_tool_loops import BEFORE, QUESTION, planned, turns


def numbered() -> Puppet:
    """Says which of its turns this is."""
    return Puppet(lambda call: f"turn {1 + sum(message.role == 'assistant' for message in call.question)}")


def heard(call: Call) -> list[str]:
    return [f"{message.role[0]}:{message.content}" for message in call.question]


@pytest.mark.parametrize("stream", [False, True])
async def test_three_turns_by_id_over_two_replicas(url: str, tmp_path: Path, stream: bool) -> None:
    worker = numbered()
    catalog = catalog_of(said(TWO_STEPS), worker)
    async with (
        live(catalog, tmp_path, url=url, replica="one") as one,
        live(catalog, tmp_path, url=url, replica="two") as two,
        client(one) as here,
        client(two) as there,
    ):
        previous: str | None = None
        for number in range(3):
            ai: AsyncOpenAI = (here, there)[number % 2]
            more: Any = {} if previous is None else {"previous_response_id": previous}
            asked: Any = {"model": "w1", "input": f"q{number}", "instructions": f"Rule {number}.", **more}
            if stream:
                async for event in await ai.responses.create(**asked, stream=True):
                    if event.type == "response.completed":
                        response = event.response
            else:
                response = await ai.responses.create(**asked)
            assert (response.store, response.previous_response_id) == (True, previous)
            previous = response.id
        assert heard(worker.calls[-1]) == ["s:Rule 2.", "u:q0", "a:turn 1", "u:q1", "a:turn 2", "u:q2"]
        again = await there.responses.retrieve(str(previous))
        assert again.output_text == response.output_text == "turn 3"
        branch: Any = await here.responses.create(model="w1", input="else", previous_response_id=str(previous))
        assert branch.output_text == "turn 4"
        await here.responses.delete(str(previous))
        for gone in (there.responses.retrieve(str(previous)), there.responses.delete(str(previous))):
            with pytest.raises(openai.NotFoundError):
                await gone
        with pytest.raises(openai.NotFoundError, match="send the whole conversation"):
            await there.responses.create(model="w1", input="?", previous_response_id=str(previous))
        assert (await there.responses.retrieve(branch.id)).id == branch.id


@pytest.mark.parametrize("model", ["solver", "podium"])
async def test_tool_rounds_by_id_send_only_the_results(tmp_path: Path, model: str) -> None:
    provider = Provider(rounds=4, at_once=2)
    async with agency(provider, tmp_path) as catalog, live(catalog, tmp_path) as server, client(server) as ai:
        given: Any = QUESTION
        more: Any = {}
        for number in range(5):
            response = await ai.responses.create(model=model, input=given, tools=TOOLS, **more)
            calls = [item for item in response.output if item.type == "function_call"]
            given = [
                {"type": "function_call_output", "call_id": call.call_id, "output": f"result {number}.{k}"}
                for k, call in enumerate(calls)
            ]
            more = {"previous_response_id": response.id}
        assert not calls
        assert provider.wires[-1] == BEFORE[model] + turns(4, 2)
        assert planned(provider) == ((1, 1) if model == "podium" else (0, 0))


async def test_items_may_be_named_instead_of_sent(tmp_path: Path) -> None:
    worker = numbered()
    async with live(catalog_of(said(TWO_STEPS), worker), tmp_path) as server, client(server) as ai:
        first = await ai.responses.create(model="w1", input="q0")
        [item] = first.output
        items: Any = [{"type": "item_reference", "id": item.id}, {"role": "user", "content": "q1"}]
        await ai.responses.create(model="w1", input=items)
        assert heard(worker.calls[-1]) == ["a:turn 1", "u:q1"]


async def test_another_tenant_finds_nothing_and_a_key_without_content_keeps_nothing(tmp_path: Path) -> None:
    worker = numbered()
    async with live(catalog_of(said(TWO_STEPS), worker), tmp_path, with_keys=True) as server:
        (_, ann), (_, bob) = await server.accounts.keys.create("ann"), await server.accounts.keys.create("bob")
        _, quiet = await server.accounts.keys.create("quiet", store_content=False)
        async with client(server, ann) as hers, client(server, bob) as his, client(server, quiet) as theirs:
            kept: Any = await hers.responses.create(model="w1", input="secret")
            item = kept.output[0].id
            tries: Any = [
                his.responses.retrieve(kept.id),
                his.responses.delete(kept.id),
                his.responses.create(model="w1", input="?", previous_response_id=kept.id),
                his.responses.compact(model="w1", previous_response_id=kept.id),
            ]
            for attempt in tries:
                with pytest.raises(openai.NotFoundError):
                    await attempt
            with pytest.raises(openai.BadRequestError, match="item_reference"):
                await his.responses.create(model="w1", input=[{"type": "item_reference", "id": item}])
            assert (await hers.responses.retrieve(kept.id)).output_text == "turn 1", "nobody else deleted it"
            more: Any
            for more in ({"store": True}, {}):
                response = await theirs.responses.create(model="w1", input="?", **more)
                assert not response.store
                with pytest.raises(openai.NotFoundError):
                    await theirs.responses.retrieve(response.id)
            unwanted = await hers.responses.create(model="w1", input="?", store=False)
            with pytest.raises(openai.NotFoundError):
                await hers.responses.retrieve(unwanted.id)
        assert len(worker.calls) == 4, "what is refused asks nobody"


async def test_kept_for_a_set_time(tmp_path: Path, clock: ManualClock) -> None:
    async with live(catalog_of(said(TWO_STEPS), numbered()), tmp_path) as server, client(server) as ai:
        kept = server.accounts.responses
        await kept.keep("resp_1", "", "{}", clock() + timedelta(seconds=RESPONSE_SECONDS))
        kept._now = clock
        assert await kept.get("resp_1", "") == "{}"
        clock.forward(RESPONSE_SECONDS)
        await kept.forget()
        assert await kept.get("resp_1", "") is None
        assert not await kept.delete("resp_1", "")
        with pytest.raises(openai.NotFoundError):
            await ai.responses.retrieve("resp_1")


async def test_of_each_key_so_many_are_kept_and_the_oldest_go_first(
    database: Database, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "MOST_RESPONSES", 3)
    monkeypatch.setattr(store, "MOST_BYTES", 100)
    kept = store.KeptResponses(database, now=clock)

    async def keep(name: str, key: str, size: int = 1) -> None:
        clock.forward(1)
        await kept.keep(name, key, "x" * size, clock() + timedelta(seconds=RESPONSE_SECONDS))

    async def there(key: str) -> list[str]:
        return [name for name in "abcdefg" if await kept.get(name, key) is not None]

    await keep("a", "bob", 60)
    for name in "abcd":
        await keep(name, "ann")
    await keep("d", "ann")
    assert await there("ann") == ["b", "c", "d"], "the same one twice is one"
    await keep("e", "ann", 95)
    assert await there("ann") == ["d", "e"], "of the bytes, too"
    await keep("f", "ann", 200)
    assert await there("ann") == [], "what is larger than all may be keeps nothing else"
    assert await there("bob") == ["a"], "no key makes another one lose anything"


async def test_compact_keeps_the_users_words_and_a_summary_that_goes_on(tmp_path: Path) -> None:
    worker = Puppet(lambda call: "All tests pass." if "about to be cut" in call.question[-1].content else "Done.")
    async with live(catalog_of(said(TWO_STEPS), worker), tmp_path) as server, client(server) as ai:
        first = await ai.responses.create(model="w1", input="Mend it.")
        compacted: Any = await ai.responses.compact(
            model="w1",
            previous_response_id=first.id,
            input=[
                {"role": "user", "content": "And test it."},
                {"type": "function_call", "call_id": "c1", "name": "run", "arguments": "{}"},
                {"type": "function_call_output", "call_id": "c1", "output": "ok"},
            ],
        )
        assert (compacted.object, [item.type for item in compacted.output]) == (
            "response.compaction",
            ["message", "message", "compaction"],
        )
        assert compacted.usage.input_tokens == 10
        assert [turn.role for turn in worker.calls[-1].question] == ["user", "assistant", "user", "assistant", "tool", "user"]
        items: Any = [item.model_dump(exclude_none=True, warnings=False) for item in compacted.output]
        await ai.responses.create(model="w1", input=[*items, {"role": "user", "content": "What next?"}])
        summary = "u:Summary of the conversation up to here:\n\nAll tests pass."
        assert heard(worker.calls[-1]) == ["u:Mend it.", "u:And test it.", summary, "u:What next?"]
        with pytest.raises(openai.BadRequestError, match="nothing to compact"):
            await ai.responses.compact(model="w1")


@pytest.mark.parametrize("content", ["gAAAAforeign", closed_summary("x") + "!", "podium-summary-1:/w=="])
async def test_a_foreign_or_broken_summary_is_left_out_and_named(tmp_path: Path, content: str) -> None:
    worker = numbered()
    async with live(catalog_of(said(TWO_STEPS), worker), tmp_path) as server, client(server) as ai:
        items: Any = [{"type": "compaction", "encrypted_content": content}, {"role": "user", "content": "?"}]
        answer = await ai.responses.with_raw_response.create(model="w1", input=items)
        assert answer.headers["x-podium-ignored"] == "input.compaction"
        assert heard(worker.calls[-1]) == ["u:?"]
