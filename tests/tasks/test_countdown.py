import itertools
import re
from collections.abc import Iterator
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podium.errors import ConfigError, VerifierError
from podium.tasks.countdown import CountdownVerifier, generate, read_target, solve
from podium.types import Problem


def problem(numbers: list[int], target: int) -> Problem:
    content = f'{{"numbers": {numbers}, "target": {target}}}'
    return Problem(question="?", target=content, kind="countdown", source="test")


@pytest.mark.parametrize(
    ("reply", "correct", "why"),
    [
        (r"\boxed{6 / (1 - 3 / 4)}", True, ""),
        (r"\boxed{6 \div (1 - \frac{3}{4})}", True, ""),
        (r"\boxed{\frac{6}{1 - \frac34} = 24}", True, ""),
        (r"\boxed{6 \times 4}", True, ""),
        ("Answer: 4 × 6 = 24", True, ""),
        (r"\boxed{24 = 4 \times 6}", True, ""),
        (r"\boxed{24 = 4 + 6}", False, "the expression is 10, not 24"),
        (r"\boxed{24 = 24}", False, "24 is used"),
        (r"\boxed{4 + 6 = 4 \times 6}", False, "the expression is 10, not 24"),
        (r"\boxed{(6)(4)}", True, ""),
        (r"\boxed{6 * 4 * 1}", True, ""),
        (r"\boxed{6 * 3 + 6}", False, "6 is used more often than it is given"),
        (r"\boxed{20 + 4}", False, "20 is used"),
        (r"\boxed{6 + 4}", False, "the expression is 10, not 24"),
        (r"\boxed{24}", False, "24 is used"),
        (r"\boxed{64 - 40}", False, "used"),
        (r"\boxed{4! * 1}", False, "! is not one of"),
        (r"\boxed{4^3}", False, "\\^ is not one of"),
        (r"\boxed{6 ** 4}", False, "\\^ is not one of"),
        (r"\boxed{-4 * 6}", False, "neg is not one of"),
        (r"\boxed{6 / (4 - 4)}", False, "divided by 0"),
        (r"\boxed{6 * x}", False, "no arithmetic"),
        (r"\boxed{__import__('os').getcwd()}", False, "no arithmetic"),
        (r"\boxed{" + "(" * 3000 + "6*4" + ")" * 3000 + "}", False, "no arithmetic"),
        ("6 * 4", False, "no final expression"),
        (r"<think>\boxed{6 * 4}", False, "no final expression"),
    ],
)
async def test_golden(reply: str, correct: bool, why: str) -> None:
    verdict = await CountdownVerifier()(problem([1, 3, 4, 6], 24), reply)
    assert verdict.correct is correct
    assert (verdict.extracted is None) == ("no final" in why)
    assert (re.search(why, verdict.why) is not None) if why else verdict.why == ""


@pytest.mark.parametrize(
    "target", ["", "24", "[]", '{"numbers": [1]}', '{"numbers": [1.5], "target": 2}', '{"numbers": 1, "target": 2}']
)
async def test_a_broken_target_is_nobodys_wrong_answer(target: str) -> None:
    with pytest.raises(VerifierError):
        await CountdownVerifier()(Problem(question="?", target=target, kind="countdown", source="test"), r"\boxed{1}")


def test_generated_problems_are_the_same_for_ever_different_from_each_other_and_solvable() -> None:
    problems = generate(30, seed=7, split="train")
    assert problems == generate(30, seed=7, split="train")
    assert problems[:10] == generate(10, seed=7, split="train")
    assert len({one.id for one in problems}) == 30
    assert not {one.id for one in problems} & {one.id for one in generate(30, seed=8, split="train")}
    assert problems[0].id == "f3a8f3c5b4ec5591"
    for one in problems:
        numbers, target = read_target(one)
        assert len(numbers) == 4
        assert 1 <= target <= 1000
        assert target not in numbers
        assert solve(numbers, target) is not None


@settings(max_examples=25)
@given(st.lists(st.integers(1, 20), min_size=2, max_size=4), st.integers(1, 60))
async def test_the_solver_agrees_with_trying_everything_and_the_verifier_with_the_solver(numbers: list[int], target: int) -> None:
    expression = solve(numbers, target)
    assert (expression is not None) == (Fraction(target) in set(reachable(tuple(map(Fraction, numbers)))))
    if expression is not None:
        assert (await CountdownVerifier()(problem(numbers, target), f"\\boxed{{{expression}}}")).correct


def reachable(numbers: tuple[Fraction, ...]) -> Iterator[Fraction]:
    """Every value over some of ``numbers``, split into two parts in every way: not how the solver searches."""
    for size in range(1, len(numbers) + 1):
        for chosen in set(itertools.permutations(numbers, size)):
            yield from over_all(chosen)


def over_all(numbers: tuple[Fraction, ...]) -> Iterator[Fraction]:
    if len(numbers) == 1:
        yield numbers[0]
    for cut in range(1, len(numbers)):
        for a, b in itertools.product(set(over_all(numbers[:cut])), set(over_all(numbers[cut:]))):
            yield from (a + b, a - b, a * b)
            if b:
                yield a / b


@pytest.mark.parametrize(
    ("count", "numbers", "largest"), [(5, 1, 100), (5, 9, 100), (5, 4, 3), (-1, 4, 100), (2_000_000, 4, 100), (500, 2, 10)]
)
def test_what_can_not_be_made_is_said(count: int, numbers: int, largest: int) -> None:
    with pytest.raises(ConfigError):
        generate(count, seed=0, split="train", numbers=numbers, largest=largest)


def test_the_solver_does_not_start_what_it_can_not_finish() -> None:
    with pytest.raises(ConfigError, match="at most 6"):
        solve([1, 2, 3, 4, 5, 6, 7], 1000)
