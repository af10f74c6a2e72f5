"""Rows in place of those with the same id, also where two replicas write one at the same moment.

To delete a row and insert another is no way to do that: on PostgreSQL the second of two does not see the first one's new row.
"""

from sqlalchemy import Connection, Table
from sqlalchemy.dialects import postgresql, sqlite

from podium.serving.store.batched import Rows


def put(connection: Connection, table: Table, rows: Rows) -> None:
    """Write ``rows``, at least one, each with every column; the later of two with one id counts.

    Example: ``put(connection, paused, [{"id": "1f", "state": "{}", "expires_us": 0}])``.
    """
    insert = sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert
    new, [key] = insert(table), table.primary_key.columns
    values = {column.name: new.excluded[column.name] for column in table.columns if column is not key}
    last = {row[key.name]: row for row in rows}
    ordered = [row for _, row in sorted(last.items())]  # in one order, so that two replicas do not wait for each other
    connection.execute(new.on_conflict_do_update(index_elements=[key.name], set_=values), ordered)
