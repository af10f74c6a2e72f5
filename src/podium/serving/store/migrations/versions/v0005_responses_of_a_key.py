"""Whose a kept response is and how large, so that no key fills the disk with them."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Add two columns; what was kept before has a day to live and counts as nobody's."""
    op.add_column("responses", sa.Column("key", sa.String(64), nullable=False, server_default=""))
    op.add_column("responses", sa.Column("bytes", sa.BigInteger, nullable=False, server_default="0"))
    op.create_index("responses_key", "responses", ["key", "expires_us"])
