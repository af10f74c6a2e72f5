"""Where the others add nothing to the best worker, tuning says so early; where they do, it does not."""

from collections.abc import Callable
from pathlib import Path

import pytest
from scipy.stats import binom

import podium
from podium.policies.tuned_record import read_tuned
from podium.tuning.headroom import FEWEST, LITTLE, MOST, headroom, needed
from podium.tuning.report import verdict
from podium.tuning.run import tune_pool
from podium.tuning.search import Search
from podium.tuning.trials import Bench
from podium.workers.pool import WorkerPool
from tests.tuning.desk import TRADES, clerk, exact, kind_of, member, pool, problems


def partly(share: int) -> Callable[[podium.Call], str]:
    """Right on all problems whose number ends below ``share``, and like the others only on those."""

    def answer(call: podium.Call) -> str:
        right = clerk("sum")(call)
        return right if right[-1:].isdigit() and int(right[-1]) < share else "no idea"

    return answer


@pytest.mark.parametrize("workers", [pool(*(f"sum{n}" for n in range(7))), pool("idle", "sum", "idle2", "idle3")])
async def test_copies_and_a_pool_whose_best_dominates_end_early(tmp_path: Path, workers: WorkerPool) -> None:
    for seed in range(2):
        found = await tune_pool(workers, problems(100, ("sum",)), exact, tmp_path, kind_of=kind_of, max_calls=2000, seed=seed)
        assert found.calls <= 300
        assert found.use_worker
        assert found.best_worker.startswith("sum")
        assert verdict(found).startswith(f"Nothing to conduct here: use worker {found.best_worker}. Of ")
        assert verdict(found) in (tmp_path / "report.md").read_text()
        record, _ = read_tuned(tmp_path)
        assert [[step.worker for step in one.steps] for one in record.workflows] == [[found.best_worker]]


async def test_copies_that_are_wrong_together_leave_nothing_either(tmp_path: Path) -> None:
    workers = WorkerPool([member(f"copy{n}", partly(6)) for n in range(7)])
    found = await tune_pool(workers, problems(100, ("sum",)), exact, tmp_path, kind_of=kind_of, max_calls=2000)
    assert (found.use_worker, found.calls <= 300) == (True, True)
    assert found.headroom is not None
    assert 0 < found.headroom.right < found.headroom.problems


async def test_the_gate_can_be_left_open(tmp_path: Path) -> None:
    found = await tune_pool(
        pool("idle", "sum"), problems(100, ("sum",)), exact, tmp_path, kind_of=kind_of, max_calls=200, gate=False
    )
    assert found.headroom is None
    assert found.tested


async def test_specialists_leave_something(tmp_path: Path) -> None:
    found = await tune_pool(pool(), problems(100), exact, tmp_path, kind_of=kind_of, max_calls=300)
    assert found.headroom is None


async def test_with_much_to_conduct_the_gate_asks_a_few_problems_and_with_little_as_many_as_it_takes() -> None:
    for kinds, fewest, most in ((TRADES, 5, 20), (("sum",), 42, 42)):
        search = Search(Bench(pool(), exact, lambda one: "all"), problems(100, kinds), 3)
        await search.begin(lambda: 1000)
        found = await search.headroom(lambda: 1000)
        assert fewest <= found.problems <= most
        assert found.is_little == (kinds == ("sum",))


def test_only_problems_that_all_were_asked_count_and_the_cheapest_of_equals_is_best() -> None:
    right = {"a": {0: True, 1: True}, "b": {0: False, 1: False}, "c": {0: True}}
    found = headroom(right, (0, 1), {0: 2.0, 1: 1.0})
    assert (found.best, found.problems, found.right, found.others, found.cheaper) == (1, 2, 1, 0, 0)
    assert not found.is_little, "two problems show nothing"
    assert headroom(right, (0, 1), {0: 1.0, 1: 2.0}).best == 0


@pytest.mark.parametrize("workers", [2, 7, 12])
def test_both_errors_are_rare(workers: int) -> None:
    """Others right where the best is wrong: on 1 % of the problems the gate should end it, on 20 % it should not."""
    asked = needed(workers)
    assert FEWEST <= asked <= MOST
    allowed = int(LITTLE * asked)
    assert 1 - binom.cdf(allowed, asked, 0.01) < 0.03
    assert binom.cdf(allowed, asked, 0.20) < 0.07


def test_an_unknown_price_is_not_a_low_one() -> None:
    alike = {f"p{number}": {0: True, 1: True} for number in range(30)}
    found = headroom(alike, [0, 1], {1: 0.01})
    assert (found.best, found.cheaper) == (1, 0), "of equals the one whose price is known"
    found = headroom({"worse": {0: False, 1: True}, **alike}, [0, 1], {1: 0.01})
    assert (found.best, found.cheaper) == (1, 0), "nobody knows that worker 0 costs less"
    assert headroom(alike, [0, 1]).best == 0


async def test_the_gate_is_not_left_open_for_a_price_nobody_knows(tmp_path: Path) -> None:
    def nearly(call: podium.Call) -> str:
        right = clerk("sum")(call)
        return "?" if right[-2:] in ("00", "25") else right

    workers = WorkerPool([member("a", nearly, None), member("b", clerk("sum"), 0.01)])
    found = await tune_pool(workers, problems(200, ("sum",)), exact, tmp_path, kind_of=kind_of, max_calls=2000)
    assert (found.best_worker, found.headroom is not None) == ("b", True)
