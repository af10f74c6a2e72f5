"""Changed keys: what is not named stays, every replica follows, and the books neither lose nor lend a dollar over it."""

import asyncio

import pytest

from podium.errors import AccessDenied, ConfigError, QuotaExceeded
from podium.serving.store.booking import Spent
from podium.serving.store.database import Database
from podium.serving.store.keys import Key, Keys, Terms
from podium.serving.store.quotas import Quotas
from tests.serving.conftest import ManualClock


async def admitted(quotas: Quotas, key: Key, usd: float) -> bool:
    try:
        await quotas.admit(key, usd, 0)
    except QuotaExceeded:
        return False
    return True


async def test_what_is_not_named_stays(database: Database) -> None:
    keys = Keys(database)
    key, secret = await keys.create(
        "web", monthly_usd=12.34, requests_per_minute=5, tokens_per_minute=10**10, store_content=False
    )
    other, _ = await keys.create("other", monthly_usd=7.0)
    richer = await keys.change("web", monthly_usd=56.78)
    assert (richer.monthly_usd, richer.requests_per_minute, richer.tokens_per_minute) == (56.78, 5, 10**10)
    assert (richer.id, richer.created, richer.scopes, richer.store_content) == (key.id, key.created, key.scopes, False)
    free = await keys.change(
        key.id, monthly_usd=None, requests_per_minute=None, tokens_per_minute=3, scopes=frozenset({"read"}), store_content=True
    )
    assert (free.monthly_usd, free.requests_per_minute, free.tokens_per_minute, free.store_content) == (None, None, 3, True)
    assert await keys.change("web") == free
    assert await keys.list() == (free, other)
    assert await keys.find(secret) == free


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (Terms(monthly_usd=-1.0), "dollars per month"),
        (Terms(monthly_usd=float("nan")), "dollars per month"),
        (Terms(requests_per_minute=0), "requests per minute"),
        (Terms(tokens_per_minute=2**60), "tokens per minute"),
        (Terms(scopes=frozenset({"root"})), "scopes"),
        (Terms(scopes=frozenset()), "scopes"),
    ],
)
async def test_what_is_no_limit_changes_nothing(database: Database, changes: Terms, said: str) -> None:
    keys = Keys(database)
    key, _ = await keys.create("web", monthly_usd=1.0)
    with pytest.raises(ConfigError, match=said):
        await keys.change("web", **(Terms(store_content=False) | changes))
    assert await keys.list() == (key,)


async def test_only_a_living_key_can_be_changed(database: Database) -> None:
    keys = Keys(database)
    first, _ = await keys.create("web")
    for unknown in ("nobody", "", "\0", "\udcff", "key_0"):
        with pytest.raises(ConfigError, match="no key called"):
            await keys.change(unknown, monthly_usd=1.0)
    ended = await keys.revoke("web")
    for gone in ("web", first.id):
        with pytest.raises(ConfigError, match="was revoked"):
            await keys.change(gone, monthly_usd=1.0)
    second, _ = await keys.create("web")
    assert (await keys.change("web", monthly_usd=1.0)).id == second.id
    assert (await keys.list())[0] == ended


async def test_changes_of_several_fields_at_once_all_stand(database: Database, url: str) -> None:
    async with Database(url) as other:
        first, second = Keys(database), Keys(other)
        await first.create("web")
        for number in range(1, 11):
            await asyncio.gather(
                first.change("web", monthly_usd=float(number)),
                second.change("web", requests_per_minute=number),
                first.change("web", tokens_per_minute=number),
                second.change("web", store_content=number % 2 == 0),
            )
            [key] = await first.list()
            assert (key.monthly_usd, key.requests_per_minute, key.tokens_per_minute) == (number, number, number)
            assert key.store_content == (number % 2 == 0)


async def test_a_key_that_is_revoked_meanwhile_stays_revoked(database: Database, url: str) -> None:
    async with Database(url) as other:
        for _ in range(10):
            key, _ = await Keys(database).create("web")
            ended, *changed = await asyncio.gather(
                Keys(other).revoke("web"),
                *(Keys(database).change("web", monthly_usd=float(n)) for n in range(4)),
                return_exceptions=True,
            )
            assert isinstance(ended, Key)
            assert all(isinstance(each, (Key, ConfigError)) for each in changed), changed
            assert next(each for each in await Keys(other).list() if each.id == key.id).revoked == ended.revoked


