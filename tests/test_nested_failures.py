"""A Conductor below a step that gives no answer: what it carried out was paid for, and every record of the run shows it."""

import asyncio
import random
from collections.abc import Sequence
from dataclasses import replace

import pytest

from podium.conduct import Conductor
from podium.errors import PodiumError, WorkerUnavailable
from podium.evaluation.answers import answer_file
from podium.evaluation.evaluate import evaluate
from podium.events import Answered, Event, StepFinished
from podium.jsonl import dumps, loads
from podium.policies.chat import ChatPolicy
from podium.policies.fixed import FixedPolicy
from podium.protocols import Worker
from podium.serving.shown import podium_object
from podium.types import Brief, Call, Card, Completion, Generation, Problem, Step, Transcript, Usage, Verdict, Workflow
from podium.workers.budget import Budget
from podium.workers.direct import DirectWorker
from podium.workers.fallback import Fallback
from podium.workers.metered import Metered
from podium.workers.pool import Member, WorkerPool
from podium.workers.retried import Retried
from podium.workers.scripted import Scripted
from podium.workflow.draw import as_svg, as_text
from podium.workflow.parse import format_workflow

CENT = Usage(prompt_tokens=10, completion_tokens=5, cost_usd=0.01)
CARD = Card(name="w", prompt_usd=1e-3, completion_usd=1e-3)
CHAIN = Workflow(steps=(Step(worker=0, subtask="a"), Step(worker=1, subtask="b", access=(0,))))
ONE = Workflow(steps=(Step(worker=0, subtask="a"),))


def cents(count: int) -> Usage:
    return Usage(prompt_tokens=10 * count, completion_tokens=5 * count, cost_usd=pytest.approx(0.01 * count))  # type: ignore[arg-type]


def pool(*workers: Worker) -> WorkerPool:
    return WorkerPool([Member(worker=worker, card=replace(CARD, name=f"w{i}")) for i, worker in enumerate(workers)])


async def down(call: Call) -> Completion:
    raise WorkerUnavailable("down")


def paid() -> Scripted:
    return Scripted("paid", usage=CENT)


def team(last: Worker = down) -> Conductor:
    """Its first step is paid for; its second one is ``last``, which mostly fails."""
    return Conductor(FixedPolicy(CHAIN), pool(paid(), last))


async def failed(conductor: Conductor) -> tuple[tuple[Transcript, ...], list[Event]]:
    events: list[Event] = []
    with pytest.raises(PodiumError) as raised:
        await conductor.conduct(Call.plain("q"), events.append)
    return raised.value.transcripts, events


@pytest.mark.parametrize("depth", [1, 2])
async def test_what_a_failed_conductor_below_had_paid_is_in_every_record(depth: int) -> None:
    worker: Worker = team()
    for _ in range(depth):
        outer = Conductor(FixedPolicy(CHAIN), pool(paid(), worker))
        worker = outer
    [transcript], events = await failed(outer)
    assert transcript.usage == cents(1 + depth)
    result = transcript.results[1]
    assert result.usage == cents(depth)
    inner = result.failed_rounds[0]
    for _ in range(depth - 1):
        inner = inner.results[1].failed_rounds[0]
    assert [step.completion is not None for step in inner.results] == [True, False]
    answered = events[-1]
    assert isinstance(answered, Answered)
    assert (answered.usage, answered.transcripts) == (cents(1 + depth), (transcript,))
    assert [event.result.usage for event in events if isinstance(event, StepFinished)] == [cents(1), cents(depth)]
    assert loads(Transcript, dumps(transcript)) == transcript
    assert f"${0.01 * depth:.4f}" in as_text(transcript)
    assert f"${0.01 * depth:.4f}" in as_svg(transcript)
    shown = podium_object("run", Completion(text="", usage=transcript.usage, transcripts=(transcript,)))
    assert shown["rounds"][0]["steps"][1]["usage"]["cost_usd"] == pytest.approx(0.01 * depth)


async def test_what_was_tried_again_or_replaced_is_paid_for_too() -> None:
    tries = 0

    async def second_time(call: Call) -> Completion:
        nonlocal tries
        tries += 1
        return await (down if tries < 3 else paid())(call)

    again = Retried(team(second_time), attempts=3, base_seconds=0)
    completion = await Conductor(FixedPolicy(ONE), pool(again))(Call.plain("q"))
    [result] = completion.transcripts[0].results
    assert result.completion is not None
    assert len(result.failed_rounds) == 2
    assert (result.completion.usage, result.usage, completion.usage) == (cents(2), cents(4), cents(4))

    completion = await Conductor(FixedPolicy(ONE), pool(Fallback(team(), paid())))(Call.plain("q"))
    assert completion.usage == cents(2)


async def test_a_conductor_in_a_later_round_that_fails() -> None:
    workers = pool(paid(), team())

    class NextWorker:
        async def write(self, brief: Brief, n: int = 1) -> list[Generation]:
            steps = (Step(worker=len(brief.previous_rounds), subtask="a"),)
            return [Generation(text=format_workflow(Workflow(steps=steps)))] * n

    completion = await Conductor(NextWorker(), workers, rounds=3)(Call.plain("q"))
    assert (completion.text, len(completion.transcripts)) == ("paid", 2)
    assert completion.usage == cents(2)


