"""Comparing formulas in processes that can be killed: a small pool for threads and event loops alike.

SymPy may think about a formula for minutes or take all memory, and can not be stopped from within; ``signal.alarm`` works in
the main thread only. So each comparison runs in a worker process (``worker.py``) with bounded processor time and
address space. Starting one takes about a second (SymPy is large); that is never counted against an answer. One that went
over its bounds is replaced in milliseconds.

What goes wrong, and whose fault it is:

- The worker ran out of time or memory, or raised, while it read and evaluated *the answer by itself*: the answer is to blame
  (``9^{9^{9}}``), and it is not equal to anything.
- The same while it compared the two: the answer is to blame where the gold answer can be compared with itself. Otherwise, and
  where the gold answer can not be read: :class:`VerifierError`, no verdict.
- The worker died of anything else, or was killed, or fell silent: it is replaced and the comparison done again, once. If it
  broke down over the answer both times (a stack that overflowed), that is as if it had raised; else :class:`VerifierError`.

Left out: what the formulas mean (``equivalence.py``).
"""

import asyncio
import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import threading
import time
import weakref
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from podium.errors import VerifierError

MAX_TEXT_CHARS = 2_000
"""Of a gold answer or an answer; the caller cuts or refuses longer ones."""
_ROOT = Path(__file__).parents[3]
_MAX_SOUND = 4_096
"""So many gold answers are remembered to compare with themselves, or not to."""
_BROKE_DOWN = (-signal.SIGSEGV, -signal.SIGBUS, -signal.SIGABRT, -signal.SIGILL)
"""Exit codes that a process has for no other reason."""
_KEPT = ("PATH", "LD_LIBRARY_PATH", "SYSTEMROOT")
"""All that a worker gets of our environment: keys and tokens are none of its business."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """``equal`` None: the gold answer is no formula. Example: ``Comparison(equal=False, why="another value")``."""

    equal: bool | None
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolLimits:
    """What one worker may use. Example: ``PoolLimits(processor_seconds=0.3)``."""

    processor_seconds: float = 0.8
    """For reading the gold answer, and once more for all that the answer takes: reading, evaluating and comparing it."""
    wall_seconds: float = 20.0
    """Until a worker that uses no processor time is given up: stopped, swapped out, on a machine with too much to do."""
    start_seconds: float = 60.0
    address_space_bytes: int = 2 * 1024**3
    calls: int = 2_000
    """A worker's memory is started afresh after so many: SymPy's caches only grow."""


class SymbolicPool:
    """Compares formulas in ``size`` worker processes, which start when first needed.

    Example: ``(await SymbolicPool().compare("x/2", "0.5x")).equal``. May be used from any thread and any number of event
    loops at once; more calls than workers wait their turn, which is not counted as their time. :meth:`close` ends the
    workers; so does the end of this object, and that of this process, however it ends.
    """

    def __init__(self, size: int = 2, limits: PoolLimits = PoolLimits()) -> None:
        self.limits = limits
        self._size = size
        self._renew()

    def _renew(self) -> None:
        self._process_id = os.getpid()
        # Each thread of the executor owns one worker and alone talks to it; the set is there for closing them all.
        self._own = threading.local()
        self._workers: set[_Worker] = set()
        # Guards ``_workers`` and ``_closed``: a worker is either in the set when close() empties it, or never started.
        self._lock = threading.Lock()
        self._closed = False
        self._sound: dict[str, bool] = {}
        self._executor = ThreadPoolExecutor(max_workers=self._size, thread_name_prefix="podium-formulas")
        self._end = weakref.finalize(self, _end, self._executor, self._workers)

    async def compare(self, gold: str, answer: str, *, factor: str = "1", restated: bool = False) -> Comparison:
        """Whether ``factor`` times ``answer`` is ``gold``, as ``equivalence.compare`` says.

        Raises :class:`VerifierError` where that could not be found out through no fault of the answer's.
        """
        return await asyncio.wrap_future(self._submit(gold, answer, factor, restated))

    def compare_blocking(self, gold: str, answer: str, *, factor: str = "1", restated: bool = False) -> Comparison:
        """As :meth:`compare`, for code without an event loop."""
        return self._submit(gold, answer, factor, restated).result()

    @property
    def process_ids(self) -> list[int]:
        """Of the workers that are running; each leads a process group of its own, in which its fork is."""
        with self._lock:
            return sorted(worker.process_id for worker in self._workers if not worker.is_dead)

    def close(self) -> None:
        """End the workers. Calls in flight raise :class:`VerifierError`, and so do later ones."""
        if self._process_id != os.getpid():
            return
        with self._lock:
            self._closed = True
        self._end()

    def _submit(self, gold: str, answer: str, factor: str, restated: bool) -> "Future[Comparison]":
        if max(len(gold), len(answer)) > MAX_TEXT_CHARS:
            raise ValueError(f"formulas have at most {MAX_TEXT_CHARS} characters")
        if self._process_id != os.getpid():
            # Threads and pipes do not survive a fork: the child starts its own and leaves its parent's alone.
            self._end.detach()
            self._renew()
        request = {"gold": gold, "answer": answer, "factor": factor, "restated": restated}
        line = json.dumps(request).encode() + b"\n"
        with self._lock:
            if self._closed:
                raise VerifierError("the pool that compares formulas is closed; make a new one")
            return self._executor.submit(self._compare, line)

    def _compare(self, line: bytes) -> Comparison:
        """In a thread of the executor: one comparison by the thread's own worker, twice where the worker died of nothing."""
        for attempt in (1, 2):
            worker = self._worker()
            try:
                comparison = worker.ask(line)
            except _Died as died:
                if not died.is_replaced:
                    self._drop(worker)
                if attempt == 2 and died.over_answer:
                    return self._blame(line, f"the process {died}")
                if attempt == 2 or self._closed:
                    raise VerifierError(f"the process that compares formulas {died}; ask again") from died
            except _Undecided as undecided:
                return self._blame(line, str(undecided))
            except VerifierError:
                raise  # no verdict, but the worker has said all there is to say
            except BaseException:
                self._drop(worker)  # also where it lives: what it says next would be the reply to this call
                raise
            else:
                return comparison
        raise AssertionError("unreachable")

    def _blame(self, line: bytes, what: str) -> Comparison:
        """The answer is to blame for a comparison that came to nothing, where the gold answer compares with itself."""
        request = json.loads(line)
        gold = request["gold"]
        if request["answer"] != gold or request["factor"] != "1":
            if gold not in self._sound:
                if len(self._sound) >= _MAX_SOUND:
                    self._sound.clear()
                itself = {"gold": gold, "answer": gold, "factor": "1", "restated": False}
                self._sound[gold] = self._compare(json.dumps(itself).encode() + b"\n").equal is True
            if self._sound[gold]:
                return Comparison(equal=False, why=f"comparing it {what}")
        raise VerifierError(f"comparing the gold answer with itself {what}; nothing is known of the answer")

    def _worker(self) -> "_Worker":
        """The thread's own worker; where it died while it had nothing to do, another."""
        worker: _Worker | None = getattr(self._own, "worker", None)
        if worker is not None and worker.is_dead:
            self._drop(worker)
            worker = None
        if worker is None:
            with self._lock:
                if self._closed:
                    raise VerifierError("the pool that compares formulas was closed while it was at work")
                worker = _Worker(self.limits)
                self._workers.add(worker)
            self._own.worker = worker
        return worker

    def _drop(self, worker: "_Worker") -> None:
        worker.kill()
        with self._lock:
            self._workers.discard(worker)
        self._own.worker = None


