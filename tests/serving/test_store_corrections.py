"""Uncertain money is settled once, with a reason that is kept, and never more than there is; quotas follow at once."""

import asyncio
import json
import os
import random
from pathlib import Path

import openai
import pytest

from podium.errors import ConfigError, QuotaExceeded
from podium.serving.store.corrections import Corrections
from podium.serving.store.database import Database
from podium.serving.store.keys import Key, Keys
from podium.serving.store.quotas import Quotas
from tests.serving.conftest import ManualClock
from tests.serving.live import TWO_STEPS, catalog_of, live, said
from tests.serving.test_access import a_key
from tests.serving.test_chat_api import ASKED, client
from tests.serving.test_store_commands import podium


async def uncertain(database: Database, clock: ManualClock, usd: float = 0.6) -> tuple[Key, Quotas]:
    """A key with 2 dollars a month, of which so much is uncertain and 1 is spent."""
    key, _ = await Keys(database, now=clock).create("web", monthly_usd=2.0)
    quotas = Quotas(database, "one", now=clock)
    await quotas.settle(await quotas.admit(key, 2.0, 0), 1.0, usd, 0)
    return key, quotas


async def test_what_was_not_billed_is_free_at_once(database: Database, clock: ManualClock) -> None:
    key, quotas = await uncertain(database, clock)
    with pytest.raises(QuotaExceeded):
        await quotas.admit(key, 0.5, 0)
    made, is_new = await Corrections(database, now=clock).make(
        key.id, usd=0.4, was_spent=False, reason="not on the bill", by="ann"
    )
    assert made is not None
    assert (is_new, made.usd, made.was_spent, made.reason, made.by) == (True, 0.4, False, "not on the bill", "ann")
    assert (made.month, made.made) == (202602, clock())
    await quotas.admit(key, 0.8, 0)
    spent = (await quotas.spent())[key.id]
    assert (spent.spent_usd, spent.uncertain_usd, spent.freed_usd, spent.confirmed_usd) == (1.0, 0.2, 0.4, 0.0)


async def test_what_was_billed_is_spent_and_frees_nothing(database: Database, clock: ManualClock) -> None:
    key, quotas = await uncertain(database, clock)
    await Corrections(database, now=clock).make(key.id, usd=None, was_spent=True, reason="on the bill", by="ann")
    spent = (await quotas.spent())[key.id]
    assert (spent.spent_usd, spent.uncertain_usd, spent.confirmed_usd) == (1.6, 0.0, 0.6)
    with pytest.raises(QuotaExceeded):
        await quotas.admit(key, 0.5, 0)


async def test_twice_by_mistake_is_once(database: Database, clock: ManualClock) -> None:
    key, quotas = await uncertain(database, clock)
    corrections = Corrections(database, now=clock)
    for expected in (True, False, False):
        made, is_new = await corrections.make(key.id, usd=0.2, was_spent=False, reason="bill 7", by="ann")
        assert (made is not None, is_new) == (True, expected)
    assert (await quotas.spent())[key.id].uncertain_usd == pytest.approx(0.4)
    assert (await corrections.make(key.id, usd=0.2, was_spent=False, reason="bill 8", by="ann"))[1], "another reason"
    for expected in (True, False, False):
        made, is_new = await corrections.make(key.id, usd=None, was_spent=False, reason="the rest", by="ann")
        assert (made is not None, is_new) == (expected, expected)
    assert [each.usd for each in await corrections.of(key.id)] == [0.2, 0.2, 0.2]
    both = [corrections.make(key.id, usd=0.1, was_spent=False, reason="at once", by="ann") for _ in range(4)]
    assert {await each for each in both} == {(None, False)}


async def test_many_at_once_correct_no_more_than_there_is(database: Database, clock: ManualClock) -> None:
    key, quotas = await uncertain(database, clock)
    corrections = Corrections(database, now=clock)
    done = await asyncio.gather(
        *(corrections.make(key.id, usd=0.25, was_spent=bool(n % 2), reason=str(n), by="ann") for n in range(6)),
        return_exceptions=True,
    )
    assert sum(isinstance(each, ConfigError) for each in done) == 4
    assert (await quotas.spent())[key.id].uncertain_usd == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("usd", "reason", "said"),
    [
        (0.7, "why", r"only \$0.6 .* uncertain"),
        (0.0, "why", "no dollars"),
        (-1.0, "why", "no amount"),
        (float("nan"), "why", "no amount"),
        (0.1, "  ", "needs a reason"),
        (0.1, "a\x1b[31m", "printable"),
        (0.1, "a" * 501, "500"),
    ],
)
async def test_what_can_not_be_corrected_changes_nothing(
    database: Database, clock: ManualClock, usd: float, reason: str, said: str
) -> None:
    key, quotas = await uncertain(database, clock)
    before = await quotas.spent()
    with pytest.raises(ConfigError, match=said):
        await Corrections(database, now=clock).make(key.id, usd=usd, was_spent=False, reason=reason, by="ann")
    assert await quotas.spent() == before
    assert await Corrections(database).of() == ()