async def test_another_replicas_cache_ends_and_its_quota_does_not_wait_for_that(database: Database, url: str) -> None:
    keys = Keys(database)
    _, secret = await keys.create("web", monthly_usd=1.0)
    async with Database(url) as other:
        slow, quick = Keys(other, cache_seconds=3600), Keys(other, cache_seconds=0)
        remembered = await slow.find(secret)
        assert remembered == await quick.find(secret) == await keys.find(secret)
        changed = await keys.change("web", monthly_usd=0.25, scopes=frozenset({"read"}), store_content=False)
        assert await keys.find(secret) == changed, "at once where it was changed"
        assert await quick.find(secret) == changed, "elsewhere as soon as it is looked for again"
        assert await slow.find(secret) == remembered
        with pytest.raises(QuotaExceeded, match=r"\$0\.25 per month"):
            await Quotas(other, "b").admit(remembered, 0.5, 0)


async def test_what_was_spent_stays_spent(database: Database, clock: ManualClock) -> None:
    keys, quotas = Keys(database), Quotas(database, "a", now=clock)
    key, _ = await keys.create("web", monthly_usd=10.0)
    await quotas.settle(await quotas.admit(key, 4.0, 0), 3.0, 0.5, 0)
    running = await quotas.admit(key, 2.0, 0)
    await keys.change("web", monthly_usd=1.0)
    assert (await quotas.spent())[key.id] == Spent(spent_usd=3.0, uncertain_usd=0.5, open_usd=2.0)
    with pytest.raises(QuotaExceeded, match=r"of the key's \$1 per month \(UTC\) \$0 is left"):
        await quotas.admit(key, 0.0, 0)
    assert await quotas.progress(running, 1.0, 1.0), "a run under way keeps what it was lent"
    await quotas.settle(running, 2.0, 0.0, 0)
    assert (await quotas.spent())[key.id] == Spent(spent_usd=5.0, uncertain_usd=0.5)
    await keys.change("web", monthly_usd=6.0)
    assert [await admitted(quotas, key, 0.5) for _ in range(2)] == [True, False]
    await keys.change("web", monthly_usd=None)
    await quotas.settle(await quotas.admit(key, None, 0), 7.0, 0.0, 0)
    await keys.change("web", monthly_usd=12.9)
    assert not await admitted(quotas, key, 0.0), "what was used without a limit counts too"


async def test_a_minute_counts_on_under_its_new_limit(database: Database, clock: ManualClock) -> None:
    keys, quotas = Keys(database), Quotas(database, "a", now=clock)
    key, _ = await keys.create("web", requests_per_minute=9)
    for _ in range(3):
        await quotas.admit(key, None, 10)
    await keys.change("web", requests_per_minute=3)
    with pytest.raises(QuotaExceeded, match="3 of the key's 3 requests"):
        await quotas.admit(key, None, 0)
    await keys.change("web", requests_per_minute=None, tokens_per_minute=35)
    with pytest.raises(QuotaExceeded, match="30 of the key's 35 tokens"):
        await quotas.admit(key, None, 10)
    await quotas.admit(key, None, 5)


async def test_a_quota_that_falls_amid_requests_lends_nothing_more(database: Database, url: str) -> None:
    keys = Keys(database)
    key, _ = await keys.create("web", monthly_usd=1.0)
    async with Database(url) as other:
        replicas = Quotas(database, "a"), Quotas(other, "b")
        fallen = asyncio.Event()
        late: list[bool] = []

        async def one(number: int) -> None:
            after = fallen.is_set()
            let_in = await admitted(replicas[number % 2], key, 0.01)
            if after:
                late.append(let_in)

        async def fall() -> None:
            await keys.change("web", monthly_usd=0.05)
            fallen.set()

        early = [asyncio.create_task(one(number)) for number in range(30)]
        await asyncio.gather(*early[:10])
        await asyncio.gather(fall(), *early)
        await asyncio.gather(*(one(number) for number in range(30)))
        assert late == 30 * [False]
        spent = (await replicas[0].spent())[key.id]
        assert 0.1 <= spent.open_usd <= 0.3, "those before it, and nobody else"


async def test_a_revoked_key_is_refused_whatever_it_was_changed_to(database: Database) -> None:
    keys = Keys(database)
    key, _ = await keys.create("web", monthly_usd=1.0)
    await keys.change("web", monthly_usd=None)
    await keys.revoke("web")
    with pytest.raises(AccessDenied):
        await Quotas(database, "a").admit(key, None, 0)
