"""What the forked child does: take its limits, run the candidate's program as Python would, report how it ended.

From the first line of the program on, nothing in this process can be trusted. The child holds no descriptor of the judge;
its report goes to the fork server through a pipe of this test alone. What the report may claim is what the program could
bring about anyway: a value it returned, an exception it raised.

Left out: ``__del__`` of globals at exit, and the ``site`` module (third-party packages are not there).
"""

import atexit
import builtins
import fcntl
import json
import os
import resource
import signal
import sys
import types
from _sitebuiltins import Quitter
from collections.abc import Callable
from errno import ENOMEM
from typing import Any, NoReturn

REPORT_FD = 63
MAX_FILES = 64
MIB = 2**20
# Address space may exceed resident memory by this much: the interpreter's own mappings and thread stacks.
ADDRESS_SLACK = 256 * MIB
STACK = 64 * MIB

_exit = os._exit
_write = os.write


def become_candidate(
    job: dict[str, Any], texts: tuple[str, str, str], fds: tuple[int, int, int, int], nonce: bytes, limits: dict[str, Any]
) -> NoReturn:
    """Turns the fork into the program. ``texts``: source, extra, arguments as JSON; ``fds``: stdin, stdout, stderr, report."""
    code = 1
    try:
        _own_descriptors(fds)
        _own_limits(limits)
        code = _run(job["kind"], texts, job["entry"], nonce)
    finally:
        _exit(code)


def _own_descriptors(fds: tuple[int, int, int, int]) -> None:
    # Everything above 2 goes, the control socket first of all; the report keeps a number that subprocesses do not inherit.
    report = fcntl.fcntl(fds[3], fcntl.F_DUPFD_CLOEXEC, 200)
    for fd, wanted in zip(fds, (0, 1, 2), strict=False):
        os.dup2(fd, wanted)
    os.closerange(3, report)
    os.dup2(report, REPORT_FD, inheritable=False)
    os.closerange(REPORT_FD + 1, 1024)
    for fd, name, mode, errors in (
        (0, "stdin", "r", "surrogateescape"),
        (1, "stdout", "w", "surrogateescape"),
        (2, "stderr", "w", "backslashreplace"),
    ):
        stream = open(fd, mode, encoding="utf-8", errors=errors, closefd=False, buffering=1 if fd == 2 else -1)  # noqa: SIM115
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


def _own_limits(limits: dict[str, Any]) -> None:
    os.setsid()
    os.nice(2)  # the fork server, which watches, goes first
    signal.signal(signal.SIGINT, signal.default_int_handler)
    cpu = max(1, -int(-limits["cpu_seconds"] // 1))
    wanted = {
        "CPU": (cpu, cpu + 1),
        "AS": (limits["memory_bytes"] + ADDRESS_SLACK,) * 2,
        "FSIZE": (limits["file_bytes"],) * 2,
        "NOFILE": (MAX_FILES,) * 2,
        "STACK": (STACK,) * 2,
        "SIGPENDING": (256,) * 2,
        "CORE": (0, 0),
        "MEMLOCK": (0, 0),
        "MSGQUEUE": (0, 0),
        "RTPRIO": (0, 0),
    }
    if limits["processes"] is not None:
        wanted["NPROC"] = (limits["processes"],) * 2
    for name, (soft, hard) in wanted.items():
        which = getattr(resource, f"RLIMIT_{name}")
        most = resource.getrlimit(which)[1]
        if most != resource.RLIM_INFINITY:
            soft, hard = min(soft, most), min(hard, most)
        resource.setrlimit(which, (soft, hard))


def _run(kind: str, texts: tuple[str, str, str], entry: str, nonce: bytes) -> int:
    source, extra, arguments = texts
    # "call" and "module" do not run what stands under ``if __name__ == "__main__"``.
    module = types.ModuleType("__main__" if kind == "script" else "submission")
    sys.modules["__main__"] = sys.modules[module.__name__] = module
    sys.argv = ["submission.py"]
    builtins.exit = Quitter("exit", "Ctrl-D")
    builtins.quit = Quitter("quit", "Ctrl-D")
    names = module.__dict__

    def program() -> bytes | None:
        _execute(source, "<submission>", names)
        if kind == "call":
            given = json.loads(arguments)
            value = _find(entry, names)(*given["args"], **given["kwargs"])
            return b"value\n" + json.dumps(value, allow_nan=False).encode()
        if kind == "module":
            _execute(extra, "<tests>", names)
            return b"finished\n"
        return None

    return _ended(program, nonce, exit_is_normal=kind == "script")


def _execute(source: str, name: str, names: dict[str, Any]) -> None:
    exec(compile(source, name, "exec", dont_inherit=True), names)  # noqa: S102 - this process is the sandbox


def _find(entry: str, names: dict[str, Any]) -> Callable[..., Any]:
    owner, dot, method = entry.partition("().")
    if owner not in names:
        raise NameError(f"the submission defines no {owner!r}")
    found: Callable[..., Any] = getattr(names[owner](), method) if dot else names[owner]
    return found


def _ended(program: Callable[[], bytes | None], nonce: bytes, *, exit_is_normal: bool) -> int:
    """Runs ``program`` to its end, threads and exit functions included; the exit code that Python would give."""
    code = 0
    report: bytes | None = None
    try:
        report = program()
    except SystemExit as stop:
        code = _exit_code(stop)
        if not exit_is_normal:
            sys.stderr.write(f"podium: the program left with exit code {code} before its tests were done\n")
            code = 1
    except BaseException as error:  # the program's own errors end here, as they would in the interpreter
        report = b"memory\n" if _is_memory(error) else None
        code = 1
        error.__traceback__ = _below(error)  # our own frames are not part of the program's traceback
        sys.excepthook(type(error), error, error.__traceback__)
    if report is not None:
        _report(nonce + report)
    if exit_is_normal:
        _shut_down_threads()
        atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        code = code or 120
    return code


def _exit_code(stop: SystemExit) -> int:
    if stop.code is None:
        return 0
    if isinstance(stop.code, int):
        return stop.code & 0xFF
    sys.stderr.write(f"{stop.code}\n")
    return 1


def _is_memory(error: BaseException) -> bool:
    return isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == ENOMEM)


def _below(error: BaseException) -> types.TracebackType | None:
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_globals.get("__name__") == __name__:
        trace = trace.tb_next
    return trace


def _shut_down_threads() -> None:
    threading = sys.modules.get("threading")
    if threading is not None:
        threading._shutdown()


def _report(message: bytes) -> None:
    while message:
        message = message[_write(REPORT_FD, message) :]
