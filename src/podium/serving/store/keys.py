"""Who may ask: keys, their limits, and the secret that proves one.

A secret is 32 random bytes, so a plain SHA-256 of it can be stored: 2**256 of them can not be tried, and a slow password
hash would only slow down every request.
"""

import hashlib
import hmac
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TypedDict, Unpack

from sqlalchemy import Connection, Row, insert, select, update
from sqlalchemy.exc import IntegrityError

from podium.errors import AccessDenied, ConfigError
from podium.serving.store.clock import Clock, from_us, to_us, utc_now
from podium.serving.store.database import Database
from podium.serving.store.money import to_nano, to_usd
from podium.serving.store.tables import keys
from podium.workflow.draw import plain

SCOPES = frozenset({"ask", "read", "answer", "admin"})
"""What a key may do: ask questions, read its own runs, see and change everything."""
_CACHED = 4096
"""Keys remembered at most."""
_NOBODY = hashlib.sha256(b"").hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """A key without its secret. A limit of None is none.

    Example: ``Key(id="key_1f", name="web", scopes=frozenset({"ask"}), monthly_usd=20.0, created=now)``.
    """

    id: str
    name: str
    scopes: frozenset[str] = frozenset({"ask"})
    monthly_usd: float | None = None
    """Dollars per UTC month."""
    session_usd: float | None = None
    """Dollars per session."""
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    concurrency: int | None = None
    """Runs under way at once, over all replicas."""
    store_content: bool = True
    """Whether questions, answers and transcripts of its runs are kept."""
    created: datetime
    revoked: datetime | None = None
    root: bytes | None = field(default=None, repr=False, compare=False)
    """What its tenant's name and seal come from (``sealed.py``): made of its secret where that was shown, and never stored."""


class Terms(TypedDict, total=False):
    """What a key may do, and how much: of a new one (:meth:`Keys.create`), or what :meth:`Keys.change` makes different.

    What is missing is usual, or stays as it is; a limit of None is none. Example: ``Terms(requests_per_minute=60)``.
    """

    scopes: frozenset[str]
    monthly_usd: float | None
    session_usd: float | None
    requests_per_minute: int | None
    tokens_per_minute: int | None
    concurrency: int | None
    store_content: bool


class Keys:
    """The keys of a server.

    A key that was found is remembered for ``cache_seconds``, so that long a key that another replica revoked or changed
    still passes here as it was; :meth:`podium.serving.store.quotas.Quotas.admit` looks again, refuses a revoked one at once
    and holds a changed one to its new limits.
    """

    def __init__(self, database: Database, *, cache_seconds: float = 5.0, now: Clock = utc_now) -> None:
        self._database = database
        self._cache_seconds = cache_seconds
        self._now = now
        self._cache: dict[str, tuple[float, Key]] = {}

    async def create(self, name: str, **terms: Unpack[Terms]) -> tuple[Key, str]:
        """A new key and its secret, which can not be had again. Example: ``await keys.create("web", monthly_usd=20.0)``.

        Raises :class:`ConfigError` for a name that is taken or no name, an unknown scope, or a limit that is none.
        """
        key = Key(id=f"key_{secrets.token_hex(8)}", name=name, created=from_us(to_us(self._now())), **terms)
        row = _row(key)
        secret = f"pod_{secrets.token_urlsafe(32)}"
        try:
            await self._database.run(lambda connection: connection.execute(insert(keys).values(row | {"hash": _hash(secret)})))
        except IntegrityError:
            raise ConfigError(f"there is a key called {name} already: revoke it, or choose another name") from None
        return replace(key, root=_root(secret)), secret

    async def find(self, secret: str, *, anew: bool = False) -> Key:
        """The key that ``secret`` proves; ``anew``: not as it is remembered.

        Raises :class:`AccessDenied` where it proves none, or a revoked one.
        """
        digest = _hash(secret)
        until, remembered = self._cache.get(digest, (0.0, None))
        if not anew and remembered is not None and time.monotonic() < until:
            return remembered
        row = await self._database.read(lambda connection: connection.execute(select(keys).where(keys.c.hash == digest)).first())
        # An unknown secret is compared too, and is answered as a revoked one is: neither time nor text tells them apart.
        proven = hmac.compare_digest(_NOBODY if row is None else row.hash, digest)
        if row is None or not proven or row.revoked_us is not None:
            self._cache.pop(digest, None)
            raise AccessDenied("this key is unknown or was revoked; an operator makes one with: podium keys create NAME")
        key = replace(_key(row), root=_root(secret))
        if len(self._cache) >= _CACHED:
            self._cache.clear()
        self._cache[digest] = (time.monotonic() + self._cache_seconds, key)
        return key

    async def change(self, id_or_name: str, **changes: Unpack[Terms]) -> Key:
        """Give a living key, by its id or by its name, other limits, scopes or a say on content. Returns it as it is now.

        What it has spent stays spent, and a run under way keeps what it was lent. Changes of one key that happen at once
        all stand, but for those of the same field. Example: ``await keys.change("web", monthly_usd=5.0)``.

        Raises :class:`ConfigError` where no key has that id or name, where it was revoked, for an unknown scope, or for a
        limit that is none.
        """

        def alter(connection: Connection) -> Key | None:
            called = (keys.c.id == id_or_name) | (keys.c.name == id_or_name)
            rows = connection.execute(select(keys).where(called).with_for_update()).all()
            if not rows:
                return None
            living = next((row for row in rows if row.revoked_us is None), None)
            if living is None:
                raise ConfigError(
                    f"the key {plain(id_or_name, 80)} was revoked and can not be changed; make another: podium keys create NAME"
                )
            key = _key(living)
            terms, before = _terms(replace(key, **changes)), _terms(key)
            different = {column: value for column, value in terms.items() if value != before[column]}
            if different:
                connection.execute(update(keys).where(keys.c.id == key.id).values(different))
            return _key(connection.execute(select(keys).where(keys.c.id == key.id)).one())

        return await self._altered(id_or_name, alter)

    async def revoke(self, id_or_name: str) -> Key:
        """End a key, by its id or by its name. Revoking it twice is no error.

        Raises :class:`ConfigError` where no key has that id and no living key has that name.
        """
        now = to_us(self._now())

        def end(connection: Connection) -> Key | None:
            named = (keys.c.name == id_or_name) & keys.c.revoked_us.is_(None)
            row = connection.execute(select(keys).where((keys.c.id == id_or_name) | named).with_for_update()).first()
            if row is None:
                return None
            if row.revoked_us is None:
                connection.execute(update(keys).where(keys.c.id == row.id).values(revoked_us=now))
            return _key(connection.execute(select(keys).where(keys.c.id == row.id)).one())

        return await self._altered(id_or_name, end)

    async def _altered(self, id_or_name: str, work: Callable[[Connection], Key | None]) -> Key:
        """What ``work`` makes of the key; the cache forgets all. Raises :class:`ConfigError` where there is no such key."""
        # Names and ids are printable; databases take neither NUL nor half a surrogate pair.
        key = await self._database.run(work) if id_or_name.isprintable() else None
        self._cache.clear()
        if key is None:
            raise _unknown(id_or_name)
        return key

    async def named(self, id_or_name: str) -> Key:
        """The key of that id or name, a revoked one too: of several that had a name the living one, else the one revoked last.

        Raises :class:`ConfigError` where there is none.
        """
        found = [key for key in await self.list() if id_or_name in (key.id, key.name)]
        if not found:
            raise _unknown(id_or_name)
        return max(found, key=lambda key: (key.revoked is None, key.revoked or key.created))

    async def names(self) -> dict[str, str]:
        """Key id -> name."""
        return {key.id: key.name for key in await self.list()}

    async def list(self) -> tuple[Key, ...]:
        """Every key, revoked ones too, oldest first."""
        order = select(keys).order_by(keys.c.created_us, keys.c.id)
        return tuple(_key(row) for row in await self._database.read(lambda connection: connection.execute(order).all()))


