"""What a last step can not do is refused before anybody is paid, with what to do instead."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import openai
import pytest

from podium.conduct import Conductor
from podium.errors import ConfigError
from podium.policies.fixed import FixedPolicy, solo
from podium.policies.shipped import check_workers
from podium.policies.voting import with_vote
from podium.pools.conducting import conductor
from podium.pools.models import PoolCatalog
from podium.pools.open import open_pool
from podium.pools.opened import OpenPool
from podium.types import Call, Card, ResponseOptions, Step, Tool, Workflow
from podium.workers.budget import Budget
from podium.workers.chat import ChatWorker
from podium.workers.pool import Member, WorkerPool
from tests.serving.agents import CHAT_TOOLS, POOL, TOOLS, Provider
from tests.serving.live import live
from tests.serving.test_chat_api import client
from tests.workers.test_chat import serve

ASKED: Any = [{"role": "user", "content": "6 times 7?"}]
FORM: Any = {"type": "json_schema", "json_schema": {"name": "sum", "schema": {"type": "object", "properties": {}}}}
SCHEMA = json.dumps(FORM["json_schema"]["schema"])
LOOK = ResponseOptions(tools=(Tool(name="look"),))
VOTES = ("vote", "consensus:solver", "vote+workers=random", "consensus:solver+workers=random")
ABLE = ("solo:solver", "mixture:solver", "reflection:solver", "random", "chat:boss")


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("policy", [*VOTES, *ABLE])
async def test_tools_and_forms_under_every_policy(tmp_path: Path, policy: str, stream: bool) -> None:
    provider = Provider(rounds=0)
    async with serve(provider.answer) as upstream:
        (tmp_path / "pool.toml").write_text(POOL.replace("URL", upstream.url))
        async with open_pool(tmp_path / "pool.toml", budget=Budget(None, None, None), journal=None, run="test") as pool:
            catalog = PoolCatalog(pool, "chat:boss")
            async with live(catalog, tmp_path) as server, client(server) as ai:
                more: Any = {"model": "podium", "stream": stream, "extra_body": {"podium": {"policy": policy}}}
                asks: tuple[Callable[[], Any], ...] = (
                    lambda: ai.chat.completions.create(messages=ASKED, tools=CHAT_TOOLS, **more),
                    lambda: ai.chat.completions.create(messages=ASKED, response_format=FORM, **more),
                    lambda: ai.responses.create(input=ASKED, tools=TOOLS, **more),
                )
                for ask in asks:
                    if policy in ABLE:
                        answer: Any = await ask()
                        _ = [event async for event in answer] if stream else answer
                        continue
                    with pytest.raises(openai.BadRequestError, match=r"calls no tools.*such as chat, solo:NAME or mixture"):
                        await ask()
    assert any(provider.asked.values()) == (policy in ABLE), "who is refused has paid for nothing"


async def test_a_conductor_inside_a_conductor_is_looked_into() -> None:
    provider = Provider(rounds=0)
    async with serve(provider.answer) as upstream, ChatWorker(model="openai:solver", base_url=upstream.url) as chat:
        member = Member(worker=chat, card=Card(name="solver"))
        votes = conductor(OpenPool(workers=WorkerPool([member, replace(member, card=Card(name="other"))])), "vote")
        twice = Workflow(steps=(Step(worker=0, subtask="Plan."), Step(worker=1, subtask="Solve.")))
        pool = WorkerPool([member, Member(worker=votes, card=Card(name="team"))])
        outer = Conductor(FixedPolicy(twice), pool)
        with pytest.raises(ConfigError, match=r"calls no tools.*leave out worker 'team'"):
            await outer.conduct(Call(question=Call.plain("?").question, response_options=LOOK))
        wrapped = outer.wrapped(policy=lambda policy: policy, worker=lambda worker, card: worker)
        with pytest.raises(ConfigError, match="leave out worker 'team'"):
            await wrapped.conduct(Call(question=Call.plain("?").question, response_options=LOOK))
        assert not any(provider.asked.values())
        await Conductor(solo(0), pool, answering=(0,)).conduct(Call(question=Call.plain("?").question, response_options=LOOK))


@pytest.mark.parametrize(
    ("model", "response_options", "message"),
    [
        ("anthropic:claude-sonnet-4-5", ResponseOptions(response_format="{}"), "name a JSON schema"),
        ("google:gemini-2.5-pro", ResponseOptions(response_format="{}"), "name a JSON schema"),
        ("google:gemini-2.5-pro", ResponseOptions(tools=LOOK.tools, response_format=SCHEMA), "not both at once"),
        ("google:gemini-2.5-pro", ResponseOptions(tools=LOOK.tools), None),
        ("google:gemini-2.5-pro", ResponseOptions(response_format=SCHEMA), None),
        ("anthropic:claude-sonnet-4-5", ResponseOptions(tools=LOOK.tools, response_format=SCHEMA), None),
        ("anthropic:claude-3-haiku-20240307", ResponseOptions(response_format=SCHEMA), "not supported by this model"),
        ("mistral:mistral-large-latest", ResponseOptions(tools=LOOK.tools, response_format=SCHEMA), None),
        ("openai:gpt-5-mini", ResponseOptions(tools=LOOK.tools, response_format=SCHEMA), None),
        ("openai:whatever", ResponseOptions(tools=LOOK.tools, response_format="{}"), None),
    ],
)
async def test_what_a_models_api_can_not_do_is_known_before_anybody_is_asked(
    model: str, response_options: ResponseOptions, message: str | None
) -> None:
    extra = {"google": "google.genai", "anthropic": "anthropic"}.get(model.partition(":")[0])
    if extra is not None:
        pytest.importorskip(extra, reason=f"{extra} is not installed")
    provider = Provider()
    async with (
        serve(provider.answer) as upstream,
        ChatWorker(model="openai:boss", base_url=upstream.url) as planner,
        ChatWorker(model=model, base_url="http://127.0.0.1:9", api_key="none") as last,
    ):
        pool = WorkerPool([Member(worker=planner, card=Card(name="boss")), Member(worker=last, card=Card(name="last"))])
        conductor = Conductor(solo(0), pool)
        if message is None:
            conductor.check(response_options)
        else:
            with pytest.raises(ConfigError, match=f"{message}.*leave out worker 'last'"):
                await conductor.conduct(Call(question=Call.plain("?").question, response_options=response_options))
    assert provider.asked["boss"] == []


async def test_a_trained_conductor_conducts_only_those_it_knows(tmp_path: Path) -> None:
    provider = Provider(rounds=0)
    async with serve(provider.answer) as upstream:
        (tmp_path / "pool.toml").write_text(POOL.replace("URL", upstream.url))
        async with open_pool(tmp_path / "pool.toml", budget=Budget(None, None, None), journal=None, run="test") as pool:
            async with live(PoolCatalog(pool, "chat:boss"), tmp_path) as server, client(server) as ai:
                known, unnamed = r"was trained to conduct atlas, brook.*not boss, planner", "name the folder of a policy"
                for policy, message in (
                    ("trained", unnamed),
                    ("trained:gym", known),
                    ("trained+access=random", unnamed),
                ):
                    with pytest.raises(openai.BadRequestError, match=message):
                        await ai.chat.completions.create(
                            model="podium", messages=ASKED, extra_body={"podium": {"policy": policy}}
                        )
            with pytest.raises(ConfigError, match="take another policy, such as chat"):
                PoolCatalog(pool, "trained")
    assert not any(provider.asked.values())


def test_what_a_run_was_trained_with_stands_beside_it(tmp_path: Path) -> None:
    policy = tmp_path / "seed-0" / "policy"
    policy.mkdir(parents=True)
    check_workers(policy, ("a", "b"))  # nothing is known
    for cards, good in ((False, False), (True, True)):
        (policy.parent / "recipe.json").write_text(json.dumps({"pool": ["a", "b", "vote"]}))
        (policy / "podium.json").write_text(json.dumps({"language": {"cards": cards}}))
        check_workers(policy, ("a", "b", "vote"))
        for others in (("a", "b"), ("b", "a", "vote"), ("a", "b", "c")):
            if good:
                check_workers(policy, others)
            else:
                with pytest.raises(ConfigError, match="train one with this pool"):
                    check_workers(policy, others)


def test_a_vote_says_what_to_do() -> None:
    pool = with_vote(WorkerPool([Member(worker=Puppetless(), card=Card(name="a"))]))
    pool[0].check(LOOK)
    with pytest.raises(ConfigError, match="leave them out, or take a policy"):
        pool[1].check(LOOK)
    pool[1].check(ResponseOptions(stop=("END",)))


class Puppetless:
    """A worker that says nothing of what it can do."""

    async def __call__(self, call: Call) -> Any:
        raise AssertionError
