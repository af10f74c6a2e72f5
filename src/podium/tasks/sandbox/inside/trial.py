"""One test, seen from its parent: fork, watch (time, memory, output), end it, leave nothing of it behind.

As process 1 of its namespace the fork server can not be signalled by a test, inherits every orphan, and ends all
processes but itself with one call. On the host (``unsafe_local``) it must find them instead, and a program that means to
can escape it. The memory bound is summed over all processes and the scratch directory every few milliseconds; between two
looks the address space of each process bounds it.
"""

import os
import select
import signal
import time
from collections.abc import Callable
from typing import Any

from podium.tasks.sandbox.inside.candidate import become_candidate

STDERR_TAIL = 64 * 1024
LOOK_EVERY_SECONDS = 0.005
MAX_SCRATCH_FILES = 4096
CHUNK = 256 * 1024


class Trial:
    """One test under way."""

    def __init__(self, control: int, limits: dict[str, Any], scratch: str, after_fork: Callable[[], None]) -> None:
        self.control = control
        self.after_fork = after_fork
        self.limits = limits
        self.scratch = scratch
        self.mode = os.stat(scratch).st_mode & 0o7777
        self.isolated = os.getpid() == 1
        self.out = bytearray()
        self.err = bytearray()
        self.report = bytearray()
        self.stopped: tuple[str, str] | None = None
        self.exit_code: int | None = None
        self.signal: int | None = None
        self.cpu_seconds = 0.0

    def run(self, job: dict[str, Any], texts: tuple[str, str, str], stdin: bytes) -> tuple[dict[str, Any], list[bytes]]:
        """The outcome of one test, as a message for the judge. Raises OSError where the sandbox itself failed."""
        given = self._store(stdin)
        pipes = [os.pipe() for _ in range(3)]
        nonce = os.urandom(16).hex().encode()
        started = time.monotonic()
        pid = os.fork()
        if pid == 0:
            self.after_fork()
            fds = (given, pipes[0][1], pipes[1][1], pipes[2][1])
            become_candidate(job, texts, fds, nonce, self.limits)
        os.close(given)
        for _, end in pipes:
            os.close(end)
        ends = [end for end, _ in pipes]
        try:
            self._watch(pid, ends, started + min(job["wall_seconds"] or self.limits["wall_seconds"], self.limits["wall_seconds"]))
            seconds = time.monotonic() - started
        finally:
            self._sweep(pid)
        for end in ends:
            os.set_blocking(end, False)
            while self._read(end, ends):
                pass
            os.close(end)
        os.chmod(self.scratch, self.mode)  # the test may have closed it
        clear(self.scratch)
        return self._outcome(job["kind"], nonce, seconds)

    def _store(self, stdin: bytes) -> int:
        """Standard input as a file: one read may give all of it, as under ``< input``, and nothing has to be fed."""
        path = os.path.join(self.scratch, "stdin")
        try:
            with open(path, "xb") as file:
                file.write(stdin)
            return os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        finally:
            os.unlink(path)

    def _watch(self, pid: int, ends: list[int], deadline: float) -> None:
        child = os.pidfd_open(pid)
        poll = select.poll()
        for fd in (*ends, child):
            poll.register(fd, select.POLLIN)
        poll.register(self.control, 0)  # hang-ups only: the judge is gone
        look_at = time.monotonic() + LOOK_EVERY_SECONDS
        try:
            while not self._reaped(pid):
                now = time.monotonic()
                for fd, event in poll.poll(max(0.0, min(deadline, look_at) - now) * 1000 + 0.5):
                    if fd == self.control and event & (select.POLLHUP | select.POLLERR):
                        self._sweep(pid)
                        os._exit(0)
                    if fd in ends and not self._read(fd, ends):
                        poll.unregister(fd)
                now = time.monotonic()
                if now >= min(look_at, deadline):  # a last look where time is up: on a stalled machine it may be the first one
                    self._look(pid)
                    look_at = time.monotonic() + LOOK_EVERY_SECONDS
                if now >= deadline:
                    self._stop("timeout", "wall time is used up")
                if self.stopped is not None:
                    self._end(pid)
        finally:
            os.close(child)

    def _read(self, fd: int, ends: list[int]) -> bool:
        """Takes what is there; False at the end of the pipe, or where nothing is there now."""
        try:
            chunk = os.read(fd, CHUNK)
        except BlockingIOError:
            return False
        most = self.limits["output_bytes"]
        if fd == ends[0]:
            self.out += chunk[: most - len(self.out) + 1]
        elif fd == ends[1]:
            self.err += chunk
            del self.err[:-STDERR_TAIL]
        else:
            self.report += chunk[: most - len(self.report) + 1]
        if max(len(self.out), len(self.report)) > most:
            self._stop("output_limit", f"more than {most} bytes of output")
        return bool(chunk)

    def _stop(self, status: str, why: str) -> None:
        if self.stopped is None:
            self.stopped = (status, why)

    def _reaped(self, child: int) -> bool:
        """Collects the dead, orphans included; True when the test's first process is among them."""
        while True:
            try:
                pid, status, used = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return True
            if pid == 0:
                return False
            if pid == child:
                self.cpu_seconds = used.ru_utime + used.ru_stime
                if os.WIFSIGNALED(status):
                    self.signal = os.WTERMSIG(status)
                else:
                    self.exit_code = os.WEXITSTATUS(status)
                return True

    def _look(self, child: int) -> None:
        """Compares what the test holds now with its bounds."""
        files = os.statvfs(self.scratch)
        held = sum(memory_of(pid) for pid in self._others(child))
        if self.isolated:  # elsewhere the numbers are those of the host's disk
            held += (files.f_blocks - files.f_bfree) * files.f_frsize
            if files.f_files - files.f_ffree > MAX_SCRATCH_FILES:
                self._stop("killed", f"more than {MAX_SCRATCH_FILES} files in the scratch directory")
        if held > self.limits["memory_bytes"]:
            self._stop("memory", f"{held} bytes of memory in all its processes, {self.limits['memory_bytes']} are allowed")

    def _others(self, child: int) -> list[int]:
        if self.isolated:
            return [int(name) for name in os.listdir("/proc") if name.isdigit() and name != "1"]
        found = children_of(os.getpid())
        for pid in found:
            found.extend(children_of(pid))
        return found

    def _end(self, child: int) -> None:
        if self.isolated:
            # Atomic: a fork that races with it fails, for a process with a pending signal can not fork.
            try:
                os.kill(-1, signal.SIGKILL)
            except ProcessLookupError:
                return
        else:
            for pid in self._others(child):
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    continue

    def _sweep(self, child: int) -> None:
        """Ends and collects every process of the test."""
        while True:
            self._end(child)
            try:
                while os.wait4(-1, 0 if self.isolated else os.WNOHANG)[0]:
                    pass
            except ChildProcessError:
                return
            time.sleep(0.001)

    def _outcome(self, kind: str, nonce: bytes, seconds: float) -> tuple[dict[str, Any], list[bytes]]:
        said, _, value = bytes(self.report[len(nonce) :] if self.report.startswith(nonce) else b"").partition(b"\n")
        if self.stopped is not None:
            status = self.stopped[0]
            self.err += f"\npodium: stopped: {self.stopped[1]}\n".encode()
        elif self.signal is not None:
            # A program that ignores SIGXCPU is killed one second later: the clock tells the two kills apart.
            out_of_time = self.signal == signal.SIGXCPU or self.cpu_seconds >= self.limits["cpu_seconds"]
            status = "timeout" if out_of_time else "killed"
        elif said == b"memory":
            status = "memory"
        else:
            done = {"script": True, "call": said == b"value", "module": said == b"finished"}[kind]
            status = "ok" if self.exit_code == 0 and done else "error"
        header = {"status": status, "exit_code": self.exit_code, "signal": self.signal, "seconds": seconds}
        returned = [value] if kind == "call" and status == "ok" else []
        return header, [bytes(self.out[: self.limits["output_bytes"]]), bytes(self.err[-STDERR_TAIL:]), *returned]


