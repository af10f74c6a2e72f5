"""Starts one command on the host and ends everything that it leaves behind: run as a program, by nobody else.

As *subreaper* it becomes the parent of every process below it whose own parent has ended, so that a child which forked twice and
took a session of its own is still found. When the command ends, when this process is told to (SIGTERM) and when Podium itself
dies, all of them are ended. Where it is told of a control group, the command runs in one of its own below that, which holds no
more processes than it may. A program that means to harm its user can still kill this one: isolation is for those.
"""

import ctypes
import json
import os
import resource
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

SET_PDEATHSIG, SET_CHILD_SUBREAPER = 1, 36


def children_of(pid: int) -> list[int]:
    """The processes that ``pid`` is the parent of."""
    try:
        tasks = [Path(f"/proc/{pid}/task/{task}/children").read_text() for task in os.listdir(f"/proc/{pid}/task")]
    except OSError:  # it has ended meanwhile
        return []
    return [int(child) for text in tasks for child in text.split()]


def end_all() -> None:
    """End every process below this one. First all are stopped, so that none can start another meanwhile."""
    while True:
        found = children_of(os.getpid())
        for pid in found:
            found.extend(children_of(pid))
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for pid in found:
                try:
                    os.kill(pid, number)
                except OSError:  # it has ended, or belongs to somebody else
                    continue
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def counted(place: str, processes: int) -> str:
    """A control group below ``place`` that holds ``processes`` at most, and no longer than this process; "" for none."""
    if not place:
        return ""
    group = os.path.join(place, f"podium-{os.getpid()}-{os.urandom(4).hex()}")
    os.mkdir(group)
    Path(group, "pids.max").write_text(str(processes))
    return group


def become(words: list[str], group: str, file_bytes: int) -> None:
    """The child: the command itself."""
    for number in (signal.SIGTERM, signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    ctypes.CDLL(None).prctl(SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)  # where the supervisor itself is killed
    resource.setrlimit(resource.RLIMIT_FSIZE, (file_bytes, file_bytes))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        if group:
            Path(group, "cgroup.procs").write_text("0")  # this process, and so what it starts
        os.execvp(words[0], words)  # noqa: S606 - no shell: what the operator's file names
    except OSError as error:
        give_up(words[0], error)


def give_up(what: str, error: OSError) -> NoReturn:
    """Say why nothing was started; with an exit code that no check uses."""
    os.write(2, f"{what}: {error.strerror}\n".encode())
    os._exit(127)


def main() -> None:
    """Carry out ``supervisor.py OPTIONS WORD...``."""
    options, words = json.loads(sys.argv[1]), sys.argv[2:]
    libc = ctypes.CDLL(None)
    libc.prctl(SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    group = ""

    def end(code: int) -> NoReturn:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        end_all()
        if group:
            with suppress(OSError):  # an empty group that stays harms nobody
                os.rmdir(group)
        os._exit(code)

    def stop(number: int, frame: object) -> None:
        end(128 + number)

    signal.signal(signal.SIGTERM, stop)
    libc.prctl(SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    if os.getppid() != options["parent"]:
        os._exit(128 + signal.SIGTERM)
    try:
        group = counted(options["counted_in"], options["processes"])
    except OSError as error:
        give_up("a control group", error)
    pid = os.fork()
    if pid == 0:
        become(words, group, options["file_bytes"])
    for fd in (0, 1, 2):
        os.close(fd)
    while True:
        ended, status = os.waitpid(-1, 0)
        if ended == pid:
            break
    code = os.waitstatus_to_exitcode(status)
    end(code if code >= 0 else 128 - code)


if __name__ == "__main__":
    main()
