"""Recordings with gaps: who lacks what is said, and everybody is asked only what all have answered.

A gap is a question that a recording does not answer. Asked all the same, it would leave one arm out here and another there (a
vote wherever a single one is missing), and shares over different questions can not be compared.
"""

from collections.abc import Callable, Iterable, Sequence

from podium.errors import ConfigError
from podium.protocols import Worker
from podium.types import Problem
from podium.workers.recorded import Recorded

Gaps = dict[str, int]
"""Recording -> how many of the questions it lacks; those that lack none are not in it."""


def answered_by_all(
    problems: Sequence[Problem], workers: Iterable[tuple[str, Worker]], *, on_gaps: Callable[[str], None] = lambda text: None
) -> tuple[list[Problem], Gaps]:
    """The problems that every recording among ``workers`` has an answer to, and what each of them lacks.

    ``on_gaps`` is told about them in a sentence. Raises :class:`ConfigError` where a recording has none of them, or where
    nothing is left in common.
    """
    recorded = [(name, worker) for name, worker in workers if isinstance(worker, Recorded)]
    gaps = {name: sum(not worker.answers(problem.question) for problem in problems) for name, worker in recorded}
    gaps = {name: count for name, count in gaps.items() if count}
    if empty := [name for name, count in gaps.items() if count == len(problems)]:
        raise ConfigError(
            f"the recording {empty[0]!r} answers none of the {len(problems)} questions; take its file out of outputs/"
        )
    common = [problem for problem in problems if all(worker.answers(problem.question) for _, worker in recorded)]
    if problems and not common:
        raise ConfigError(
            f"no question is answered by all recordings ({_gaps_in_words(gaps, len(problems))}); take some out of outputs/"
        )
    if gaps:
        on_gaps(
            f"recordings with gaps: {_gaps_in_words(gaps, len(problems))}. "
            f"All arms are compared on the {len(common)} that all answer."
        )
    return common, gaps


def _gaps_in_words(gaps: Gaps, asked: int) -> str:
    return ", ".join(f"{name} lacks {count} of {asked}" for name, count in gaps.items())
