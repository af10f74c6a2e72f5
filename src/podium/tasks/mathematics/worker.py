"""The process in which formulas are compared, and which may be killed: one JSON line in, one or more out.

In: ``{"gold", "answer", "factor", "restated"}``. Out: ``{"stage": "answer"}`` and ``{"stage": "compare"}`` as the work goes on,
so that it is known what a process was busy with when it died; then ``{"equal", "why"}``, or ``{"error": ...}`` where the
comparison itself failed, or ``{"died": code}``. First of all ``{"ready": true}``, once everything is imported and warm.

Importing SymPy takes a second, so the work is done by a fork: it bounds its own address space and processor time, and when
it dies of that, the next one is there at once. (This process has no threads and no event loop: it may fork.) Both end where
the input ends, so that none is left behind by a parent that was killed.

Run as ``python -m podium.tasks.mathematics.worker BYTES SECONDS CALLS``.
"""

import json
import logging
import os
import resource
import signal
import sys
from typing import Any

from podium.tasks.mathematics.equivalence import compare

_WARM_UP = (
    (r"\frac{\sqrt{3}}{2}+x^2", r"x^{2}+\sqrt{0.75}"),
    (r"\left(2,\frac{\pi}{3}\right)", r"(2, \pi/4)"),
    (r"(-\infty,2]\cup[3,4)", r"x \le 2 \text{ or } x > 5"),
    (r"\begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}", r"\begin{pmatrix} 1 & 2 \\ 3 & 5 \end{pmatrix}"),
    (r"y = 2\sin x", r"y = \log_2 3 + |x|"),
    (r"\frac{x^{2n+2}-1}{x^{2}-1}", r"\frac{(x^{n+1})^{2}-1}{(x-1)(x+1)}"),
    (r"3a^{m+n}b-n!", r"\binom{n}{2} + 2^{-n}f(x)"),
)
"""Parsers and SymPy fill their tables at first use, which takes ten times as long as any later one."""
_INPUT_ENDED, _WORN = 0, 3


def main() -> None:
    """Have forks answer requests until the input ends."""
    address_space, seconds, calls = int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])
    replies = os.dup(1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what a library prints is no reply
    logging.disable(logging.CRITICAL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (address_space, address_space))
    for gold, answer in _WARM_UP:
        compare(gold, answer)
    _send(replies, {"ready": True})
    while True:
        child = os.fork()
        if child == 0:
            os._exit(_serve(replies, seconds, calls))
        _, status = os.waitpid(child, 0)
        code = os.waitstatus_to_exitcode(status)
        if code == _INPUT_ENDED:
            return
        if code != _WORN:
            _send(replies, {"died": code})


def _serve(replies: int, seconds: float, calls: int) -> int:
    """Answer up to ``calls`` requests: SymPy's caches only grow."""
    for _ in range(calls):
        # There is never more than one request in the pipe, so nothing that is read ahead is lost with this process.
        line = sys.stdin.buffer.readline()
        if not line:
            return _INPUT_ENDED
        _send(replies, _reply(json.loads(line), seconds, replies))
    return _WORN


def _reply(request: dict[str, Any], seconds: float, replies: int) -> dict[str, Any]:
    def enter(stage: str) -> None:
        _send(replies, {"stage": stage})
        if stage == "answer":  # comparing it has to do with what evaluating it left over
            _allow(seconds)

    _allow(seconds)
    try:
        outcome = compare(request["gold"], request["answer"], factor=request["factor"], restated=request["restated"], enter=enter)
    except Exception as error:  # the boundary: whatever SymPy raises is reported, and the parent says whose fault it is
        return {"error": f"{type(error).__name__}: {error}"[:300]}
    finally:
        _allow(0)
    return {"equal": outcome.equal, "why": outcome.why}


def _allow(seconds: float) -> None:
    """Have the kernel end this process (SIGPROF) once it has used so much more processor time; 0 allows any."""
    # Processor time, not time on the wall: a machine with other work to do does not make an answer slow.
    signal.setitimer(signal.ITIMER_PROF, seconds)


def _send(replies: int, message: dict[str, Any]) -> None:
    os.write(replies, json.dumps(message).encode() + b"\n")


if __name__ == "__main__":
    main()
