"""``evaluate`` for users of the package: as :func:`podium.evaluation.evaluate.evaluate`, with the right verifier found."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path

from podium.evaluation import evaluate as evaluation
from podium.evaluation.evaluate import Result
from podium.pools.verifiers import open_verifiers
from podium.protocols import Verifier, Worker
from podium.types import Problem, Sampling


async def evaluate(
    arms: Mapping[str, Worker],
    problems: Sequence[Problem],
    verifier: Verifier | None = None,
    *,
    out: Path | str | None = None,
    repeats: int = 1,
    concurrency: int = 64,
    sampling: Sampling = Sampling(),
    on_result: Callable[[Result], None] | None = None,
) -> list[Result]:
    """Every arm, a worker or a Conductor, on every problem, ``repeats`` times.

    ``verifier`` None takes the one of each problem's kind. With ``out``, each answer is a line of that file as it comes, and a
    rerun goes on from there. ``on_result`` is told every result. Raises :class:`ConfigError`, and :class:`BudgetExceeded` where a
    cap was reached; faults of the world are results, never wrong answers.

    Example: ``podium.summarise(await podium.evaluate({"alone": pool["strong"]}, podium.load_problems("gsm8k", limit=200)))``.
    """
    async with AsyncExitStack() as stack:
        if verifier is None:
            verifier = await stack.enter_async_context(open_verifiers({problem.kind for problem in problems}))
        return await evaluation.evaluate(
            arms,
            problems,
            verifier,
            out=None if out is None else Path(out),
            repeats=repeats,
            concurrency=concurrency,
            sampling=sampling,
            on_result=on_result,
        )