def memory_of(pid: int) -> int:
    """Bytes that are the process's own: anonymous and shared memory, not the pages of programs on disk."""
    try:
        with open(f"/proc/{pid}/status", "rb") as file:
            text = file.read()
    except (FileNotFoundError, ProcessLookupError):
        return 0  # gone since we looked
    kilobytes = 0
    for field in (b"\nRssAnon:", b"\nRssShmem:"):  # at the start of a line: a process may call itself "RssAnon: 0"
        _, found, rest = text.partition(field)
        if found:  # a zombie has none
            kilobytes += int(rest.split(None, 1)[0])
    return kilobytes * 1024


def children_of(pid: int) -> list[int]:
    """The direct children of a process of the host."""
    try:
        with open(f"/proc/{pid}/task/{pid}/children", "rb") as file:
            return [int(child) for child in file.read().split()]
    except (FileNotFoundError, ProcessLookupError):
        return []


def clear(scratch: str) -> None:
    """Empties the scratch directory, however deep: what lies in a folder is moved up before the folder is removed."""
    token = os.urandom(8).hex()  # a name that no test can have taken
    number = 0
    while names := os.listdir(scratch):
        for name in names:
            path = os.path.join(scratch, name)
            if not is_folder(path):
                os.unlink(path)
                continue
            for below in os.listdir(path):
                number += 1
                inner = os.path.join(path, below)
                is_folder(inner)
                os.rename(inner, os.path.join(scratch, f"{token}-{number}"))
            os.rmdir(path)


def is_folder(path: str) -> bool:
    """Whether ``path`` is a folder and no link; opens it where its owner had closed it."""
    if os.path.islink(path) or not os.path.isdir(path):
        return False
    os.chmod(path, 0o700)  # to be listed, and to be moved: a folder knows its parent
    return True
