"""Two arms on the same problems: the arithmetic against figures worked out by hand or by another formula."""

import math
import random
from statistics import NormalDist, fmean, stdev

import pytest

from podium.errors import Blame, ConfigError
from podium.evaluation.compare import comparable, compare, holm, paired_interval, problems_needed
from podium.evaluation.evaluate import Result
from tests.evaluation.results import result


def arms(**right: str) -> list[Result]:
    """``conductor="1101"``: right or wrong, problem by problem; "x" is a fault of the world."""
    return [
        result(arm=arm, problem=f"p{index}", correct=mark == "1", fault=Blame.WORLD if mark == "x" else None)
        for arm, marks in right.items()
        for index, mark in enumerate(marks)
    ]


def test_wins_losses_and_the_exact_test() -> None:
    [found] = compare(arms(a="1" * 10 + "0" * 2 + "1" * 8, b="0" * 10 + "1" * 2 + "1" * 8), "a", ["b"])
    assert (found.wins, found.losses, found.problems) == (10, 2, 20)
    assert found.difference == pytest.approx(0.4)
    by_hand = 2 * sum(math.comb(12, k) for k in range(3)) / 2**12
    assert found.p == pytest.approx(by_hand)
    assert found.interval.low > 0


def test_the_other_way_round_is_the_mirror() -> None:
    results = arms(a="1101001110", b="1000111010")
    [there], [back] = compare(results, "a", ["b"]), compare(results, "b", ["a"])
    assert back.difference == -there.difference
    assert (back.wins, back.losses, back.p) == (there.losses, there.wins, there.p)


def test_arms_that_always_agree_show_no_difference() -> None:
    [found] = compare(arms(a="1100", b="1100"), "a", ["b"])
    assert (found.difference, found.p, found.needed) == (0.0, 1.0, None)
    assert found.interval.low == -found.interval.high < -0.3, "four problems say little, also where they all say the same"


def test_a_problem_that_the_world_spoilt_is_left_out_and_counted() -> None:
    [found] = compare(arms(a="11x0", b="10x1"), "a", ["b"])
    assert (found.problems, found.left_out) == (3, 0)
    [found] = compare(arms(a="11x0", b="1011"), "a", ["b"])
    assert (found.problems, found.left_out) == (3, 1)


def test_others_are_corrected_for_each_other() -> None:
    found = compare(arms(a="1" * 12, b="0" * 6 + "1" * 6, c="0" * 7 + "1" * 5), "a", ["b", "c"])
    assert [each.other for each in found] == ["b", "c"]
    assert found[1].p == pytest.approx(2 / 2**7)
    assert [each.p_holm for each in found] == pytest.approx([2 / 2**6, 4 / 2**7])


def test_repeats_are_one_problem() -> None:
    results = [
        result(arm=arm, problem=problem, repeat=repeat, correct=right)
        for arm, problem, repeat, right in [
            ("a", "p", 0, True), ("a", "p", 1, False), ("b", "p", 0, False), ("b", "p", 1, False),
            ("a", "q", 0, True), ("a", "q", 1, True), ("b", "q", 0, True), ("b", "q", 1, True),
        ]
    ]  # fmt: skip
    [found] = compare(results, "a", ["b"])
    assert (found.problems, found.difference, found.wins, found.losses) == (2, 0.25, 1, 0)


def test_nothing_to_compare_is_said() -> None:
    with pytest.raises(ConfigError, match=r"no results of 'c'.*a, b"):
        compare(arms(a="1", b="0"), "a", ["c"])
    with pytest.raises(ConfigError, match="no problem in common"):
        compare([result(arm="a", problem="p", correct=True), result(arm="b", problem="q", correct=True)], "a", ["b"])


