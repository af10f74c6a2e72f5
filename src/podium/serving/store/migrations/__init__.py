"""How an older database becomes today's: Alembic's environment and one file for every change of the tables."""
