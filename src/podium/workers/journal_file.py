"""The journal's SQLite file: claims, completions and counts. Plain blocking code for one thread.

    key unknown                  -> claimed by me      the call may go out
    completed                    -> the completion     nothing goes out
    claimed by a living owner    -> taken              wait and look again
    claimed by a dead owner      -> claimed by me      and one more call is unsettled

Every change is one transaction, on disk when it returns (write-ahead log, ``synchronous=FULL``: kill -9 and power loss);
only the count of replays, which is no money, is written along with the next change. Prompts are not stored, only the
hash of what was asked: the transcripts have the text. A new file is for its owner's eyes only, and so are the two that SQLite
keeps beside it; an older one keeps the rights it has.
"""

import json
import os
import sqlite3
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path

from pydantic import TypeAdapter

from podium.errors import ConfigError
from podium.types import Completion, Usage
from podium.workers.billing import believable
from podium.workers.journal_schema import prepare
from podium.workers.ledger import LedgerRow, read_ledger
from podium.workers.owner import Owner, lives, opening
from podium.workers.tenant import ITSELF, Seal, Tenant

BUSY_SECONDS = 30.0
"""How long to wait for another process's transaction."""

COMPLETION = TypeAdapter(Completion)
_SEALED = "sealed:"
"""Begins a reply that only its tenant can read."""


