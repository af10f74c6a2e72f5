"""The gate opens where it can be predicted who is right, and stays shut where only luck, frozen or not, tells workers apart."""

import random
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from podium.errors import Blame, ConfigError
from podium.evaluation.evaluate import Result, evaluate
from podium.evaluation.headroom import DRAWS, WORTH, features, headroom, is_open, predicted_gain
from podium.gym.specialists import specialists
from podium.gym.verify import GymVerifier
from podium.gym.world import World
from tests.evaluation.results import result

Array = NDArray[np.float64]


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
    assert found.best + found.headroom == pytest.approx(0.92, abs=0.04)
    assert found.by == "kind"
    assert found.interval.low > 0.3
    assert found.p < 0.01
    assert found.verdict.startswith("Worth training: choosing by kind gains")
    assert found.is_worth_training


def test_they_are_told_by_the_text_alone() -> None:
    results = [replace_kind(each) for each in pool({"a": {"x": 0.95, "y": 0.1}, "b": {"x": 0.1, "y": 0.9}})]
    texts = {f"p{i}": f"How many {('eggs', 'apples')[i % 2]} are left of {i * 7}?" for i in range(200)}
    assert headroom(results).by == "nothing"
    found = headroom(results, texts)
    assert found.by == "text"
    assert found.headroom > 0.3
    assert found.is_worth_training


def replace_kind(each: Result) -> Result:
    right = each.verdict is not None and each.verdict.correct
    return result(arm=each.arm, problem=each.problem, repeat=each.repeat, correct=right, kind="x")


def test_copies_of_a_noisy_worker_have_none() -> None:
    found = headroom(pool({f"copy {index}": {"x": 0.5, "y": 0.5} for index in range(7)}))
    assert found.oracle > 0.8  # what a naive reading would call a gain of 30 points
    assert found.headroom < WORTH
    assert not found.is_worth_training
    assert found.verdict.startswith("Not worth training")


def test_a_pool_with_one_good_worker_has_none() -> None:
    found = headroom(pool({"good": {"x": 1.0, "y": 1.0}, "bad": {"x": 0.0, "y": 0.0}}))
    assert found.best == found.oracle == 1.0
    assert (found.headroom, found.by) == (0.0, "nothing")
    assert not found.is_worth_training


def test_always_asking_the_best_is_never_beaten_by_a_worse_rule() -> None:
    for seed in range(20):
        assert headroom(pool({f"w{i}": {"x": 0.6, "y": 0.4} for i in range(4)}, 60, 2, seed)).headroom >= 0


def test_asked_once_is_enough() -> None:
    results = pool({"a": {"x": 0.95, "y": 0.1}, "b": {"x": 0.1, "y": 0.9}}, repeats=1)
    assert headroom(results).is_worth_training


def test_what_it_needs_is_said() -> None:
    with pytest.raises(ConfigError, match="two workers"):
        headroom(pool({"a": {"x": 0.5}}))
    with pytest.raises(ConfigError, match="two problems"):
        headroom(pool({"a": {"x": 0.5}, "b": {"x": 0.5}}, problems=1))


@pytest.mark.parametrize("problems", [2, 3, 9, 11])
def test_a_handful_of_problems_is_no_trouble(problems: int) -> None:
    texts = {f"p{index}": str(index) for index in range(problems)}
    found = headroom(pool({"a": {"x": 1.0, "y": 0.0}, "b": {"x": 0.0, "y": 1.0}}, problems), texts)
    assert found.problems == problems
    assert problems > 3 or not found.is_worth_training


def test_problems_with_a_gap_are_left_out() -> None:
    results = pool({"a": {"x": 0.9}, "b": {"x": 0.1}}, problems=20)
    results[0] = result(arm="a", problem="p0", kind="x", repeat=0, correct=False, fault=Blame.WORLD)
    assert headroom(results).problems == 19


# Simulations: pools whose truth is known, asked by the way the gym and models behave (part of the luck is frozen per question).


def clones(problems: int, workers: int) -> Array:
    """Everybody is as good as everybody, at everything."""
    return np.full((problems, workers), 0.5)


def hard_and_easy(problems: int, workers: int) -> Array:
    """Kinds differ, workers do not."""
    return np.repeat(np.linspace(0.1, 0.9, 6)[np.arange(problems) % 6][:, None], workers, axis=1)


def one_is_best(problems: int, workers: int) -> Array:
    """The others have their kinds, in which they only come near the one."""
    chances = np.full((6, workers), 0.4)
    chances[:, 0] = 0.7
    chances[range(6), [1 + kind % (workers - 1) for kind in range(6)]] = 0.66
    return chances[np.arange(problems) % 6]


