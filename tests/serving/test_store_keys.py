"""Keys: a secret proves its key until the key is revoked, and nothing in the database proves anything."""

from pathlib import Path

import pytest
from sqlalchemy import select, text

from podium.errors import AccessDenied, ConfigError
from podium.serving.store.database import Database
from podium.serving.store.keys import Keys
from podium.serving.store.quotas import Quotas
from podium.serving.store.tables import keys as table


async def test_a_secret_finds_its_key_again(database: Database) -> None:
    keys = Keys(database)
    limits = {"requests_per_minute": 5, "tokens_per_minute": 10**10}
    key, secret = await keys.create("web", scopes=frozenset({"ask", "read"}), monthly_usd=12.34, store_content=False, **limits)
    plain, _ = await keys.create("bare")
    assert await Keys(database).find(secret) == key == (await keys.find(secret))
    assert (key.monthly_usd, key.tokens_per_minute, key.store_content, key.revoked) == (12.34, 10**10, False, None)
    assert (plain.monthly_usd, plain.requests_per_minute, plain.scopes) == (None, None, frozenset({"ask"}))
    assert await keys.list() == (key, plain)
    assert secret.startswith("pod_")
    assert len(secret) == 47


async def test_the_secret_is_not_in_the_database(tmp_path: Path) -> None:
    async with Database(f"sqlite:///{tmp_path / 'podium.db'}") as database:
        _, secret = await Keys(database).create("web")
        await database.run(lambda connection: connection.execute(text("SELECT 1")))
    assert all(secret.encode() not in file.read_bytes() for file in tmp_path.iterdir())


@pytest.mark.parametrize("secret", ["", "pod_", "pod_" + 43 * "A", "\0", "\ud800", "ключ", "x" * 100_000])
async def test_other_secrets_find_nothing(database: Database, secret: str) -> None:
    keys = Keys(database)
    await keys.create("web")
    with pytest.raises(AccessDenied) as caught:
        await keys.find(secret)
    assert not caught.value.known


async def test_what_is_stored_proves_nothing(database: Database) -> None:
    keys = Keys(database)
    key, _ = await keys.create("web")
    stored = await database.read(lambda connection: connection.execute(select(table.c.hash)).scalar_one())
    for secret in (stored, key.id, key.name):
        with pytest.raises(AccessDenied):
            await keys.find(secret)


async def test_a_revoked_key_is_answered_as_an_unknown_one(database: Database, url: str) -> None:
    keys = Keys(database)
    key, secret = await keys.create("web")
    await keys.find(secret)
    ended = await keys.revoke("web")
    assert ended.id == key.id
    assert ended.revoked is not None
    messages = set()
    for wrong in (secret, "pod_unknown"):
        with pytest.raises(AccessDenied) as caught:
            await keys.find(wrong)
        messages.add(str(caught.value))
    assert len(messages) == 1
    assert await keys.revoke(key.id) == ended
    assert (await keys.list())[0].revoked == ended.revoked


async def test_another_replicas_cache_ends_and_its_quota_does_not_wait_for_that(database: Database, url: str) -> None:
    keys = Keys(database)
    _, secret = await keys.create("web")
    async with Database(url) as other:
        slow, quick = Keys(other, cache_seconds=3600), Keys(other, cache_seconds=0)
        remembered = await slow.find(secret)
        await quick.find(secret)
        await keys.revoke("web")
        assert await slow.find(secret) == remembered
        with pytest.raises(AccessDenied):
            await quick.find(secret)
        with pytest.raises(AccessDenied):
            await slow.find(secret, anew=True)
        with pytest.raises(AccessDenied):
            await slow.find(secret)  # what it was remembered as is forgotten
        with pytest.raises(AccessDenied):
            await Quotas(other, "b").admit(remembered, None, 0)


async def test_a_name_belongs_to_one_living_key(database: Database) -> None:
    keys = Keys(database)
    first, _ = await keys.create("web")
    with pytest.raises(ConfigError, match="called web already"):
        await keys.create("web")
    await keys.revoke("web")
    second, _ = await keys.create("web")
    assert second.id != first.id
    with pytest.raises(ConfigError, match="no key called nobody"):
        await keys.revoke("nobody")
    with pytest.raises(ConfigError, match="no key called"):
        await keys.revoke("\0")


@pytest.mark.parametrize("name", ["", " web", "a\nb", "a\0b", "x" * 65, "key_1"])
async def test_a_name_can_be_shown(database: Database, name: str) -> None:
    with pytest.raises(ConfigError, match="a key's name"):
        await Keys(database).create(name)


async def test_a_limit_is_a_limit(database: Database) -> None:
    keys = Keys(database)
    for usd in (-1.0, float("nan"), float("inf"), 1e12):
        with pytest.raises(ConfigError, match="dollars per month"):
            await keys.create("web", monthly_usd=usd)
    with pytest.raises(ConfigError, match="requests per minute"):
        await keys.create("web", requests_per_minute=0)
    with pytest.raises(ConfigError, match="tokens per minute"):
        await keys.create("web", tokens_per_minute=2**60)
    for scopes in (frozenset({"root"}), frozenset[str]()):
        with pytest.raises(ConfigError, match="scopes"):
            await keys.create("web", scopes=scopes)
    assert await keys.list() == ()
