"""What was asked and answered: one row per run, found again by key, text, model, outcome and time.

A run is stored whole as JSON (``podium.jsonl``), so hostile text comes back as it was; the other columns only serve to
find it. Text is searched without regard to case in the beginning of the question and of the answer.
"""

from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, delete, func, or_, select
from sqlalchemy.dialects import postgresql, sqlite

from podium import jsonl
from podium.serving.store.batched import Batched
from podium.serving.store.clock import Clock, day_date, day_of, to_us, utc_now
from podium.serving.store.database import Database
from podium.serving.store.money import to_nano, to_usd
from podium.serving.store.tables import runs
from podium.types import Transcript, Usage
from podium.workflow.draw import plain

_BATCH = 200
"""Most runs in one transaction."""
_SEARCHED = 20_000
"""Characters of the question, and of the answer, that :meth:`Runs.search` looks at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One request to the server, answered or not.

    Example: ``Run(id="run_" + 24 * "0", key="key_1f", model="podium", created=now, seconds=2.1, usage=Usage(), steps=3)``.
    """

    id: str
    """``run_`` and 24 hex digits."""
    key: str = ""
    """The key's id; empty on a server without keys."""
    model: str
    created: datetime
    """When it was asked; aware."""
    seconds: float
    """From question to answer."""
    usage: Usage
    """What the work behind it used and cost, whoever paid: a reply from a journal was paid by an earlier run."""
    paid_usd: float | None = None
    """What this run paid itself; None where that is unknown."""
    session: str = ""
    """The session it belongs to; "" for what was asked without one."""
    failure: str = ""
    """The error class's name where there is no answer."""
    steps: int = 0
    """Steps carried out, over all rounds."""
    workers: tuple[str, ...] = ()
    """The workers that were asked, each once."""
    question: str | None = None
    """None where the key does not store content; so are ``answer`` and, as (), ``transcripts``."""
    answer: str | None = None
    transcripts: tuple[Transcript, ...] = ()

    @property
    def why(self) -> str:
        """Why there is no answer, in words where they were kept; "" where there is one."""
        last = self.transcripts[-1].failure if self.transcripts else None
        return self.failure if last is None or last.kind != self.failure else f"{last.kind}: {last.message}"

    def __post_init__(self) -> None:
        if self.created.tzinfo is None:
            raise ValueError(f"{self.created} has no time zone")


