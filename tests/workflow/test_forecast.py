"""What one workflow would take: every step at most once, a conditional one as often as needed, never an invented price."""

import asyncio
from dataclasses import replace

import pytest
from hypothesis import given, settings

from podium.types import Call, Card, Completion, Generation, Step, Usage, Workflow
from podium.workers.budget import Budget
from podium.workers.metered import Metered
from podium.workers.pool import Member, WorkerPool
from podium.workflow.execute import Execution
from podium.workflow.forecast import Forecast, forecast
from tests.workflows import WORKERS, workflows

QUESTION = Call.plain("6 times 7?")
CASCADE = Workflow(
    steps=(
        Step(worker=0, subtask="Answer."),
        Step(worker=1, subtask="Answer.", access=(0,)),
        Step(worker=2, subtask="Decide.", access=(0, 1), condition="unless 2 agree"),
    )
)
TOKENS = {"a": 100, "b": 100, "c": 100}


def cards(**skills: float) -> tuple[Card, ...]:
    rates = {name: (("x", skills[name]),) if name in skills else () for name in TOKENS}
    prices = {name: 1e-4 if name == "c" else 1e-6 for name in TOKENS}
    return tuple(Card(name=n, skills=rates[n], prompt_usd=usd, completion_usd=usd) for n, usd in prices.items())


def test_a_step_that_may_be_skipped_counts_as_often_as_it_is_needed() -> None:
    unknown, sure = forecast(CASCADE, QUESTION, cards(), TOKENS), forecast(CASCADE, QUESTION, cards(a=1.0, b=1.0), TOKENS)
    assert (unknown.calls, unknown.calls_at_most) == (2.5, 3)
    assert (sure.calls, sure.calls_at_most) == (2.0, 3)
    assert forecast(CASCADE, QUESTION, cards(a=0.8, b=0.5, c=0.9), TOKENS).calls == pytest.approx(2.6)
    assert unknown.usd is not None
    assert sure.usd is not None
    assert sure.usd < unknown.usd / 10, "the dear one is not expected"
    assert sure.usd_at_most == unknown.usd_at_most
    always = Workflow(steps=(*CASCADE.steps[:2], replace(CASCADE.steps[2], condition="always")))
    assert forecast(always, QUESTION, cards(), TOKENS).usd_at_most == unknown.usd_at_most


@pytest.mark.parametrize(("agree", "calls"), [(2, 2 + 0.75 + 0.5 + 0.3125), (3, 3 + 0.875 + 0.6875)])
def test_a_chain_ends_where_so_many_agree(agree: int, calls: float) -> None:
    """Five workers that are right half of the time, one after the other until so many agree."""
    chain = Workflow(
        steps=tuple(
            Step(
                worker=index,
                subtask="Answer.",
                access=tuple(range(index)) if index >= agree else (),
                condition=f"unless {agree} agree" if index >= agree else "always",
            )
            for index in range(5)
        )
    )
    half = tuple(Card(name=f"w{index}", skills=(("x", 0.5),)) for index in range(5))
    assert forecast(chain, QUESTION, half, {}).calls == pytest.approx(calls)


def test_what_is_not_known_is_none() -> None:
    unpriced = (*cards()[:2], Card(name="c"))
    assert forecast(CASCADE, QUESTION, unpriced, TOKENS) == Forecast(calls=2.5, calls_at_most=3)
    assert forecast(CASCADE, QUESTION, cards(), {"a": 100, "b": 100}) == Forecast(calls=2.5, calls_at_most=3)
    tiers = forecast(CASCADE, QUESTION, cards(), TOKENS, {"c": lambda prompt, completion: 7.0}).usd_at_most
    assert tiers is not None
    assert 7.0 < tiers < 7.01


class Longest:
    """Says as much as it may: English-like text, four bytes a token."""

    async def __call__(self, call: Call) -> Completion:
        return Completion(text="abc " * 100, usage=Usage(prompt_tokens=1, completion_tokens=100))


@settings(max_examples=60, deadline=None)
@given(workflow=workflows(max_steps=6, conditions=True))
def test_nothing_that_is_reserved_for_a_workflow_passes_what_it_takes_at_most(workflow: Workflow) -> None:
    """Each call's reservation is the largest sum that can be booked for it; together they keep to the forecast."""
    each = [Card(name=f"w{index}", prompt_usd=(index + 1) * 1e-6, completion_usd=1e-5) for index in range(WORKERS)]
    found = forecast(workflow, QUESTION, each, {card.name: 100 for card in each})
    reserved: list[float] = []

    class Watched(Metered):
        async def __call__(self, call: Call) -> Completion:
            reserved.append(self.bound(call).cost_usd or 0.0)
            return await super().__call__(call)

    pool = WorkerPool([Member(worker=Watched(Longest(), card, 100, [Budget()]), card=card) for card in each])
    asyncio.run(Execution(workflow, pool, QUESTION, Generation(text="")).run())
    assert found.usd is not None
    assert found.usd_at_most is not None
    assert sum(reserved) <= found.usd_at_most + 1e-12
    assert len(reserved) <= found.calls_at_most
    assert found.calls <= found.calls_at_most
    assert found.usd <= found.usd_at_most + 1e-12