@pytest.mark.parametrize("was_spent", [True, False])
async def test_a_replica_that_was_only_slow_books_the_truth_also_after_a_correction(
    database: Database, clock: ManualClock, was_spent: bool
) -> None:
    """Its lease was reaped and counts as uncertain; the correction must not be taken off a second time."""
    key, quotas = await uncertain(database, clock, usd=0.1)
    slow = Quotas(database, "slow", now=clock)
    lease = await slow.admit(key, 0.5, 0)
    await slow.progress(lease, 0.05, 0.3)
    clock.forward(120)
    await quotas.reap(60)
    assert (await quotas.spent())[key.id].uncertain_usd == pytest.approx(0.4)
    corrections = Corrections(database, now=clock)
    await corrections.make(key.id, usd=0.25, was_spent=was_spent, reason="bill", by="ann")
    await corrections.make(key.id, usd=None, was_spent=was_spent, reason="bill", by="ann")
    middle = (await quotas.spent())[key.id]
    assert (round(middle.spent_usd, 9), middle.uncertain_usd) == (1.45 if was_spent else 1.05, 0.0)
    await slow.settle(lease, 0.2, 0.0, 0)  # what really came of it: 0.15 of the 0.3 that were in flight
    after = (await quotas.spent())[key.id]
    assert after.uncertain_usd == 0.0
    assert after.spent_usd == pytest.approx(1.0 + 0.2 + (0.1 if was_spent else 0.0))


async def test_whatever_is_corrected_and_settled_when_the_books_add_up(database: Database, clock: ManualClock) -> None:
    for seed in range(6):
        rng = random.Random(seed)
        key, _ = await Keys(database, now=clock).create(f"k{seed}")
        quotas, slow = Quotas(database, "one", now=clock), Quotas(database, "slow", now=clock)
        leases = [await slow.admit(key, 1.0, 0) for _ in range(4)]
        for lease in leases:
            await slow.progress(lease, 0.0, rng.choice((0.1, 0.2, 0.3)))
        clock.forward(120)
        await quotas.reap(60)
        corrections = Corrections(database, now=clock)
        for number in range(3):
            there = (await quotas.spent())[key.id].uncertain_usd
            await corrections.make(
                key.id, usd=round(there * rng.random(), 6) or None, was_spent=rng.random() < 0.5, reason=str(number), by="ann"
            )
        for lease in leases:
            await slow.settle(lease, 0.07, 0.01, 0)
        spent = (await quotas.spent())[key.id]
        assert spent.spent_usd == pytest.approx(0.28), "each replica told the truth in the end"
        assert spent.uncertain_usd == pytest.approx(0.04)


async def test_another_month(database: Database, clock: ManualClock) -> None:
    key, quotas = await uncertain(database, clock)
    clock.forward(30 * 86400)
    corrections = Corrections(database, now=clock)
    assert await corrections.make(key.id, usd=None, was_spent=False, reason="bill", by="ann") == (None, False)
    made, _ = await corrections.make(key.id, usd=None, was_spent=False, reason="bill", by="ann", month=202602)
    assert made is not None
    assert made.usd == 0.6
    [(month, spent)] = await quotas.months(key.id)
    assert (month, spent.uncertain_usd, spent.freed_usd) == (202602, 0.0, 0.6)


async def test_a_running_server_follows_at_once(tmp_path: Path) -> None:
    async with live(catalog_of(said(TWO_STEPS), said("Plan."), said("42")), tmp_path, with_keys=True) as server:
        secret = await a_key(server, "web", monthly_usd=1.0)
        key = await server.accounts.keys.find(secret)
        quotas = server.accounts.quotas
        await quotas.settle(await quotas.admit(key, 0.9, 0), 0.0, 0.9, 0)
        async with client(server, secret) as ai:
            with pytest.raises(openai.RateLimitError, match="per month"):
                await ai.chat.completions.create(model="w2", messages=ASKED)
            async with Database(f"sqlite:///{tmp_path / 'podium.db'}") as outside:  # as ``podium keys correct`` does
                await Corrections(outside).make(key.id, usd=None, was_spent=False, reason="never sent", by="ann")
            await ai.chat.completions.create(model="w2", messages=ASKED)


