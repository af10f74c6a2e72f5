r"""Is the final answer right? Numbers, names and equal spellings are judged here; formulas by worker processes.

The answer is the last ``\boxed{...}``, else what stands behind the last "answer is", "answer:" or ``####``. Most answers are
then decided at once: the same text written differently, two numbers, two names. What is left goes to ``pool.py``.

Numbers are compared exactly: 0.5 and 1/2 are one, 0.33 and 1/3 are two. Where the target is a number, the answer must be one
as well: ``\sum_{i=1}^{100} i`` is the question and not the answer where the target is 5050, and so are ``6 \cdot 7`` for 42
and ``\sqrt{144}`` for 12. One power (``2^{10}``) is a number, unless both its numbers come from the question. Units are
compared where the target has one; without a unit an answer is in the one asked for. Where the target is a plain number, a
sentence that names one number ("Sally has 9 books") is that number (``sentences.py``).

Answers are hostile: every pattern here takes time linear in the text, no number is built that the text did not spell out,
within bounds, and a formula that takes too long to evaluate is wrong. Left out: tolerance, proofs, several answers of which
one suffices.
"""

from typing import Self

from podium.errors import VerifierError
from podium.tasks.extraction import MAX_CANDIDATE_CHARS, last_boxed, shown
from podium.tasks.mathematics.answer import final_answer
from podium.tasks.mathematics.deciding import Formulas, decide, tidied
from podium.tasks.mathematics.notation import normal_form
from podium.tasks.mathematics.pool import SymbolicPool
from podium.types import Problem, Verdict


class MathVerifier:
    """Right where the final answer is that of the target: a number, a formula, a set, a matrix, a name.

    Example::

        async with MathVerifier() as verify:
            verdict = await verify(problem, "...so \\\\boxed{x^2 - 1}.")  # right for the target "(x-1)(x+1)"

    Without a ``pool`` it makes one of ``size`` processes, which start when the first formula comes, and ends it when closed.
    May be shared by threads and event loops. Raises :class:`VerifierError` where the target is empty or can not be judged
    with, or the processes failed; never because of an answer.
    """

    def __init__(self, pool: SymbolicPool | None = None, *, size: int = 2) -> None:
        self._pool = pool or SymbolicPool(size)
        self._owns_pool = pool is None

    @property
    def identity(self) -> str:
        """Verifiers of this kind do not differ, whoever's processes they use."""
        return ""

    async def __call__(self, problem: Problem, answer: str) -> Verdict:
        """Judge ``answer`` against ``problem.target``."""
        gold = _gold(problem)
        found = final_answer(answer)
        if found is None:
            return Verdict(correct=False, extracted=None, why="no final answer; expected \\boxed{...} or 'Answer: ...'")
        decision = decide(gold, found, problem.question)
        if isinstance(decision, Formulas):
            comparison = await self._pool.compare(
                decision.gold, decision.answer, factor=str(decision.factor), restated=decision.restated
            )
            decision = "" if comparison.equal else comparison.why
        if decision:
            decision = f"{shown(found)} is not {shown(problem.target)}: {decision}"
        return Verdict(correct=not decision, extracted=shown(found), why=decision)

    async def aclose(self) -> None:
        """End the processes, unless the pool is somebody else's."""
        if self._owns_pool:
            self._pool.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


def _gold(problem: Problem) -> str:
    gold = tidied(last_boxed(problem.target) or problem.target)
    if not normal_form(gold) or len(gold) > MAX_CANDIDATE_CHARS:
        raise VerifierError(
            f"the target {problem.target[:80]!r} of problem {problem.id} is empty or too long; give it the final answer only"
        )
    return gold
