"""The paid calls on disk: every reply is stored before it is used, so nothing is paid twice, also after kill -9.

A call is *claimed* in the journal before it goes out and *completed* there before its completion is returned. Its key is worker
identity, sampling parameters, rendered messages, sample and tenant (:mod:`podium.workers.call_key`). Two processes may share a
journal: a call that a living process has claimed is waited for, the claim of a dead one is taken over and counted as *unsettled*:
it may have been paid, and its reply is lost. In one process, equal calls share one, which is paid by the request that began it
(:mod:`podium.workers.single_flight`). The replies of a tenant whose replies may not be read are stored sealed.

Deliberately left out: retries and limits, which are wrapped around and inside as everywhere; expiry, because a reply that was
paid stays paid. All database work happens in one thread of its own, so the event loop never waits for a disk.
"""

import asyncio
import functools
import itertools
import random
import textwrap
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Literal, ParamSpec, Self, TypeVar

from podium.errors import ConfigError
from podium.protocols import Worker
from podium.types import Call, Completion, Usage
from podium.workers.billing import surely_unpaid
from podium.workers.call_key import attempt_keys, idempotency_key
from podium.workers.journal_file import Claim, Entry, JournalFile
from podium.workers.ledger import LedgerRow
from podium.workers.metered import Metered
from podium.workers.single_flight import SingleFlight
from podium.workers.tenant import tenant

FIRST_POLL_SECONDS = 0.02
LONGEST_POLL_SECONDS = 0.5
"""Between two looks at a call that another process has under way."""

P = ParamSpec("P")
T = TypeVar("T")


