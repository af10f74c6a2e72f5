"""A tune or a study that was started from the page: ``podium tune`` or ``podium evaluate STUDY`` in a process of its own, one at
a time below one folder, with a cap in dollars.

What is known of it lies in the folder, and the process holds a lock there as long as it lives. So a server that is started again,
and another one over the same folder, see it, stop it, and start no second one. It goes on when the server ends.
"""

import fcntl
import json
import os
import re
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from podium.errors import ConfigError
from podium.page.shown import line

_FOLDER = ".learning"
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")
_FAILED = re.compile(r"[A-Z]\w+: ")
_DOLLARS = re.compile(r"[0-9]{1,6}(\.[0-9]{1,6})?")
MOST_USD = 10_000.0
LEAST_CALLS, MOST_CALLS = 200, 100_000
MOST_FILES = 100
BUILT_IN = ("200", "600")
"""How many of the built-in pool's problems there are to choose."""
_REPORTS = {"tune": "report.md", "study": "report.html"}
MOST_PID = 2**22
"""Linux gives no process a larger number."""
LATEST_BYTES = 8_000
"""Of the end of the process's words, that are looked at."""
_START = (
    # A server that was started in the background ignores interrupts, and its children would, too.
    "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); from podium.cli import main; sys.exit(main())"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What was started. Example: ``Job(kind="tune", name="mine", pid=4711, started=1.7e9, usd=2.0)``."""

    kind: str
    """``tune`` or ``study``."""
    name: str
    """Its folder, below that of the training runs."""
    pid: int
    started: float
    """In seconds since 1970."""
    usd: float
    """What it may cost at most."""
    under_way: bool = False
    said: str = ""
    """The last line of its words, or the first of how it failed."""
    has_result: bool = False
    """Whether it left its report."""


class LearningJobs:
    """The one job below ``folder``. ``pool`` is the server's pool file (None: the built-in pool), ``sources`` where problems and
    studies lie. Everything here blocks for milliseconds.

    Example: ``jobs.start("tune", "mine", usd=dollars("2"), more=jobs.tune_arguments("gym", 200, "balanced"))``.
    """

    def __init__(self, folder: Path, pool: Path | None, sources: Path) -> None:
        self._root, self._pool, self._sources = folder, pool, sources
        self._folder = folder / _FOLDER
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def has_pool_file(self) -> bool:
        """Whether the server's pool is one's own; else it is the built-in one, which brings problems."""
        return self._pool is not None

    def problem_files(self) -> list[str]:
        """Names of files that may hold problems."""
        return _names(self._sources, ".jsonl")

    def study_files(self) -> list[str]:
        """Names of files that are studies."""
        return [name for name in _names(self._sources, ".toml") if _is_study(self._sources / name)]

    def tune_arguments(self, problems: str, calls: str, prefer: str) -> list[str]:
        """Flags of ``podium tune``; ``problems`` is one of :meth:`problem_files`, or how many of the built-in pool's.

        Raises :class:`ConfigError`.
        """
        if not (calls.isascii() and calls.isdecimal()) or not LEAST_CALLS <= int(calls) <= MOST_CALLS:
            raise ConfigError(f"how many calls: a whole number from {LEAST_CALLS} to {MOST_CALLS:,}")
        flags = ["--max-calls", calls, "--prefer", prefer]
        if not self.has_pool_file and problems in BUILT_IN:
            return ["--gym", problems, *flags]
        if problems not in self.problem_files():
            raise ConfigError("choose problems from the list")
        pool = [] if self._pool is None else ["--pool", str(self._pool)]
        return ["--file", str(self._sources / problems), *pool, *flags]

    def study_arguments(self, study: str) -> list[str]:
        """What follows ``podium evaluate``. Raises :class:`ConfigError`."""
        if study not in self.study_files():
            raise ConfigError("choose a study from the list")
        return [str(self._sources / study)]

    def start(self, kind: str, name: str, *, usd: float, more: Sequence[str]) -> None:
        """Begin. Raises :class:`ConfigError`, also where something is under way."""
        if not _NAME.fullmatch(name):
            raise ConfigError("name its folder with small letters, digits, - and _, at most 40")
        if kind == "tune" and (self._root / name / "policy.json").exists():
            raise ConfigError(f"there is a tuned policy in {name} already: name another folder")
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            with (self._folder / "lock").open("a+") as lock:
                if not _taken(lock.fileno()):
                    raise ConfigError("something is under way already: wait for its end, or stop it")
                if self._process is not None:
                    self._process.wait()  # it let go of the lock, so it is ending: dropped before, it would stay a zombie
                command = ["tune"] if kind == "tune" else ["evaluate"]
                command += [*more, "--out", str(self._root / name), "--max-usd", f"{usd:f}"]
                with (self._folder / "words.log").open("wb") as words:
                    # The child inherits the lock and holds it until it ends, however that happens.
                    self._process = subprocess.Popen(  # noqa: S603 - every part is checked above
                        [sys.executable, "-c", _START, *command],
                        stdin=subprocess.DEVNULL,
                        stdout=words,
                        stderr=subprocess.STDOUT,
                        pass_fds=(lock.fileno(),),
                        start_new_session=True,
                    )
                job = Job(kind=kind, name=name, pid=self._process.pid, started=time.time(), usd=usd)
                (self._folder / "job.json").write_text(json.dumps(asdict(job)), encoding="utf-8")
        except OSError as error:
            raise ConfigError(f"nothing can be written to {self._root}: {error.strerror}") from error

    def latest(self) -> Job | None:
        """What is under way or was last; None where nothing was ever started."""
        if self._process is not None:
            self._process.poll()  # else it stays a zombie, which holds no lock but has a number
        try:
            read = json.loads((self._folder / "job.json").read_text(encoding="utf-8"))
            under_way = self._is_under_way()
            job = Job(
                kind=str(read["kind"]),
                name=str(read["name"]),
                pid=int(read["pid"]),
                started=float(read["started"]),
                usd=float(read["usd"]),
                under_way=under_way,
                said=self._said(ended=not under_way),
            )
            if job.kind in _REPORTS and _NAME.fullmatch(job.name):  # else somebody else wrote it
                report = self._root / job.name / _REPORTS[job.kind]
                job = replace(job, has_result=report.is_file() and report.stat().st_mtime >= job.started)
        except (OSError, ValueError, TypeError, KeyError, OverflowError):
            return None
        return job if 1 < job.pid <= MOST_PID else None  # no process, but a group of them or all, is what smaller numbers stop

    def stop(self) -> None:
        """Interrupt what is under way, as Ctrl-C does: what was paid for is kept. Twice is harmless."""
        job = self.latest()
        if job is not None and job.under_way:
            with suppress(ProcessLookupError):  # it ended this moment; what it left running holds the lock
                os.kill(job.pid, signal.SIGINT)

    def _is_under_way(self) -> bool:
        with (self._folder / "lock").open("a+") as lock:
            return not _taken(lock.fileno())

    def _said(self, *, ended: bool) -> str:
        with (self._folder / "words.log").open("rb") as words:
            words.seek(max(0, words.seek(0, os.SEEK_END) - LATEST_BYTES))
            lines = words.read().decode("utf-8", "replace").splitlines()
        written = [each for each in reversed(lines) if each.strip()]
        failures = [each for each in written if _FAILED.match(each)] if ended else []
        return line([*failures, *written, ""][0], 300)


def dollars(written: str) -> float:
    """The cap that a visitor wrote. Raises :class:`ConfigError`: there is no job without one."""
    if not _DOLLARS.fullmatch(written.strip()) or not 0 < float(written) <= MOST_USD:
        raise ConfigError(f"say what it may cost at most, in dollars: a number up to {MOST_USD:,.0f}, as in 2.50")
    return float(written)


def _taken(lock: int) -> bool:
    """Whether we hold the lock now; it is let go of when its file is closed here and in every process that inherited it."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _names(folder: Path, ending: str) -> list[str]:
    return sorted(path.name for path in folder.glob(f"*{ending}") if path.is_file())[:MOST_FILES]


def _is_study(path: Path) -> bool:
    try:
        return {"title", "arms", "problems", "out"} <= set(tomllib.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return False
