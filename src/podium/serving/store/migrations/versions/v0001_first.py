"""Keys, rate windows, months, leases, runs, paused tool calls."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "keys",
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column("name", sa.String(64), nullable=False),
        sa.Column("hash", sa.String(64), nullable=False, unique=True),
        sa.Column("scopes", sa.String(64), nullable=False),
        sa.Column("monthly_nano", sa.BigInteger),
        sa.Column("requests_per_minute", sa.Integer),
        sa.Column("tokens_per_minute", sa.BigInteger),
        sa.Column("store_content", sa.Boolean, nullable=False),
        sa.Column("created_us", sa.BigInteger, nullable=False),
        sa.Column("revoked_us", sa.BigInteger),
    )
    live = sa.text("revoked_us IS NULL")
    op.create_index("keys_live_name", "keys", ["name"], unique=True, sqlite_where=live, postgresql_where=live)
    op.create_table(
        "minutes",
        sa.Column("key", sa.String(64), sa.ForeignKey("keys.id"), primary_key=True),
        sa.Column("minute", sa.BigInteger, nullable=False),
        sa.Column("requests", sa.Integer, nullable=False),
        sa.Column("tokens", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "months",
        sa.Column("key", sa.String(64), sa.ForeignKey("keys.id"), primary_key=True),
        sa.Column("month", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("spent_nano", sa.BigInteger, nullable=False),
        sa.Column("uncertain_nano", sa.BigInteger, nullable=False),
        sa.Column("unpriced", sa.Integer, nullable=False),
    )
    op.create_table(
        "leases",
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column("key", sa.String(64), sa.ForeignKey("keys.id"), nullable=False),
        sa.Column("month", sa.Integer, nullable=False),
        sa.Column("minute", sa.BigInteger, nullable=False),
        sa.Column("replica", sa.String(128), nullable=False),
        sa.Column("cap_nano", sa.BigInteger, nullable=False),
        sa.Column("used_nano", sa.BigInteger, nullable=False),
        sa.Column("in_flight_nano", sa.BigInteger, nullable=False),
        sa.Column("tokens", sa.BigInteger, nullable=False),
        sa.Column("beat_us", sa.BigInteger, nullable=False),
        sa.Column("reaped_us", sa.BigInteger),
    )
    op.create_index("leases_key", "leases", ["key"])
    op.create_table(
        "runs",
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column("key", sa.String(64), nullable=False),
        sa.Column("model", sa.Text, nullable=False),
        sa.Column("failure", sa.String(64), nullable=False),
        sa.Column("created_us", sa.BigInteger, nullable=False),
        sa.Column("day", sa.Integer, nullable=False),
        sa.Column("cost_nano", sa.BigInteger),
        sa.Column("searched", sa.Text, nullable=False),
        sa.Column("record", sa.Text, nullable=False),
        sa.Column("transcripts", sa.Text, nullable=False),
    )
    op.create_index("runs_created", "runs", ["created_us"])
    op.create_index("runs_key_created", "runs", ["key", "created_us"])
    op.create_table(
        "paused",
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("expires_us", sa.BigInteger, nullable=False),
    )
    op.create_index("paused_expires", "paused", ["expires_us"])
