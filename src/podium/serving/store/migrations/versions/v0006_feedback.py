"""What people said of answers."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Add a table."""
    op.create_table(
        "feedback",
        sa.Column("run", sa.String(64), sa.ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("thumb", sa.Integer, nullable=False),
        sa.Column("right_answer", sa.Text, nullable=False),
        sa.Column("made_us", sa.BigInteger, nullable=False),
    )
