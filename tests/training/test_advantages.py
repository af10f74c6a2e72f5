"""Rewards and advantages: laws, and the closed form of pass@k against counting every subset."""

import itertools
import math
import statistics
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.errors import Blame
from podium.training.advantage import ADVANTAGES, centred, group_normalised, over_rounds, pass_at_k, softly_normalised
from podium.training.reward import less_cost, less_steps, priced, reward
from podium.types import Failure, Verdict

REWARDS = st.lists(st.sampled_from([0.0, 0.5, 1.0, None]), min_size=1, max_size=12)
RIGHT, WRONG = (Verdict(correct=correct, extracted="42") for correct in (True, False))


def compared(name: str, rewards: Sequence[float | None]) -> list[float]:
    """The advantages of a group without costs, in which who earned 1 was right."""
    return ADVANTAGES[name](rewards, [reward == 1.0 for reward in rewards])


def failure(blame: Blame) -> Failure:
    return Failure(kind="WorkerUnavailable", blame=blame, message="429", where="step 0")


@pytest.mark.parametrize(
    ("failed", "verdict", "earned"),
    [
        (None, RIGHT, 1.0),
        (None, WRONG, 0.5),
        (failure(Blame.POLICY), None, 0.0),
        (failure(Blame.WORLD), None, None),
        (failure(Blame.WORLD), WRONG, None),
        (None, None, None),
    ],
)
def test_what_a_turn_earns(failed: Failure | None, verdict: Verdict | None, earned: float | None) -> None:
    assert reward(failed, verdict) == earned


def test_cost_comes_off_and_an_unknown_price_is_never_free() -> None:
    assert less_cost(1.0, 0.002, per_usd=50) == pytest.approx(0.9)
    assert less_cost(1.0, None, per_usd=50) is None
    assert less_cost(1.0, None, per_usd=0) == 1.0
    assert less_cost(None, 0.1, per_usd=50) is None


@pytest.mark.parametrize("earned", [0.0, 0.5, 1.0])
def test_where_dollars_count_an_unknown_price_is_void_whatever_was_earned(earned: float) -> None:
    assert priced(earned, None, counts=True) is None
    assert priced(earned, None, counts=False) == priced(earned, 0.0, counts=True) == earned


def test_steps_come_off_the_reward() -> None:
    assert less_steps(1.0, 3, per_step=0.01) == pytest.approx(0.97)
    assert less_steps(None, 3, per_step=0.01) is None


@pytest.mark.parametrize("name", ADVANTAGES)
@given(rewards=REWARDS)
def test_void_counts_for_nothing_and_the_rest_add_up_to_nothing(name: str, rewards: list[float | None]) -> None:
    got = compared(name, rewards)
    kept = [r for r in rewards if r is not None]
    assert len(got) == len(rewards)
    assert all(a == 0 for a, r in zip(got, rewards, strict=True) if r is None)
    assert [a for a, r in zip(got, rewards, strict=True) if r is not None] == pytest.approx(compared(name, kept))
    assert sum(got) == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("name", ADVANTAGES)
@given(rewards=REWARDS)
def test_a_right_answer_is_never_below_a_wrong_one(name: str, rewards: list[float | None]) -> None:
    got = compared(name, rewards)
    pairs = sorted((r, a) for r, a in zip(rewards, got, strict=True) if r is not None)
    assert all(a <= b + 1e-9 for (_, a), (_, b) in itertools.pairwise(pairs))


@pytest.mark.parametrize("name", ADVANTAGES)
@pytest.mark.parametrize("same", [0.0, 0.5, 1.0])
def test_a_flat_group_teaches_nothing(name: str, same: float) -> None:
    assert compared(name, [same] * 6) == pytest.approx([0.0] * 6)


@given(
    rewards=st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=2, max_size=12), scale=st.floats(0.5, 4), shift=st.floats(-3, 3)
)
def test_normalised_advantages_forget_scale_and_shift(rewards: list[float], scale: float, shift: float) -> None:
    moved = group_normalised([scale * r + shift for r in rewards])
    assert moved == pytest.approx(group_normalised(rewards), abs=1e-4)


def test_group_normalised_by_hand() -> None:
    rewards = [1.0, 0.5, 0.5, 0.0]
    std = statistics.stdev(rewards)
    assert group_normalised(rewards) == pytest.approx([(r - 0.5) / std for r in rewards], abs=1e-4)


def test_small_differences_stay_small_where_they_are_softened() -> None:
    costs = [1.0, 0.99, 1.0, 0.99]
    assert max(group_normalised(costs)) > 0.8
    assert max(softly_normalised(costs)) < 0.12


def test_centred_rewards_raise_the_mean_reward_and_divided_ones_what_is_cheap() -> None:
    """Cheap is right in four groups of five, dear always and a fifth of a right answer dearer: dear earns more on average."""
    easy, hard = [1.0, 0.95] * 4, [0.5, 0.95] * 4  # the cheap one first

    def cheap_gains(name: str) -> float:
        return 4 * compared(name, easy)[0] + compared(name, hard)[0]

    assert statistics.fmean([1.0] * 4 + [0.5]) < 0.95
    assert cheap_gains("centred") < 0
    assert cheap_gains("softly_normalised") > 0, "or the test shows nothing"
    assert centred([None, 1.0]) == [0.0, 0.0]
    assert centred([None, 1.0, 0.5]) == [0.0, 0.25, -0.25]


@pytest.mark.parametrize("k", [1, 2, 3, 4])
@pytest.mark.parametrize("right", [1, 2, 3, 5])
def test_pass_at_k_equals_counting_every_subset(k: int, right: int) -> None:
    n = 6
    rewards = [1.0] * right + [0.5] * (n - right)
    subsets = list(itertools.combinations(range(n), k))
    worth = {subset: float(any(rewards[i] == 1.0 for i in subset)) for subset in subsets}
    mean = statistics.fmean(worth.values())
    std = math.sqrt(mean * (1 - mean))
    successes = [reward == 1.0 for reward in rewards]
    if std == 0:
        assert pass_at_k(rewards, successes, k) == [0.0] * n
        return
    expected = [statistics.fmean((w - mean) / std for s, w in worth.items() if i in s) for i in range(n)]
    assert pass_at_k(rewards, successes, k) == pytest.approx(expected)


def test_pass_at_k_goes_by_the_verdict_and_costs_count_among_right_answers_only() -> None:
    successes = [True, True, False, False, False, False]
    free = pass_at_k([1.0, 1.0, 0.5, 0.5, 0.0, 0.5], successes)
    assert free[0] == free[1] > 0 > free[2] == free[4]
    dear = pass_at_k([0.988, 0.968, 0.5, 0.5, 0.0, 0.5], successes)
    assert dear == pytest.approx([free[0] + 0.01, free[1] - 0.01, *free[2:]])
    assert pass_at_k([0.3, 0.3, 0.5, 0.5, 0.0, 0.5], successes) == pytest.approx(free), (
        "a right answer that cost too much is right"
    )
    assert pass_at_k([0.98, 0.96], [True, True]) == pytest.approx([0.01, -0.01]), "where all are right there is still thrift"
    assert pass_at_k([None, *[0.988] * 2, *[0.5] * 4], [True, *successes]) == pytest.approx([0.0, *free])


def test_rounds_are_put_on_one_scale() -> None:
    assert over_rounds([1.0], discount=0.25) == [1.0]
    assert over_rounds([1.0, 0.5], discount=0.25) == [0.25, 0.5]
    assert over_rounds([None, 1.0], discount=0.25) == [None, 1.0]
    assert over_rounds([1.0, None], discount=0.25) == [0.25, None]