class _Died(Exception):
    """A worker's process ended or fell silent through no fault of the formulas."""

    is_replaced = False
    """Whether it was the fork only, of which there is a new one."""
    over_answer = False
    """Whether the fork broke down by itself, and had read the gold answer before."""


class _Undecided(Exception):
    """The comparison failed, or took too long, after both had been read."""


class _Worker:
    """One process. Not for several threads, except for :meth:`kill`."""

    def __init__(self, limits: PoolLimits) -> None:
        self._limits = limits
        self._ready = False
        self._unread = b""
        # Held while the pipes are used, so that they are not closed, and their numbers given away, while a thread reads.
        self._pipes = threading.Lock()
        environment = {name: os.environ[name] for name in _KEPT if name in os.environ}
        # The same package, wherever this one was imported from; and sets in one order, so that verdicts repeat.
        environment |= {"PYTHONPATH": os.pathsep.join([str(_ROOT), os.environ.get("PYTHONPATH", "")]), "PYTHONHASHSEED": "0"}
        command = [sys.executable, "-P", "-m", "podium.tasks.mathematics.worker"]
        arguments = [str(limits.address_space_bytes), str(limits.processor_seconds), str(limits.calls)]
        self._process = subprocess.Popen(  # noqa: S603 - our own module
            [*command, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            start_new_session=True,  # a group to kill as one; and Ctrl-C is for us, whose end is theirs
        )
        if self._process.stdin is None or self._process.stdout is None:
            raise AssertionError("both were asked for")
        self._requests, self._replies = self._process.stdin, self._process.stdout
        self._poll = select.poll()
        self._poll.register(self._replies, select.POLLIN)

    @property
    def process_id(self) -> int:
        """Of the process, and of its group."""
        return self._process.pid

    @property
    def is_dead(self) -> bool:
        """Whether the process has ended."""
        return self._process.poll() is not None

    def ask(self, line: bytes) -> Comparison:
        with self._pipes:
            return self._ask(line)

    def _ask(self, line: bytes) -> Comparison:
        if not self._ready:
            self._await_start()
        stage = "gold"
        try:
            while self._unread or self._poll.poll(0):
                self._read(time.monotonic())  # of a fork that died while it had nothing to do
            self._write(line)
            end = time.monotonic() + self._limits.wall_seconds
            while True:
                reply = self._read(end)
                if "stage" in reply:
                    stage = reply["stage"]
                elif "error" in reply:
                    return self._judge_failure(stage, f"failed: {reply['error']}")
                elif reply.get("died") == -signal.SIGPROF:
                    return self._judge_failure(stage, f"took longer than {self._limits.processor_seconds:g} seconds")
                elif "died" in reply:
                    died = _Died(f"ended with code {reply['died']}")
                    died.is_replaced = True
                    died.over_answer = stage != "gold" and reply["died"] in _BROKE_DOWN
                    raise died
                else:
                    return Comparison(equal=reply["equal"], why=reply["why"])
        except EOFError:
            raise _Died(f"ended with code {self._process.wait()}") from None
        except TimeoutError:
            raise _Died(f"said nothing for {self._limits.wall_seconds:g} seconds") from None

    def kill(self) -> None:
        """End the process and its fork, now, and leave no zombie. From any thread."""
        if self._process.poll() is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):  # it has ended by itself just now
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        with self._pipes:  # a thread that is waiting for its words has just heard of its end
            self._requests.close()
            self._replies.close()

    def _judge_failure(self, stage: str, what: str) -> Comparison:
        if stage == "answer":
            return Comparison(equal=False, why=f"evaluating it {what}")
        if stage == "compare":
            raise _Undecided(what)
        raise VerifierError(f"reading the gold answer {what}; nothing is known of the answer")

    def _await_start(self) -> None:
        try:
            self._read(time.monotonic() + self._limits.start_seconds)
        except (EOFError, TimeoutError) as error:
            raise _Died("did not start; is math-verify installed (pip install podium)?") from error
        self._ready = True

    def _write(self, line: bytes) -> None:
        try:
            # A request (at most 12 bytes a character) fits into the empty pipe: this never blocks.
            os.write(self._requests.fileno(), line)
        except OSError as error:
            raise EOFError from error

    def _read(self, end: float) -> dict[str, Any]:
        """The next message. Raises EOFError where the process has ended, and TimeoutError after ``end``."""
        while b"\n" not in self._unread:
            if not self._poll.poll(max(0.0, end - time.monotonic()) * 1000):
                raise TimeoutError
            piece = os.read(self._replies.fileno(), 65536)
            if not piece:
                raise EOFError
            self._unread += piece
        line, _, self._unread = self._unread.partition(b"\n")
        message: dict[str, Any] = json.loads(line)
        return message


def _end(executor: ThreadPoolExecutor, workers: set[_Worker]) -> None:
    for worker in list(workers):
        worker.kill()
    workers.clear()
    executor.shutdown(wait=False, cancel_futures=True)
