"""Keys take turns: whoever asks much waits for itself, and what it may not ask does not stand in the queue."""

import asyncio
import random
from pathlib import Path
from typing import Any

import httpx
import pytest

from podium.errors import KeyBusy, QuotaExceeded
from podium.pools.models import PoolCatalog
from podium.pools.opened import OpenPool
from podium.serving.api_errors import ApiErrorException
from podium.serving.app import ServerLimits
from podium.serving.concurrency import ConcurrencyGate, Place
from podium.serving.store.database import Database
from podium.serving.store.keys import Key, Keys
from podium.serving.store.quotas import Counted, Lease, Quotas
from podium.types import Call, Card
from podium.workers.limited import Limit, Limited
from podium.workers.pool import Member, WorkerPool
from tests.serving.live import Live, catalog_of, live, said, until
from tests.serving.test_access import a_key


class Stage:
    """A worker that answers when it is told to, in the order in which it was asked; notes what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.served: list[str] = []
        self.inside = 0
        self.most: dict[str, int] = {}
        self._tickets = asyncio.Semaphore(0)

    async def __call__(self, call: Call) -> Any:
        name = call.question[-1].content
        self.asked.append(name)
        self.inside += 1
        here = len(self.asked) - len(self.served)
        self.most[name] = max(self.most.get(name, 0), self.asked.count(name) - self.served.count(name))
        assert here >= 1
        await self._tickets.acquire()
        self.inside -= 1
        self.served.append(name)
        return await said("42")(call)

    def serve(self, count: int) -> None:
        for _ in range(count):
            self._tickets.release()


def post(http: httpx.AsyncClient, secret: str, name: str) -> "asyncio.Task[httpx.Response]":
    body = {"model": "w1", "messages": [{"role": "user", "content": name}]}
    return asyncio.create_task(http.post("/v1/chat/completions", json=body, headers={"Authorization": f"Bearer {secret}"}))


def browser(server: Live) -> httpx.AsyncClient:
    return httpx.AsyncClient(base_url=server.url, timeout=60, limits=httpx.Limits(max_connections=None))


def gate_of(server: Live) -> ConcurrencyGate:
    gate: ConcurrencyGate = server.service.gate
    return gate


async def test_one_request_beside_a_flood_is_served_in_the_next_round(tmp_path: Path) -> None:
    stage: Any = Stage()
    limits = ServerLimits(concurrency=4, queue=1000)
    async with live(catalog_of(said(""), stage), tmp_path, with_keys=True, limits=limits) as server, browser(server) as http:
        loud, quiet = [await a_key(server, name) for name in ("loud", "quiet")]
        flood = [post(http, loud, "loud") for _ in range(200)]
        await until(lambda: gate_of(server).waiting == 196)
        single = post(http, quiet, "quiet")
        await until(lambda: gate_of(server).waiting == 197)
        stage.serve(4)  # one service time
        await until(lambda: "quiet" in stage.asked)
        assert stage.asked.index("quiet") <= 4 + 1, "the first or second place that is free"
        stage.serve(4)
        assert (await single).status_code == 200
        stage.serve(200)
        assert {reply.status_code for reply in await asyncio.gather(*flood)} == {200}


async def test_a_full_queue_makes_room_for_whoever_has_less_of_it(tmp_path: Path) -> None:
    stage: Any = Stage()
    limits = ServerLimits(concurrency=2, queue=10)
    async with live(catalog_of(said(""), stage), tmp_path, with_keys=True, limits=limits) as server, browser(server) as http:
        loud, quiet = [await a_key(server, name) for name in ("loud", "quiet")]
        flood = [post(http, loud, "loud") for _ in range(50)]
        await until(lambda: sum(task.done() for task in flood) == 38)
        more = [post(http, quiet, "quiet") for _ in range(8)]
        await until(lambda: sum(task.done() for task in (*flood, *more)) == 46)
        stage.serve(60)
        codes = [(await task).status_code for task in flood]
        quiet_codes = [(await task).status_code for task in more]
        assert codes.count(200) == 2 + 5
        assert quiet_codes.count(200) == 5, "half of the queue each, whoever came first"
        assert set(codes) | set(quiet_codes) == {200, 429}


async def test_who_may_ask_no_more_this_minute_does_not_stand_in_the_queue(tmp_path: Path) -> None:
    stage: Any = Stage()
    limits = ServerLimits(concurrency=1, queue=100)
    async with live(catalog_of(said(""), stage), tmp_path, with_keys=True, limits=limits) as server, browser(server) as http:
        few = await a_key(server, "few", requests_per_minute=3)
        tasks = [post(http, few, "few") for _ in range(60)]
        await until(lambda: sum(task.done() for task in tasks) >= 57)
        assert gate_of(server).waiting == 2
        refused = [task.result() for task in tasks if task.done()]
        assert {reply.json()["error"]["code"] for reply in refused} == {"rate_limit_exceeded"}
        stage.serve(3)
        assert sorted(reply.status_code for reply in await asyncio.gather(*tasks)) == [200] * 3 + [429] * 57


async def test_tokens_of_who_leaves_the_queue_are_free_again(tmp_path: Path) -> None:
    stage: Any = Stage()
    limits = ServerLimits(concurrency=1, queue=100)
    async with live(catalog_of(said(""), stage), tmp_path, with_keys=True, limits=limits) as server, browser(server) as http:
        few = await a_key(server, "few", tokens_per_minute=100)
        first = post(http, few, "x" * 40)
        await until(lambda: gate_of(server).inside == 1)
        waiting = post(http, few, "y" * 320)
        await until(lambda: gate_of(server).waiting == 1)
        assert (await post(http, few, "z" * 320)).status_code == 429
        waiting.cancel()
        await until(lambda: gate_of(server).waiting == 0)
        stage.serve(2)
        assert (await first).status_code == 200
        async with asyncio.timeout(5):
            while (await post(http, few, "z" * 200)).status_code != 200:
                stage.serve(1)


@pytest.mark.parametrize("own", [True, False])
async def test_a_key_at_its_limit_waits_and_blocks_nobody(tmp_path: Path, own: bool) -> None:
    stage: Any = Stage()
    limits = ServerLimits(concurrency=8, queue=100, concurrency_per_key=None if own else 2)
    async with live(catalog_of(said(""), stage), tmp_path, with_keys=True, limits=limits) as server, browser(server) as http:
        limited = await a_key(server, "limited", concurrency=2 if own else None)
        others = [await a_key(server, f"other{n}") for n in range(3)]
        flood = [post(http, limited, "limited") for _ in range(30)]
        await until(lambda: gate_of(server).waiting == 28)
        beside = [post(http, secret, "other") for secret in others]
        await until(lambda: stage.inside == 5)
        stage.serve(40)
        assert {reply.status_code for reply in await asyncio.gather(*flood, *beside)} == {200}
        assert stage.most == {"limited": 2, "other": 3}


async def test_a_keys_own_limit_holds_over_replicas(url: str, tmp_path: Path) -> None:
    stages: list[Any] = [Stage(), Stage()]
    limits = ServerLimits(concurrency=3, queue=100)
    async with (
        live(catalog_of(said(""), stages[0]), tmp_path, with_keys=True, limits=limits, url=url) as one,
        live(catalog_of(said(""), stages[1]), tmp_path, with_keys=True, limits=limits, url=url, replica="two") as two,
        browser(one) as http,
        browser(two) as other,
    ):
        secret = await a_key(one, "limited", concurrency=3)
        quiet = await a_key(one, "quiet")
        flood = [post(each, secret, "limited") for each in (http, other) for _ in range(10)]
        await until(lambda: stages[0].inside + stages[1].inside == 3)
        await asyncio.sleep(0.5)  # several looks of each replica
        assert stages[0].inside + stages[1].inside == 3
        # Where the limited key holds no place, the places are others': on each replica there is one at most that looks.
        alone = min(range(2), key=lambda n: stages[n].inside)
        beside = post((http, other)[alone], quiet, "quiet")
        await until(lambda: "quiet" in stages[alone].asked)
        for stage in stages:
            stage.serve(30)
        assert {reply.status_code for reply in await asyncio.gather(*flood, beside)} == {200}


async def admitted(quotas: Quotas, key: Key, usd: float, tokens: int, counted: Counted | None = None) -> Lease:
    """A lease, within seconds; nothing announces when there is room."""
    async with asyncio.timeout(5):
        while True:
            try:
                return await quotas.admit(key, usd, tokens, counted=counted)
            except (KeyBusy, QuotaExceeded):
                await asyncio.sleep(0.01)


async def test_who_leaves_while_it_is_let_in_makes_room_at_once(database: Database) -> None:
    key, _ = await Keys(database).create("web", monthly_usd=1.0, concurrency=1, tokens_per_minute=100)
    quotas = Quotas(database, "one")
    for _ in range(5):
        counted = await quotas.count(key, 50)
        for earlier in (None, counted):
            asking = asyncio.create_task(quotas.admit(key, 1.0, 50, counted=earlier))
            await asyncio.sleep(0)
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)
            # Who left may still be let in for a moment, and is shown out then.
            await quotas.settle(await admitted(quotas, key, 1.0, 50, counted=earlier), 0.0, 0.0, 0 if earlier is None else 50)
        await quotas.uncount(key, counted)
    lease = await admitted(quotas, key, 1.0, 100)
    assert lease.tokens == 100, "all of them are free again"


async def test_a_limit_that_is_changed_holds_from_the_next_request_on(tmp_path: Path) -> None:
    stage: Any = Stage()
    async with live(catalog_of(said(""), stage), tmp_path, with_keys=True) as server, browser(server) as http:
        secret = await a_key(server, "web")
        flood = [post(http, secret, "web") for _ in range(5)]
        await until(lambda: stage.inside == 5)
        async with Database(f"sqlite:///{tmp_path / 'podium.db'}") as outside:  # as ``podium keys change`` does
            await Keys(outside).change("web", concurrency=5)
            late = post(http, secret, "web")
            await until(lambda: gate_of(server).waiting == 1)
            await asyncio.sleep(0.3)
            assert stage.inside == 5
            await Keys(outside).change("web", concurrency=6)
            await until(lambda: stage.inside == 6)
        stage.serve(6)
        assert {reply.status_code for reply in await asyncio.gather(*flood, late)} == {200}


async def test_workers_that_are_asked_one_at_a_time_are_shared_fairly_too(tmp_path: Path) -> None:
    """What waits for a worker's own limit, inside the server, takes turns as well."""
    stage: Any = Stage()
    card = Card(name="w1", prompt_usd=1e-6, completion_usd=1e-5)
    limit = Limit(concurrency=1)
    worker = Limited(stage, limit)
    catalog = PoolCatalog(OpenPool(workers=WorkerPool([Member(worker=worker, card=card)])), "solo:w1")
    async with live(catalog, tmp_path, with_keys=True) as server, browser(server) as http:
        loud, quiet = [await a_key(server, name) for name in ("loud", "quiet")]
        flood = [post(http, loud, "loud") for _ in range(60)]
        await until(lambda: len(limit._line._lines) == 58, seconds=20)  # one is served, one looks for room, the rest wait
        single = post(http, quiet, "quiet")
        await until(lambda: len(limit._line._lines) == 59)
        stage.serve(61)
        assert (await single).status_code == 200
        assert stage.served.index("quiet") <= 3, "not behind all that wait"
        await asyncio.gather(*flood)


