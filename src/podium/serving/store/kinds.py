"""Where a database is: what stands before ``://`` in its URL names a :class:`StoreKind`, which says which database is meant.

A package outside can add one (``podium.stores``): a URL from a secret, a service that knows today's host. What it names is a
SQLite file or a PostgreSQL server. Other databases are no record here: that no quota is spent twice rests on the locks of these.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from podium.errors import ConfigError
from podium.registry import register, registered

_SCHEMES = ("sqlite", "postgresql", "postgres")


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreKind:
    """A way to name a database. Example: ``StoreKind(form="secret://FILE", about="the URL in a file", find=read_secret)``."""

    form: str
    """How it is written, for the help of ``--db``."""
    about: str
    find: Callable[[str], str]
    """The whole URL as given -> ``sqlite:///FILE`` or ``postgresql://...``. Asked whenever the database is opened or named.

    Raises :class:`ConfigError` where it names none. What it returns is shown nowhere but for host, port and database.
    """


for _scheme in _SCHEMES:
    register("stores", _scheme)(StoreKind(form=f"{_scheme}://", about="as it is written", find=str))


def added_kinds() -> Mapping[str, StoreKind]:
    """The kinds that packages and scripts have added, by scheme. Raises :class:`ConfigError` as :func:`registered` does."""
    return {scheme: kind for scheme, kind in registered("stores", StoreKind).items() if scheme not in _SCHEMES}


def found(url: str) -> str:
    """``url``, or what the kind of its scheme makes of it. Raises :class:`ConfigError`."""
    scheme = url.partition("://")[0]
    kind = added_kinds().get(scheme)
    if kind is None:
        return url
    there = kind.find(url)
    if there.partition("://")[0].partition("+")[0] not in _SCHEMES:
        # Not the text itself, which may be a secret.
        raise ConfigError(f"the store {scheme!r} names no SQLite or PostgreSQL database; mend the package that adds it")
    return there
