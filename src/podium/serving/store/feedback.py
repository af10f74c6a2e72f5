"""What people said of answers: good or not, and what would have been right; from that, problems to learn from."""

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, delete, select

from podium.errors import ConfigError
from podium.jsonl import loads
from podium.serving.store.clock import Clock, from_us, to_us, utc_now
from podium.serving.store.database import Database
from podium.serving.store.putting import put
from podium.serving.store.runs import Run
from podium.serving.store.tables import feedback, run_texts, runs
from podium.types import Problem, Transcript

LONGEST = 20_000
"""Characters of a right answer."""
SOURCE = "feedback"
"""Where the problems that are made of it are from."""
_PAGE = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Feedback:
    """What was said of one run. Example: ``Feedback(run="run_1f", thumb=-1, right_answer="42", made=now)``."""

    run: str
    thumb: int
    """1 good, -1 bad, 0 nothing said."""
    right_answer: str = ""
    """What would have been right; "" where nobody said."""
    made: datetime


class FeedbackStore:
    """The feedback of a server. Who may say something of a run, the caller has asked before."""

    def __init__(self, database: Database, *, now: Clock = utc_now) -> None:
        self._database = database
        self._now = now

    async def say(self, run: str, *, thumb: int, right_answer: str) -> None:
        """Keep what is said of ``run`` now, in place of what was said before. Raises :class:`ConfigError`."""
        if thumb not in (-1, 0, 1):
            raise ConfigError("a thumb is up, down, or not given")
        if len(right_answer) > LONGEST:
            raise ConfigError(f"a right answer has at most {LONGEST:,} characters")
        # As JSON: PostgreSQL keeps no NUL and no half character, which a text from outside may hold.
        row = {"run": run, "thumb": thumb, "right_answer": json.dumps(right_answer.strip()), "made_us": to_us(self._now())}

        def write(connection: Connection) -> bool:
            if connection.execute(select(runs.c.id).where(runs.c.id == run)).first() is None:
                return False
            if thumb or right_answer.strip():
                put(connection, feedback, [row])
            else:
                connection.execute(delete(feedback).where(feedback.c.run == run))
            return True

        if not await self._database.run(write):
            raise ConfigError("this run is no longer kept")

    async def get(self, run: str) -> Feedback | None:
        """What was said of ``run``; None where nothing was."""
        query = select(feedback).where(feedback.c.run == run)
        row = await self._database.read(lambda connection: connection.execute(query).first())
        if row is None:
            return None
        return Feedback(run=row.run, thumb=row.thumb, right_answer=json.loads(row.right_answer), made=from_us(row.made_us))

    async def problems(self, *, key: str | None = None) -> AsyncIterator[Problem]:
        """Every question for which somebody wrote the right answer, or called the answer good: problems to learn from and to
        evaluate by. Questions that need what was said before them are left out. ``key``: of this key's runs only.
        """
        said = (feedback.c.run, feedback.c.thumb, feedback.c.right_answer)
        query = select(*said, run_texts.c.record, run_texts.c.transcripts).join(run_texts, run_texts.c.id == feedback.c.run)
        if key is not None:
            query = query.join(runs, runs.c.id == feedback.c.run).where(runs.c.key == key)
        query = query.order_by(feedback.c.run).limit(_PAGE)
        last = ""
        while rows := await self._database.read(
            lambda connection, last=last: connection.execute(query.where(feedback.c.run > last)).all()  # type: ignore[misc]
        ):
            last = rows[-1].run
            for row in rows:
                run = loads(Run, row.record)
                target = json.loads(row.right_answer) or (run.answer or "" if row.thumb > 0 else "")
                if run.question is not None and target and _stands_alone(row.transcripts):
                    yield Problem(question=run.question, target=target, kind="question", source=SOURCE)


def _stands_alone(transcripts: str) -> bool:
    """Whether the question was all that was said."""
    first = transcripts.partition("\n")[0]
    return bool(first) and len([turn for turn in loads(Transcript, first).question if turn.role != "system"]) == 1
