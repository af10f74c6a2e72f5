"""Whether a run ended with its client being asked to call tools; of runs kept before, nobody wrote it down."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Add a column."""
    op.add_column("runs", sa.Column("asks_client", sa.Boolean, nullable=False, server_default=sa.false()))