def _unknown(id_or_name: str) -> ConfigError:
    return ConfigError(f"there is no key called {plain(id_or_name, 80)}; see: podium keys list")


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def _root(secret: str) -> bytes:
    # Not the secret itself, with which one could ask.
    return hmac.digest(secret.encode("utf-8", "surrogatepass"), b"podium: root of a tenant", hashlib.sha256)


def _row(key: Key) -> dict[str, object]:
    """The columns of a new key, but for the hash; checks what the caller chose."""
    if not (1 <= len(key.name) <= 64 and key.name.isprintable() and key.name == key.name.strip()) or key.name.startswith("key_"):
        raise ConfigError("a key's name has 1 to 64 printable characters, and does not begin with key_ as ids do")
    return {"id": key.id, "name": key.name, "created_us": to_us(key.created)} | _terms(key)


def _terms(key: Key) -> dict[str, object]:
    """The columns that :meth:`Keys.change` may change; checks what the caller chose."""
    if not key.scopes or key.scopes - SCOPES:
        raise ConfigError(
            f"a key's scopes are some of {', '.join(sorted(SCOPES))}, not: {', '.join(sorted(key.scopes)) or 'none'}"
        )
    limits = {
        "requests per minute": (key.requests_per_minute, 2**31),
        "tokens per minute": (key.tokens_per_minute, 2**53),
        "runs at once": (key.concurrency, 2**31),
    }
    for what, (limit, end) in limits.items():
        if limit is not None and not 1 <= limit < end:
            raise ConfigError(f"{limit} {what} is no limit: give a number from 1, or none at all")
    nanos: dict[str, int | None] = {}
    for what, usd in (("month", key.monthly_usd), ("session", key.session_usd)):
        try:
            nanos[what] = None if usd is None else to_nano(usd)
        except ValueError as error:
            raise ConfigError(f"dollars per {what}: {error}") from None
    return {
        "scopes": " ".join(sorted(key.scopes)),
        "monthly_nano": nanos["month"],
        "session_nano": nanos["session"],
        "requests_per_minute": key.requests_per_minute,
        "tokens_per_minute": key.tokens_per_minute,
        "concurrency": key.concurrency,
        "store_content": key.store_content,
    }


def _key(row: Row[tuple[object, ...]]) -> Key:
    return Key(
        id=row.id,
        name=row.name,
        scopes=frozenset(row.scopes.split()),
        monthly_usd=None if row.monthly_nano is None else to_usd(row.monthly_nano),
        session_usd=None if row.session_nano is None else to_usd(row.session_nano),
        requests_per_minute=row.requests_per_minute,
        tokens_per_minute=row.tokens_per_minute,
        concurrency=row.concurrency,
        store_content=row.store_content,
        created=from_us(row.created_us),
        revoked=None if row.revoked_us is None else from_us(row.revoked_us),
    )
