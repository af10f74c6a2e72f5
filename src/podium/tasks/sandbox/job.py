"""One test of a submission (:class:`Job`) and what became of it (:class:`Outcome`).

What is expected of a test is not part of a job: it stays with the judge, which compares outcomes outside.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Kind = Literal["script", "call", "module"]
Status = Literal["ok", "error", "timeout", "memory", "output_limit", "killed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One test: how to run the submission's source, and on what.

    - ``script``: the source runs as ``__main__`` with real file descriptors 0, 1 and 2. Standard input is a file.
    - ``call``: the source is imported (its ``__name__`` is "submission"), then ``entry`` is called with ``args`` and
      ``kwargs``: the name of a function, or ``Solution().method`` for a method of a fresh object.
    - ``module``: the source is imported, then ``extra`` (asserts, unittest) is executed in the same names. Any exit before
      the last line of ``extra``, ``sys.exit(0)`` too, is an "error"; use ``unittest.main(exit=False)`` and raise.
      Its users must know that the verdict is made in the candidate's own process.

    Example: ``Job(kind="call", entry="add", args=[3, 4])``.
    """

    kind: Kind
    stdin: bytes = b""
    entry: str = ""
    args: Sequence[Any] = ()
    """JSON values; tuples arrive as lists."""
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    wall_seconds: float | None = None
    """Shorter than ``Limits.wall_seconds`` for this test; None leaves it at that. It can not be longer."""
    extra: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a test did. All of it was said by an untrusted program: true as to what came out, not as to why.

    - ``ok``: ended normally (exit code 0; for "call" with a value, for "module" after the last line).
    - ``error``: an uncaught exception, another exit code, no such entry, a value that JSON can not say (nan, a set, ...).
    - ``timeout``: wall or CPU time was used up. ``memory``: the memory bound, or an uncaught MemoryError.
    - ``output_limit``: too much standard output, or a value longer than that. ``killed``: ended by any other signal, or
      stopped for filling the scratch directory with files.

    Example: ``Outcome(status="ok", value="7", exit_code=0, seconds=0.002, isolated=True)``.
    """

    status: Status
    stdout: bytes = b""
    stderr: bytes = b""
    """The last 64 KiB; a line of ours at its end says why a test was stopped."""
    value: str | None = None
    """What a "call" returned, as JSON text: tuples are lists, keys are strings, no NaN. Parsing it can not fail."""
    exit_code: int | None = None
    """None where a signal ended the test."""
    signal: int | None = None
    """The signal that ended the test, ours (SIGKILL) included."""
    seconds: float = 0.0
    """Wall time of the test itself."""
    isolated: bool = False
    """False under ``unsafe_local``: the program ran on the host; every verdict that rests on it must say so."""
