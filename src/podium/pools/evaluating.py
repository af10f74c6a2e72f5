"""``evaluate`` for users of the package: as :func:`podium.evaluation.evaluate.evaluate`, with the right verifier found."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path

from podium.conduct import Conductor
from podium.evaluation import evaluate as evaluation
from podium.evaluation.evaluate import Result
from podium.pools.verifiers import open_verifiers
from podium.protocols import Verifier, Worker
from podium.types import Problem, Sampling
from podium.workers.identity import hashed


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
    setups: Mapping[str, str] | None = None,
) -> list[Result]:
    """Every arm, a worker or a Conductor, on every problem, ``repeats`` times.

    ``verifier`` None takes the one of each problem's kind. With ``out``, each answer is a line of that file as it comes, and a
    rerun goes on from there, and refuses answers of other models or settings, as far as an arm's workers tell theirs; what else
    decides what an arm answers (its weights, its prompt) can be said in ``setups``: arm -> any text. ``on_result`` is told every
    result. Raises :class:`ConfigError`, and :class:`BudgetExceeded` where a
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
            setups={name: answering(arm, (setups or {}).get(name, "")) for name, arm in arms.items()},
        )


def answering(arm: Worker, told: str = "") -> str:
    """What answers behind ``arm``, as a hash: ``told``, and what its workers say of themselves; "" where nothing is known."""
    members = [(member.name, _identity(member.worker)) for member in arm.pool] if isinstance(arm, Conductor) else []
    known: list[object] = [told, _identity(arm), *(members if any(identity for _, identity in members) else [])]
    if isinstance(arm, Conductor) and any(known):
        known.append(arm.rounds)
    return hashed(known) if any(known) else ""


def _identity(worker: object) -> str:
    """What the innermost of wrapped workers says of itself."""
    while worker is not None:
        told = getattr(worker, "identity", None)
        if isinstance(told, str):
            return told
        worker = getattr(worker, "_worker", None)
    return ""
