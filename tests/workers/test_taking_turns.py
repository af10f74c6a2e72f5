"""Names take turns; a lock that is given on is held by one, whoever gives up waiting."""

import asyncio
import random

import pytest

from podium.types import Call, Completion
from podium.workers.limited import Limit, Limited
from podium.workers.taking_turns import Lines, Turns
from podium.workers.tenant import Tenant, tenant


def test_one_of_each_name_before_any_name_again() -> None:
    lines: Lines[str] = Lines()
    for item in ("a1", "a2", "a3", "b1", "c1", "c2"):
        lines.join(item[0], item)
    assert (len(lines), lines.longest(), lines.waiting("a")) == (6, "a", 3)
    assert lines.take(lambda name: name != "a") == "b1"
    assert [lines.take() for _ in range(3)] == ["a1", "c1", "a2"]
    lines.join("a", "a2", first=True)
    assert lines.last("c") == "c2"
    assert lines.leave("a", "a3")
    assert not lines.leave("a", "a3")
    assert [lines.take(), lines.take(), len(lines)] == ["a2", None, 0]


@pytest.mark.parametrize("seed", range(20))
async def test_one_holds_the_lock_whoever_gives_up(seed: int) -> None:
    rng, turns, holding, done = random.Random(seed), Turns(), 0, 0

    async def hold(name: str) -> None:
        nonlocal holding, done
        async with turns.of(name):
            holding += 1
            assert holding == 1
            try:
                for _ in range(rng.randrange(3)):
                    await asyncio.sleep(0)
            finally:
                holding -= 1
            done += 1

    tasks = [asyncio.create_task(hold(rng.choice("abc"))) for _ in range(40)]
    for _ in range(60):
        if rng.random() < 0.4:
            rng.choice(tasks).cancel()
        if rng.random() < 0.5:
            await asyncio.sleep(0)
    await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), 5)
    assert done == sum(not task.cancelled() for task in tasks)
    async with asyncio.timeout(1):
        await hold("a")


async def test_two_that_give_up_at_once_do_not_give_the_lock_to_two() -> None:
    turns, order = Turns(), []

    async def hold(number: int, release: asyncio.Event) -> None:
        async with turns.of("a"):
            order.append(number)
            await release.wait()

    releases = [asyncio.Event() for _ in range(4)]
    tasks = [asyncio.create_task(hold(number, releases[number])) for number in range(4)]
    await asyncio.sleep(0)
    # The first ends while the second gives up: the second's turn is passed over, and must not be passed on once more.
    releases[0].set()
    tasks[1].cancel()
    for _ in range(5):
        await asyncio.sleep(0)
    assert order == [0, 2]
    for release in releases:
        release.set()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert order == [0, 2, 3]


async def test_a_workers_limit_is_shared_by_turns_of_tenants() -> None:
    served = []

    async def answer(call: Call) -> Completion:
        served.append(tenant.get().name)
        await asyncio.sleep(0)
        return Completion(text="42")

    worker = Limited(answer, Limit(concurrency=1))

    async def ask(name: str) -> None:
        tenant.set(Tenant(name=name))
        await worker(Call.plain("?"))

    await asyncio.gather(*(ask(name) for name in ["a"] * 20 + ["b"] * 2))
    assert [index for index, name in enumerate(served) if name == "b"][-1] <= 6
