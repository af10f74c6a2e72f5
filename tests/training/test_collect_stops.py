"""What stops an iteration reaches whoever asked for it, whichever rollouts were under way."""

import asyncio

import pytest

from podium.errors import BudgetExceeded
from podium.gym import GymVerifier
from podium.training.collect import Collector, Task
from podium.types import Call, Card, Completion, Problem
from podium.workers.pool import Member, WorkerPool
from podium.workflow.syntax import WorkflowSyntax
from tests.training.test_collect import ONE, Writes

PROBLEM = Problem(question="What is 6 times 7?", target="42", kind="word", source="test")


@pytest.mark.parametrize("error", [BudgetExceeded("the run budget is over"), ZeroDivisionError("a bug")])
async def test_it_is_the_reason_that_is_raised_and_not_that_the_others_were_cancelled(error: Exception) -> None:
    asked: list[Call] = []
    ended: list[Call] = []

    async def first_hangs(call: Call) -> Completion:
        asked.append(call)
        if len(asked) == 1:
            try:
                await asyncio.sleep(60)
            finally:
                ended.append(call)
        raise error

    workers = WorkerPool([Member(worker=first_hangs, card=Card(name="w0"))])
    collector = Collector(verifier=GymVerifier(), syntax=WorkflowSyntax())
    with pytest.raises(type(error), match=str(error)):
        await collector.collect(Writes(ONE), [Task(problem=PROBLEM, pool=workers, sample=(7,))], 2)
    assert ended == asked[:1], "and nothing is left running"
