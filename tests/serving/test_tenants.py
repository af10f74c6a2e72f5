"""One journal under a server with several keys: no reply, no budget, no refusal and no leaving of one reaches another."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest

from podium.pools.models import PoolCatalog
from podium.pools.opened import OpenPool
from podium.serving.accounts import Accounts
from podium.serving.sealed import AesSeal
from podium.serving.store.booking import Spent
from podium.types import Card
from podium.workers.journal import Journal
from podium.workers.metered import Metered
from podium.workers.pool import Member, WorkerPool
from tests.serving.live import Live, Puppet, live, said, until
from tests.serving.test_access import a_key
from tests.serving.test_chat_api import ASKED, client

REPLY = "the launch code is 7714"
CARD = Card(name="w", prompt_usd=1e-6, completion_usd=1e-5)


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    with Journal(tmp_path / "calls.db", run="serve") as journal:
        yield journal


def catalog_over(journal: Journal, puppet: Puppet) -> PoolCatalog:
    metered = Metered(puppet, CARD, 100, [])
    return PoolCatalog(
        OpenPool(workers=WorkerPool([Member(worker=journal.worker(metered, "w", metered.bound), card=CARD)])), "solo:w"
    )


async def ask(server: Live, secret: str, *, stream: bool = False, **podium: Any) -> str:
    async with client(server, secret) as ai:
        extra: Any = {"podium": podium}
        if not stream:
            reply = await ai.chat.completions.create(model="w", messages=ASKED, extra_body=extra)
            return reply.choices[0].message.content or ""
        chunks = await ai.chat.completions.create(model="w", messages=ASKED, extra_body=extra, stream=True)
        return "".join([chunk.choices[0].delta.content or "" async for chunk in chunks if chunk.choices])


async def books(server: Live, secret: str) -> Spent:
    """What the key has used, once nothing of it is under way."""
    key = await server.accounts.keys.find(secret)
    async with asyncio.timeout(5):
        while (spent := (await server.accounts.quotas.spent()).get(key.id, Spent())).open_usd:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
    return spent


@pytest.mark.parametrize("stream", [False, True])
async def test_keys_share_no_call_under_way_and_no_reply_from_disk(journal: Journal, tmp_path: Path, stream: bool) -> None:
    puppet = Puppet(lambda call: "42", seconds=0.1)
    async with live(catalog_over(journal, puppet), tmp_path, with_keys=True) as server:
        one, two = [await a_key(server, name, monthly_usd=10.0) for name in ("one", "two")]
        both = await asyncio.gather(*(ask(server, secret, stream=stream) for secret in (one, two)))
        assert (both, len(puppet.calls)) == (["42", "42"], 2)
        third = await a_key(server, "three", monthly_usd=10.0)
        assert await ask(server, third) == "42"
        assert len(puppet.calls) == 3, "what others have paid for is not given away"
        assert await ask(server, one, stream=stream) == "42"
        assert len(puppet.calls) == 3, "one's own is not paid twice"
        for secret in (one, two, third):
            spent = await books(server, secret)
            assert (round(spent.spent_usd, 9), spent.uncertain_usd) == (0.001, 0.0)


async def test_a_refusal_is_for_who_has_no_money_and_nobody_else(journal: Journal, tmp_path: Path) -> None:
    puppet = Puppet(lambda call: "42", seconds=0.05)
    async with live(catalog_over(journal, puppet), tmp_path, with_keys=True) as server:
        poor, rich = [await a_key(server, name, monthly_usd=10.0) for name in ("poor", "rich")]

        async def without_money(secret: str) -> int | str:
            try:
                return await ask(server, secret, budget_usd=0.00001)
            except openai.APIStatusError as error:
                return error.status_code

        # Of one key, who has no money may still be given what another request of it has paid for.
        asked = [without_money(rich), without_money(poor), without_money(rich), ask(server, rich), without_money(rich)]
        answers = await asyncio.gather(*asked, ask(server, rich))
        assert answers[1] == 402
        assert (answers[3], answers[5]) == ("42", "42")
        assert {answers[0], answers[2], answers[4]} <= {402, "42"}
        assert len(puppet.calls) == 1, "two requests of one key are one call, paid by the one that began it"
        assert (await books(server, rich)).spent_usd == pytest.approx(0.001)
        assert (await books(server, poor)).spent_usd == 0.0


@pytest.mark.parametrize("stream", [False, True])
async def test_who_began_leaves_and_the_other_is_answered_for_one_payment(journal: Journal, tmp_path: Path, stream: bool) -> None:
    puppet = Puppet(lambda call: "forty two", seconds=0.3)
    async with live(catalog_over(journal, puppet), tmp_path, with_keys=True) as server:
        secret = await a_key(server, "web", monthly_usd=10.0)
        first = asyncio.create_task(ask(server, secret, stream=stream))
        await until(lambda: puppet.under_way == 1)
        second = asyncio.create_task(ask(server, secret, stream=stream))
        await until(lambda: len(journal._flights._flights["".join(journal._flights._flights)].waiting) == 1)
        first.cancel()
        assert await second == "forty two"
        assert (len(puppet.calls), puppet.cancelled) == (1, 0)
        spent = await books(server, secret)
        assert (round(spent.spent_usd, 9), spent.uncertain_usd) == (0.001, 0.0)
        [row] = await journal.ledger()
        assert (row.calls, row.unsettled) == (1, 0)


async def test_the_last_one_that_leaves_ends_the_call_and_its_books(journal: Journal, tmp_path: Path) -> None:
    puppet = Puppet(lambda call: "word " * 100, seconds=0.05)
    async with live(catalog_over(journal, puppet), tmp_path, with_keys=True) as server:
        secret = await a_key(server, "web", monthly_usd=10.0)
        asking = [asyncio.create_task(ask(server, secret)) for _ in range(3)]
        await until(lambda: puppet.under_way == 1)
        await asyncio.sleep(0.1)
        for task in asking:
            task.cancel()
        await until(lambda: puppet.under_way == 0)
        spent = await books(server, secret)
        assert (len(puppet.calls), spent.spent_usd) == (1, 0.0)
        assert 0 < spent.uncertain_usd < 0.002, "one call that was cut off, not three"


async def test_replies_of_a_key_that_keeps_nothing_can_not_be_read_and_are_paid_once(tmp_path: Path) -> None:
    puppet = said(REPLY)
    secret = ""
    for attempt in range(3):  # a server, and two that were started again
        with Journal(tmp_path / "calls.db", run="serve") as journal:
            async with live(catalog_over(journal, puppet), tmp_path, with_keys=True) as server:
                secret = secret or await a_key(server, "private", monthly_usd=10.0, store_content=False)
                assert await ask(server, secret) == REPLY
                assert len(puppet.calls) == 1, attempt
                spent = await books(server, secret)
                assert (round(spent.spent_usd, 9), spent.uncertain_usd) == (0.001, 0.0)
        for file in tmp_path.iterdir():
            assert not file.is_file() or b"launch" not in file.read_bytes(), file
        with Journal(tmp_path / "calls.db", mode="replay") as journal:
            [row] = await journal.ledger()
        assert (row.calls, row.cost_usd) == (1, 0.001)


async def test_a_key_that_begins_to_keep_nothing_writes_nothing_more_to_read(journal: Journal, tmp_path: Path) -> None:
    said_now = "the weather is fine"
    puppet = Puppet(lambda call: said_now)
    async with live(catalog_over(journal, puppet), tmp_path, with_keys=True) as server:
        secret = await a_key(server, "web")
        await ask(server, secret)
        await server.accounts.keys.change("web", store_content=False)
        said_now = REPLY
        assert await ask(server, secret) == "the weather is fine", "paid before"
        async with client(server, secret) as ai:
            await ai.chat.completions.create(model="w", messages=[{"role": "user", "content": "And now?"}])
        await server.accounts.keys.change("web", store_content=True)
        async with client(server, secret) as ai:
            reply = await ai.chat.completions.create(model="w", messages=[{"role": "user", "content": "And now?"}])
        assert reply.choices[0].message.content == REPLY
        assert len(puppet.calls) == 2
    journal.close()
    text = b"".join(file.read_bytes() for file in tmp_path.glob("calls.db*") if file.is_file())
    assert b"weather" in text
    assert b"launch" not in text


async def test_without_keys_and_without_content_nothing_can_be_read_either(journal: Journal, tmp_path: Path) -> None:
    puppet = said(REPLY)
    async with live(catalog_over(journal, puppet), tmp_path, store_content=False) as server:
        async with httpx.AsyncClient(base_url=server.url) as http:
            for _ in range(2):
                reply = await http.post("/v1/chat/completions", json={"model": "w", "messages": ASKED})
                assert reply.json()["choices"][0]["message"]["content"] == REPLY
        assert len(puppet.calls) == 1
    journal.close()
    for file in tmp_path.iterdir():
        assert not file.is_file() or b"launch" not in file.read_bytes(), file


def test_a_seal_opens_what_it_closed_where_it_closed_it() -> None:
    text = "42 \ud800 \0 é"
    closed = AesSeal(b"root").close(text, "here")
    assert AesSeal(b"root").open(closed, "here") == text
    assert AesSeal(b"root").close(text, "here") != closed, "equal replies do not look equal"
    for seal, sealed, place in (
        (AesSeal(b"toor"), closed, "here"),
        (AesSeal(b"root"), closed, "there"),
        (AesSeal(b"root"), closed[:-8] + "AAAAAAA=", "here"),
        (AesSeal(b"root"), "", "here"),
        (AesSeal(b"root"), "%%%", "here"),
    ):
        with pytest.raises(ValueError):  # noqa: PT011 - of several libraries
            seal.open(sealed, place)


async def test_a_key_that_proved_nothing_has_no_tenant(tmp_path: Path) -> None:
    async with live(catalog_over(Journal(tmp_path / "calls.db"), said("42")), tmp_path, with_keys=True) as server:
        accounts: Accounts = server.accounts
        secret = await a_key(server, "web")
        [listed] = await accounts.keys.list()
        with pytest.raises(ValueError, match="without its secret"):
            accounts.tenant(listed)
        found = await accounts.keys.find(secret)
        assert accounts.tenant(found).name == accounts.tenant(found).name
        assert secret not in f"{found!r}{accounts.tenant(found)!r}"
        assert found.id not in accounts.tenant(found).name