class Claim(Enum):
    """What became of a claim where no completion is stored."""

    MINE = "mine"
    TAKEN = "taken"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One call as the file knows it. ``ticket`` tells this owner's claims apart; ``bound`` is the most it can use.

    Example: ``Entry(key="9f...", beside="c2...", worker="openai:gpt-5-mini", ticket=7, bound=None)``.
    """

    key: str
    beside: str
    """The key of the attempt that may run beside this one: its completion answers this one too."""
    worker: str
    ticket: int
    bound: Usage | None
    """None where nobody knows; the dollars may be unknown by themselves."""
    tenant: Tenant = ITSELF
    """Whose reply it will be, and so how it is stored."""


class JournalFile:
    """The file at ``path`` for one run; ``read_only`` opens it for looking up only.

    Raises :class:`ConfigError`, also from every method, where the file is not a journal, is damaged, is of another
    schema version, or can not be read or written.
    """

    def __init__(self, path: Path, run: str, *, read_only: bool) -> None:
        self._path = path
        self._run = run
        self._folder = path.with_name(f"{path.name}.owners")
        self._owner: Owner | None = None
        self._new_replays: Counter[str] = Counter()
        self._ended: list[tuple[Entry, bool]] = []
        """Claims of calls that failed, and whether each may have been paid, until the file takes it."""
        with self._explained():
            if read_only:
                self._open(_existing(path), may_create=False)
            else:
                with opening(self._folder):
                    # SQLite would make the file readable for everybody; its two companions get the rights of this one.
                    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
                    self._open(str(path), may_create=True)
                    self._owner = Owner(self._folder)

    def close(self) -> None:
        """Close the file; open claims of this owner count as unsettled from now on."""
        with self._explained():
            try:
                if self._owner is not None:
                    self._store_replays()
            finally:  # a full disk must not leave claims that look alive
                if self._owner is not None:
                    self._owner.close()
                self._database.close()

    def stored(self, keys: tuple[str, str], seal: Seal | None = None) -> Completion | None:
        """The completion of the first of ``keys`` that has one; ``seal`` opens a sealed one.

        It is not counted as a replay: :meth:`count_replay`.
        """
        with self._explained():
            row = self._database.execute(
                "SELECT key, completion FROM calls WHERE key IN (?, ?) AND completion IS NOT NULL ORDER BY key = ? LIMIT 1",
                (*keys, keys[1]),
            ).fetchone()
        return None if row is None else self._read(row[0], row[1], seal)

    def claim(self, entry: Entry) -> Completion | Claim:
        """The completion if there is one; else claim the call, unless a living owner has."""
        if self._ended:
            self._release_ended()
        with self._transaction() as owner:
            answered = self.stored((entry.key, entry.beside), entry.tenant.seal)
            if answered is not None:
                return answered
            row = self._database.execute(
                "SELECT owner, run, worker, bound_usd, bound_tokens FROM calls WHERE key = ?", (entry.key,)
            ).fetchone()
            if row is not None:
                holder, run, worker, *most = row
                if lives(self._folder, holder):
                    return Claim.TAKEN
                self._count_unsettled(run, worker, *most)
            self._database.execute(
                "REPLACE INTO calls (key, worker, run, owner, ticket, bound_usd, bound_tokens, claimed_at) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (entry.key, entry.worker, self._run, owner.name, entry.ticket, *_most(entry), time.time()),
            )
        return Claim.MINE

    def complete(self, entry: Entry, completion: Completion) -> None:
        """Store the reply to a call this owner has claimed."""
        # Escaped by json, not by pydantic: worker text may hold lone surrogates, which UTF-8 can not.
        text = json.dumps(COMPLETION.dump_python(completion, mode="json"))
        if not entry.tenant.is_kept and entry.tenant.seal is not None:
            text = _SEALED + entry.tenant.seal.close(text, entry.key)
        used = believable(completion.usage)
        with self._transaction() as owner:
            changed = self._database.execute(
                "UPDATE calls SET completion = ?, prompt_tokens = ?, completion_tokens = ?, cost_usd = ? "
                "WHERE key = ? AND owner = ? AND ticket = ? AND completion IS NULL",
                (text, used.prompt_tokens, used.completion_tokens, used.cost_usd, entry.key, owner.name, entry.ticket),
            ).rowcount
            if not changed:
                raise ConfigError(
                    f"a call of {entry.worker!r} was taken over by another process while it was under way: was "
                    f"{self._folder} removed? Leave that folder alone while a run is going"
                )
            self._store_replays()

    def release(self, entry: Entry, *, paid: bool) -> None:
        """The call failed: drop the claim, and count it as unsettled where it may have been ``paid``, else as a failure.

        Where the file can not be written, that is done before the next claim: equal calls would wait for this one for ever.
        """
        self._ended.append((entry, paid))
        self._release_ended()

    def count_replay(self, worker: str) -> None:
        """One more call of this run was answered for nothing."""
        self._new_replays[worker] += 1

    def ledger(self) -> list[LedgerRow]:
        """The rows of all runs, sorted by run and worker."""
        with self._explained():
            rows = {(row.run, row.worker): row for row in read_ledger(self._database)}
        for worker, replays in self._new_replays.items():
            row = rows.get((self._run, worker), LedgerRow(run=self._run, worker=worker))
            rows[self._run, worker] = replace(row, replays=row.replays + replays)
        return [rows[place] for place in sorted(rows)]

    def _open(self, address: str, *, may_create: bool) -> None:
        """Connect; make an empty file a journal, refuse any other file that is not one."""
        self._database = sqlite3.connect(address, uri=not may_create, timeout=BUSY_SECONDS, isolation_level=None)
        try:
            prepare(self._database, self._path, may_write=may_create)
            self._database.execute("PRAGMA synchronous = FULL")
            self._database.create_function("lives", 1, lambda owner: lives(self._folder, owner))
        except BaseException:
            self._database.close()
            raise

    def _count(self, run: str, worker: str, **more: float) -> None:
        """Add to the counts of ``run`` and ``worker``; the names are those of the columns."""
        columns = ("replays", "failures", "unsettled", "unbounded", "uncertain_usd", "token_bounded", "uncertain_tokens")
        sums = ", ".join(f"{column} = {column} + excluded.{column}" for column in columns)
        self._database.execute(
            f"INSERT INTO counts (run, worker, {', '.join(columns)}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) "  # noqa: S608 - fixed words
            f"ON CONFLICT (run, worker) DO UPDATE SET {sums}",
            (run, worker, *(more.get(column, 0) for column in columns)),
        )

    def _count_unsettled(self, run: str, worker: str, bound_usd: float | None, bound_tokens: int | None) -> None:
        self._count(
            run,
            worker,
            unsettled=1,
            unbounded=bound_usd is None,
            uncertain_usd=bound_usd or 0.0,
            token_bounded=bound_tokens is not None,
            uncertain_tokens=bound_tokens or 0,
        )

    def _release_ended(self) -> None:
        with self._transaction() as owner:
            for entry, paid in self._ended:
                changed = self._database.execute(
                    "DELETE FROM calls WHERE key = ? AND owner = ? AND ticket = ? AND completion IS NULL",
                    (entry.key, owner.name, entry.ticket),
                ).rowcount
                if changed and paid:
                    self._count_unsettled(self._run, entry.worker, *_most(entry))
                elif changed:
                    self._count(self._run, entry.worker, failures=1)
        self._ended.clear()

    def _store_replays(self) -> None:
        for worker, replays in self._new_replays.items():
            self._count(self._run, worker, replays=replays)
        self._new_replays.clear()

    def _read(self, key: str, text: str, seal: Seal | None) -> Completion:
        try:
            if text.startswith(_SEALED) and seal is not None:
                text = seal.open(text.removeprefix(_SEALED), key)
            return COMPLETION.validate_python(json.loads(text))
        except ValueError as error:
            raise ConfigError(
                f"the journal {self._path} holds an unreadable reply under key {key}; restore the file from a copy, or "
                "move it away and pay again"
            ) from error

    @contextmanager
    def _transaction(self) -> Iterator[Owner]:
        """All or nothing, and no other writer in between."""
        if self._owner is None:
            raise ConfigError(f"the journal {self._path} is open in replay mode, which never writes; open it in record mode")
        with self._explained():
            self._database.execute("BEGIN IMMEDIATE")
            try:
                yield self._owner
                self._database.execute("COMMIT")
            finally:
                if self._database.in_transaction:  # something failed on the way
                    self._database.execute("ROLLBACK")

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Turns what goes wrong on the disk into a :class:`ConfigError`, which the user can mend."""
        try:
            yield
        except sqlite3.OperationalError as error:
            raise ConfigError(
                f"the journal {self._path} can not be read or written ({error}); check that its folder exists and is "
                "writable, that the disk has room, and that no other program holds the file"
            ) from error
        except sqlite3.Error as error:
            raise ConfigError(
                f"{self._path} is not a journal or is damaged ({error}); restore it from a copy, name another path, or "
                "move that file away"
            ) from error
        except OSError as error:
            raise ConfigError(f"the journal {self._path} can not be used ({error}); name a path in a writable folder") from error


def _most(entry: Entry) -> tuple[float | None, int | None]:
    return (None, None) if entry.bound is None else (entry.bound.cost_usd, entry.bound.tokens)


def _existing(path: Path) -> str:
    """The address of ``path`` for reading only. Raises OSError where there is no such file."""
    path.open("rb").close()
    # SQLite keeps two small files beside a write-ahead database, even to read; where none can be made, no process writes.
    mode = "mode=ro" if os.access(path.parent, os.W_OK) else "mode=ro&immutable=1"
    return f"{path.absolute().as_uri()}?{mode}"
