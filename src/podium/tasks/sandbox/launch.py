"""The two ways to start a slot: isolated, and on the host because the user insisted."""

import os
import shutil
import tempfile
from pathlib import Path
from typing import Protocol

from podium.errors import SandboxError
from podium.tasks.sandbox import bubblewrap
from podium.tasks.sandbox.interpreter import inside_code, this_interpreter
from podium.tasks.sandbox.limits import SandboxLimits
from podium.tasks.sandbox.packages import Packages
from podium.tasks.sandbox.seccomp import filter_program
from podium.tasks.sandbox.slot import Start
from podium.tasks.sandbox.uids import Uid
from podium.tasks.sandbox.view import View


class Launch(Protocol):
    """What a pool of slots needs to know of how they are started."""

    def prepare(self) -> Start:
        """Everything one more slot needs. Raises :class:`SandboxError` where it can not be had."""

    def close(self) -> None:
        """After the last slot: gives back what all of them shared."""


class Isolated:
    """Starts slots under bubblewrap: as root each under a user of its own, otherwise under the judge's."""

    def __init__(self, limits: SandboxLimits, packages: Packages) -> None:
        self._limits = limits
        self._packages = packages
        closed = packages.closed_to_others() if os.geteuid() == 0 else None
        if closed is not None:
            raise SandboxError(f"{closed} can not be read by others, so no program can import it; install it where all may read")
        self._bwrap = bubblewrap.executable()
        self._interpreter = this_interpreter()
        self._program = filter_program()
        self._view = View.open(self._interpreter) if os.geteuid() == 0 else None

    def prepare(self) -> Start:
        """A slot with its own copies of the filter and of the code inside, in memory."""
        uid = None if self._view is None else Uid.take()
        front = [] if self._view is None or uid is None else self._view.command(uid.number)
        seccomp = memory_file(self._program)
        code = {place: memory_file(content) for place, content in inside_code().items()}

        def command(control: int, info: int) -> list[str]:
            return front + bubblewrap.command(
                self._interpreter,
                self._limits,
                bwrap=self._bwrap,
                control=control,
                info=info,
                seccomp=seccomp,
                code=code,
                packages=self._packages,
            )

        def done() -> None:
            if uid is not None:
                uid.release()

        return Start(command=command, fds=(seccomp, *code.values()), done=done, isolated=True)

    def close(self) -> None:
        """Gives up the shared view of the interpreter."""
        if self._view is not None:
            self._view.close()


class Local:
    """Starts slots on the host: the limits of single processes, and nothing else, stand between a program and the user."""

    def __init__(self, packages: Packages) -> None:
        self._packages = packages

    def prepare(self) -> Start:
        """A slot with a temporary directory. Raises :class:`SandboxError` where there is no space for one."""
        try:
            folder = Path(tempfile.mkdtemp(prefix="podium-unsafe-"))
            scratch = folder / "scratch"
            scratch.mkdir()
            packages = folder / "packages"
            packages.mkdir()
            for path in self._packages.paths:
                (packages / path.name).symlink_to(path)
            for place, content in inside_code().items():
                path = folder / "code" / place
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
        except OSError as error:
            raise SandboxError(f"no temporary directory for a program: {error}; set TMPDIR to a disk with space") from error

        def command(control: int, info: int) -> list[str]:
            return this_interpreter().arguments(control, str(scratch), str(folder / "code"), str(packages))

        return Start(command=command, fds=(), done=lambda: shutil.rmtree(folder, ignore_errors=True), isolated=False)

    def close(self) -> None:
        """Nothing is shared."""


def memory_file(content: bytes) -> int:
    """A descriptor that reads ``content`` from its start. Raises :class:`SandboxError` where there is no memory for it."""
    try:
        fd = os.memfd_create("podium-sandbox")
        os.write(fd, content)
        os.lseek(fd, 0, os.SEEK_SET)
    except OSError as error:
        raise SandboxError(f"no memory for a sandbox's files: {error}") from error
    return fd
