"""The gate opens where workers differ by problem, and stays shut where only luck tells them apart."""

import random

import pytest

from podium.errors import Blame, ConfigError
from podium.evaluation.evaluate import Result
from podium.evaluation.headroom import headroom
from tests.evaluation.results import result


def pool(chance: dict[str, dict[str, float]], problems: int = 200, repeats: int = 3, seed: int = 0) -> list[Result]:
    """Workers with a chance per kind of problem; kinds take turns."""
    rng = random.Random(seed)
    kinds = list(next(iter(chance.values())))
    return [
        result(arm=worker, problem=f"p{index}", kind=kinds[index % len(kinds)], repeat=repeat,
               correct=rng.random() < of[kinds[index % len(kinds)]])
        for worker, of in chance.items()
        for index in range(problems)
        for repeat in range(repeats)
    ]  # fmt: skip


def test_specialists_have_headroom() -> None:
    found = headroom(pool({"a": {"x": 0.95, "y": 0.1}, "b": {"x": 0.1, "y": 0.9}}))
    assert found.best_worker == "a"
    assert found.best == pytest.approx(0.52, abs=0.05)
    assert found.best_per_kind == pytest.approx(0.92, abs=0.04)
    assert found.headroom is not None
    assert found.headroom > 0.15
    assert found.p is not None
    assert found.p < 0.01
    assert found.verdict.startswith("Worth training")
    assert found.is_worth_training


def test_copies_of_a_noisy_worker_have_none() -> None:
    found = headroom(pool({f"copy {index}": {"x": 0.5} for index in range(7)}))
    assert found.oracle > 0.8  # what a naive reading would call a gain of 30 points
    assert found.headroom is not None
    assert abs(found.headroom) < 0.02
    assert not found.is_worth_training


def test_a_pool_with_one_good_worker_has_none() -> None:
    found = headroom(pool({"good": {"x": 1.0}, "bad": {"x": 0.0}}))
    assert found.best == found.oracle == 1.0
    assert not found.is_worth_training


def test_it_does_not_cry_wolf() -> None:
    pools = (pool({f"w{i}": {"x": 0.6} for i in range(4)}, 60, 2, seed) for seed in range(30))
    assert sum(headroom(each).is_worth_training is True for each in pools) <= 1


def test_what_it_needs_is_said() -> None:
    with pytest.raises(ConfigError, match="two workers"):
        headroom(pool({"a": {"x": 0.5}}))
    with pytest.raises(ConfigError, match="two problems"):
        headroom(pool({"a": {"x": 0.5}, "b": {"x": 0.5}}, problems=1))


def test_asked_once_luck_and_skill_can_not_be_told_apart() -> None:
    found = headroom(pool({"a": {"x": 0.5}, "b": {"x": 0.5}}, repeats=1))
    assert found.oracle > found.best
    assert found.headroom is found.is_worth_training is None
    assert found.verdict.startswith("Can not be told")


def test_problems_with_a_gap_are_left_out() -> None:
    results = pool({"a": {"x": 0.9}, "b": {"x": 0.1}}, problems=20)
    results[0] = result(arm="a", problem="p0", kind="x", repeat=0, correct=False, fault=Blame.WORLD)
    assert headroom(results).problems == 19
