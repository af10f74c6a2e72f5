"""Alembic's environment. ``database.py`` runs it, with a connection in an open transaction."""

from alembic import context

from podium.serving.store.tables import metadata


def migrate() -> None:
    """Carry out the changes that Alembic was asked for."""
    context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
    context.run_migrations()


# Alembic loads this file under this name. Imported as a module of the package it does nothing.
if __name__ == "env_py":
    migrate()
