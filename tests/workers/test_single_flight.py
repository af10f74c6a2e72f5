"""Equal calls at the same time: one call, made by one of them, whose own troubles stay its own."""

import asyncio
import random
from contextvars import ContextVar

import pytest

from podium.errors import BudgetExceeded, WorkerUnavailable
from podium.types import Call, Completion
from podium.workers.single_flight import SingleFlight

CALL = Call.plain("6 times 7?")
who: ContextVar[int] = ContextVar("who")


class Made:
    """Answers after a while; notes who the call was made for, and raises what was said for it."""

    def __init__(self, **errors: BaseException) -> None:
        self.errors = {int(name[1:]): error for name, error in errors.items()}
        self.by: list[int] = []
        self.under_way = 0
        self.go = asyncio.Event()

    async def __call__(self, call: Call) -> Completion:
        self.by.append(who.get())
        self.under_way += 1
        assert self.under_way == 1, "equal calls are one at a time"
        try:
            await self.go.wait()
            if who.get() in self.errors:
                raise self.errors[who.get()]
            return Completion(text=f"made by {who.get()}")
        finally:
            self.under_way -= 1


async def callers(flights: SingleFlight, made: Made, count: int) -> list[asyncio.Task[Completion]]:
    async def ask(number: int) -> Completion:
        who.set(number)
        return await flights("key", CALL, made)

    tasks = []
    for number in range(count):
        tasks.append(asyncio.create_task(ask(number)))
        await asyncio.sleep(0)
    return tasks


async def test_a_budget_is_its_owners_trouble_and_the_next_in_line_makes_the_call() -> None:
    made = Made(n0=BudgetExceeded("mine is empty"), n1=BudgetExceeded("mine too"))
    tasks = await callers(SingleFlight(), made, 5)
    made.go.set()
    done = await asyncio.gather(*tasks, return_exceptions=True)
    assert [str(each) for each in done[:2]] == ["mine is empty", "mine too"]
    assert [each.text for each in done[2:] if isinstance(each, Completion)] == ["made by 2"] * 3
    assert made.by == [0, 1, 2]


async def test_what_the_worker_did_is_shared() -> None:
    made = Made(n0=WorkerUnavailable("gone"))
    tasks = await callers(SingleFlight(), made, 4)
    made.go.set()
    done = await asyncio.gather(*tasks, return_exceptions=True)
    assert {str(each) for each in done} == {"gone"}
    assert made.by == [0]


async def test_who_began_leaves_and_the_call_goes_on() -> None:
    made, flights = Made(), SingleFlight()
    tasks = await callers(flights, made, 3)
    tasks[0].cancel()
    await asyncio.wait([tasks[0]])
    late = await callers(flights, made, 1)
    made.go.set()
    assert [(await task).text for task in (*tasks[1:], *late)] == ["made by 0"] * 3
    assert made.by == [0]


async def test_who_began_leaves_and_fails_later_then_the_next_one_makes_the_call() -> None:
    made = Made(n0=BudgetExceeded("my seconds are over"))
    tasks = await callers(SingleFlight(), made, 3)
    tasks[0].cancel()
    await asyncio.wait([tasks[0]])
    made.go.set()
    assert [(await task).text for task in tasks[1:]] == ["made by 1"] * 2


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2)])
async def test_the_last_one_that_leaves_ends_the_call(order: tuple[int, ...]) -> None:
    made, flights = Made(), SingleFlight()
    tasks = await callers(flights, made, 3)
    for number in order:
        assert made.under_way == 1
        tasks[number].cancel()
        await asyncio.wait([tasks[number]])
    assert made.under_way == 0
    [anew] = await callers(flights, made, 1)
    made.go.set()
    assert (await anew).text == "made by 0"


async def test_who_is_cancelled_in_its_turn_passes_it_on() -> None:
    made = Made(n0=BudgetExceeded("mine is empty"))
    tasks = await callers(SingleFlight(), made, 3)
    tasks[0].add_done_callback(lambda _: tasks[1].cancel())
    made.go.set()
    done = await asyncio.gather(*tasks, return_exceptions=True)
    assert isinstance(done[1], asyncio.CancelledError)
    assert isinstance(done[2], Completion)


@pytest.mark.parametrize("seed", range(30))
async def test_whatever_leaves_and_fails_everybody_else_is_answered(seed: int) -> None:
    rng = random.Random(seed)
    made = Made(**{f"n{n}": BudgetExceeded(str(n)) for n in range(20) if rng.random() < 0.4})
    made.go.set()
    flights = SingleFlight()
    tasks = await callers(flights, made, 20)
    left = {n for n in range(20) if rng.random() < 0.4}
    for number in sorted(left, key=lambda _: rng.random()):
        for _ in range(rng.randrange(3)):
            await asyncio.sleep(0)
        tasks[number].cancel()
    done = await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), 5)
    for number, each in enumerate(done):
        if isinstance(each, asyncio.CancelledError):
            assert number in left
        elif isinstance(each, BaseException):
            assert str(each) == str(number), "only one's own"
    assert not flights._flights