def test_the_interval_is_the_normal_one_where_that_holds() -> None:
    rng = random.Random(0)
    differences = [rng.choices((-1.0, 0.0, 1.0), (0.1, 0.6, 0.3))[0] for _ in range(2000)]
    found = paired_interval(differences)
    half = NormalDist().inv_cdf(0.975) * stdev(differences) / math.sqrt(len(differences))
    assert found.low == pytest.approx(fmean(differences) - half, abs=0.001)
    assert found.high == pytest.approx(fmean(differences) + half, abs=0.001)


def test_the_interval_by_hand() -> None:
    # 30 problems, 4 won, 1 lost: (4 + 1) / 32 - (1 + 1) / 32, and sqrt((7 / 32 - (3 / 32)^2) / 32)
    found = paired_interval([1.0] * 4 + [-1.0] + [0.0] * 25)
    half = NormalDist().inv_cdf(0.975) * math.sqrt((7 / 32 - (3 / 32) ** 2) / 32)
    assert (found.low, found.high) == pytest.approx((3 / 32 - half, 3 / 32 + half))


@pytest.mark.parametrize("n", [10, 30, 200])
@pytest.mark.parametrize(
    ("won", "lost"),
    [(0.0, 0.0), (0.01, 0.0), (0.02, 0.02), (0.05, 0.0), (0.1, 0.02), (0.2, 0.1), (0.4, 0.1), (0.9, 0.0), (1.0, 0.0)],
)
def test_the_interval_covers_the_truth_also_where_few_or_no_problems_differ(n: int, won: float, lost: float) -> None:
    rng = random.Random(n)
    seen = 0
    for _ in range(400):
        found = paired_interval(rng.choices((1.0, -1.0, 0.0), (won, lost, 1 - won - lost), k=n))
        seen += found.low <= won - lost <= found.high
    assert seen / 400 >= 0.92, "95 %, less three standard errors of a simulation of 400"


@pytest.mark.parametrize("n", [10, 30, 200])
def test_the_interval_covers_the_truth_of_repeats(n: int) -> None:
    rng = random.Random(n)
    seen = 0
    for _ in range(400):
        chances = [(rng.random(), rng.random()) for _ in range(n)]
        differences = [
            (sum(rng.random() < p for _ in range(4)) - sum(rng.random() < q for _ in range(4))) / 4 for p, q in chances
        ]
        found = paired_interval(differences)
        seen += found.low <= 0 <= found.high
    assert seen / 400 >= 0.92


@pytest.mark.parametrize("differences", [[0.0], [1.0], [-1.0], [0.25, 0.25], [0.0] * 30, [1.0] * 30])
def test_no_interval_is_a_point(differences: list[float]) -> None:
    found = paired_interval(differences)
    assert found.low < fmean(differences) <= found.high or found.low <= fmean(differences) < found.high
    assert found.high - found.low > 1 / (len(differences) + 2)


def test_so_many_problems_show_the_difference_in_four_of_five_tries() -> None:
    rng = random.Random(1)
    marks, chances = (-1.0, 0.0, 1.0), (0.1, 0.7, 0.2)
    needed = problems_needed(0.1, rng.choices(marks, chances, k=4000))
    assert needed is not None
    seen = 0
    for _ in range(400):
        drawn = rng.choices(marks, chances, k=needed)
        seen += fmean(drawn) - 1.96 * stdev(drawn) / math.sqrt(needed) > 0
    assert 0.72 < seen / 400 < 0.88


def test_several_comparisons_are_paid_for() -> None:
    assert holm({"a": 0.01, "b": 0.04, "c": 0.03}) == pytest.approx({"a": 0.03, "b": 0.06, "c": 0.06})
    assert holm({"a": 0.9, "b": 0.8}) == {"a": 1.0, "b": 1.0}
    assert holm({}) == {}


def test_an_arm_without_a_verdict_is_not_comparable() -> None:
    results = arms(a="11", b="xx", c="x0", d="0x")
    assert comparable(results, "a", ["b", "c", "d", "nobody"]) == ["c", "d"]
    assert comparable(results, "b", ["a"]) == comparable(results, "c", ["d"]) == []
    assert compare(results, "b", []) == []
