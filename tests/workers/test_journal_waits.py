"""A journal that can not be opened leaves nothing behind, and one that waits for another process does not ask without a pause."""

import asyncio
import threading
import time
from pathlib import Path

import pytest

from podium.errors import ConfigError
from podium.types import Call, Completion
from podium.workers.journal import Journal
from podium.workers.journal_file import Claim, Entry, JournalFile
from podium.workers.scripted import Scripted


def test_no_thread_is_left_of_a_journal_that_can_not_be_opened(tmp_path: Path) -> None:
    (tmp_path / "calls.db").write_bytes(b"this is no database, but long enough to be looked at" * 100)
    before = threading.active_count()
    with pytest.raises(ConfigError) as caught:
        Journal(tmp_path / "calls.db")
    assert threading.active_count() == before, caught.value


async def test_another_processes_call_is_looked_for_less_and_less_often(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looks, go_on, asked = [], asyncio.Event(), asyncio.Event()
    claim = JournalFile.claim

    def counted(file: JournalFile, entry: Entry) -> Completion | Claim:
        looks.append(time.monotonic())
        return claim(file, entry)

    async def slow(call: Call) -> Completion:
        asked.set()
        await go_on.wait()
        return Completion(text="theirs")

    with Journal(tmp_path / "calls.db") as theirs, Journal(tmp_path / "calls.db") as ours:
        under_way = asyncio.create_task(theirs.worker(slow, "w")(Call.plain("?")))
        await asyncio.wait_for(asked.wait(), 30)
        monkeypatch.setattr(JournalFile, "claim", counted)
        waiting = asyncio.create_task(ours.worker(Scripted("ours"), "w")(Call.plain("?")))
        await asyncio.sleep(0.7)
        go_on.set()
        assert (await waiting).text == (await under_way).text == "theirs"
    # The pauses are at least .01, .02, .04 ... .25 seconds, however quick the machine is.
    assert len(looks) <= 7 + (looks[-1] - looks[0]) / 0.25
