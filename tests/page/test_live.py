"""Runs that belong to the server: found by whoever may see them, stopped from anywhere, remembered where they were not let in."""

import asyncio
from collections.abc import Callable

from podium.conduct import Conductor
from podium.errors import QuotaExceeded
from podium.events import Listener
from podium.page.live import MOST_REFUSED, LiveRun, LiveRuns
from podium.policies.fixed import solo
from podium.serving.asking import ChoiceDone, answer
from podium.types import Call, Card, Completion, Question, ask
from podium.workers.pool import Member, WorkerPool


class Conducts:
    """Asks a worker that waits until ``go_on`` is set; counts what was stopped."""

    def __init__(self) -> None:
        self.go_on = asyncio.Event()
        self.asked = asyncio.Event()
        self.stopped = 0

    async def work(self, call: Call) -> Completion:
        self.asked.set()
        try:
            await self.go_on.wait()
        except asyncio.CancelledError:
            self.stopped += 1
            raise
        return Completion(text="done")

    async def __call__(
        self, question: Question, on_event: Listener, on_run: Callable[[str], None], *, run: str, session: str
    ) -> ChoiceDone:
        conductor = Conductor(solo(0), WorkerPool([Member(worker=self.work, card=Card(name="waits"))]))
        return await answer(conductor, Call(question=question), on_event)


async def refused(question: Question, on_event: Listener, on_run: Callable[[str], None], *, run: str, session: str) -> ChoiceDone:
    raise QuotaExceeded("too much for this month")


async def over(live: LiveRun) -> None:
    assert live.task is not None
    await asyncio.wait([live.task])


async def test_a_run_is_there_from_its_beginning_to_its_end_for_those_who_may_see_it() -> None:
    lives, conducts = LiveRuns(), Conducts()
    live = lives.start("podium", ask("6 times 7?"), conducts, key="key_a")
    assert live.id.startswith("run_")
    assert live.session == live.id, "a conversation is called after its first run"
    await conducts.asked.wait()
    assert (live.asked, live.is_over, live.following.running) == ("6 times 7?", False, True)
    assert lives.get(live.id, sees="key_a") is live
    assert lives.get(live.id, sees=None) is live, "an operator sees all"
    assert lives.get(live.id, sees="key_b") is None
    assert list(lives.under_way(sees="key_a")) == [live]
    assert list(lives.under_way(sees="key_b")) == []
    conducts.go_on.set()
    await over(live)
    assert live.done is not None
    assert live.done.completion.text == "done"
    assert lives.get(live.id, sees=None) is None, "from now on the store has it"
    assert list(lives.under_way(sees=None)) == []


async def test_it_is_stopped_once_and_the_call_with_it() -> None:
    lives, conducts = LiveRuns(), Conducts()
    live = lives.start("podium", ask("?"), conducts, key="")
    await conducts.asked.wait()
    live.stop()
    live.stop()
    await over(live)
    live.stop()
    assert conducts.stopped == 1
    assert live.following.answered is not None
    assert live.following.answered.failure is not None
    assert live.following.answered.failure.kind == "Cancelled"
    assert live.refusal == "", "it was let in, and is kept as stopped"


async def test_a_server_that_ends_stops_them_all_and_waits() -> None:
    lives, conducts = LiveRuns(), Conducts()
    started = [lives.start("podium", ask("?"), conducts, key="") for _ in range(3)]
    await conducts.asked.wait()
    await lives.close()
    assert all(live.is_over for live in started)
    await lives.close()


async def test_what_was_not_let_in_says_why_and_is_remembered_for_a_while() -> None:
    lives = LiveRuns()
    first = lives.start("podium", ask("?"), refused, key="key_a")
    await over(first)
    assert first.refusal == "too much for this month"
    assert lives.get(first.id, sees="key_a") is first
    assert lives.get(first.id, sees="key_b") is None
    assert list(lives.under_way(sees=None)) == []
    for _ in range(MOST_REFUSED):
        await over(lives.start("podium", ask("?"), refused, key=""))
    assert lives.get(first.id, sees=None) is None
