"""What was carried out below a step and led to no answer: it was paid for, so it stands in the step's result.

A nested Conductor that fails raises an error, and one that is stopped a cancellation; neither comes whole through what may lie
around a worker: a retry, a fallback, a hedge, a task of its own. So the Conductor hands its rounds to the step above it directly.
A policy that fails after it was asked once more does the same with what it had written.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from podium.types import Transcript

_above: ContextVar[list[Transcript] | None] = ContextVar("_above", default=None)


@contextmanager
def collecting() -> Iterator[list[Transcript]]:
    """Collect what is given up inside the block. Example: ``with collecting() as failed_rounds: await worker(call)``."""
    found: list[Transcript] = []
    before = _above.set(found)
    try:
        yield found
    finally:
        _above.reset(before)


def give_up(transcripts: Iterable[Transcript]) -> None:
    """Hand rounds that ended without an answer to the step above, where there is one."""
    found = _above.get()
    if found is not None:
        found.extend(transcripts)
