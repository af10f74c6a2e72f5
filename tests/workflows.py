"""Random workflows and small pools for the property tests."""

from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType
from typing import cast

from hypothesis import strategies as st

from podium.conditions import ALWAYS, IF_FAILED, agree
from podium.protocols import Worker
from podium.types import Brief, Call, Card, Generation, Step, Transcript, Workflow, ask
from podium.workers.pool import Member, WorkerPool
from podium.workers.scripted import Scripted

WORKERS = 4
TEXTS = st.text(min_size=1, max_size=60).filter(lambda text: bool(text.strip()))


@st.composite
def workflows(
    draw: st.DrawFn, *, max_steps: int = 5, subtasks: st.SearchStrategy[str] = TEXTS, conditions: bool = False
) -> Workflow:
    steps = []
    for index in range(draw(st.integers(1, max_steps))):
        seen = draw(st.sets(st.integers(0, index - 1))) if index else set()
        can_be = [ALWAYS, *([IF_FAILED] if seen else []), *(agree(count) for count in range(2, len(seen) + 1))]
        steps.append(
            Step(
                worker=draw(st.integers(0, WORKERS - 1)),
                subtask=draw(subtasks),
                access=tuple(sorted(seen)),
                condition=draw(st.sampled_from(can_be)) if conditions else ALWAYS,
            ),
        )
    return Workflow(steps=tuple(steps))


def brief(*, rounds_done: int = 0, max_steps: int = 5, workers: int = WORKERS, question: str = "6 times 7?") -> Brief:
    previous_rounds = tuple(
        Transcript(question=ask(question), generation=Generation(text=""), workflow=None, answer="41") for _ in range(rounds_done)
    )
    cards = tuple(Card(name=f"w{index}") for index in range(workers))
    return Brief(question=ask(question), cards=cards, max_steps=max_steps, previous_rounds=previous_rounds)


def pool_of(*workers: Worker | str | Callable[[Call], str]) -> WorkerPool:
    """A pool of these workers; texts and functions of a call become scripted ones; named w0, w1, ..."""
    members = []
    for index, worker in enumerate(workers):
        says = isinstance(worker, str | FunctionType | BuiltinFunctionType)
        ready = Scripted(cast(str, worker)) if says else cast(Worker, worker)
        members.append(Member(worker=ready, card=Card(name=f"w{index}")))
    return WorkerPool(members)
