"""What was asked and answered: one row per run, found again by key, text, model, worker, outcome and time, and summed up.

A run is stored whole as JSON (``podium.jsonl``), so hostile text comes back as it was; the other columns only serve to
find it. Text is searched without regard to case in the beginning of the question and of the answer.
"""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any, Literal, Unpack

from sqlalchemy import ColumnElement, Connection, and_, delete, func, or_, select
from sqlalchemy.dialects import postgresql, sqlite

from podium import jsonl
from podium.serving.store.batched import Batched
from podium.serving.store.clock import Clock, day_date, day_of, to_us, utc_now
from podium.serving.store.database import Database
from podium.serving.store.money import to_nano, to_usd
from podium.serving.store.run_filter import RunFilter, conditions, folded
from podium.serving.store.shares import Share, kept_name
from podium.serving.store.tables import run_texts, run_workers, runs
from podium.types import Transcript, Usage
from podium.workflow.draw import plain

_BATCH = 200
"""Most runs in one transaction."""
_SEARCHED = 20_000
"""Characters of the question, and of the answer, that :meth:`Runs.search` looks at."""
Sort = Literal["created", "seconds", "tokens", "steps", "cost"]
_SORTS = {
    "created": runs.c.created_us,
    "seconds": runs.c.took_us,
    "tokens": runs.c.tokens,
    "steps": runs.c.steps,
    "cost": runs.c.cost_nano,
}
_TOTALS = (func.sum(runs.c.cost_nano), func.count() - func.count(runs.c.cost_nano), func.sum(runs.c.tokens))
By = Literal["day", "key", "model", "policy", "worker"]