class Runs:
    """The runs of a server. ``key`` narrows a look to one key's runs; None is the operator, who sees all."""

    def __init__(self, database: Database, *, now: Clock = utc_now) -> None:
        self._database = database
        self._now = now
        self._batched = Batched(database, _write)

    async def add(self, run: Run) -> None:
        """Keep ``run``; returns once it is on disk. Runs that end while others are being written go into one transaction."""
        cost = run.usage.cost_usd
        row = {
            "id": run.id,
            "key": run.key,
            "model": plain(run.model),
            "failure": run.failure,
            "created_us": to_us(run.created),
            "day": day_of(run.created),
            "cost_nano": None if cost is None else to_nano(cost),
            "searched": "\n".join(_folded((text or "")[:_SEARCHED]) for text in (run.question, run.answer)),
            "record": jsonl.dumps(replace(run, transcripts=())),
            "session": run.session,
            "transcripts": "\n".join(jsonl.dumps(transcript) for transcript in run.transcripts),
        }
        await self._batched.add(row)

    async def get(self, id: str, *, key: str | None) -> Run | None:  # noqa: A002 - what everybody calls it
        """The run, whole. None where there is none, or where it is another key's: the two can not be told apart."""
        query = select(runs.c.record, runs.c.transcripts).where(runs.c.id == plain(id), *_owned(key))
        row = await self._database.read(lambda connection: connection.execute(query).first())
        if row is None:
            return None
        transcripts = tuple(jsonl.loads(Transcript, line) for line in row.transcripts.split("\n") if line)
        return replace(jsonl.loads(Run, row.record), transcripts=transcripts)

    async def search(
        self,
        *,
        key: str | None,
        text: str = "",
        model: str = "",
        failed: bool | None = None,
        session: str = "",
        since: datetime | None = None,
        until: datetime | None = None,
        limit: int = 50,
        before: Run | None = None,
    ) -> list[Run]:
        """The newest ``limit`` runs that fit, newest first, without their transcripts (:meth:`get` has them).

        ``since`` is inclusive, ``until`` is not; ``before`` is the last run already seen, which may have been deleted since.
        """
        wanted: list[ColumnElement[bool]] = _owned(key)
        if text:
            wanted.append(runs.c.searched.contains(_folded(text), autoescape=True))
        if model:
            wanted.append(runs.c.model == plain(model))
        if session:
            wanted.append(runs.c.session == plain(session))
        if failed is not None:
            wanted.append(runs.c.failure != "" if failed else runs.c.failure == "")
        if since is not None:
            wanted.append(runs.c.created_us >= to_us(since))
        if until is not None:
            wanted.append(runs.c.created_us < to_us(until))
        if before is not None:
            last = to_us(before.created)
            wanted.append(or_(runs.c.created_us < last, and_(runs.c.created_us == last, runs.c.id < before.id)))
        query = select(runs.c.record).where(*wanted).order_by(runs.c.created_us.desc(), runs.c.id.desc()).limit(limit)
        found = await self._database.read(lambda connection: connection.execute(query).scalars().all())
        return [jsonl.loads(Run, record) for record in found]

    async def spending(self, *, key: str | None, days: int) -> list[tuple[date, float | None]]:
        """Dollars per UTC day, oldest first, today last; None where a run of that day has no known price."""
        today = day_of(self._now())
        sums = select(runs.c.day, func.sum(runs.c.cost_nano), func.count() - func.count(runs.c.cost_nano))
        query = sums.where(runs.c.day > today - days, runs.c.day <= today, *_owned(key)).group_by(runs.c.day)
        rows = await self._database.read(lambda connection: connection.execute(query).all())
        found = {day: None if unpriced else to_usd(int(nano)) for day, nano, unpriced in rows}
        return [(day_date(day), found.get(day, 0.0)) for day in range(today - days + 1, today + 1)]

    async def count_older(self, than: datetime, *, key: str | None) -> int:
        """How many runs :meth:`delete_older` would forget now."""
        query = select(func.count()).select_from(runs).where(*_before(than, key))
        return await self._database.read(lambda connection: connection.execute(query).scalar_one())

    async def delete_older(self, than: datetime, *, key: str | None) -> int:
        """Forget the runs from before ``than``; returns how many. What keys have spent is booked elsewhere and stays.

        It is done a few at a time, so that a running server waits only for those.
        """
        batch = select(runs.c.id).where(*_before(than, key)).limit(_BATCH)

        def forget(connection: Connection) -> int | None:
            old = connection.execute(batch).scalars().all()
            return connection.execute(delete(runs).where(runs.c.id.in_(old))).rowcount if old else None

        gone = 0
        # Until none is found: that a batch deleted none may mean that somebody else deleted just these, with others left.
        while (some := await self._database.run(forget)) is not None:
            gone += some
        return gone


def _write(connection: Connection, rows: list[dict[str, Any]]) -> None:
    """Insert ``rows``; a run that is there already was written by an attempt whose success was not reported."""
    insert = sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert
    connection.execute(insert(runs).on_conflict_do_nothing(), rows)


def _folded(text: str) -> str:
    """``text`` as it is searched: no case, no control characters (PostgreSQL stores no NUL)."""
    return plain(text).casefold()


def _owned(key: str | None) -> list[ColumnElement[bool]]:
    return [] if key is None else [runs.c.key == key]


def _before(moment: datetime, key: str | None) -> list[ColumnElement[bool]]:
    return [runs.c.created_us < to_us(moment), *_owned(key)]
