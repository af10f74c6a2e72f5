"""The pool: at most ``slots`` submissions at a time, each in a sandbox that was started before it came.

A sandbox is used for one submission and then ended, whatever the submission did. Its successor is started when it is
taken, not when it is given back, so that a caller rarely waits for a start.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Self

from podium.errors import SandboxError
from podium.tasks.sandbox.launch import Isolated, Launch, Local
from podium.tasks.sandbox.limits import SandboxLimits
from podium.tasks.sandbox.packages import installed
from podium.tasks.sandbox.probe import probe_isolation
from podium.tasks.sandbox.slot import Slot
from podium.tasks.sandbox.submission import Submission

ATTEMPTS = 3
"""Warm sandboxes that may be found dead (the machine killed them) before a submission gives up."""


class Sandbox:
    """A pool of isolated slots; an async context manager that probes first and leaves no process behind.

    Example::

        async with Sandbox(slots=2, limits=SandboxLimits(wall_seconds=5.0)) as sandbox:
            async with sandbox.submission("print(input())") as submission:
                outcome = await submission.run(Job(kind="script", stdin=b"hello\\n"))

    ``unsafe_local`` runs programs on the host, with the judge's rights; every outcome then says ``isolated=False``. ``packages``
    can be imported besides the standard library. Raises :class:`ConfigError` for one that is not installed here.
    """

    def __init__(
        self,
        *,
        slots: int = 2,
        limits: SandboxLimits = SandboxLimits(),  # noqa: B008
        unsafe_local: bool = False,
        packages: Sequence[str] = (),
    ) -> None:
        if slots < 1:
            raise ValueError(f"slots must be at least 1, got {slots}")
        self.limits = limits
        self.unsafe_local = unsafe_local
        self.packages = installed(packages)
        self._slots = slots
        self._running = asyncio.Semaphore(slots)
        self._launch: Launch | None = None
        self._warm: deque[asyncio.Task[Slot]] = deque()
        self._tasks: set[asyncio.Task[Slot]] = set()

    async def probe(self) -> None:
        """Tries out that this machine isolates. Raises :class:`SandboxError`: what is missing, and how to install it."""
        if not self.unsafe_local:
            await probe_isolation()

    def submission(self, source: str) -> AbstractAsyncContextManager[Submission]:
        """A sandbox of its own for ``source``; it ends with the ``async with`` block, and with it all that ran in it.

        Waits while all slots are taken. Raises :class:`SandboxError` where no sandbox can be started.
        """
        return self._submission(source)

    @asynccontextmanager
    async def _submission(self, source: str) -> AsyncIterator[Submission]:
        async with self._running:
            slot = await self._take()
            try:
                submission = Submission(slot, self.limits)
                await submission.load(source)
                yield submission
            finally:
                await slot.stop()

    async def _take(self) -> Slot:
        for _ in range(ATTEMPTS):
            if self._launch is None:
                raise SandboxError("the sandbox is closed; use it inside its ``async with``")
            task = self._warm.popleft() if self._warm else self._begin(self._launch)
            self._refill()
            try:
                slot = await asyncio.shield(task)
            except SandboxError:
                self._tasks.discard(task)
                raise
            except asyncio.CancelledError:
                self._warm.append(task)  # for the next caller; closing the pool ends it otherwise
                raise
            self._tasks.discard(task)
            if slot.alive:
                return slot
            await slot.stop()
        raise SandboxError(f"{ATTEMPTS} sandboxes ended before they were used; is the machine out of memory?")

    def _begin(self, launch: Launch) -> asyncio.Task[Slot]:
        task = asyncio.create_task(_start(launch))
        self._tasks.add(task)
        return task

    def _refill(self) -> None:
        while self._launch is not None and len(self._warm) < self._slots:
            self._warm.append(self._begin(self._launch))

    async def __aenter__(self) -> Self:
        await self.probe()
        self._launch = Local(self.packages) if self.unsafe_local else Isolated(self.limits, self.packages)
        self._refill()
        return self

    async def __aexit__(self, *_: object) -> None:
        launch, self._launch = self._launch, None
        self._warm.clear()
        started = await asyncio.gather(*self._tasks, return_exceptions=True)
        for slot in started:
            if isinstance(slot, Slot):
                await slot.stop()
        if launch is not None:
            launch.close()


async def _start(launch: Launch) -> Slot:
    return await Slot.start(launch.prepare())