@dataclass(frozen=True, slots=True, kw_only=True, weakref_slot=True)
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
    asks_client: bool = False
    """Whether it ended with tool calls for the client: the answer comes in a later run, if the client sends their results."""
    steps: int = 0
    """Steps carried out, over all rounds."""
    workers: tuple[str, ...] = ()
    """The workers that were asked, each once."""
    policy: str = ""
    """The policy that the request chose; "" is the model's own."""
    shares: tuple[Share, ...] = ()
    """What each worker used, and the writing of the workflow; () where that was not written down."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Sums:
    """What some runs come to. Example: ``Sums(runs=2, usd=0.1, unpriced=0, tokens=431, seconds=4.2)``."""

    runs: int
    usd: float
    """Of the runs whose price is known."""
    unpriced: int
    """Runs whose price is unknown."""
    tokens: int
    seconds: float


class Runs:
    """The runs of a server. ``key`` narrows a look to one key's runs; None is the operator, who sees all."""

    def __init__(self, database: Database, *, now: Clock = utc_now) -> None:
        self._database = database
        self._now = now
        self._batched = Batched(database, _write)

    async def add(self, run: Run) -> None:
        """Keep ``run``; returns once it is on disk. Runs that end while others are being written go into one transaction."""
        row = {
            "id": run.id,
            "key": run.key,
            "model": plain(run.model),
            "policy": plain(run.policy),
            "failure": run.failure,
            "created_us": to_us(run.created),
            "day": day_of(run.created),
            "took_us": round(run.seconds * 1e6),
            "tokens": run.usage.tokens,
            "steps": run.steps,
            "cost_nano": _nano(run.usage),
            "session": run.session,
            "asks_client": run.asks_client,
        }
        texts = {
            "id": run.id,
            "searched": "\n".join(folded((text or "")[:_SEARCHED]) for text in (run.question, run.answer)),
            "record": jsonl.dumps(replace(run, transcripts=())),
            "transcripts": "\n".join(jsonl.dumps(transcript) for transcript in run.transcripts),
        }
        await self._batched.add({"run": row, "texts": texts, "workers": _used(run)})

    async def get(self, id: str, *, key: str | None) -> Run | None:  # noqa: A002 - what everybody calls it
        """The run, whole. None where there is none, or where it is another key's: the two can not be told apart."""
        whole = select(run_texts.c.record, run_texts.c.transcripts).join(runs, runs.c.id == run_texts.c.id)
        query = whole.where(runs.c.id == plain(id), *([] if key is None else [runs.c.key == key]))
        row = await self._database.read(lambda connection: connection.execute(query).first())
        if row is None:
            return None
        transcripts = tuple(jsonl.loads(Transcript, line) for line in row.transcripts.split("\n") if line)
        return replace(jsonl.loads(Run, row.record), transcripts=transcripts)

    async def search(
        self,
        *,
        key: str | None,
        limit: int = 50,
        offset: int = 0,
        before: Run | None = None,
        sort: Sort = "created",
        ascending: bool = False,
        **wanted: Unpack[RunFilter],
    ) -> list[Run]:
        """``limit`` runs that fit, the newest or, by ``sort``, the largest first; without transcripts (:meth:`get` has them).

        ``offset`` of them are left out at the beginning. ``before``, for lists by time, is the last run already seen, which may
        have been deleted since. Runs without a known price come last, however they are sorted.
        """
        place = _SORTS[sort]
        order = (place.is_(None), place if ascending else place.desc(), runs.c.id if ascending else runs.c.id.desc())

        def look(connection: Connection) -> Sequence[str]:
            where = conditions(connection, key, wanted)
            if before is not None:
                last = to_us(before.created)
                where.append(or_(runs.c.created_us < last, and_(runs.c.created_us == last, runs.c.id < before.id)))
            chosen = connection.execute(
                select(runs.c.id).where(*where).order_by(*order[0 if sort == "cost" else 1 :]).limit(limit).offset(offset)
            )
            found = list(chosen.scalars())
            held = select(run_texts.c.id, run_texts.c.record).where(run_texts.c.id.in_(found))
            records = {row.id: row.record for row in connection.execute(held)}
            return [records[each] for each in found if each in records]

        return [jsonl.loads(Run, record) for record in await self._database.read(look)]

    async def sums(self, *, key: str | None, **wanted: Unpack[RunFilter]) -> Sums:
        """What the runs that fit come to."""

        def look(connection: Connection) -> Sums:
            totals = select(func.count(), *_TOTALS, func.sum(runs.c.took_us)).where(*conditions(connection, key, wanted))
            count, nano, unpriced, tokens, took = connection.execute(totals).one()
            seconds = int(took or 0) / 1e6
            return Sums(runs=count, usd=to_usd(int(nano or 0)), unpriced=unpriced, tokens=int(tokens or 0), seconds=seconds)

        return await self._database.read(look)

    async def sums_by(self, by: By, *, key: str | None, **wanted: Unpack[RunFilter]) -> dict[str, Sums]:
        """What the runs that fit come to, for each day (as 2026-05-03), key, model, policy or worker of theirs; dearest first.

        Of a worker: what it used itself; its ``seconds`` are not known, and 0.
        """

        def look(connection: Connection) -> dict[str, Sums]:
            where = conditions(connection, key, wanted)
            if by == "worker":
                of = run_workers.c
                price = (func.sum(of.cost_nano), func.count() - func.count(of.cost_nano), func.sum(of.tokens))
                query = select(of.worker, func.count(), *price, func.count() * 0).group_by(of.worker)
                query = query.join(runs, runs.c.id == of.run) if where else query
            else:
                place = runs.c[by]
                query = select(place, func.count(), *_TOTALS, func.sum(runs.c.took_us)).group_by(place)
            rows = connection.execute(query.where(*where)).all()
            found = {}
            for name, count, nano, unpriced, tokens, took in sorted(rows, key=lambda row: (-int(row[2] or 0), str(row[0]))):
                shown = day_date(name).isoformat() if by == "day" else str(name)
                usd, seconds = to_usd(int(nano or 0)), int(took) / 1e6
                found[shown] = Sums(runs=count, usd=usd, unpriced=unpriced, tokens=int(tokens), seconds=seconds)
            return found

        return await self._database.read(look)

    async def spending(self, *, key: str | None, days: int, **wanted: Unpack[RunFilter]) -> list[tuple[date, float | None]]:
        """Dollars per UTC day, oldest first, today last; None where a run of that day has no known price."""
        today = day_of(self._now())

        def look(connection: Connection) -> dict[int, float | None]:
            sums = select(runs.c.day, func.sum(runs.c.cost_nano), func.count() - func.count(runs.c.cost_nano))
            these = conditions(connection, key, wanted)
            query = sums.where(runs.c.day > today - days, runs.c.day <= today, *these).group_by(runs.c.day)
            rows = connection.execute(query).all()
            return {day: None if unpriced else to_usd(int(nano)) for day, nano, unpriced in rows}

        found = await self._database.read(look)
        return [(day_date(day), found.get(day, 0.0)) for day in range(today - days + 1, today + 1)]

    async def every(self, *, key: str | None) -> AsyncIterator[Run]:
        """All runs, newest first, with their transcripts."""
        last = None
        while page := await self.search(key=key, limit=_BATCH, before=last):
            last = page[-1]
            for run in page:
                whole = await self.get(run.id, key=key)
                if whole is not None:  # somebody may delete old runs meanwhile
                    yield whole

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
            if not old:
                return None
            gone = connection.execute(delete(runs).where(runs.c.id.in_(old))).rowcount
            connection.execute(delete(run_texts).where(run_texts.c.id.in_(old)))
            connection.execute(delete(run_workers).where(run_workers.c.run.in_(old)))
            return gone

        gone = 0
        # Until none is found: that a batch deleted none may mean that somebody else deleted just these, with others left.
        while (some := await self._database.run(forget)) is not None:
            gone += some
        return gone


def _write(connection: Connection, rows: list[dict[str, Any]]) -> None:
    """Insert ``rows``; a run that is there already was written by an attempt whose success was not reported."""
    insert = sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert
    connection.execute(insert(runs).on_conflict_do_nothing(), [row["run"] for row in rows])
    connection.execute(insert(run_texts).on_conflict_do_nothing(), [row["texts"] for row in rows])
    if used := [each for row in rows for each in row["workers"]]:
        connection.execute(insert(run_workers).on_conflict_do_nothing(), used)


def _used(run: Run) -> list[dict[str, Any]]:
    """The rows of a run's workers; of those whose share was not written down the price is unknown."""
    known = {kept_name(share.worker): share.usage for share in run.shares}
    usages = {kept_name(worker): Usage(cost_usd=None) for worker in run.workers} | known
    return [
        {"run": run.id, "worker": worker, "tokens": usage.tokens, "cost_nano": _nano(usage)} for worker, usage in usages.items()
    ]


def _nano(usage: Usage) -> int | None:
    return None if usage.cost_usd is None else to_nano(usage.cost_usd)


def _before(moment: datetime, key: str | None) -> list[ColumnElement[bool]]:
    return [runs.c.created_us < to_us(moment), *([] if key is None else [runs.c.key == key])]
