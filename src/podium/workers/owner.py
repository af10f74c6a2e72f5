"""Which process a claim belongs to, and whether it still lives.

Each open journal holds an exclusive ``flock`` on a file of its own beside the database. The kernel drops the lock when the
process ends, however it ends, so a lock that can be had means that its owner is dead. No heartbeats, no time-outs, no
reused process ids. For local disks on Unix: a network file system may not carry the lock, and a child that was forked
*without exec* keeps its parent's lock alive.
"""

import fcntl
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

OPENING = "opening"


class Owner:
    """This process as a holder of claims; its file is in ``folder``. Raises OSError where it can not lock.

    Make it under :func:`opening`. Example: ``lives(folder, Owner(folder).name)  # True``.
    """

    def __init__(self, folder: Path) -> None:
        self.name = f"{os.getpid()}-{uuid.uuid4().hex[:12]}"
        self._file = folder / self.name
        for file in folder.iterdir():
            if file.name != OPENING and not lives(folder, file.name):
                file.unlink(missing_ok=True)
        self._descriptor = os.open(self._file, os.O_RDWR | os.O_CREAT, 0o600)
        fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def close(self) -> None:
        """Give up the lock: from now on this owner counts as dead."""
        self._file.unlink(missing_ok=True)
        os.close(self._descriptor)


def lives(folder: Path, name: str) -> bool:
    """Whether the owner called ``name`` still runs; a file that is gone belonged to a dead one."""
    try:
        descriptor = os.open(folder / name, os.O_RDONLY)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


@contextmanager
def opening(folder: Path) -> Iterator[None]:
    """One process at a time is inside: none cleans up ``folder`` while another's file is made and not yet locked."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)  # a user who can open a file in it can hold its lock
    descriptor = os.open(folder / OPENING, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
