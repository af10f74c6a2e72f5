"""The two ways to start a command: isolated under bubblewrap, and on the host because the operator's file says so.

Isolated it has namespaces of its own (processes, mounts, IPC, and the network unless it is allowed): all of it ends with one
process, whatever it started. It sees system programs and what its table names, writes to one folder of limited size, and can not
see this process. System calls that get around this (memory that belongs to no process, tracing, mounts) are refused as in the
sandbox. As root each call is a user of its own, so that the kernel counts its processes apart.

On the host a small supervisor (``supervisor.py``) adopts and ends whatever it leaves behind. That is for programs one trusts.
"""

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from podium.acting.command_config import PATH, SEEN, CommandWorkerConfig
from podium.acting.process_count import countable
from podium.errors import ConfigError, SandboxError
from podium.tasks.sandbox import bubblewrap
from podium.tasks.sandbox.launch import memory_file
from podium.tasks.sandbox.seccomp import filter_program
from podium.tasks.sandbox.uids import Uid
from podium.tasks.sandbox.view import INSTALL, View

FOLDER = "/tmp"  # noqa: S108 - of the namespace, not of the host
_MIB = 2**20
_FROM_ETC = (
    *("alternatives", "ca-certificates", "group", "hosts", "ld.so.cache", "localtime", "nsswitch.conf", "passwd", "pki"),
    *("resolv.conf", "ssl"),
)
SUPERVISOR = Path(__file__).with_name("supervisor.py")


@dataclass(frozen=True, slots=True, kw_only=True)
class Confined:
    """A command ready to be started, and what to do when all of it has ended."""

    words: Callable[[int], list[str]]
    """(descriptor on which bubblewrap says whom it started, and how that ended) -> the whole command line."""
    fds: tuple[int, ...] = ()
    """Descriptors that it is started with; they are closed here afterwards."""
    environment: Mapping[str, str]
    folder: str
    """Where it is started, on the host."""
    done: Callable[[], None]
    isolated: bool


def environment_of(table: CommandWorkerConfig, environ: Mapping[str, str], folder: str) -> dict[str, str]:
    """The variables that the table names, a path, and a home: nothing else of ``environ``."""
    given = {name: environ[name] for name in table.environment if name in environ}
    return {"PATH": PATH, "HOME": folder, "TMPDIR": folder, "LANG": "C.UTF-8", **given}


def confined(table: CommandWorkerConfig, words: list[str], environ: Mapping[str, str]) -> Confined:
    """``words`` with what stands in front of them. Raises :class:`SandboxError` where it can not be isolated."""
    return _isolated(table, words, environ) if table.isolated else _on_the_host(table, words, environ)


def check_isolation(table: CommandWorkerConfig) -> None:
    """Raises :class:`ConfigError` where this machine lacks what the command is to be isolated with."""
    if not table.isolated:
        return
    try:
        bubblewrap.executable()
        filter_program(sockets=True)
    except SandboxError as error:
        raise ConfigError(f"{error}; or say isolated = false, for a command that you trust with this machine") from error
    if shutil.which("prlimit") is None or (os.geteuid() == 0 and shutil.which("nsenter") is None):
        raise ConfigError(f"prlimit and nsenter (util-linux) are not installed; install them: {INSTALL}")


def _isolated(table: CommandWorkerConfig, words: list[str], environ: Mapping[str, str]) -> Confined:
    uid = Uid.take() if os.geteuid() == 0 else None
    front = [] if uid is None else View(nsenter=shutil.which("nsenter") or "nsenter", namespace=None).command(uid.number)
    limits = [shutil.which("prlimit") or "prlimit", f"--nproc={table.processes}", "--core=0", "--"]
    seccomp = memory_file(filter_program(sockets=True))

    def line(info: int) -> list[str]:
        return [
            *front,
            bubblewrap.executable(),
            *("--unshare-all", "--unshare-user", "--disable-userns", "--uid", bubblewrap.INNER_ID, "--gid", bubblewrap.INNER_ID),
            *(("--share-net",) if table.network else ()),
            *("--hostname", "podium", "--new-session", "--die-with-parent"),
            *(word for path in SEEN for word in _seen(path)),
            *(word for name in _FROM_ETC for word in ("--ro-bind-try", f"/etc/{name}", f"/etc/{name}")),
            *("--proc", "/proc", "--dev", "/dev", "--remount-ro", "/dev"),
            *("--size", str(table.files_mib * _MIB), "--tmpfs", FOLDER),
            *(word for path in table.reads for word in ("--ro-bind", path, path)),
            *(word for path in table.writes for word in ("--bind", path, path)),
            *(
                "--remount-ro",
                "/",
                "--chdir",
                FOLDER,
                "--json-status-fd",
                str(info),
                "--seccomp",
                str(seccomp),
                "--",
                *limits,
                *words,
            ),
        ]

    return Confined(
        words=line,
        fds=(seccomp,),
        environment=environment_of(table, environ, FOLDER),
        folder="/",
        done=lambda: None if uid is None else uid.release(),
        isolated=True,
    )


def _seen(path: str) -> tuple[str, ...]:
    """A system folder, read-only where it is; one that is a link on the host is one there."""
    if os.path.islink(path):
        return ("--symlink", os.readlink(path), path)
    return ("--ro-bind", path, path) if os.path.isdir(path) else ()


def _on_the_host(table: CommandWorkerConfig, words: list[str], environ: Mapping[str, str]) -> Confined:
    try:
        folder = tempfile.mkdtemp(prefix="podium-command-")
    except OSError as error:
        raise SandboxError(f"no folder for a command: {error}; set TMPDIR to a disk with space") from error
    group = countable()
    given = {"parent": os.getpid(), "file_bytes": table.files_mib * _MIB, "processes": table.processes}
    options = json.dumps({**given, "counted_in": "" if group is None else str(group)})
    return Confined(
        words=lambda info: [sys.executable, "-I", "-S", str(SUPERVISOR), options, *words],
        environment=environment_of(table, environ, folder),
        folder=folder,
        done=lambda: shutil.rmtree(folder, ignore_errors=True),
        isolated=False,
    )
