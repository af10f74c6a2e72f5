"""Kinds that take calls side by side: what each may take does not hang on who is faster."""

import asyncio

import pytest

from podium.tuning.turns import Turns


class Rounds:
    """Kinds that take calls side by side, out of ten; what each was allowed, in order."""

    def __init__(self, left: int = 10) -> None:
        self.left = left
        self.seen: list[tuple[str, int, bool]] = []
        self.turns = Turns(lambda: self.left)

    async def kind(self, name: str, wanted: list[int], late: int) -> None:
        for calls in wanted:
            may = await self.turns.may_begin(name, calls)
            self.seen.append((name, calls, may))
            for _ in range(late):
                await asyncio.sleep(0)
            self.left -= calls * may

    async def go(self, wanted: dict[str, list[int]], late: dict[str, int]) -> dict[str, list[tuple[int, bool]]]:
        await asyncio.gather(
            *self.turns.side_by_side({name: self.kind(name, each, late.get(name, 0)) for name, each in wanted.items()})
        )
        return {name: [(calls, may) for of, calls, may in self.seen if of == name] for name in wanted}


@pytest.mark.parametrize("late", [{}, {"a": 9}, {"b": 9}, {"c": 9, "a": 3}])
async def test_who_needs_more_than_its_part_waits_and_then_has_all_that_is_left(late: dict[str, int]) -> None:
    rounds = Rounds(12)
    found = await rounds.go({"a": [2, 6, 1], "b": [1], "c": [4, 2]}, late)
    # Each has 4. Of what a leaves by waiting for more, c takes its own; a goes on when nobody else does, with 12 - 2 - 1 - 6.
    assert found == {"a": [(2, True), (6, False), (1, True)], "b": [(1, True)], "c": [(4, True), (2, True)]}
    assert rounds.left == 2


async def test_those_who_wait_go_on_in_their_order_and_end_with_the_round() -> None:
    rounds = Rounds(9)
    found = await rounds.go({"a": [5], "b": [4, 1], "c": [5]}, {"a": 3})
    assert found == {"a": [(5, True)], "b": [(4, True), (1, False)], "c": [(5, False)]}
    assert await rounds.go({"d": [1]}, {}) == {"d": [(1, False)]}


async def test_a_kind_that_breaks_does_not_hold_the_others_up() -> None:
    turns = Turns(lambda: 8)

    async def broken() -> None:
        await turns.may_begin("a", 1)
        raise KeyError("a bug")

    async def waiting() -> None:
        assert await turns.may_begin("b", 8)

    done = await asyncio.gather(*turns.side_by_side({"a": broken(), "b": waiting()}), return_exceptions=True)
    assert [type(one) for one in done] == [KeyError, type(None)]


async def test_all_can_be_cancelled_while_some_wait() -> None:
    turns = Turns(lambda: 6)

    async def asking(kind: str, calls: int) -> None:
        await turns.may_begin(kind, calls)
        await asyncio.sleep(60)

    wanted = {"a": asking("a", 1), "b": asking("b", 6), "c": asking("c", 6)}
    tasks = [asyncio.ensure_future(one) for one in turns.side_by_side(wanted)]
    await asyncio.sleep(0)
    for task in tasks:
        task.cancel()
    done = await asyncio.gather(*tasks, return_exceptions=True)
    assert [type(one) for one in done] == [asyncio.CancelledError] * 3
