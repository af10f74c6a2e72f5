"""Which runs are meant: the conditions that lists, sums and charts share, as SQL."""

from datetime import datetime
from typing import Literal, TypedDict

from sqlalchemy import ColumnElement, Connection, Select, func, literal_column, select, table, text
from sqlalchemy.sql.expression import column

from podium.serving.store.clock import to_us
from podium.serving.store.shares import kept_name
from podium.serving.store.tables import run_texts, run_workers, runs
from podium.workflow.draw import plain

Status = Literal["answered", "asks", "unanswered", "stopped", "failed"]
"""Unanswered are the stopped ones and those that failed; "asks" is a run that asks its client to call tools."""
STOPPED = "Cancelled"
"""The failure of a run that was stopped from outside."""
_TRIGRAM = 3

_words = table("run_words", column("rowid"))
_IS_THERE = text("SELECT 1 FROM sqlite_master WHERE name = 'run_words'")


class RunFilter(TypedDict, total=False):
    """What runs are looked for; what is missing or "" is no condition. Example: ``RunFilter(text="sky", worker="atlas")``."""

    text: str
    """Somewhere in the question or the answer, without regard to case."""
    model: str
    policy: str
    """The policy that the request chose."""
    worker: str
    """One that was asked; :data:`podium.serving.store.shares.PLANNING` can not be asked for."""
    of: str
    """The id of the key that asked; it narrows what is seen, and never widens it."""
    session: str
    status: Status | Literal[""]
    since: datetime | None
    """Inclusive."""
    until: datetime | None
    """Exclusive."""


def conditions(connection: Connection, key: str | None, wanted: RunFilter) -> list[ColumnElement[bool]]:
    """The conditions on a row of ``runs``; ``key`` narrows them to one key's runs, None is the operator, who sees all."""
    found: list[ColumnElement[bool]] = [] if key is None else [runs.c.key == key]
    for name, stands_in in (("model", runs.c.model), ("policy", runs.c.policy), ("session", runs.c.session), ("of", runs.c.key)):
        if value := str(wanted.get(name, "")):
            found.append(stands_in == plain(value))
    if worker := wanted.get("worker"):
        found.append(runs.c.id.in_(select(run_workers.c.run).where(run_workers.c.worker == kept_name(worker))))
    match wanted.get("status", ""):
        case "answered":
            found += [runs.c.failure == "", runs.c.asks_client.is_(False)]
        case "asks":
            found += [runs.c.failure == "", runs.c.asks_client.is_(True)]
        case "unanswered":
            found.append(runs.c.failure != "")
        case "stopped":
            found.append(runs.c.failure == STOPPED)
        case "failed":
            found.append(runs.c.failure.not_in(("", STOPPED)))
    if (since := wanted.get("since")) is not None:
        found.append(runs.c.created_us >= to_us(since))
    if (until := wanted.get("until")) is not None:
        found.append(runs.c.created_us < to_us(until))
    if words := folded(wanted.get("text", "")):
        found.append(runs.c.id.in_(_with_words(connection, words)))
    return found


def folded(words: str) -> str:
    """``words`` as they are searched: no case, no control characters (PostgreSQL stores no NUL)."""
    return plain(words).casefold()


def _with_words(connection: Connection, words: str) -> Select[tuple[str]]:
    """The ids of the runs whose searched text holds ``words``; through an index where the database has one."""
    ids = select(run_texts.c.id)
    if connection.dialect.name != "sqlite":
        return ids.where(run_texts.c.searched.contains(words, autoescape=True))
    if len(words) < _TRIGRAM or connection.execute(_IS_THERE).first() is None:
        return ids.where(func.instr(run_texts.c.searched, words) > 0)
    phrase = '"' + words.replace('"', '""') + '"'
    hits = select(_words.c.rowid).where(literal_column("run_words").op("MATCH")(phrase))
    return ids.where(run_texts.c.number.in_(hits))
