"""Pages that show the same kept run share its texts, and only those who may see it get it."""

import gc
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from podium.page.site import Site
from podium.page.training_files import TrainingRuns
from podium.serving.accounts import Accounts
from podium.serving.store.database import Database
from podium.serving.store.runs import Run
from podium.types import Usage

ASKED = datetime(2026, 11, 1, tzinfo=UTC)


def run(number: int, key: str) -> Run:
    return Run(
        id=f"run_{number:024x}", key=key, model="podium", created=ASKED, seconds=1.0, usage=Usage(), question="Why?",
        answer=f"Because {number}. " * 1000,
    )  # fmt: skip


async def test_two_pages_of_one_run_hold_it_once_and_another_key_gets_nothing(tmp_path: Path) -> None:
    async with Database(f"sqlite:///{tmp_path}/runs.db") as database:
        accounts = Accounts(database=database, replica="a", with_keys=True, store_content=True, request_usd=0.1)
        service: Any = SimpleNamespace(accounts=accounts)
        site = Site(service=service, training=TrainingRuns(tmp_path), playground=None, prefix="")
        for each in (run(1, "key_a"), run(2, "key_b")):
            await accounts.runs.add(each)
        first = await site.kept(run(1, "key_a").id, sees="key_a")
        assert first is not None
        assert first == run(1, "key_a")
        assert await site.kept(first.id, sees="key_a") is first
        assert await site.kept(first.id, sees=None) is first
        assert await site.kept(first.id, sees="key_b") is None, "that a page of another shows it opens it to nobody"
        assert await site.kept("x" * 101, sees=None) is None
        await accounts.runs.delete_older(datetime(2026, 11, 2, tzinfo=UTC), key="key_a")
        assert await site.kept(first.id, sees="key_a") is None, "what is deleted is not shown because it was"
        del first
        gc.collect()
        assert not site.shown, "what no page shows is held by nobody"