class Journal:
    """The journal at ``path`` for the run called ``run``.

    ``mode="record"`` stores and reuses replies. ``mode="replay"`` only reuses: it never calls out, never writes, and a
    call that was not recorded is a :class:`ConfigError`. Close it, or use it as a context manager.

    Raises :class:`ConfigError` for a path that can not be used and for a file that is not a journal. Example::

        with Journal("calls.db", run="ablation-3") as journal:
            worker = journal.worker(Limited(chat, limit), "openai:gpt-5-mini")
            completion = await worker(Call.plain("6 times 7?"))
            print(await journal.ledger())
    """

    def __init__(self, path: str | Path, run: str = "run", mode: Literal["record", "replay"] = "record") -> None:
        if mode not in ("record", "replay"):
            raise ConfigError(f"journal mode {mode!r} is unknown; use 'record' or 'replay'")
        self.path = Path(path)
        self.run = run
        self.mode = mode
        self._flights = SingleFlight()
        self._tickets = itertools.count()
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="journal")
        try:
            self._file = self._thread.submit(JournalFile, self.path, run, read_only=mode == "replay").result()
        except ConfigError:
            self._thread.shutdown()
            raise
        self._closed = False

    def worker(
        self,
        worker: Worker,
        identity: str,
        bound: Callable[[Call], Usage] | None = None,
        *,
        hedge: bool = False,
    ) -> "Journaled":
        """``worker``, journaled.

        ``identity`` is part of every key and names the worker in the ledger; it must change whenever the worker would
        answer differently. ``bound`` tells the most a call can use, for what is uncertain in the ledger; a
        :class:`Metered` says so itself. What ``worker`` wraps is done under a claim: keep long waits out of it (:meth:`reader`).

        ``hedge`` is for the second of two attempts that run side by side (:class:`podium.workers.hedged.Hedged`): it has a
        key and a line of its own, because both may be paid, and either's reply answers the call from then on::

            Hedged(journal.worker(chat, identity), journal.worker(chat, identity, hedge=True), after_seconds=20)
        """
        return Journaled(self, worker, identity, bound, hedge=hedge)

    def reader(self, worker: Worker, identity: str) -> "Reader":
        """``worker`` for calls that are not in the journal; the others are answered from it.

        It goes around a :class:`podium.workers.limited.Limited`, as ``journal.worker`` goes inside: a replay does not wait
        for a limit, and a call that still waits for one is not claimed, so a kill does not count it as unsettled::

            journal.reader(Limited(journal.worker(chat, identity), limit), identity)
        """
        return Reader(self, worker, identity)

    async def ledger(self) -> list[LedgerRow]:
        """What was paid, for every run in this file and every worker."""
        return await self._in_thread(self._file.ledger)

    def close(self) -> None:
        """Close the file. Calls still under way count as unsettled from now on; twice is harmless."""
        if self._closed:
            return
        self._closed = True
        try:
            self._thread.submit(self._file.close).result()
        finally:
            self._thread.shutdown()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def _in_thread(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """The result of blocking ``work``. Once asked for it is done, in order, also where the asker was cancelled."""
        asked = asyncio.get_running_loop().run_in_executor(self._thread, functools.partial(work, *args, **kwargs))
        return await asyncio.shield(asked)

    async def _replayed(self, completion: Completion, identity: str, call: Call) -> Completion:
        """``completion``, which was paid before: counted as a replay, and streamed in one piece."""
        await self._in_thread(self._file.count_replay, identity)
        if call.on_token is not None:
            call.on_token(completion.text)
        return completion

    def _not_recorded(self, identity: str, call: Call) -> ConfigError:
        asked = call.subtask or (call.question[-1].content if call.question else "")
        start = textwrap.shorten(asked, width=80, placeholder=" ...")
        return ConfigError(
            f"the journal {self.path} holds no reply of worker {identity!r} to {start!r}; replay mode never calls out: "
            "record it first, with the same pool, sampling parameters and samples"
        )


class Reader:
    """Answers from a :class:`Journal`, which makes it, and asks the worker only for what is not there."""

    def __init__(self, journal: Journal, worker: Worker, identity: str) -> None:
        self._journal = journal
        self._worker = worker
        self._identity = identity

    async def __call__(self, call: Call) -> Completion:
        """Answer ``call``, from the journal where it was paid before."""
        journal = self._journal
        stored = await journal._in_thread(journal._file.stored, attempt_keys(self._identity, call), tenant.get().seal)
        if stored is not None:
            return await journal._replayed(stored, self._identity, call)
        if journal.mode == "replay":
            raise journal._not_recorded(self._identity, call)
        return await self._worker(call)


class Journaled:
    """A worker whose replies are in a :class:`Journal`, which makes it: ``journal.worker(chat, "openai:gpt-5-mini")``.

    A reply from the journal streams in one piece and carries the usage it had when it was paid. A failed call leaves
    nothing but a count; its error passes through. Inside the call :data:`podium.workers.call_key.idempotency_key` is
    its key.
    """

    def __init__(
        self,
        journal: Journal,
        worker: Worker,
        identity: str,
        bound: Callable[[Call], Usage] | None,
        *,
        hedge: bool,
    ) -> None:
        self._journal = journal
        self._worker = worker
        self._identity = identity
        self._bound = worker.bound if isinstance(worker, Metered) else bound
        self._hedge = hedge
        self._reader = Reader(journal, self._claimed, identity)

    async def __call__(self, call: Call) -> Completion:
        """Answer ``call``, from the journal where it was paid before."""
        journal = self._journal
        is_answered_here = False

        async def answer(call: Call) -> Completion:
            nonlocal is_answered_here
            is_answered_here = True
            return await self._reader(call)

        completion = await journal._flights(self._keys(call)[0], call, answer)
        if not is_answered_here:
            await journal._in_thread(journal._file.count_replay, self._identity)
        return completion

    def _keys(self, call: Call) -> tuple[str, str]:
        """The key of this attempt, and that of the one beside it."""
        first, second = attempt_keys(self._identity, call)
        return (second, first) if self._hedge else (first, second)

    async def _claimed(self, call: Call) -> Completion:
        """Claim the call, make it, and store its completion; or take the completion of the process that had claimed it."""
        journal, file = self._journal, self._journal._file
        key, beside = self._keys(call)
        entry = Entry(
            key=key,
            beside=beside,
            worker=self._identity,
            ticket=next(journal._tickets),
            bound=None if self._bound is None else self._bound(call),
            tenant=tenant.get(),
        )
        attempt = _Attempt(journal, entry)
        try:
            stored = await self._waited_for(entry)
            if stored is not None:
                return await journal._replayed(stored, self._identity, call)
            return await self._sent(call, attempt)
        except BaseException as error:  # cancellation and bugs too: no claim outlives its call while this process lives
            paid = attempt.is_answered or (attempt.is_sent and not surely_unpaid(error))
            await journal._in_thread(file.release, entry, paid=paid)
            raise

    async def _waited_for(self, entry: Entry) -> Completion | None:
        """None once the call is claimed here; its completion where another process had claimed it and completes it."""
        wait = FIRST_POLL_SECONDS
        while (result := await self._journal._in_thread(self._journal._file.claim, entry)) is Claim.TAKEN:
            await asyncio.sleep(random.uniform(wait / 2, wait))
            wait = min(2 * wait, LONGEST_POLL_SECONDS)
        return None if isinstance(result, Claim) else result

    async def _sent(self, call: Call, attempt: "_Attempt") -> Completion:
        before = idempotency_key.set(attempt.entry.key)
        try:
            if isinstance(self._worker, Metered):  # tells when the call is sent, and has its reply kept before it is booked
                return await self._worker.attempt(call, attempt)
            attempt.sent()
            completion = await self._worker(call)
            await attempt.answered(completion)
            return completion
        finally:
            idempotency_key.reset(before)


class _Attempt:
    """A claimed call on its way."""

    def __init__(self, journal: Journal, entry: Entry) -> None:
        self.entry = entry
        self.is_sent = False
        self.is_answered = False
        self._journal = journal

    def sent(self) -> None:
        """From now on the call may be on the bill."""
        self.is_sent = True

    async def answered(self, completion: Completion) -> None:
        """Store the reply."""
        self.is_answered = True
        await self._journal._in_thread(self._journal._file.complete, self.entry, completion)
