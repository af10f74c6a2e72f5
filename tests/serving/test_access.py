"""Keys: nothing without one, nothing with a wrong one, nothing of another's; quotas hold whatever happens at once."""

import asyncio
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest

from podium.serving.store.database import Database
from podium.serving.store.keys import Keys
from tests.serving.live import TWO_STEPS, Live, Puppet, catalog_of, live, said, until
from tests.serving.test_chat_api import ASKED, client

ENDPOINTS = (
    ("GET", "/v1/models"),
    ("GET", "/v1/models/podium"),
    ("POST", "/v1/chat/completions"),
    ("POST", "/v1/responses"),
    ("GET", "/v1/runs/run_000000000000000000000000"),
    ("GET", "/v1/questions"),
    ("POST", "/v1/questions/q_000000000000000000000000"),
    ("GET", "/metrics"),
)


def bodies(path: str) -> dict[str, Any] | None:
    if path.endswith("completions"):
        return {"model": "podium", "messages": ASKED}
    return {"model": "podium", "input": "?"} if path.endswith("responses") else None


async def a_key(server: Live, name: str, **limits: Any) -> str:
    _, secret = await Keys(server.accounts.database).create(name, **limits)
    return secret


async def test_nothing_is_told_without_a_good_key(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    solver = said("42")
    async with (
        live(catalog_of(said(TWO_STEPS), said("Plan."), solver), tmp_path, with_keys=True) as server,
        httpx.AsyncClient(base_url=server.url) as http,
    ):
        revoked = await a_key(server, "gone")
        await server.accounts.keys.revoke("gone")
        for method, path in ENDPOINTS:
            for header in (None, "", "Bearer", "Basic x", "Bearer pod_wrong", "Bearer ~~ ~~", f"Bearer {revoked}"):
                headers = {} if header is None else {"Authorization": header}
                reply = await http.request(method, path, json=bodies(path), headers=headers)
                assert reply.status_code == 401, (path, header)
                assert reply.json()["error"]["code"] == "invalid_api_key"
                assert reply.headers["www-authenticate"] == "Bearer"
                assert "w1" not in reply.text, "not even which models there are"
        good = await a_key(server, "good")
        assert (await http.get("/metrics", headers={"Authorization": f"Bearer {good}"})).status_code == 403
        assert (await http.get("/healthz")).status_code == 200
        assert not solver.calls
        for secret in (revoked, good):
            assert secret not in caplog.text


@pytest.mark.parametrize("path", ["/v1/responses", "/v1/chat/completions"])
async def test_without_a_key_no_body_is_read_and_a_bad_one_costs_one_error(tmp_path: Path, path: str) -> None:
    many: Any = {"model": "podium", "input": [0] * 300_000, "messages": [{"role": "user", "content": [0] * 300_000}]}
    body = {name: many[name] for name in ("model", "input" if path.endswith("responses") else "messages")}
    async with (
        live(catalog_of(said(TWO_STEPS), said("Plan."), said("42")), tmp_path, with_keys=True) as server,
        httpx.AsyncClient(base_url=server.url, timeout=20) as http,
    ):
        assert (await http.post(path, content=b"\xff{", headers={"Authorization": "Bearer pod_no"})).status_code == 401
        good = {"Authorization": f"Bearer {await a_key(server, 'good')}"}
        reply = await http.post(path, json=body, headers=good)
        assert (reply.status_code, reply.json()["error"]["code"]) == (400, "invalid_request")
        reply = await http.post(path, json={f"f{number}": 0 for number in range(100_000)}, headers=good)
        assert "100 fields at most" in reply.json()["error"]["message"]


async def test_tools_count_as_tokens(tmp_path: Path) -> None:
    tool: Any = {"type": "function", "function": {"name": "now", "description": "x" * 4000}}
    async with live(catalog_of(said(TWO_STEPS), said("Plan."), said("42")), tmp_path, with_keys=True) as server:
        secret = await a_key(server, "few", tokens_per_minute=500)
        async with client(server, secret) as ai:
            with pytest.raises(openai.RateLimitError, match="tokens"):
                await ai.chat.completions.create(model="podium", messages=ASKED, tools=[tool])
            await ai.chat.completions.create(model="podium", messages=ASKED)


async def test_a_run_is_its_keys_alone(tmp_path: Path) -> None:
    async with live(catalog_of(said(TWO_STEPS), said("Plan."), said("42")), tmp_path, with_keys=True) as server:
        mine, yours = await a_key(server, "mine"), await a_key(server, "yours", store_content=False)
        async with client(server, mine) as ai:
            raw = await ai.chat.completions.with_raw_response.create(model="podium", messages=ASKED)
            run = raw.headers["x-podium-run"]
        async with client(server, yours) as ai:
            bare = (await ai.chat.completions.with_raw_response.create(model="podium", messages=ASKED)).headers["x-podium-run"]
        async with httpx.AsyncClient(base_url=server.url) as http:
            seen = await http.get(f"/v1/runs/{run}", headers={"Authorization": f"Bearer {mine}"})
            assert seen.json()["answer"] == "42"
            hidden = await http.get(f"/v1/runs/{run}", headers={"Authorization": f"Bearer {yours}"})
            unknown = await http.get("/v1/runs/run_123", headers={"Authorization": f"Bearer {yours}"})
            assert (hidden.status_code, hidden.content) == (unknown.status_code, unknown.content) == (404, unknown.content)
            reader = await a_key(server, "reader", scopes=frozenset({"read"}))
            assert (await http.get(f"/v1/runs/{run}", headers={"Authorization": f"Bearer {reader}"})).status_code == 404
            assert (await http.get("/v1/models", headers={"Authorization": f"Bearer {reader}"})).status_code == 403
            operator = await a_key(server, "operator", scopes=frozenset({"admin"}))
            assert (await http.get(f"/v1/runs/{run}", headers={"Authorization": f"Bearer {operator}"})).content == seen.content
            without = (await http.get(f"/v1/runs/{bare}", headers={"Authorization": f"Bearer {yours}"})).json()
            assert (without["question"], without["answer"], without["transcripts"]) == (None, None, [])
            assert without["usage"]["cost_usd"] == pytest.approx(0.003)


async def test_a_monthly_quota_holds_under_concurrency_and_is_booked_to_the_cent(tmp_path: Path) -> None:
    solver = Puppet(lambda call: "42", seconds=0.02)
    async with live(catalog_of(said(TWO_STEPS), said("Plan."), solver), tmp_path, with_keys=True) as server:
        secret = await a_key(server, "poor", monthly_usd=0.02)
        asked: Any = {"podium": {"budget_usd": 0.004}}
        async with client(server, secret) as ai:
            done = await asyncio.gather(
                *(ai.chat.completions.create(model="podium", messages=ASKED, extra_body=asked) for _ in range(40)),
                return_exceptions=True,
            )
        refused = [each for each in done if isinstance(each, openai.RateLimitError)]
        assert {each.code for each in refused} <= {"insufficient_quota", "rate_limit_exceeded"}
        answered = [each for each in done if not isinstance(each, BaseException)]
        assert len(answered) + len(refused) == 40
        assert 5 <= len(answered) <= 6
        [spent] = (await server.accounts.quotas.spent()).values()
        assert spent.spent_usd == pytest.approx(0.003 * len(answered))


async def test_a_key_that_gets_a_quota_is_held_to_it_and_not_refused_for_it(tmp_path: Path) -> None:
    async with live(catalog_of(said(TWO_STEPS), said("Plan."), said("42")), tmp_path, with_keys=True) as server:
        secret = await a_key(server, "web")
        async with client(server, secret) as ai:
            await ai.chat.completions.create(model="podium", messages=ASKED)
            async with Database(f"sqlite:///{tmp_path / 'podium.db'}") as outside:  # as ``podium keys change`` does
                await Keys(outside).change("web", monthly_usd=1.0)
                await ai.chat.completions.create(model="podium", messages=ASKED)
                [spent] = (await server.accounts.quotas.spent()).values()
                assert spent.spent_usd == pytest.approx(0.006)
                await Keys(outside).change("web", monthly_usd=0.4)
            with pytest.raises(openai.RateLimitError, match=r"\$0.4 per month"):  # a request may cost $0.5 here
                await ai.chat.completions.create(model="podium", messages=ASKED)


async def test_requests_per_minute(tmp_path: Path) -> None:
    async with live(catalog_of(said(TWO_STEPS), said("Plan."), said("42")), tmp_path, with_keys=True) as server:
        secret = await a_key(server, "slow", requests_per_minute=2)
        async with client(server, secret) as ai:
            done = [
                await asyncio.gather(ai.chat.completions.create(model="w2", messages=ASKED), return_exceptions=True)
                for _ in range(3)
            ]
        [last] = done[-1]
        assert isinstance(last, openai.RateLimitError)
        assert last.code == "rate_limit_exceeded"
        assert 1 <= int(last.response.headers["retry-after"]) <= 60


async def test_who_leaves_pays_for_what_was_asked_and_no_more(tmp_path: Path) -> None:
    solver = Puppet(lambda call: "word " * 1000, seconds=0.01)
    async with live(catalog_of(said(TWO_STEPS), said("Plan."), solver), tmp_path, with_keys=True) as server:
        secret = await a_key(server, "leaver", monthly_usd=1.0)
        async with client(server, secret) as ai:
            asking = asyncio.create_task(ai.chat.completions.create(model="podium", messages=ASKED))
            await until(lambda: solver.under_way == 1)
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)
        await until(lambda: solver.under_way == 0, seconds=1.0)
        async with asyncio.timeout(5):
            # Another connection books it.
            while (spent := next(iter((await server.accounts.quotas.spent()).values()))).open_usd:  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        assert spent.spent_usd == pytest.approx(0.002)
        assert 0 < spent.uncertain_usd < 0.01, "the call that was cut off, at most"
