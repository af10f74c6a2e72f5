"""A database's URL, read and made ready; what is shown of it never holds a password."""

import importlib.util
import os
from pathlib import Path

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from podium.errors import ConfigError
from podium.serving.store.kinds import added_kinds, found

_SQLITE = ("sqlite", "sqlite+pysqlite")
_POSTGRESQL = ("postgresql", "postgres", "postgresql+psycopg")
_USE = "use sqlite:///FILE or postgresql://USER:PASSWORD@HOST/DATABASE"


def read_address(url: str, *, must_exist: bool) -> URL:
    """``url`` as SQLAlchemy wants it. A new SQLite file is made here, for its owner's eyes only.

    Raises :class:`ConfigError` where it is no URL, of another kind of database, names no file or a file that can not be
    opened, or, with ``must_exist``, a file that is not there.
    """
    address = _parsed(url)
    if address.get_backend_name() != "sqlite":
        if importlib.util.find_spec("psycopg") is None:
            raise ConfigError("PostgreSQL needs psycopg, which is not installed: pip install 'podium[postgres]'")
        return address
    path = Path(str(address.database))
    if must_exist and not path.is_file():
        raise ConfigError(f"there is no database at {path}; name it with --db or PODIUM_DB")
    try:
        # SQLite would make the file readable for everybody; its two companion files get the rights of this one.
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    except OSError as error:
        raise ConfigError(f"the database {path} can not be opened: {error.strerror}") from error
    return address


def shown_address(url: str) -> str:
    """``url`` as :func:`shown` shows it; nothing is opened. Raises :class:`ConfigError` where it is no URL that can be used."""
    return shown(_parsed(url))


def shown(address: URL) -> str:
    """``address`` for messages: without user, password and options, any of which may be a secret."""
    if address.get_backend_name() == "sqlite":
        return str(address.database)
    place = f"{address.host or 'localhost'}:{address.port or 5432}"
    return f"postgresql://{place}/{address.database or ''}"


def _parsed(url: str) -> URL:
    there = found(url)
    try:
        address = make_url(there)
    except (ArgumentError, ValueError):
        # Not the text itself: a mistyped URL may still hold a password.
        raise ConfigError(f"the database's URL can not be read; {_USE}") from None
    if "@" in (address.host or ""):
        # The rest of a password, which no message may show.
        raise ConfigError("the database's URL has an @ too many; write one that belongs to user or password as %40")
    if address.drivername in _POSTGRESQL:
        return address.set(drivername="postgresql+psycopg")
    if address.drivername not in _SQLITE:
        others = "".join(f", or {kind.form} ({kind.about})" for kind in added_kinds().values())
        raise ConfigError(f"{address.drivername} is no kind of database that Podium knows; {_USE}{others}")
    if not address.database or address.database == ":memory:":
        raise ConfigError(f"the database's URL names no file; {_USE}")
    return address.set(drivername="sqlite", database=str(Path(address.database).expanduser().absolute()))