class TestGate:
    async def test_keys_take_turns(self) -> None:
        gate = ConcurrencyGate(1, 100)
        inside = gate.join("x")
        places = [gate.join(name) for name in ("a", "a", "a", "b", "c", "b")]
        order = []
        for _ in places:
            inside.leave()
            [inside] = [place for place in places if place.is_inside]
            order.append(inside.key)
        assert order == ["a", "b", "c", "a", "b", "a"]

    async def test_places_are_neither_lost_nor_made(self) -> None:
        """Whatever comes, leaves, steps back and gives up, in any order."""
        for seed in range(40):
            rng = random.Random(seed)
            gate = ConcurrencyGate(3, 6, per_key=2)
            places: list[Place] = []
            for _ in range(300):
                action = rng.random()
                inside = [place for place in places if place.is_inside]
                if action < 0.5 or not places:
                    try:
                        places.append(gate.join(rng.choice("abcd"), rng.choice((None, 1, 3))))
                    except ApiErrorException:
                        assert gate.waiting >= 6
                elif action < 0.6 and inside:
                    rng.choice(inside).step_back(60.0)
                else:
                    places.pop(rng.randrange(len(places))).leave()
                assert gate.inside == sum(place.is_inside for place in places) <= 3
                assert gate.waiting <= 6 + 3
            for place in places:
                place.leave()
            assert (gate.inside, gate.waiting) == (0, 0)
            assert [gate._limits, gate._inside, gate._resting] == [{}, {}, {}], "nothing is remembered of who is gone"
