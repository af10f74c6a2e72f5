"""One process on this machine, watched: time is the caller's, output, memory and the number of processes are kept here.

Whatever ends the wait (an answer, a limit, a cancellation) also ends every process of the command, before it returns.
"""

import asyncio
import json
import os
import signal
import subprocess
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from typing import IO, Self

from podium.acting.confined import Confined
from podium.acting.supervisor import children_of
from podium.errors import SandboxError
from podium.tasks.sandbox.launch import memory_file

LOOK_EVERY_SECONDS = 0.05
STOP_SECONDS = 10.0
KEPT_ERROR = 64 * 1024
"""Bytes of standard error that are kept, from its end."""
_MOST_WHY = 1000
_CHUNK = 64 * 1024
_PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one command may use."""

    output_bytes: int
    memory_bytes: int
    processes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """What a command left: its output, and how it ended."""

    stdout: bytes
    stderr: bytes
    exit_code: int
    """Negative: the number of the signal that ended it."""
    passed: str = ""
    """The limit that it passed and was ended for; "" for none."""


async def run(confined: Confined, text: bytes, limits: Limits) -> Ended:
    """Start it with ``text`` as standard input, and return when all of it has ended.

    Raises :class:`SandboxError` where it could not be started or not be ended. Cancelling ends the processes first.
    """
    running = _Running.start(confined, text)
    try:
        return await running.watched(limits)
    finally:
        # Shielded, and waited for: nothing of it runs on when the caller goes on.
        ending = asyncio.ensure_future(running.end())
        while not ending.done():
            with suppress(asyncio.CancelledError, SandboxError):
                await asyncio.shield(ending)
        running.close()
        confined.done()
        ending.result()


class _Running:
    """A started command. What is known of its processes are descriptors, so that no other process is ever meant."""

    def __init__(self, process: subprocess.Popen[bytes], info: int, *, isolated: bool) -> None:
        self._process = process
        self._isolated = isolated
        self._held = [info, os.pidfd_open(process.pid)]
        self._first: int | None = None
        """The first process inside the namespace, once it was looked for."""
        self._status = b""
        """What bubblewrap has said of it."""
        self._passed = ""
        self._out = bytearray()
        self._error = bytearray()

    @classmethod
    def start(cls, confined: Confined, text: bytes) -> Self:
        """Raises :class:`SandboxError` where that fails."""
        given = memory_file(text)
        info, info_write = os.pipe()
        try:
            process = subprocess.Popen(  # noqa: S603 - no shell: what the operator's file names
                confined.words(info_write), stdin=given, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0,
                env=dict(confined.environment), cwd=confined.folder, start_new_session=True,
                pass_fds=(info_write, *confined.fds) if confined.isolated else (),
            )  # fmt: skip
        except OSError as error:
            os.close(info)
            confined.done()
            raise SandboxError(f"the command could not be started: {error}") from error
        finally:
            for fd in (info_write, given, *confined.fds):
                os.close(fd)
        os.set_blocking(info, False)
        return cls(process, info, isolated=confined.isolated)

    async def watched(self, limits: Limits) -> Ended:
        """Its end, whatever brings it about."""
        async with AsyncExitStack() as stack:
            readers = []
            for pipe in (self._process.stdout, self._process.stderr):
                reader, transport = await _reading(pipe)
                stack.callback(transport.close)
                readers.append(reader)
            reading = [self._read_output(readers[0], limits.output_bytes), self._read_error(readers[1])]
            tasks = [asyncio.ensure_future(work) for work in (*reading, self._look(limits))]
            try:
                await _exited(self._held[1])
                # What was left behind is ended before the output is read to its end: it may hold the pipes.
                await self.end()
                await asyncio.gather(*tasks[:2])
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
        exit_code = self._process.wait()
        if self._isolated and not self._passed and b'"exit-code"' not in self._status:
            # The exit code is bubblewrap's own, and no answer: it has said nothing of how the command ended.
            why = self._error[-_MOST_WHY:].decode("utf-8", "replace").strip()
            raise SandboxError(f"it could not be isolated, or was ended from outside (exit code {exit_code}): {why}")
        return Ended(stdout=bytes(self._out), stderr=bytes(self._error), exit_code=exit_code, passed=self._passed)

    async def _read_output(self, stdout: asyncio.StreamReader, most: int) -> None:
        while chunk := await stdout.read(_CHUNK):
            self._out += chunk[: most + 1 - len(self._out)]
            if len(self._out) > most:
                self._stop(f"more than {most} bytes of output")

    async def _read_error(self, stderr: asyncio.StreamReader) -> None:
        while chunk := await stderr.read(_CHUNK):
            self._error += chunk
            del self._error[:-KEPT_ERROR]

    async def _look(self, limits: Limits) -> None:
        while not self._passed:
            await asyncio.sleep(LOOK_EVERY_SECONDS)
            found = _below(self._process.pid, limits.processes + 8)
            if len(found) > limits.processes + 4:  # bubblewrap and its child, or the supervisor, are among them
                self._stop(f"more than {limits.processes} processes")
            if sum(map(_resident, found)) > limits.memory_bytes:
                self._stop(f"more than {limits.memory_bytes >> 20} MiB of memory")

    def _stop(self, why: str) -> None:
        self._passed = self._passed or why
        self._find_first()
        self._signal()

    def _signal(self) -> None:
        if self._process.poll() is not None:
            return
        if not self._isolated:
            self._process.send_signal(signal.SIGTERM)  # the supervisor ends what is below it first
            return
        # Bubblewrap's child is its namespace, and asks only after a while to end with it. Stopped, bubblewrap starts nobody.
        self._process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, self._process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
        for child in children_of(self._process.pid):
            with suppress(ProcessLookupError):
                self._held.append(os.pidfd_open(child))
                signal.pidfd_send_signal(self._held[-1], signal.SIGKILL)
        self._process.send_signal(signal.SIGKILL)

    async def end(self) -> None:
        """End every process and wait for it. May be called again. Raises :class:`SandboxError` where one does not end."""
        self._find_first()
        self._signal()
        try:
            async with asyncio.timeout(STOP_SECONDS):
                for each in self._held[1:]:
                    await _exited(each)
        except TimeoutError as error:
            self._process.kill()
            raise SandboxError(f"process {self._process.pid} of a command does not end; end it by hand") from error

    def _find_first(self) -> None:
        """Where bubblewrap came so far as to name it, and it has not ended yet."""
        if not self._isolated:
            return
        with suppress(BlockingIOError):
            while said := os.read(self._held[0], 4096):
                self._status += said
        if self._first is None and b"\n" in self._status:
            with suppress(ProcessLookupError):
                self._first = os.pidfd_open(json.loads(self._status.partition(b"\n")[0])["child-pid"])
                self._held.append(self._first)

    def close(self) -> None:
        """Give up what was held to watch it."""
        self._process.wait(timeout=STOP_SECONDS)
        for fd in self._held:
            os.close(fd)
        for pipe in (self._process.stdout, self._process.stderr):
            if pipe is not None:
                pipe.close()


async def _reading(pipe: IO[bytes] | None) -> tuple[asyncio.StreamReader, asyncio.ReadTransport]:
    reader = asyncio.StreamReader()
    protocol = asyncio.StreamReaderProtocol(reader)
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(lambda: protocol, pipe)
    return reader, transport


def _below(pid: int, most: int) -> list[int]:
    """``pid`` and the processes below it, no more than ``most``."""
    found = [pid]
    for each in found:
        found.extend(children_of(each))
        if len(found) >= most:
            break
    return found


def _resident(pid: int) -> int:
    """Bytes of memory that the process holds; 0 where it has ended."""
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:
            return int(file.read().split()[1]) * _PAGE
    except (OSError, IndexError):
        return 0


async def _exited(pidfd: int) -> None:
    loop, event = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(pidfd, event.set)
    try:
        await event.wait()
    finally:
        loop.remove_reader(pidfd)
