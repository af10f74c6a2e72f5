"""A person as a worker: asked over the API, answered once, or given up when the time is over."""

import asyncio
from pathlib import Path
from typing import Any

import httpx
import pytest

import podium
from podium.acting.human import DESK, LONGEST_ANSWER, HumanWorker, HumanWorkerConfig
from podium.errors import ConfigError, WorkerUnavailable
from podium.pools.health import check_workers
from podium.pools.models import PoolCatalog
from podium.pools.open import open_pool
from podium.serving.store.keys import Keys
from podium.types import Call, ResponseOptions, Tool, VisibleStep, ask
from podium.workers.budget import Budget
from tests.serving.live import live, until

POOL = '[[worker]]\nname = "editor"\nkind = "human"\nusd_per_call = 0\n'


def pool_file(folder: Path, *lines: str) -> Path:
    path = folder / "pool.toml"
    path.write_text(POOL + "\n".join(lines) + "\n")
    return path


def worker(**keys: Any) -> HumanWorker:
    return HumanWorker(HumanWorkerConfig.model_validate({"name": "editor", "kind": "human", **keys}))


async def test_a_person_reads_what_a_model_would_see_and_answers() -> None:
    person = worker(usd_per_call=2.5)
    for _ in range(2):
        step = VisibleStep(question=ask("Is it so?"), subtask="Draft.", response="It is.")
        asked = asyncio.create_task(person(Call(visible=(step,), subtask="Check it.")))
        await until(lambda: bool(DESK.waiting()), 60)
        [question] = DESK.waiting()
        assert question.worker == "editor"
        assert "Is it so?" in question.text
        assert "Your task: Check it." in question.text
        assert DESK.answer(question.id, "It is not.")
        assert not DESK.answer(question.id, "Or is it?"), "the first answer counts"
        done = await asked
        assert (done.text, done.usage.cost_usd, done.usage.tokens) == ("It is not.", 2.5, 0)
        assert not DESK.waiting()


async def test_nobody_answers_or_the_client_leaves() -> None:
    with pytest.raises(WorkerUnavailable, match=r"nobody answered within 0\.05 seconds"):
        await worker(timeout_seconds=0.05)(Call.plain("?"))
    calls = [asyncio.create_task(worker()(Call.plain(f"{number}?"))) for number in range(10)]
    await until(lambda: len(DESK.waiting()) == 10)
    for call in calls:
        call.cancel()
    await asyncio.gather(*calls, return_exceptions=True)
    assert not DESK.waiting()


async def test_what_is_no_answer() -> None:
    for text in ("", "  \n", "x" * (LONGEST_ANSWER + 1)):
        with pytest.raises(ConfigError, match="an answer has"):
            DESK.answer("q_any", text)
    assert not DESK.answer("q_any", "Yes.")
    with pytest.raises(ConfigError, match="call no tools"):
        worker().check(ResponseOptions(tools=(Tool(name="now"),)))


async def test_an_answer_is_kept_and_a_person_is_not_asked_by_pool_check(tmp_path: Path) -> None:
    path = pool_file(tmp_path)
    for number in range(3):
        async with podium.open_pool(path, budget=Budget(usd=0.01), journal=tmp_path / "calls.db") as pool:
            assert pool.workers.cards[0].abilities == ("a person answers, within 3600 seconds",)
            asked = asyncio.create_task(pool["editor"](Call.plain("?")))
            if number == 0:
                await until(lambda: bool(DESK.waiting()), 60)
                DESK.answer(DESK.waiting()[0].id, "Yes.")
            assert (await asked).text == "Yes."
    [health] = await check_workers(path)
    assert health.said.startswith("not asked: a person answers")


async def test_over_the_api_with_keys_that_may(tmp_path: Path) -> None:
    async with open_pool(pool_file(tmp_path), budget=Budget(), journal=None, run="test") as pool:
        catalog = PoolCatalog(pool, "solo:editor")
        async with live(catalog, tmp_path, with_keys=True) as server, httpx.AsyncClient(base_url=server.url) as http:
            keys = {}
            for scopes in ({"ask"}, {"read"}, {"answer"}, {"admin"}):
                _, secret = await Keys(server.accounts.database).create(f"{scopes}", scopes=frozenset(scopes))
                keys[next(iter(scopes))] = {"Authorization": f"Bearer {secret}"}
            for scope in ("answer", "admin"):
                body = {"model": "editor", "messages": [{"role": "user", "content": f"Is it so, {scope}?"}]}
                asked = asyncio.create_task(http.post("/v1/chat/completions", json=body, headers=keys["ask"], timeout=60))
                await until(lambda: bool(DESK.waiting()), 60)
                for other in ({}, keys["ask"], keys["read"]):
                    assert (await http.get("/v1/questions", headers=other)).status_code in (401, 403)
                    refused = await http.post("/v1/questions/q_x", json={"answer": "Yes."}, headers=other)
                    assert refused.status_code in (401, 403)
                listed = await http.get("/v1/questions", headers=keys[scope])
                assert listed.status_code == 200, listed.text
                [question] = listed.json()["data"]
                assert question["text"] == f"Is it so, {scope}?"
                path = f"/v1/questions/{question['id']}"
                for wrong in ({}, {"answer": ""}, {"answer": 3}, {"answer": "x", "more": 1}):
                    assert (await http.post(path, json=wrong, headers=keys[scope])).status_code == 400
                assert (await http.post(path, json={"answer": "Yes."}, headers=keys[scope])).status_code == 200
                assert (await asked).json()["choices"][0]["message"]["content"] == "Yes."
                gone = await http.post(path, json={"answer": "No."}, headers=keys[scope])
                assert (gone.status_code, gone.json()["error"]["code"]) == (404, "question_not_found")
