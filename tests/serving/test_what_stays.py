"""What a server keeps of a request that is over: its line in the books, and nothing in memory, also where the client left."""

import asyncio
import gc
from collections import Counter
from contextlib import suppress
from pathlib import Path

import httpx
import pytest

from podium.pools.models import PoolCatalog
from podium.pools.opened import OpenPool
from podium.types import Call, Card, Completion
from podium.workers.limited import Limit
from podium.workers.pool import Member, WorkerPool
from podium.workers.stack import Layers, stacked
from tests.serving.live import Live, Puppet, live, said, until

ASKED = {"model": "podium", "messages": [{"role": "user", "content": "6 times 7?"}]}


def limited(puppet: Puppet, limit: Limit) -> PoolCatalog:
    """One worker with the layers that a pool file gives it."""
    card = Card(name="mock", prompt_usd=1e-6, completion_usd=1e-5)
    worker = stacked(puppet, card, Layers(max_tokens=100, limit=limit, retries=2), [])
    return PoolCatalog(OpenPool(workers=WorkerPool([Member(worker=worker, card=card)])), "solo:mock")


def alive() -> Counter[str]:
    """Podium's own objects in this process, by type."""
    gc.collect()
    kinds = Counter(f"{type(each).__module__}.{type(each).__qualname__}" for each in gc.get_objects())
    return Counter({kind: count for kind, count in kinds.items() if kind.startswith("podium.")})


async def wave(server: Live, secret: str, puppet: Puppet, clients: int) -> None:
    """``clients`` ask at once, half of them for a stream; every second one hangs up while it is worked on."""
    async with httpx.AsyncClient(headers={"Authorization": f"Bearer {secret}"}, timeout=60) as http:

        async def client(number: int) -> None:
            body = {**ASKED, "stream": number % 4 < 2}
            (await http.post(f"{server.url}/v1/chat/completions", json=body)).raise_for_status()

        tasks = [asyncio.create_task(client(number)) for number in range(clients)]
        await until(lambda: puppet.under_way == clients, seconds=60)
        for task in tasks[::2]:
            task.cancel()
        for task in tasks:
            with suppress(asyncio.CancelledError):
                await task
        await until(lambda: not puppet.under_way and not server.service.gate.inside, seconds=60)
        await server.accounts.settled()
    puppet.calls.clear()


@pytest.mark.parametrize("limit", [Limit(concurrency=64), Limit(concurrency=64, requests_per_minute=100_000)])
async def test_nothing_stays_but_what_a_minute_has_to_remember(tmp_path: Path, limit: Limit) -> None:
    puppet = Puppet(lambda call: "It is 42.", seconds=1.0)
    async with live(limited(puppet, limit), tmp_path, with_keys=True) as server:
        _, secret = await server.accounts.keys.create("leaver", monthly_usd=100.0)
        await wave(server, secret, puppet, 16)
        before = alive()
        await wave(server, secret, puppet, 32)
        expected = Counter({"podium.workers.limited.LimitSlot": 32 if limit.counts_requests else 0})
        for _ in range(60):  # a connection's timers hold on to its last request until they are due
            if (stays := alive() - before) == +expected:
                break
            await asyncio.sleep(0.5)
    assert stays == +expected


async def test_no_call_is_made_up_for_a_worker_that_has_nothing_to_say_about_calls() -> None:
    def made() -> Call:
        raise AssertionError("nobody asked for it")

    member = Member(worker=said("It is 42."), card=Card(name="mock"))
    member.check_call(made)

    class Picky(Puppet):
        def check_call(self, call: Call) -> None:
            raise ValueError(call.subtask)

    async def around(call: Call) -> Completion:
        return Completion(text="")

    for picky in (
        Member(worker=Picky(lambda call: ""), card=Card(name="mock")),
        Member(worker=around, card=Card(name="mock"), able=Picky(lambda call: "")),
        WorkerPool([Member(worker=Picky(lambda call: ""), card=Card(name="mock"))]).wrapped(lambda member: around)[0],
    ):
        with pytest.raises(ValueError, match="Plan"):
            picky.check_call(lambda: Call(subtask="Plan"))
