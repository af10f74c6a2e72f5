"""Formulas are compared by another process, and the event loop never waits for it."""

import asyncio

import pytest

from podium.conduct import Conductor
from podium.tasks import agreement
from podium.tasks.mathematics.deciding import Formulas
from podium.tasks.mathematics.pool import Comparison
from podium.types import Brief, Call, Completion, Generation, Step, Workflow
from podium.workflow.execute import Execution
from podium.workflow.parse import format_workflow
from tests.workflows import pool_of

TWO = (Step(worker=0, subtask="Expand."), Step(worker=1, subtask="Expand.", access=()))
CASCADE = Workflow(steps=(*TWO, Step(worker=2, subtask="Decide.", access=(0, 1), condition="unless 2 agree")))
PAIR = Workflow(steps=(TWO[0], Step(worker=1, subtask="Again.", access=(0,))))


class Writes:
    async def write(self, brief: Brief, n: int = 1) -> list[Generation]:
        return [Generation(text=format_workflow(PAIR))]


@pytest.fixture
def compared(monkeypatch: pytest.MonkeyPatch) -> list[Formulas]:
    """The formulas that were compared; fails where that happens in an event loop."""
    seen: list[Formulas] = []
    compare = agreement._compare

    def watched(formulas: Formulas) -> Comparison:
        with pytest.raises(RuntimeError, match="no running event loop"):
            asyncio.get_running_loop()
        seen.append(formulas)
        return compare(formulas)

    monkeypatch.setattr(agreement, "_compare", watched)
    return seen


class Says:
    def __init__(self, text: str) -> None:
        self.text = text

    async def __call__(self, call: Call) -> Completion:
        return Completion(text=self.text)


async def test_a_condition_over_formulas_is_decided_in_a_thread(compared: list[Formulas]) -> None:
    pool = pool_of(Says("$x^2+2x+1$"), Says("$(x+1)^2$"), Says("$3$"))
    transcript = await Execution(CASCADE, pool, Call.plain("Expand."), Generation(text="")).run()
    assert transcript.results[2].skipped is not None
    assert compared


async def test_whether_another_round_is_wanted_is_found_out_in_a_thread(compared: list[Formulas]) -> None:
    pool = pool_of(Says("$x^2+2x+1$"), Says("$(x+1)^2$"))
    completion = await Conductor(Writes(), pool, rounds=2, again="unless 2 agree").ask("Expand.")
    assert len(completion.transcripts) == 1
    assert compared
