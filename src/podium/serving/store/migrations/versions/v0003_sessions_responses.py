"""Kept responses, the sessions that runs belong to, and what a session may cost."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Add three tables and two columns."""
    op.add_column("keys", sa.Column("session_nano", sa.BigInteger))
    op.add_column("runs", sa.Column("session", sa.String(64), nullable=False, server_default=""))
    op.create_index("runs_session", "runs", ["session", "created_us"])
    op.create_table(
        "responses",
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("expires_us", sa.BigInteger, nullable=False),
    )
    op.create_index("responses_expires", "responses", ["expires_us"])
    op.create_table(
        "sessions",
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column("spent_nano", sa.BigInteger, nullable=False),
        sa.Column("unpriced", sa.Integer, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("expires_us", sa.BigInteger, nullable=False),
    )
    op.create_index("sessions_expires", "sessions", ["expires_us"])
    op.create_table(
        "session_holds",
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column("session", sa.String(64), nullable=False),
        sa.Column("nano", sa.BigInteger, nullable=False),
        sa.Column("expires_us", sa.BigInteger, nullable=False),
    )
    op.create_index("session_holds_session", "session_holds", ["session"])
    op.create_index("session_holds_expires", "session_holds", ["expires_us"])
