"""The tables. A change here needs a new file in ``migrations/versions``; a test holds the two together.

``*_us`` are microseconds since 1970 (``clock.py``), ``*_nano`` are nano-dollars (``money.py``).
"""

from sqlalchemy import BigInteger, Boolean, Column, ForeignKey, Index, Integer, MetaData, String, Table, Text, false

metadata = MetaData()

keys = Table(
    "keys",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("name", String(64), nullable=False),
    Column("hash", String(64), nullable=False, unique=True),
    Column("scopes", String(64), nullable=False),
    Column("monthly_nano", BigInteger),
    Column("requests_per_minute", Integer),
    Column("tokens_per_minute", BigInteger),
    Column("store_content", Boolean, nullable=False),
    Column("created_us", BigInteger, nullable=False),
    Column("revoked_us", BigInteger),
    Column("concurrency", Integer),
    Column("session_nano", BigInteger),
)
Index(
    "keys_live_name",
    keys.c.name,
    unique=True,
    sqlite_where=keys.c.revoked_us.is_(None),
    postgresql_where=keys.c.revoked_us.is_(None),
)

minutes = Table(
    "minutes",
    metadata,
    Column("key", String(64), ForeignKey("keys.id"), primary_key=True),
    Column("minute", BigInteger, nullable=False),
    Column("requests", Integer, nullable=False),
    Column("tokens", BigInteger, nullable=False),
)
"""The current rate window of each key: one row, which a new minute overwrites."""

months = Table(
    "months",
    metadata,
    Column("key", String(64), ForeignKey("keys.id"), primary_key=True),
    Column("month", Integer, primary_key=True, autoincrement=False),
    Column("spent_nano", BigInteger, nullable=False),
    Column("uncertain_nano", BigInteger, nullable=False),
    Column("unpriced", Integer, nullable=False),
)
"""What each key has used up: sure, possible, and the number of runs whose price is unknown."""

corrections = Table(
    "corrections",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("key", String(64), ForeignKey("keys.id"), nullable=False),
    Column("month", Integer, nullable=False),
    Column("nano", BigInteger, nullable=False),
    Column("was_spent", Boolean, nullable=False),
    Column("reason", Text, nullable=False),
    Column("by", String(128), nullable=False),
    Column("made_us", BigInteger, nullable=False),
)
"""What an operator made of uncertain money: spent, or free again."""
Index("corrections_key_month", corrections.c.key, corrections.c.month)

leases = Table(
    "leases",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("key", String(64), ForeignKey("keys.id"), nullable=False),
    Column("month", Integer, nullable=False),
    Column("minute", BigInteger, nullable=False),
    Column("replica", String(128), nullable=False),
    Column("cap_nano", BigInteger, nullable=False),
    Column("used_nano", BigInteger, nullable=False),
    Column("in_flight_nano", BigInteger, nullable=False),
    Column("tokens", BigInteger, nullable=False),
    Column("beat_us", BigInteger, nullable=False),
    Column("reaped_us", BigInteger),
)
"""Runs under way, and reaped ones: what a reaped lease holds as used and in flight is booked on its month already."""
Index("leases_key", leases.c.key)

runs = Table(
    "runs",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("key", String(64), nullable=False),
    Column("model", Text, nullable=False),
    Column("policy", Text, nullable=False),
    Column("failure", String(64), nullable=False),
    Column("created_us", BigInteger, nullable=False),
    Column("day", Integer, nullable=False),
    Column("took_us", BigInteger, nullable=False),
    Column("tokens", BigInteger, nullable=False),
    Column("steps", Integer, nullable=False),
    Column("cost_nano", BigInteger),
    Column("session", String(64), nullable=False, server_default=""),
    Column("asks_client", Boolean, nullable=False, server_default=false()),
)
"""What runs are found, sorted and summed by. Rows are small, so that a hundred thousand of them are looked through at once."""
Index("runs_created", runs.c.created_us)
Index("runs_key_created", runs.c.key, runs.c.created_us)
Index("runs_session", runs.c.session, runs.c.created_us)

run_texts = Table(
    "run_texts",
    metadata,
    Column("number", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True),
    Column("id", String(64), nullable=False, unique=True),
    Column("searched", Text, nullable=False),
    Column("record", Text, nullable=False),
    Column("transcripts", Text, nullable=False),
)
"""What a run holds. The migration adds an index of every three characters of ``searched`` where the database has such a thing:
on SQLite the table ``run_words``, on PostgreSQL the index ``run_texts_words``."""

run_workers = Table(
    "run_workers",
    metadata,
    Column("run", String(64), primary_key=True),
    Column("worker", String(200), primary_key=True),
    Column("tokens", BigInteger, nullable=False),
    Column("cost_nano", BigInteger),
)
"""What each worker of a run used; the worker "" is who wrote the workflow."""
Index("run_workers_worker", run_workers.c.worker)

feedback = Table(
    "feedback",
    metadata,
    Column("run", String(64), ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True),
    Column("thumb", Integer, nullable=False),
    Column("right_answer", Text, nullable=False),
    Column("made_us", BigInteger, nullable=False),
)
"""What people said of answers; it goes with its run."""

paused = Table(
    "paused",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("state", Text, nullable=False),
    Column("expires_us", BigInteger, nullable=False),
)
Index("paused_expires", paused.c.expires_us)

responses = Table(
    "responses",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("state", Text, nullable=False),
    Column("expires_us", BigInteger, nullable=False),
    Column("key", String(64), nullable=False, server_default=""),
    Column("bytes", BigInteger, nullable=False, server_default="0"),
)
"""Responses that are kept for whoever got them."""
Index("responses_expires", responses.c.expires_us)
Index("responses_key", responses.c.key, responses.c.expires_us)

sessions = Table(
    "sessions",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("spent_nano", BigInteger, nullable=False),
    Column("unpriced", Integer, nullable=False),
    Column("state", Text, nullable=False),
    Column("expires_us", BigInteger, nullable=False),
)
"""What a session has cost without the requests under way, and where it stands."""
Index("sessions_expires", sessions.c.expires_us)

session_holds = Table(
    "session_holds",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("session", String(64), nullable=False),
    Column("nano", BigInteger, nullable=False),
    Column("expires_us", BigInteger, nullable=False),
)
"""What each request under way has cost its session, and may still with the calls it has sent."""
Index("session_holds_session", session_holds.c.session)
Index("session_holds_expires", session_holds.c.expires_us)
