"""How many requests of a key may be under way, and what operators make of uncertain money."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Add a column and a table."""
    op.add_column("keys", sa.Column("concurrency", sa.Integer))
    op.create_table(
        "corrections",
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column("key", sa.String(64), sa.ForeignKey("keys.id"), nullable=False),
        sa.Column("month", sa.Integer, nullable=False),
        sa.Column("nano", sa.BigInteger, nullable=False),
        sa.Column("was_spent", sa.Boolean, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("by", sa.String(128), nullable=False),
        sa.Column("made_us", sa.BigInteger, nullable=False),
    )
    op.create_index("corrections_key_month", "corrections", ["key", "month"])
