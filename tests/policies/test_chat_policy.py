"""A prompted model as a Conductor: what it is shown, its samples, and the one stricter retry."""

import pytest

from podium.conduct import Conductor
from podium.errors import InvalidWorkflow, WorkerUnavailable
from podium.events import Event, PlanStarted, PlanToken, WorkflowWritten
from podium.policies.chat import ChatPolicy
from podium.types import Call, Completion, Usage
from tests.workflows import brief, pool_of

GOOD = "model_id = [1]\nsubtasks = ['Solve.']\naccess_list = [[]]"
BAD = "model_id = [9]\nsubtasks = ['Solve.']\naccess_list = [[]]"
PRICE = Usage(prompt_tokens=100, completion_tokens=20, cost_usd=0.001)


class Model:
    """Says these texts one after the other and remembers what it was asked."""

    def __init__(self, *texts: str) -> None:
        self.texts = list(texts)
        self.calls: list[Call] = []

    async def __call__(self, call: Call) -> Completion:
        self.calls.append(call)
        return Completion(text=self.texts.pop(0), usage=PRICE, seconds=1.0)


async def test_it_conducts() -> None:
    model = Model(f"I think worker 1 is best.\n{GOOD}")
    completion = await Conductor(ChatPolicy(model), pool_of("no", "42"))(Call.plain("6 times 7?"))
    assert completion.text == "42"
    assert completion.usage == PRICE
    system, user = model.calls[0].question
    assert (system.role, user.role) == ("system", "user")
    assert "6 times 7?" in user.content


class Talks:
    """Says these texts one after the other, in two pieces each."""

    def __init__(self, *texts: str) -> None:
        self.texts = list(texts)

    async def __call__(self, call: Call) -> Completion:
        text = self.texts.pop(0)
        assert call.on_token is not None
        call.on_token(text[:5])
        call.on_token(text[5:])
        return Completion(text=text, usage=PRICE)


async def test_what_it_writes_is_told_as_it_writes_and_a_second_attempt_voids_the_first() -> None:
    events: list[Event] = []
    await Conductor(ChatPolicy(Talks(BAD, GOOD), attempts=2), pool_of("no", "42")).conduct(
        Call.plain("6 times 7?"), events.append
    )
    assert events[:6] == [
        PlanStarted(round=1),
        PlanToken(round=1, text=BAD[:5]),
        PlanToken(round=1, text=BAD[5:]),
        PlanStarted(round=1, attempt=2),
        PlanToken(round=1, text=GOOD[:5]),
        PlanToken(round=1, text=GOOD[5:]),
    ]
    assert isinstance(events[6], WorkflowWritten)


async def test_samples_are_different_draws() -> None:
    model = Model(*[GOOD] * 4)
    generations = await ChatPolicy(model).write(brief(), n=4)
    assert len(generations) == 4
    assert len({call.sample for call in model.calls}) == 4


async def test_a_bad_plan_gets_one_stricter_retry_where_asked_for() -> None:
    model = Model(BAD, GOOD)
    [generation] = await ChatPolicy(model, attempts=2).write(brief())
    assert generation.text == GOOD
    assert (generation.usage, generation.seconds) == (PRICE + PRICE, 2.0)
    assistant, reply = model.calls[1].question[-2:]
    assert assistant.content == BAD
    assert "there is no worker 9; workers are 0 to 3" in reply.content


async def test_without_retries_the_first_text_counts() -> None:
    with pytest.raises(InvalidWorkflow, match="no worker 9"):
        await Conductor(ChatPolicy(Model(BAD)), pool_of("a", "b"))(Call.plain("q"))


async def test_a_fault_of_the_model_is_a_world_fault() -> None:
    class Down:
        async def __call__(self, call: Call) -> Completion:
            raise WorkerUnavailable("busy")

    with pytest.raises(WorkerUnavailable):
        await ChatPolicy(Down()).write(brief(), n=3)