class TestCommand:
    @pytest.fixture
    def db(self, tmp_path: Path) -> str:
        url = f"sqlite:///{tmp_path / 'podium.db'}"

        async def fill() -> None:
            async with Database(url) as database:
                key, _ = await Keys(database).create("web", monthly_usd=2.0, concurrency=3)
                quotas = Quotas(database, "one")
                await quotas.settle(await quotas.admit(key, 2.0, 0), 1.0, 0.6, 0)

        asyncio.run(fill())
        return url

    def test_it_says_what_it_did_and_keeps_it(self, db: str) -> None:
        assert "$1.6000 of $2.00 ($0.6000 of it uncertain)" in podium("keys", "list", db=db).output
        done = podium("keys", "correct", "web", "--free", "0.4", "--reason", "bill 7", "--by", "ann", db=db)
        assert done.exit_code == 0
        assert "$0.4 uncertain free again" in done.output
        again = podium("keys", "correct", "web", "--free", "0.4", "--reason", "bill 7", "--by", "bob", db=db)
        assert again.exit_code == 0
        assert "nothing changed" in again.output
        assert "by ann" in again.output
        done = podium("keys", "correct", "web", "--spent", "all", "--reason", "bill 8", "--json", db=db)
        made = json.loads(done.stdout)
        assert made["corrected"]
        assert (made["correction"]["usd"], made["correction"]["was_spent"], made["correction"]["reason"]) == (0.2, True, "bill 8")
        assert "@" in made["correction"]["by"]
        again = podium("keys", "correct", "web", "--spent", "all", "--reason", "bill 8", db=db)
        assert "nothing left to correct" in again.output
        shown = podium("keys", "show", "web", db=db).output
        assert "bill 7" in shown
        assert "by ann" in shown
        assert "$0.4000 freed by corrections" in shown
        assert "at once 3 runs" in shown
        shown_json = json.loads(podium("keys", "show", "web", "--json", db=db).stdout)
        assert [each["usd"] for each in shown_json["corrections"]] == [0.4, 0.2]
        assert shown_json["months"][0]["confirmed_usd"] == 0.2
        [listed] = json.loads(podium("keys", "list", "--json", db=db).stdout)
        assert (listed["month"]["freed_usd"], listed["month"]["uncertain_usd"]) == (0.4, 0.0)

    def test_a_user_without_a_name_is_a_number(self, db: str, monkeypatch: pytest.MonkeyPatch) -> None:
        def nobody() -> str:
            raise KeyError("getpwuid(): uid not found: 1000660000")

        monkeypatch.setattr("getpass.getuser", nobody)
        done = podium("keys", "correct", "web", "--free", "all", "--reason", "bill 7", "--json", db=db)
        assert json.loads(done.stdout)["correction"]["by"].startswith(f"user {os.getuid()}@")

    @pytest.mark.parametrize(
        ("flags", "said"),
        [
            (("web", "--reason", "x"), "--free"),
            (("web", "--reason", "x", "--free", "1", "--spent", "1"), "--free"),
            (("web", "--reason", "x", "--free", "much"), "number of dollars"),
            (("web", "--reason", "x", "--free", "0.7"), "only $0.6"),
            (("web", "--reason", "x", "--free", "nan"), "a correction"),
            (("web", "--reason", "x", "--free", "inf"), "a correction"),
            (("web", "--reason", "x", "--free", "-0.1"), "a correction"),
            (("web", "--reason", "x", "--free", "1e30"), "a correction"),
            (("web", "--reason", "x", "--free", "all", "--month", "2026-13"), "--month"),
            (("nobody", "--reason", "x", "--free", "all"), "no key called nobody"),
            (("web", "--reason", "", "--free", "all"), "needs a reason"),
        ],
    )
    def test_what_it_can_not_do_is_said(self, db: str, flags: tuple[str, ...], said: str) -> None:
        done = podium("keys", "correct", *flags, db=db)
        assert done.exit_code == 2
        assert said in done.output
        assert json.loads(podium("keys", "list", "--json", db=db).stdout)[0]["month"]["uncertain_usd"] == 0.6
