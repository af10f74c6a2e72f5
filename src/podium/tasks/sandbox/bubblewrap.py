"""The command line of one sandbox.

    all namespaces (user, mount, pid, net, ipc, uts, cgroup), no further user namespace inside
    a root of its own, read-only: the interpreter, the shared libraries, packages that were asked for, /proc of its own,
    four devices
    /tmp, the one place to write, of limited size; no /dev/shm, no environment, no terminal, no capability
    process 1 is the fork server; it dies with the judge

``tests/tasks/test_sandbox_attacks.py`` tries the ways out that these lines remove.
"""

import shutil
from collections.abc import Mapping

from podium.errors import SandboxError
from podium.tasks.sandbox.interpreter import CODE, PACKAGES, Interpreter
from podium.tasks.sandbox.limits import SandboxLimits
from podium.tasks.sandbox.packages import Packages

INSTALL = "sudo apt-get install bubblewrap"
SCRATCH = "/tmp"  # noqa: S108 - a directory of the sandbox, not of the host
DEVICES = ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom")
INNER_ID = "1000"
ONE_THREAD = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
"""Numerical libraries start a thread for each core of the machine, and a test may have few."""


def executable() -> str:
    """The path of bubblewrap. Raises :class:`SandboxError` where it is not installed."""
    found = shutil.which("bwrap")
    if found is None:
        raise SandboxError(f"bubblewrap (bwrap) is not installed; install it: {INSTALL}")
    return found


def command(
    interpreter: Interpreter,
    limits: SandboxLimits,
    *,
    bwrap: str,
    control: int,
    info: int,
    seccomp: int,
    code: Mapping[str, int],
    packages: Packages,
) -> list[str]:
    """``bwrap ... python``. ``control``, ``info``, ``seccomp`` and the values of ``code`` are inherited descriptors."""
    mounted = [word for path in packages.paths for word in ("--ro-bind", str(path), f"{PACKAGES}/{path.name}")]
    return [
        bwrap,
        *("--unshare-all", "--unshare-user", "--disable-userns", "--uid", INNER_ID, "--gid", INNER_ID),
        *("--hostname", "sandbox", "--new-session", "--die-with-parent", "--as-pid-1"),
        *("--clearenv", "--setenv", "HOME", SCRATCH, "--setenv", "LANG", "C.UTF-8", "--setenv", "PATH", "/nonexistent"),
        *(word for path in interpreter.libraries for word in ("--ro-bind", path, path)),
        *(word for target, place in interpreter.links for word in ("--symlink", target, place)),
        *(word for path in interpreter.paths for word in ("--ro-bind", path, path)),
        *("--proc", "/proc"),
        *(word for device in DEVICES for word in ("--dev-bind", device, device)),
        *("--symlink", "/proc/self/fd", "/dev/fd", "--symlink", "/proc/self/fd/0", "/dev/stdin"),
        *("--symlink", "/proc/self/fd/1", "/dev/stdout", "--symlink", "/proc/self/fd/2", "/dev/stderr"),
        *(word for place, fd in code.items() for word in ("--perms", "0444", "--file", str(fd), f"{CODE}/{place}")),
        *mounted,
        *(word for name in ONE_THREAD if mounted for word in ("--setenv", name, "1")),
        *("--size", str(limits.file_bytes), "--tmpfs", SCRATCH, "--remount-ro", "/", "--chdir", SCRATCH),
        *("--info-fd", str(info), "--seccomp", str(seccomp), "--"),
        *interpreter.arguments(control, SCRATCH, CODE, PACKAGES if mounted else None),
    ]
