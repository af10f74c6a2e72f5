"""Sessions: told apart, planned once a turn, kept with one worker where that is cheaper, held to their dollars."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest
from openai import AsyncOpenAI

from benchmarks.sessions import compared
from podium.errors import ConfigError
from podium.pools.models import PoolCatalog
from podium.pools.opened import OpenPool
from podium.serving.store.database import Database
from podium.serving.store.sessions import SESSION_SECONDS, Sessions
from podium.types import Card
from podium.workers.config import read_pool
from podium.workers.metered import Metered
from podium.workers.pool import Member, WorkerPool
from tests.serving.agents import Provider, agency, chat_agent, chat_turn
from tests.serving.conftest import ManualClock
from tests.serving.live import Live, Puppet, live, said
from tests.serving.test_chat_api import client
from tests.serving.test_messages import claude
from tests.serving.test_tool_loops import planned, seen

HELLO: Any = {"role": "user", "content": "Mend the tests."}
BEFORE = "YOUR WORKFLOW FOR THE USER'S TURN BEFORE THIS ONE"


Prices = Mapping[str, tuple[float, float, float]]
"""Of prompt, cached prompt and answer, per million, by worker."""


def plan(worker: int) -> str:
    return f'model_id = [{worker}]\nsubtasks = ["Do it."]\naccess_list = [[]]'


def pool(boss: Puppet, *workers: Puppet, prices: Prices | None = None, task: str | None = None) -> PoolCatalog:
    """``boss`` plans; the others are ``w1``, ``w2`` and so on."""
    members = []
    for index, puppet in enumerate((boss, *workers)):
        name = f"w{index}" if index else "boss"
        prompt, cached, completion = (usd * 1e-6 for usd in (prices or {}).get(name, (1.0, 0.1, 10.0)))
        card = Card(name=name, prompt_usd=prompt, cached_usd=cached, completion_usd=completion)
        members.append(Member(worker=Metered(puppet, card, 100, []), card=card))
    return PoolCatalog(OpenPool(workers=WorkerPool(members), task_worker=task), "chat:boss")


def planning(*workers: int) -> Puppet:
    """Plans for one worker after another."""
    numbers = iter(workers)
    return Puppet(lambda call: plan(next(numbers)))


async def say(ai: AsyncOpenAI, conversation: list[Any], text: str, **more: Any) -> Any:
    """One more turn of the session "s"; what was answered, headers included."""
    conversation.append({"role": "user", "content": text})
    more.setdefault("prompt_cache_key", "s")
    raw = await ai.chat.completions.with_raw_response.create(model="podium", messages=conversation, **more)
    conversation.append({"role": "assistant", "content": raw.parse().choices[0].message.content})
    return raw


async def post(server: Live, path: str, body: dict[str, Any], **headers: str) -> httpx.Response:
    async with httpx.AsyncClient(base_url=server.url) as http:
        reply = await http.post(path, json={"model": "podium", **body}, headers=headers)
        assert reply.status_code == 200, reply.text
        return reply


async def test_what_tells_a_session_and_whose_it_is(tmp_path: Path) -> None:
    async with live(pool(planning(*[1] * 99), said("Done.")), tmp_path, with_keys=True) as server:
        secrets = [(await server.accounts.keys.create(name))[1] for name in ("ann", "bob")]

        async def told(path: str, body: dict[str, Any], secret: str = secrets[0], **headers: str) -> str:
            reply = await post(server, path, body, Authorization=f"Bearer {secret}", **headers)
            run = await server.accounts.runs.get(reply.headers["x-podium-run"], key=None)
            assert run is not None
            assert run.session == reply.headers["x-podium-session"]
            return str(run.session)

        chat, other = {"messages": [HELLO]}, {"messages": [{"role": "user", "content": "Else."}]}
        path = "/v1/chat/completions"
        named = {
            await told(path, {**chat, "prompt_cache_key": "s1"}),
            await told(path, {**other, "prompt_cache_key": "s1"}),
            await told("/v1/responses", {"input": "?", "prompt_cache_key": "s1"}),
            await told(path, other, **{"X-Podium-Session": "s1"}),
            await told(path, {**other, "prompt_cache_key": "x"}, **{"X-Podium-Session": "s1"}),
            *[
                await told(path, other, **{name: "s1"})
                for name in ("session_id", "session-id", "x-opencode-session", "x-claude-code-session-id")
            ],
        }
        assert len(named) == 1
        users = ("user_ab_account__session_0199-aaaa-bbbb", '{"device_id": "d", "session_id": "0199-aaaa-bbbb"}')
        anthropic = [{"max_tokens": 9, **other, "metadata": {"user_id": user}} for user in users]
        assert len({await told("/v1/messages", body) for body in anthropic}) == 1
        [made] = named
        assert await told(path, other, **{"X-Podium-Session": made}) == made, "an answer's header names its session"
        theirs = {
            await told(path, other, secrets[1], **{"X-Podium-Session": "s1"}),
            await told(path, {**chat, "prompt_cache_key": "s1"}, secrets[1]),
            await told(path, other, secrets[1], **{"X-Podium-Session": made}),
        }
        assert theirs.isdisjoint(named), "another key's session of that name, or of that id, is another one"


@pytest.mark.parametrize("stream", [False, True])
async def test_without_a_name_the_whole_history_tells_the_session(tmp_path: Path, stream: bool) -> None:
    answers = iter(f" answer {number}\n" for number in range(99))
    worker = Puppet(lambda call: next(answers))
    async with live(pool(planning(*[1] * 99), worker), tmp_path, with_keys=True) as server:
        secrets = [(await server.accounts.keys.create(name))[1] for name in ("ann", "bob")]

        async def told(conversation: list[Any], secret: str = secrets[0], **more: Any) -> str:
            """The session that it is answered in; the answer, as clients strip it, goes to its end."""
            async with client(server, secret) as ai:
                asked = ai.chat.completions.with_raw_response
                raw: Any = await asked.create(model="podium", messages=conversation, stream=stream, **more)
                text = ""
                if stream:
                    async for chunk in raw.parse():
                        text += (chunk.choices[0].delta.content or "") if chunk.choices else ""
                else:
                    text = raw.parse().choices[0].message.content
            conversation.append({"role": "assistant", "content": text.strip()})
            return str(raw.headers.get("x-podium-session", ""))

        tools: Any = {"tools": LOOK}
        first, second, third = [HELLO], [HELLO], [{"role": "system", "content": "It is noon."}, HELLO]
        conversations = (first, second, third)
        begun = [await told(each, **tools) for each in conversations]
        assert len({*begun}) == 3, "they begin alike and are three"
        for _ in range(2):
            for conversation, session in zip(conversations, begun, strict=True):
                conversation.append({"role": "user", "content": "Go on."})
                assert await told(conversation, **tools) == session
        third[0] = {"role": "system", "content": "It is late."}
        third.append(HELLO)
        assert await told(third) == begun[2], "a system prompt may change"
        theirs = [*first, HELLO]
        assert await told(theirs, secrets[1], **tools) not in {"", *begun}, "another key has no part in it, whatever it sends"
        edited = [HELLO, {"role": "assistant", "content": "Never said."}, HELLO]
        assert await told(edited, **tools) not in {"", *begun}
        again = [*first[:-1], {"role": "user", "content": "Not that."}]
        again.pop(-2)
        assert await told(again, **tools) == begun[0], "an answer that is asked for once more"
        plain = [HELLO]
        assert await told(plain) == "", "there may never be a second question"
        plain.append(HELLO)
        later = await told(plain)
        assert later not in {"", *begun}
        plain.append(HELLO)
        assert await told(plain) == later
        long = [{"role": "user", "content": "long " * 1000}]
        assert await told(long) != "", "a provider keeps it in its cache"


@pytest.mark.parametrize("stream", [False, True])
async def test_two_turns_of_eight_tool_calls_over_two_replicas(url: str, tmp_path: Path, stream: bool) -> None:
    provider = Provider(rounds=4)
    async with (
        agency(provider, tmp_path) as catalog,
        live(catalog, tmp_path, url=url, replica="one") as one,
        live(catalog, tmp_path, url=url, replica="two") as two,
        client(one) as here,
        client(two) as there,
    ):
        messages: list[Any] = [HELLO]
        for number in range(2):
            for turn in range(5):
                ai: AsyncOpenAI = (here, there)[turn % 2]
                messages.append(await chat_turn(ai, "podium", messages, stream=stream))
                calls = messages[-1].get("tool_calls") or []
                messages += [{"role": "tool", "tool_call_id": call["id"], "content": f"result {turn}.0"} for call in calls]
            assert messages[-1]["content"] == seen(4)
            assert planned(provider) == (number + 1, number + 1), "one plan per turn of the user's"
            messages.append({"role": "user", "content": "And the other one?"})
        asked = [wire[-1]["content"] for wire in provider.asked["boss"]]
        assert [BEFORE in words for words in asked] == [False, True]
        assert "step 1: model 2, sees 0: Solve it." in asked[1]
        runs = await one.accounts.runs.search(key=None, limit=99)
        [session] = {run.session for run in runs}
        assert len(runs) == 10
        _, spent = await two.accounts.sessions.get(session)
        assert spent == pytest.approx(sum(run.usage.cost_usd or 0 for run in runs)), "dollars of the session are the ledger's"
        assert len(await one.accounts.runs.search(key=None, session=session, limit=99)) == 10


async def test_the_worker_stays_where_nothing_is_won_and_the_answer_says_why(tmp_path: Path) -> None:
    first, second = said("one"), said("two")
    async with live(pool(planning(1, 2, 2), first, second), tmp_path) as server, client(server) as ai:
        conversation: list[Any] = []
        begun = await say(ai, conversation, "Mend it.")
        assert begun.headers["x-podium-acting"] == "w1; the first turn of this session"
        stayed = await say(ai, conversation, "Go on.")
        assert stayed.parse().choices[0].message.content == "one"
        assert stayed.headers["x-podium-acting"].startswith("w1; stays: 4 tokens are in its cache")
        told = stayed.parse().podium["session"]
        assert (told["worker"], told["proposed"], told["turn"]) == ("w1", "w2", 2)
        assert told["id"] == begun.headers["x-podium-session"]
        assert told["cost_usd"] == pytest.approx(0.004)
        run = await server.accounts.runs.get(stayed.headers["x-podium-run"], key=None)
        assert run is not None
        assert run.workers == ("w1",)
        elsewhere = await say(ai, [], "Another conversation.", extra_body={"podium": {"workers": ["boss", "w1", "w2"]}})
        assert elsewhere.parse().choices[0].message.content == "two", "nobody acted there before"


@pytest.mark.parametrize(
    ("prices", "worker", "why"),
    [
        ({"w1": (10.0, 1.0, 50.0), "w2": (0.1, 0.01, 0.5)}, "w2", "switches: costs about"),
        ({"w1": (0.1, 0.01, 0.5), "w2": (10.0, 1.0, 50.0)}, "w2", "switches: the workflow asks for an abler worker"),
        ({"w1": (1.0, 0.1, 10.0), "w2": (1.1, 0.1, 11.0)}, "w1", "stays: "),
    ],
)
async def test_a_switch_that_pays_and_one_that_is_asked_for(tmp_path: Path, prices: Prices, worker: str, why: str) -> None:
    catalog = pool(planning(1, 2), said("one"), said("two"), prices=prices)
    async with live(catalog, tmp_path) as server, client(server) as ai:
        conversation: list[Any] = []
        await say(ai, conversation, "Mend it.")
        raw = await say(ai, conversation, "Go on.")
        assert raw.headers["x-podium-acting"].startswith(f"{worker}; {why}")


async def test_the_same_words_twice_are_two_turns(tmp_path: Path) -> None:
    boss = planning(1, 1, 1)
    async with live(pool(boss, said("one")), tmp_path) as server, client(server) as ai:
        conversation: list[Any] = []
        turns = [(await say(ai, conversation, "Go on.")).parse().podium["session"]["turn"] for _ in range(3)]
        assert turns == [1, 2, 3]
        assert [BEFORE in call.question[-1].content for call in boss.calls] == [False, True, True]


async def test_of_a_key_without_content_no_plan_is_kept(tmp_path: Path) -> None:
    boss = planning(1, 1)
    async with live(pool(boss, said("one")), tmp_path, store_content=False) as server, client(server) as ai:
        conversation: list[Any] = []
        for _ in range(2):
            raw = await say(ai, conversation, "Go on.")
        state, _ = await server.accounts.sessions.get(raw.headers["x-podium-session"])
        assert '"worker":"w1"' in state
        assert "Do it." not in state
        assert BEFORE not in boss.calls[1].question[-1].content


async def test_a_worker_that_may_not_be_asked_does_not_stay(tmp_path: Path) -> None:
    async with live(pool(planning(1, 1), said("one"), said("two")), tmp_path) as server, client(server) as ai:
        conversation: list[Any] = []
        await say(ai, conversation, "Mend it.")
        raw = await say(ai, conversation, "Go on.", extra_body={"podium": {"exclude_workers": ["w1"]}})
        assert raw.parse().choices[0].message.content == "two"


@pytest.mark.parametrize("stream", [False, True])
async def test_a_session_is_refused_before_the_call_that_could_pass_its_limit(tmp_path: Path, stream: bool) -> None:
    worker = said("one")
    async with live(pool(planning(*[1] * 9), worker), tmp_path) as server, client(server) as ai:
        options: Any = {"extra_body": {"podium": {"session_usd": 0.006}}, "prompt_cache_key": "s"}
        for _ in range(2):
            await ai.chat.completions.create(model="podium", messages=[HELLO], **options)
        calls = len(worker.calls)
        for number in range(2):
            with pytest.raises(openai.APIStatusError) as refused:
                await ai.chat.completions.create(model="podium", messages=[HELLO], stream=stream, **options)
            assert refused.value.status_code == 402, number
        assert len(worker.calls) <= calls + 1
        [session] = {run.session for run in await server.accounts.runs.search(key=None)}
        _, spent = await server.accounts.sessions.get(session)
        assert spent is not None
        assert spent <= 0.006
        options["extra_body"]["podium"]["session_usd"] = 1.0
        await ai.chat.completions.create(model="podium", messages=[HELLO], **options)


async def test_a_keys_limit_holds_for_requests_at_once_on_two_replicas(url: str, tmp_path: Path) -> None:
    catalog = pool(planning(*[1] * 99), Puppet(lambda call: "one", seconds=0.02))
    async with (
        live(catalog, tmp_path, url=url, replica="one", with_keys=True) as one,
        live(catalog, tmp_path, url=url, replica="two", with_keys=True) as two,
    ):
        _, secret = await one.accounts.keys.create("ann", session_usd=0.02)

        async def ask(server: Live) -> int:
            async with client(server, secret) as ai:
                try:
                    # More than the key's is no way around it.
                    more: Any = {"extra_body": {"podium": {"session_usd": 5.0}}, "prompt_cache_key": "s"}
                    await ai.chat.completions.create(model="podium", messages=[HELLO], **more)
                except openai.APIStatusError as error:
                    return error.status_code
                return 200

        statuses = await asyncio.gather(*(ask((one, two)[number % 2]) for number in range(24)))
        assert set(statuses) == {200, 402}
        [session] = {run.session for run in await one.accounts.runs.search(key=None, limit=99)} - {""}
        _, spent = await two.accounts.sessions.get(session)
        assert spent is not None
        assert 0.002 <= spent <= 0.02


async def test_a_refused_round_finds_its_step_waiting(tmp_path: Path) -> None:
    provider = Provider(rounds=1)
    async with agency(provider, tmp_path) as catalog, live(catalog, tmp_path) as server, client(server) as ai:
        messages: list[Any] = [HELLO, await chat_turn(ai, "podium", [HELLO], stream=False)]
        messages.append({"role": "tool", "tool_call_id": messages[1]["tool_calls"][0]["id"], "content": "result 0.0"})
        with pytest.raises(openai.APIStatusError, match="begin another session"):
            await chat_turn(ai, "podium", messages, stream=False, extra_body={"podium": {"session_usd": 1e-9}})
        assert await chat_agent(ai, "podium", messages, stream=False) == seen(1)
        assert planned(provider) == (1, 1)


async def test_holds_and_what_a_dead_replica_leaves(database: Database, clock: ManualClock) -> None:
    sessions = Sessions(database, now=clock)
    assert await sessions.hold("s", "a", 0.6, limit_usd=1.0)
    assert not await sessions.hold("s", "b", 0.5, limit_usd=1.0)
    assert await sessions.hold("other", "c", 0.9, limit_usd=1.0)
    assert await sessions.hold("s", "a", 0.2, limit_usd=1.0), "it became less"
    assert await sessions.hold("s", "b", 0.5, limit_usd=1.0)
    await sessions.settle("s", "b", 0.3, "here")
    state, spent = await sessions.get("s")
    assert (state, spent) == ("here", 0.5), "what nobody settled still counts"
    await sessions.settle("s", "d", None, None)
    assert await sessions.get("s") == ("here", None), "a price was unknown"
    clock.forward(SESSION_SECONDS)
    await sessions.forget()
    assert await sessions.get("s") == ("", 0.0)


TITLE: Any = [{"role": "system", "content": "You are a title generator. Write one line."}, HELLO]
CUT = "CRITICAL: Text only.\n\nYour task is to create a detailed summary of the conversation so far."
COMPACT: Any = [HELLO, {"role": "assistant", "content": "ok"}, {"role": "user", "content": CUT}]
LOOK: Any = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}]


@pytest.mark.parametrize(
    ("messages", "more", "is_task"),
    [
        (TITLE, {}, True),
        (COMPACT, {}, True),
        (COMPACT, {"tools": LOOK}, True),
        (TITLE, {"tools": LOOK}, False),
        ([{"role": "user", "content": "Write a program with a title bar, and summarize this conversation in it."}], {}, False),
        (TITLE, {"extra_body": {"podium": {"exclude_workers": ["w2"]}}}, False),
        (TITLE, {"extra_body": {"podium": {"policy": "solo:w1"}}}, False),
        (TITLE, {"model": "w1"}, False),
    ],
)
async def test_small_tasks_go_to_their_worker_and_nothing_else_does(
    tmp_path: Path, messages: Any, more: Any, is_task: bool
) -> None:
    boss = planning(1)
    async with live(pool(boss, said("one"), said("small"), task="w2"), tmp_path) as server, client(server) as ai:
        answer = await ai.chat.completions.create(**{"model": "podium", "messages": messages, **more})
        assert answer.choices[0].message.content == ("small" if is_task else "one")
        assert not (is_task and boss.calls)


async def test_compaction_goes_to_the_small_worker(tmp_path: Path) -> None:
    boss = planning()
    async with live(pool(boss, said("one"), said("small"), task="w2"), tmp_path) as server, client(server) as ai:
        await ai.responses.compact(model="podium", input="A long story.")
        assert not boss.calls


async def test_the_pool_file_names_the_small_worker(tmp_path: Path) -> None:
    provider = Provider(rounds=0)
    async with agency(provider, tmp_path):
        pass
    path = tmp_path / "pool.toml"
    text = path.read_text()
    path.write_text(f'{text}\n[server]\ntask_worker = "planner"\n')
    server = read_pool(path).server
    assert server is not None
    assert server.task_worker == "planner"
    path.write_text(f'{text}\n[server]\ntask_worker = "planer"\n')
    with pytest.raises(ConfigError, match="no worker is named 'planer'"):
        read_pool(path)


async def test_anthropics_answer_says_why_too(tmp_path: Path) -> None:
    async with live(pool(planning(1), said("one")), tmp_path) as server, claude(server) as ai:
        raw = await ai.messages.with_raw_response.create(
            model="podium", max_tokens=9, messages=[HELLO], extra_headers={"X-Podium-Session": "s"}
        )
        assert raw.headers["x-podium-acting"] == "w1; the first turn of this session"


async def test_what_was_kept_by_another_version_is_no_obstacle(tmp_path: Path) -> None:
    async with live(pool(planning(1, 2), said("one"), said("two")), tmp_path) as server, client(server) as ai:
        conversation: list[Any] = []
        begun = await say(ai, conversation, "Mend it.")
        await server.accounts.sessions.settle(begun.headers["x-podium-session"], "x", 0.0, '{"conversations": {"a": {"b": 1}}}')
        raw = await say(ai, conversation, "Go on.")
        assert raw.headers["x-podium-acting"] == "w2; the first turn of this session"


def test_the_rule_pays() -> None:
    families = compared(400)["families"]
    assert all(found["rule_to_stay"] <= 1.01 for found in families.values()), families
    assert families["cheap_suffices"]["rule_to_stay"] <= 0.9
    assert families["sideways"]["follow_workflow_usd"] > 1.05 * families["sideways"]["rule_usd"]
