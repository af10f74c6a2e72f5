"""Countdown as a benchmark: generated, 4 numbers; train and test never share a problem, whatever the seed.

The seed moves the training problems only: the test set is the same for everyone.
"""

from collections.abc import Iterator

from podium.registry import register
from podium.tasks.benchmarks.benchmark import Benchmark, Solved
from podium.tasks.countdown import KIND, generate, read_target, solve

TEST_SEED = 0
SIZES = {"train": 5_000, "test": 500}


def make(split: str, seed: int) -> Iterator[Solved]:
    """The problems of ``split``. Example: ``next(make("test", 0)).problem.target``."""
    problems = test = generate(SIZES["test"], seed=TEST_SEED, split="test")
    if split == "train":
        held_out = {problem.target for problem in test}
        drawn = generate(SIZES["train"] + len(test), seed=seed, split="train")
        problems = [problem for problem in drawn if problem.target not in held_out][: SIZES["train"]]
    for problem in problems:
        yield Solved(problem=problem, gold="")


def gold(solved: Solved) -> str:
    """An answer that the verifier must accept, from the solver; it takes milliseconds, so it is not made for every problem."""
    numbers, target = read_target(solved.problem)
    return f"\\boxed{{{solve(numbers, target)}}}"


register("benchmarks", "countdown")(
    Benchmark(
        name="countdown",
        kind=KIND,
        about="reach a number with four given numbers; generated, any seed",
        licence="generated",
        url="https://github.com/Jiayi-Pan/TinyZero",
        splits=SIZES,
        generate=make,
        note="The seed chooses the training problems; the test problems are always the same.",
    )
)
