"""The fork server: one per submission, process 1 of its sandbox; takes jobs, forks a test for each, sends outcomes.

The submission's source is never parsed here, only in the forks: a source that breaks the compiler breaks its own test.
Imports that most programs want are made once, before any job, so that a fork has them already.
"""

import bisect  # noqa: F401 - the imports of candidates start here
import collections  # noqa: F401
import functools  # noqa: F401
import gc
import heapq  # noqa: F401
import itertools  # noqa: F401
import math  # noqa: F401
import os
import re  # noqa: F401
import signal
import sys
import typing  # noqa: F401
from _ctypes import call_function, dlopen, dlsym  # without the 7 ms of ctypes
from typing import Any, NoReturn

from podium.tasks.sandbox.inside.frames import PREFIX, decode_header, encode, header_length
from podium.tasks.sandbox.inside.trial import Trial

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_CHILD_SUBREAPER = 36


def main() -> NoReturn:
    """``server CONTROL_FD SCRATCH``: serves until the judge hangs up."""
    control, scratch = int(sys.argv[1]), sys.argv[2]
    sys.path = [path for path in sys.path if not path.startswith(sys.argv[3])]
    for name in [name for name in sys.modules if name.split(".")[0] == "podium"]:
        del sys.modules[name]
    sys.path += sys.argv[4:]  # where packages are, behind the standard library
    os.chdir(scratch)
    # A handler would make process 1 reachable for the signals of a test; without one it is not.
    signal.signal(signal.SIGINT, signal.SIG_DFL if os.getpid() == 1 else signal.SIG_IGN)
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    prctl(PR_SET_DUMPABLE, 0)  # no test may open /proc/1/mem
    gc.collect()
    gc.freeze()
    _send(control, encode({"ready": True, "pid": os.getpid()}))
    first = _receive(control)
    if first is None:
        os._exit(0)
    limits, (source,) = first
    while (message := _receive(control)) is not None:
        job, (stdin, extra, arguments) = message
        try:
            header, parts = Trial(control, limits, scratch, _after_fork).run(
                job, (_text(source), _text(extra), arguments.decode()), stdin
            )
        except OSError as error:  # the boundary: whatever the server could not do is the sandbox's fault
            header, parts = {"fault": f"{error}"[:1000]}, []
        _send(control, encode(header, parts))
    os._exit(0)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogatepass")  # half a pair is for the compiler in the fork to refuse


def _after_fork() -> None:
    # The server's dumpable flag is inherited, and without it /dev/stdin can not be opened.
    prctl(PR_SET_DUMPABLE, 1)
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)  # no test outlives the server


def prctl(option: int, value: int) -> None:
    """prctl(2). Raises OSError where the kernel refuses."""
    libc = dlopen(None, 0)  # type: ignore[arg-type]  # None is the program itself
    if call_function(dlsym(libc, "prctl"), (option, value, 0, 0, 0)) != 0:
        raise OSError(f"prctl({option}, {value}) failed")


def _send(control: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(control, view) :]


def _receive(control: int) -> tuple[dict[str, Any], list[bytes]] | None:
    """The next message of the judge; None where it hung up."""
    prefix = _exactly(control, PREFIX)
    if len(prefix) < PREFIX:
        return None
    header, lengths = decode_header(_exactly(control, header_length(prefix)))
    return header, [_exactly(control, length) for length in lengths]


def _exactly(control: int, length: int) -> bytes:
    data = bytearray()
    while len(data) < length and (chunk := os.read(control, min(length - len(data), 2**20))):
        data += chunk
    return bytes(data)
