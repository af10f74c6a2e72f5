"""One started sandbox: a process, a socket to its fork server, and the certainty that all of it is gone at the end.

Everything that comes through the socket was written next to an untrusted program: lengths are bounded, fields are checked,
and whatever is not an outcome is a :class:`SandboxError`.
"""

import asyncio
import json
import os
import signal
import socket
import subprocess
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Self

from podium.errors import SandboxError
from podium.tasks.sandbox.inside.frames import PREFIX, decode_header, encode, header_length

START_SECONDS = 30.0
STOP_SECONDS = 10.0
SEND_SECONDS = 30.0
SAID = 4096
"""Bytes of what bubblewrap or the fork server said that an error repeats."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """How to start a slot: ``command(control, info)`` gives the words, where ``info`` is where bubblewrap writes whom it
    started; ``fds`` are inherited beside those two, and closed here; ``done`` is called when the last process is gone."""

    command: Callable[[int, int], Sequence[str]]
    fds: Sequence[int]
    done: Callable[[], None]
    isolated: bool


class Slot:
    """A running fork server. Made by :meth:`start`, ended by :meth:`stop`, once each."""

    def __init__(self, start: Start, process: subprocess.Popen[bytes], said: int) -> None:
        self.isolated = start.isolated
        self._done = start.done
        self._process = process
        self._said = said
        self._first: int | None = None
        self._reader = asyncio.StreamReader()
        self._writer: asyncio.StreamWriter | None = None
        self._ending: asyncio.Future[None] | None = None

    @classmethod
    async def start(cls, start: Start) -> Self:
        """Starts a sandbox and waits for its fork server. Raises :class:`SandboxError`, with what it said, where none comes."""
        ours, theirs = socket.socketpair()
        said = os.memfd_create("podium-sandbox-stderr")
        info_read, info_write = os.pipe()
        try:
            process = subprocess.Popen(  # noqa: ASYNC220, S603 - returns when exec did; fixed words and our own paths
                start.command(theirs.fileno(), info_write),
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=said, env={}, cwd="/",
                pass_fds=(theirs.fileno(), info_write, *start.fds), start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            ours.close()
            os.close(info_read)
            os.close(said)
            start.done()
            raise SandboxError(f"the sandbox does not start: {error}") from error
        finally:
            theirs.close()
            for fd in (info_write, *start.fds):
                os.close(fd)
        slot = cls(start, process, said)
        try:
            slot._reader, slot._writer = await asyncio.open_connection(sock=ours)
            async with asyncio.timeout(START_SECONDS):
                await slot._wait_until_ready(info_read)
        except TimeoutError as error:
            words = slot.last_words()
            await slot.stop()
            raise SandboxError(f"the sandbox was not ready after {START_SECONDS:g} seconds{words}") from error
        except BaseException:
            await slot.stop()
            raise
        finally:
            os.close(info_read)
        return slot

    async def _wait_until_ready(self, info: int) -> None:
        ready, _ = await self._receive(0)
        if ready.get("ready") is not True or (self.isolated and ready.get("pid") != 1):
            raise SandboxError(f"the sandbox reports {ready} instead of being ready")
        try:
            # bubblewrap names its child before it starts it, and the child has just spoken: nothing is waited for here.
            first = json.loads(os.read(info, SAID))["child-pid"] if self.isolated else self._process.pid
            self._first = os.pidfd_open(first)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise SandboxError(f"the sandbox ended as soon as it was ready{self.last_words()}") from error

    @property
    def alive(self) -> bool:
        """False where the sandbox ended by itself: killed from outside, out of memory."""
        return self._ending is None and self._process.poll() is None and not self._reader.at_eof()

    async def send(self, header: dict[str, Any], parts: Sequence[bytes] = ()) -> None:
        """One message to the fork server. Raises :class:`SandboxError` where it is gone."""
        if self._writer is None or not self.alive:
            raise SandboxError(f"the sandbox is gone{self.last_words()}")
        try:
            self._writer.write(encode(header, parts))
            async with asyncio.timeout(SEND_SECONDS):
                await self._writer.drain()
        except TimeoutError as error:
            raise SandboxError(f"the sandbox took no message for {SEND_SECONDS:g} seconds{self.last_words()}") from error
        except OSError as error:
            raise SandboxError(f"the sandbox hung up ({error}){self.last_words()}") from error

    async def receive(self, most: int, seconds: float) -> tuple[dict[str, Any], list[bytes]]:
        """The next message, with at most ``most`` bytes in its parts, within ``seconds``. Raises :class:`SandboxError`."""
        try:
            async with asyncio.timeout(seconds):
                return await self._receive(most)
        except TimeoutError as error:
            raise SandboxError(f"the sandbox did not report within {seconds:.1f} seconds{self.last_words()}") from error

    async def _receive(self, most: int) -> tuple[dict[str, Any], list[bytes]]:
        try:
            length = header_length(await self._reader.readexactly(PREFIX))
            header, lengths = decode_header(await self._reader.readexactly(length), most)
            return header, [await self._reader.readexactly(length) for length in lengths]
        except (asyncio.IncompleteReadError, OSError) as error:
            raise SandboxError(f"the sandbox ended before it reported{self.last_words()}") from error
        except (ValueError, RecursionError) as error:
            raise SandboxError(f"the sandbox sent what is no message ({error})") from error

    def last_words(self) -> str:
        """What the sandbox's own processes wrote to standard error, as the end of a sentence; "" where nothing."""
        if self._ending is not None:
            return ""
        words = os.pread(self._said, SAID, 0).decode(errors="replace").strip()
        return f": {words}" if words else ""

    async def stop(self) -> None:
        """Ends every process of the sandbox and returns when the last is gone. May be called again.

        Raises :class:`SandboxError` where one can not be ended. A cancelled call ends them all the same.
        """
        if self._ending is None:
            self._ending = asyncio.ensure_future(self._end())
        await asyncio.shield(self._ending)

    async def _end(self) -> None:
        if self._writer is not None:
            self._writer.close()
        monitor = os.pidfd_open(self._process.pid) if self._process.poll() is None else None
        if self._first is not None:
            # On the host the fork server ends its tests when we hang up; in a namespace its end is everybody's.
            with suppress(ProcessLookupError):
                if self.isolated:
                    signal.pidfd_send_signal(self._first, signal.SIGKILL)
        elif monitor is not None:
            self._process.kill()
        try:
            async with asyncio.timeout(STOP_SECONDS):
                for process in (self._first, monitor):
                    if process is not None:
                        await _exited(process)
        except TimeoutError as error:
            self._process.kill()
            raise SandboxError(f"process {self._process.pid} of a sandbox does not end; end it by hand") from error
        finally:
            for fd in (self._first, monitor, self._said):
                if fd is not None:
                    os.close(fd)
            self._process.wait(timeout=STOP_SECONDS)
            self._done()


async def _exited(pidfd: int) -> None:
    loop = asyncio.get_running_loop()
    event = asyncio.Event()
    loop.add_reader(pidfd, event.set)
    try:
        await event.wait()
    finally:
        loop.remove_reader(pidfd)
