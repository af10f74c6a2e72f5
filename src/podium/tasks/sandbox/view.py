"""For the judge as root: how a sandbox's own user gets to an interpreter under /root, and becomes that user.

A fresh user may not enter a folder that only root may, and bubblewrap looks for its sources as that user. So one mount
namespace is made at start-up in which the closed folder is an empty one that holds the interpreter's folder and nothing
else; ``nsenter`` starts each sandbox in it, as its user. The namespace lives as long as our descriptor of it: nothing is
mounted on the host, nothing has to be taken down. Where the interpreter is open to all, no such namespace is needed.
"""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass

from podium.errors import SandboxError
from podium.tasks.sandbox.interpreter import Interpreter

INSTALL = "sudo apt-get install util-linux mount"
# The folder is opened before it is covered; mount then follows the descriptor, not the path.
COVER = """
exec 9<"$2" && mount -t tmpfs -o mode=755,size=1m tmpfs "$1" && mkdir -p "$2" && mount -c --bind /proc/self/fd/9 "$2" \\
  && mount -o remount,ro "$1" && exec 9<&- && echo ready && read -r _
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """How root starts a command as another user; ``namespace`` is a descriptor of the mount namespace, or None.

    Example: ``View.open(this_interpreter()).command(1879048192)`` starts with "nsenter".
    """

    nsenter: str
    namespace: int | None

    @classmethod
    def open(cls, interpreter: Interpreter) -> "View":
        """Makes the namespace where one is needed. Raises :class:`SandboxError` saying what is missing."""
        nsenter, unshare = shutil.which("nsenter"), shutil.which("unshare")
        if nsenter is None or unshare is None:
            raise SandboxError(f"nsenter and unshare (util-linux) are not installed; install them: {INSTALL}")
        hidden = interpreter.hidden_by()
        if hidden is None:
            return cls(nsenter=nsenter, namespace=None)
        arguments = [
            unshare,
            "--mount",
            "--propagation",
            "private",
            "sh",
            "-c",
            COVER,
            "sh",
            hidden,
            os.path.realpath(sys.base_prefix),
        ]
        with subprocess.Popen(  # noqa: S603 - fixed words and our own paths
            arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process:
            if process.stdout is None or process.stdout.readline() != b"ready\n":
                said = process.communicate()[1].decode(errors="replace").strip()
                raise SandboxError(
                    f"the interpreter lies under {hidden}, which a sandbox's user may not enter, and root may not mount here "
                    f"({said}); start Podium as an ordinary user, or with an interpreter that all users may read"
                )
            return cls(nsenter=nsenter, namespace=os.open(f"/proc/{process.pid}/ns/mnt", os.O_RDONLY | os.O_CLOEXEC))

    def command(self, uid: int) -> list[str]:
        """The words in front of a command: enter the namespace, drop to user and group ``uid``, no other groups.

        nsenter opens the namespace through our entry in /proc: no descriptor of it reaches the sandbox.
        """
        mount = [] if self.namespace is None else [f"--mount=/proc/{os.getpid()}/fd/{self.namespace}"]
        return [self.nsenter, *mount, "--setuid", str(uid), "--setgid", str(uid)]

    def close(self) -> None:
        """Gives the namespace up; sandboxes that run in it keep it."""
        if self.namespace is not None:
            os.close(self.namespace)
