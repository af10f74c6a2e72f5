"""A bound on the number of processes that holds for root as well: the kernel's control groups for processes (``pids``).

A limit of a single process (RLIMIT_NPROC) counts all of a user's processes and does not bind root. A control group counts those
that are in it, whoever they belong to. One can be made where this process may write below its own group: as root on most
machines and in privileged containers, as an ordinary user where the service manager delegates its group.
"""

import os
import secrets
from functools import cache
from pathlib import Path


@cache
def countable() -> Path | None:
    """The control group below which one with a limit on processes can be made; None where that can not be done here."""
    try:
        mounts = Path("/proc/self/mountinfo").read_text().splitlines()
        groups = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        return None
    place = own_group(mounts, groups)
    return place if place is not None and _can_count(place) else None


def own_group(mounts: list[str], groups: list[str]) -> Path | None:
    """Where this process's control group for processes lies, from the lines of ``mountinfo`` and ``cgroup`` in its ``/proc``."""
    numbered = [line.split(":", 2) for line in groups]
    for line in mounts:
        words, _, about = line.partition(" - ")
        kind, _, options = about.split()
        root, point = words.split()[3:5]
        if kind == "cgroup" and "pids" in options.split(","):  # version 1: a tree for each kind of limit
            own = next((path for _, names, path in numbered if "pids" in names.split(",")), None)
        elif kind == "cgroup2" and not any("pids" in names.split(",") for _, names, _ in numbered):
            own = next((path for number, names, path in numbered if (number, names) == ("0", "")), None)
        else:
            continue
        above = root.rstrip("/")
        if own is not None and (own == root or own.startswith(above + "/")):
            return Path(point, own[len(above) :].lstrip("/"))
    return None


def _can_count(place: Path) -> bool:
    """Whether a group with a limit on processes can be made below ``place``: one is made, and removed."""
    tried = place / f"podium-{secrets.token_hex(8)}"
    try:
        tried.mkdir()
    except OSError:
        return False
    try:
        return os.access(tried / "pids.max", os.W_OK) and os.access(tried / "cgroup.procs", os.W_OK)
    finally:
        tried.rmdir()
