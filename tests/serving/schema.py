"""How a database differs from what the code expects; the index of texts, which only some databases have, is left out."""

from typing import Any

from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Connection

from podium.serving.store.tables import metadata

_OF_SOME = ("run_words", "run_texts_words")


def differences(connection: Connection) -> Any:
    """Nothing where the tables are those of the code."""
    options = {"include_object": lambda _object, name, *_: not str(name).startswith(_OF_SOME)}
    return compare_metadata(MigrationContext.configure(connection, opts=options), metadata)