def two_are_best(problems: int, workers: int) -> Array:
    """Two are best throughout, the others come near in kinds of their own."""
    chances = np.full((6, workers), 0.35)
    chances[range(6), [kind % workers for kind in range(6)]] = 0.52
    chances[:, :2] = 0.55
    return chances[np.arange(problems) % 6]


def bad_at_some(problems: int, workers: int) -> Array:
    """One is never worse than anybody; the others are as good on most kinds and bad on the same two."""
    chances = np.full((6, workers), 0.6)
    chances[:2, 1:] = 0.1
    return chances[np.arange(problems) % 6]


def seven_points(problems: int, workers: int) -> Array:
    """The best overall is 14 points behind another one in half of the kinds: 7 points for who asks the right one by kind."""
    chances = np.full((6, workers), 0.4)
    chances[:, 0] = 0.55
    chances[range(3), [1 + kind % (workers - 1) for kind in range(3)]] = 0.69
    return chances[np.arange(problems) % 6]


def opened(chances: Array, known: dict[str, Array], *, repeats: int, frozen: float, times: int, seed: int) -> float:
    """How often the gate opens over pools drawn with ``chances`` (problems x workers)."""
    draws = DRAWS if "kind" in known else 99  # a text has many dimensions, which are slow
    rng = np.random.default_rng(seed)
    count = 0
    for _ in range(times):
        fixed, again = rng.random(chances.shape), rng.random((repeats, *chances.shape))
        luck = np.where(rng.random(again.shape) < frozen, fixed, again)
        found = predicted_gain((luck < chances).mean(axis=0), known, rng, draws=draws)
        count += is_open(found.gain, found.p, found.interval)
    return count / times


def known_of(problems: int, *, by_text: bool) -> dict[str, Array]:
    kinds = [str(index % 6) for index in range(problems)]
    if not by_text:
        return features(kinds)
    things = ("eggs in a box", "the speed of a train", "def f(x)", "a capital city", "boiling water", "a triangle's side")
    return features(["all"] * problems, [f"Say something of {things[i % 6]}, case {i * 37 % 101}." for i in range(problems)])


@pytest.mark.parametrize(
    ("world", "problems", "workers", "frozen", "by_text"),
    [
        (clones, 240, 7, 0.5, False),
        (clones, 240, 7, 1.0, True),
        (clones, 60, 10, 0.5, False),
        (clones, 600, 2, 1.0, False),
        (hard_and_easy, 240, 7, 1.0, False),
        (hard_and_easy, 60, 2, 0.5, False),
        (one_is_best, 240, 7, 0.5, False),
        (two_are_best, 240, 7, 0.5, False),
        (two_are_best, 60, 10, 1.0, False),
        (bad_at_some, 240, 7, 0.5, False),
        (bad_at_some, 600, 7, 1.0, False),
        (bad_at_some, 60, 10, 1.0, False),
    ],
)
def test_it_does_not_open_where_nothing_can_be_gained(
    world: Callable[[int, int], Array], problems: int, workers: int, frozen: float, by_text: bool
) -> None:
    known = known_of(problems, by_text=by_text)
    times = 400 if world is bad_at_some and problems < 600 else 100  # where it is near the limit, a hundred pools say too little
    assert opened(world(problems, workers), known, repeats=4, frozen=frozen, times=times, seed=0) <= 0.05


@pytest.mark.parametrize(
    ("problems", "workers", "frozen", "by_text"),
    [
        (300, 7, 0.5, False),
        (300, 10, 0.5, False),
        (360, 7, 0.5, True),
        (480, 10, 0.5, False),
        (300, 2, 0.5, False),
        (900, 7, 1.0, False),
    ],
)
def test_seven_points_by_kind_are_found(problems: int, workers: int, frozen: float, by_text: bool) -> None:
    known = known_of(problems, by_text=by_text)
    times = 20 if by_text else 40  # a classifier is learned for each fold of each pool
    assert opened(seven_points(problems, workers), known, repeats=4, frozen=frozen, times=times, seed=1) >= 0.8


async def test_seven_copies_in_the_gym_are_nothing_to_conduct() -> None:
    # At the default noise half of a copy's luck is frozen per question: it is right again when it is asked again.
    fair = next(profile for profile in World().profiles if profile.name == "ember")
    world = World(
        profiles=[replace(fair, name=f"ember-{number}", habits=replace(fair.habits, shared=0.0)) for number in range(7)]
    )
    copies = specialists(world)
    problems = world.problems(split="held_out_numbers", n=240)
    results = await evaluate({each.card.name: each for each in copies}, problems, GymVerifier(), repeats=3)
    found = headroom(results, {problem.id: problem.question for problem in problems})
    assert found.oracle - found.best > 0.1
    assert not found.is_worth_training, found.verdict
