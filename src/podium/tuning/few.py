"""Which recorded answers to look at, where only so many of each kind are to be judged: first everybody's, then those of the best.

Who is right least often over all kinds is hardly asked by any rule, so its answers say little. A few questions of every kind show
who that is, and what it would have taken goes to more questions for the others. Left out: other workers for each kind, which
would leave rules measured on different questions.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

Item = TypeVar("Item")

FIRST = 2
"""Questions of a kind that everybody's answers are looked at on."""
KEPT = 5
"""Workers whose answers are looked at further, the best over all kinds."""


def shared_looks(answers: int, workers: int) -> tuple[int, int]:
    """Questions of a kind on which everybody's answers are looked at, and on which those of the :data:`KEPT` best are.

    Example: ``shared_looks(80, 10) == (2, 14)``: 2 times 10 and 12 times 5 answers.
    """
    first = min(FIRST, answers // workers)
    if workers <= KEPT or not first:
        first = max(1, answers // workers)
        return first, first
    return first, first + (answers - first * workers) // KEPT


def first_of_each(items: Sequence[Item], kind_of: Callable[[Item], str], count: int) -> list[Item]:
    """The first ``count`` of each kind. Example: ``first_of_each(["ab", "ac", "b"], lambda word: word[0], 1) == ["ab", "b"]``."""
    seen: dict[str, int] = {}
    found = []
    for item in items:
        kind = kind_of(item)
        seen[kind] = seen.get(kind, 0) + 1
        if seen[kind] <= count:
            found.append(item)
    return found