@pytest.mark.parametrize("end", ["cancelled", "bug", "not needed"])
async def test_a_conductor_below_that_is_stopped(end: str) -> None:
    reached = asyncio.Event()

    async def slow(call: Call) -> Completion:
        reached.set()
        await asyncio.sleep(60)
        raise AssertionError

    async def bug(call: Call) -> Completion:
        await reached.wait()
        raise TypeError("bug") if end == "bug" else WorkerUnavailable("down")

    both = Workflow(steps=(*(Step(worker=i, subtask="s") for i in range(2)), Step(worker=0, subtask="end", access=(0, 1))))
    events: list[Event] = []
    # Around the Conductor is a task of its own, so that no exception comes through as it was.
    below = team(slow)
    own_task: Worker = lambda call: asyncio.ensure_future(below(call))  # type: ignore[assignment]  # noqa: E731
    other: Worker = slow if end == "cancelled" else bug
    task = asyncio.create_task(Conductor(FixedPolicy(both), pool(own_task, other)).conduct(Call.plain("q"), events.append))
    await reached.wait()
    await asyncio.sleep(0.01)
    if end == "cancelled":
        task.cancel()
    with pytest.raises((asyncio.CancelledError, TypeError, WorkerUnavailable)):
        await task
    answered = events[-1]
    assert isinstance(answered, Answered)
    assert answered.usage == cents(1)
    assert answered.transcripts[0].results[0].failed_rounds[0].results[0].completion is not None


async def test_books_and_records_agree_on_what_a_failed_run_cost() -> None:
    """Random trees of Conductors over metered workers, some of which fail: what the budget paid is what the record shows."""
    for seed in range(40):
        chance, budget = random.Random(seed), Budget()

        def worker(depth: int, chance: random.Random = chance, budget: Budget = budget) -> Worker:
            kind = chance.random()
            if depth < 3 and kind < 0.45:
                steps = tuple(
                    Step(worker=i, subtask=f"{i}", access=tuple(range(i)) if chance.random() < 0.7 else ()) for i in range(3)
                )
                members = pool(*(worker(depth + 1, chance, budget) for _ in range(3)))
                inner: Worker = Conductor(FixedPolicy(Workflow(steps=steps)), members, max_depth=9)
                return Retried(inner, attempts=2, base_seconds=0) if chance.random() < 0.4 else inner
            return Metered(down if kind < 0.6 else paid(), CARD, 100, [budget])

        outer = Conductor(FixedPolicy(CHAIN), pool(worker(0), worker(0)), max_depth=9)
        events: list[Event] = []
        await asyncio.gather(outer.conduct(Call.plain("q"), events.append), return_exceptions=True)
        answered = events[-1]
        assert isinstance(answered, Answered)
        assert answered.usage.cost_usd == pytest.approx(budget.spent.cost_usd), f"seed {seed}"
        assert answered.usage.tokens == budget.spent.tokens, f"seed {seed}"


async def test_a_policy_that_fails_after_it_was_paid_for() -> None:
    tries = 0

    async def once(call: Call) -> Completion:
        nonlocal tries
        tries += 1
        return await (Scripted("no workflow", usage=CENT) if tries == 1 else down)(call)

    [transcript], events = await failed(Conductor(ChatPolicy(once, attempts=2), pool(paid())))
    assert (tries, transcript.usage, transcript.workflow) == (2, cents(1), None)
    assert isinstance(events[-1], Answered)
    assert events[-1].usage == cents(1)
    [transcript], _ = await failed(Conductor(ChatPolicy(team()), pool(paid())))
    assert transcript.usage == cents(1)
    written = await Conductor(ChatPolicy(Scripted(format_workflow(ONE), usage=CENT)), pool(paid()))(Call.plain("q"))
    assert written.usage == cents(2)


async def test_a_conductor_by_its_own_name_that_fails() -> None:
    events: list[Event] = []
    with pytest.raises(WorkerUnavailable) as raised:
        await DirectWorker(Member(worker=team(), card=CARD)).conduct(Call.plain("q"), events.append)
    assert raised.value.transcripts[0].usage == cents(1)
    assert isinstance(events[-1], Answered)
    assert events[-1].usage == cents(1)


async def test_a_failed_run_is_counted_in_results_and_in_files_of_answers(tmp_path) -> None:  # type: ignore[no-untyped-def]
    async def right(problem: Problem, answer: str) -> Verdict:
        return Verdict(correct=True, extracted=answer)

    arm = Conductor(FixedPolicy(CHAIN), pool(paid(), team()))
    problem = Problem(question="q", target="", kind="", source="test")
    [result] = await evaluate({"arm": arm}, [problem], right)
    assert result.usage == cents(2)
    answers = await answer_file(arm, [problem], tmp_path / "answers.jsonl", by="me")
    assert answers.usage == cents(2)
    again: Sequence[object] = (await answer_file(arm, [problem], tmp_path / "answers.jsonl", by="me")).failed
    assert len(again) == 1
