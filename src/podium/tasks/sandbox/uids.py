"""User ids that no account has: one for each running sandbox, when the judge is root.

A user of its own is what makes the kernel count a sandbox's processes apart (as root they are not counted at all) and
what files of any other user are closed to. Ids come from ranges that distributions leave unused (systemd's table
"Users, Groups, UIDs and GIDs": 1879048192-2147483647, and 60706-61183 where a container maps only 16 bits). Two judges
on one machine do not take the same id: each id taken is a name in the abstract socket namespace, which the kernel gives
back when the judge ends, however it ends.
"""

import itertools
import socket
from collections.abc import Iterator
from pathlib import Path

from podium.errors import SandboxError

RANGES = (range(1879048192, 2147483646), range(60706, 61184))
TRIED = 4096


class Uid:
    """A user id (and group id of the same number) that is ours until :meth:`release`.

    Example: ``uid = Uid.take()``; ``uid.number == 1879048192``.
    """

    _next: Iterator[int] | None = None

    def __init__(self, number: int, lock: socket.socket) -> None:
        self.number = number
        self._lock = lock

    @classmethod
    def take(cls) -> "Uid":
        """A fresh id. Raises :class:`SandboxError` where this user namespace maps none of the unused ranges."""
        if cls._next is None:
            cls._next = itertools.cycle(mapped_range())
        for number in itertools.islice(cls._next, TRIED):
            lock = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            try:
                lock.bind(f"\0podium-sandbox-uid-{number}")
            except OSError:
                lock.close()  # another judge has it
                continue
            return cls(number, lock)
        raise SandboxError(f"{TRIED} user ids are in use by other judges; end those that are not needed")

    def release(self) -> None:
        """Gives the id back; call it when no process has it any more."""
        self._lock.close()


def mapped_range(uid_map: str | None = None) -> range:
    """The first of :data:`RANGES` that exists in this user namespace. Raises :class:`SandboxError` where none does."""
    text = Path("/proc/self/uid_map").read_text() if uid_map is None else uid_map
    for unused in RANGES:
        for line in text.splitlines():
            first, _, length = map(int, line.split())
            if first <= unused.start and unused.stop <= first + length:
                return unused
    raise SandboxError(
        "this container maps too few user ids for one per sandbox; start Podium as an ordinary user, or map at least 65536 ids"
    )
