"""Results without anything behind them, for tests of what is made of results."""

from podium.errors import Blame
from podium.evaluation.evaluate import Result
from podium.types import Failure, Sampling, Usage, Verdict


def result(
    *,
    arm: str,
    problem: str,
    correct: bool,
    kind: str = "word",
    repeat: int = 0,
    fault: Blame | None = None,
    cost_usd: float = 0.001,
) -> Result:
    """One result; with ``fault``, a failure of that blame instead of a verdict."""
    return Result(
        arm=arm,
        problem=problem,
        kind=kind,
        source="test",
        repeat=repeat,
        sampling=Sampling(),
        verdict=None if fault else Verdict(correct=correct, extracted="x"),
        failure=None if fault is None else Failure(kind="X", blame=fault, message="", where=""),
        usage=Usage(prompt_tokens=10, completion_tokens=2, cost_usd=cost_usd),
        seconds=1.0,
        steps=1,
        rounds=0,
        invalid_rounds=0,
    )
