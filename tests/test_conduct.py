"""The Conductor: rounds, failures, nesting, cancellation, and that it is a Worker like any other."""

import asyncio

import pytest

from podium.conduct import Conductor
from podium.errors import InvalidWorkflow, MalformedWorkflow, UnworkableStep, WorkerUnavailable
from podium.events import Answered, Event, WorkflowWritten
from podium.policies.fixed import FixedPolicy, solo
from podium.protocols import Policy, Worker
from podium.types import Brief, Call, Card, Completion, Generation, Message, Step, Usage, Workflow
from podium.workers.direct import DirectWorker
from podium.workers.pool import Member, WorkerPool
from podium.workers.scripted import Scripted
from podium.workflow.parse import format_workflow
from tests.workflows import pool_of

PRICE = Usage(prompt_tokens=10, completion_tokens=5, cost_usd=0.01)


class Script:
    """A policy that writes these texts, one per round, and remembers its briefs."""

    def __init__(self, *texts: str) -> None:
        self.texts = texts
        self.briefs: list[Brief] = []

    async def write(self, brief: Brief, n: int = 1) -> list[Generation]:
        self.briefs.append(brief)
        return [Generation(text=self.texts[len(brief.previous_rounds)], usage=PRICE)] * n


def plan(*steps: tuple[int, str, tuple[int, ...]]) -> str:
    return format_workflow(Workflow(steps=tuple(Step(worker=w, subtask=s, access=a) for w, s, a in steps)))


KEEP = "model_id = []\nsubtasks = []\naccess_list = []"


async def test_a_question_goes_in_and_an_answer_comes_out() -> None:
    pool = pool_of("plan: 6 * 7", lambda call: f"{call.visible[0].response} = 42")
    policy: Policy = Script(plan((0, "Plan.", ()), (1, "Solve.", (0,))))
    conductor: Worker = Conductor(policy, pool)
    completion = await conductor(Call.plain("6 times 7?"))
    assert completion.text == "plan: 6 * 7 = 42"
    [transcript] = completion.transcripts
    assert [result.worker for result in transcript.results] == ["w0", "w1"]


async def test_usage_counts_the_policy_and_an_unknown_price_stays_unknown() -> None:
    known = Scripted("x", usage=PRICE)
    completion = await Conductor(Script(plan((0, "a", ()), (0, "b", ()))), pool_of(known))(Call.plain("q"))
    assert completion.usage == Usage(prompt_tokens=30, completion_tokens=15, cost_usd=0.03)
    unknown = Scripted("x", usage=Usage(prompt_tokens=1, cost_usd=None))
    completion = await Conductor(solo(0), pool_of(unknown))(Call.plain("q"))
    assert completion.usage.cost_usd is None


async def test_the_second_round_sees_the_first_and_may_write_another_workflow() -> None:
    def second(call: Call) -> str:
        shown = [(e.question[-1].content if e.question else "", e.subtask, e.response) for e in call.visible]
        return f"{shown} {call.subtask}" if call.subtask == "again" else "first answer"

    text = "model_id = [0]\nsubtasks = ['again']\naccess_list = ['all']"
    policy = Script(plan((0, "a", ())), text)
    completion = await Conductor(policy, pool_of(second), rounds=2)(Call.plain("q"))
    assert completion.text == "[('q', '', 'first answer')] again"
    assert len(completion.transcripts) == 2
    assert policy.briefs[1].previous_rounds == completion.transcripts[:1]


async def test_empty_lists_keep_the_answer_and_end_the_run() -> None:
    policy = Script(plan((0, "a", ())), KEEP, "never read")
    completion = await Conductor(policy, pool_of("kept"), rounds=3)(Call.plain("q"))
    assert completion.text == "kept"
    assert [t.workflow is None for t in completion.transcripts] == [False, True]
    assert completion.transcripts[1].answer == "kept"
    assert len(policy.briefs) == 2


async def test_draws_differ_between_rounds() -> None:
    samples: list[tuple[int, ...]] = []

    def note(call: Call) -> str:
        samples.append(call.sample)
        return "x"

    same = plan((0, "a", ()))
    await Conductor(Script(same, same), pool_of(note), rounds=2)(Call.plain("q"))
    assert len(set(samples)) == 2


async def test_no_workflow_is_a_policy_failure_with_the_spend_attached() -> None:
    with pytest.raises(MalformedWorkflow, match="model_id") as raised:
        await Conductor(Script("I would rather not."), pool_of("x"))(Call.plain("q"))
    [transcript] = raised.value.transcripts
    assert transcript.generation.text == "I would rather not."
    assert transcript.usage == PRICE


async def test_too_many_steps_are_refused_before_any_worker_is_paid() -> None:
    called: list[Call] = []
    pool = pool_of(lambda call: called.append(call) or "x")  # type: ignore[func-returns-value]
    with pytest.raises(InvalidWorkflow, match="3 steps; at most 2"):
        await Conductor(Script(plan(*[(0, "a", ())] * 3)), pool, max_steps=2)(Call.plain("q"))
    assert not called


async def test_a_workers_failure_is_raised_as_what_it_was() -> None:
    def down(call: Call) -> str:
        raise WorkerUnavailable("busy", retry_after=3)

    with pytest.raises(WorkerUnavailable, match=r"step 0 \(w0\): busy") as raised:
        await Conductor(solo(0), pool_of(down))(Call.plain("q"))
    assert raised.value.retry_after == 3
    assert raised.value.transcripts[0].failure is not None


@pytest.mark.parametrize("second", ["gibberish", plan((1, "a", ()))])
async def test_a_failed_second_round_leaves_the_first_answer_standing(second: str) -> None:
    def down(call: Call) -> str:
        raise WorkerUnavailable("busy")

    completion = await Conductor(Script(plan((0, "a", ())), second), pool_of("good", down), rounds=2)(Call.plain("q"))
    assert completion.text == "good"
    assert completion.transcripts[1].failure is not None


async def test_a_conductor_stands_in_a_pool() -> None:
    asked: list[Call] = []

    def inner_worker(call: Call) -> str:
        asked.append(call)
        return "42"

    inner = Conductor(solo(0), pool_of(inner_worker))
    pool = WorkerPool([Member(worker=Scripted("6 * 7"), card=Card(name="planner")), Member(worker=inner, card=Card(name="team"))])
    outer = Conductor(Script(plan((0, "Plan.", ()), (1, "Solve.", (0,)))), pool)
    completion = await outer(Call.plain("6 times 7?"))
    assert completion.text == "42"
    nested = completion.transcripts[0].results[1].completion
    assert nested is not None
    assert nested.transcripts[0].results[0].worker == "w0"
    # The inner team was asked all that the outer step could see, as one conversation.
    texts = [message.content for message in asked[0].question]
    assert "6 times 7?" in texts[0]
    assert texts[1] == "6 * 7"
    assert "Solve." in texts[2]
    assert asked[0].depth == 2


async def test_nesting_is_capped() -> None:
    class Late:
        worker: Worker

        async def __call__(self, call: Call) -> Completion:
            return await self.worker(call)

    late = Late()
    late.worker = Conductor(solo(0), pool_of(late), max_depth=3)
    with pytest.raises(UnworkableStep, match="nested deeper than 3"):
        await late.worker(Call.plain("q"))


async def test_a_whole_conversation_is_asked() -> None:
    conversation = (
        Message(role="user", content="Remember 6."),
        Message(role="assistant", content="I will."),
        Message(role="user", content="Times 7?"),
    )
    policy = Script(plan((0, "Answer.", ())))
    seen: list[Call] = []
    pool = pool_of(lambda call: seen.append(call) or "42")  # type: ignore[func-returns-value]
    await Conductor(policy, pool)(Call(question=conversation))
    assert policy.briefs[0].question == conversation
    assert seen[0].question == conversation


async def test_events_end_with_the_answer() -> None:
    events: list[Event] = []
    policy = Script(plan((0, "a", ())), KEEP)
    completion = await Conductor(policy, pool_of("x"), rounds=2).conduct(Call.plain("q"), events.append)
    assert [e.workflow is None for e in events if isinstance(e, WorkflowWritten)] == [False, True]
    last = events[-1]
    assert isinstance(last, Answered)
    assert (last.answer, last.transcripts) == ("x", completion.transcripts)


async def test_cancellation_reports_what_was_finished() -> None:
    events: list[Event] = []
    pool = pool_of(Scripted("done", usage=PRICE), Scripted("late", seconds=60))
    conductor = Conductor(Script(plan((0, "a", ()), (1, "b", (0,)))), pool)
    task = asyncio.create_task(conductor.conduct(Call.plain("q"), events.append))
    await asyncio.sleep(0.02)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    last = events[-1]
    assert isinstance(last, Answered)
    assert last.failure is not None
    assert last.failure.kind == "Cancelled"
    assert last.transcripts[0].results[0].completion is not None
    assert last.usage == PRICE + PRICE


class Broken:
    """A worker or a policy with a bug."""

    async def __call__(self, call: Call) -> Completion:
        await asyncio.sleep(0.01)
        raise TypeError("secret")

    async def write(self, brief: Brief, n: int = 1) -> list[Generation]:
        if not brief.previous_rounds:
            return [Generation(text=plan((0, "a", ())), usage=PRICE)]
        raise TypeError("secret")


async def test_a_workers_bug_propagates_and_the_last_event_says_what_was_paid() -> None:
    events: list[Event] = []
    pool = pool_of(Scripted("done", usage=PRICE), Broken(), Scripted("late", seconds=60))
    conductor = Conductor(Script(plan((0, "a", ()), (2, "b", ()), (1, "c", (0,)))), pool)
    with pytest.raises(TypeError, match="secret"):
        await conductor.conduct(Call.plain("q"), events.append)
    last = events[-1]
    assert isinstance(last, Answered)
    assert last.failure is not None
    assert "a bug (TypeError)" in last.failure.message
    assert "secret" not in last.failure.message
    [done, late, broken] = last.transcripts[0].results
    assert done.completion is not None
    assert late.failure == broken.failure == last.failure
    assert last.usage == PRICE + PRICE
    assert sum(isinstance(event, Answered) for event in events) == 1


async def test_a_policys_bug_in_a_later_round_ends_with_the_round_before_in_the_books() -> None:
    events: list[Event] = []
    with pytest.raises(TypeError):
        await Conductor(Broken(), pool_of(Scripted("x", usage=PRICE)), rounds=2).conduct(Call.plain("q"), events.append)
    last = events[-1]
    assert isinstance(last, Answered)
    assert (last.answer, last.usage) == (None, PRICE + PRICE)


@pytest.mark.parametrize("ends", ["bug", "cancelled"])
async def test_a_worker_by_its_own_name_ends_with_the_same_event(ends: str) -> None:
    events: list[Event] = []
    worker: Worker = Broken() if ends == "bug" else Scripted("late", seconds=60)
    task = asyncio.create_task(DirectWorker(Member(worker=worker, card=Card(name="w"))).conduct(Call.plain("q"), events.append))
    await asyncio.sleep(0.005)
    if ends == "cancelled":
        task.cancel()
    with pytest.raises(TypeError if ends == "bug" else asyncio.CancelledError):
        await task
    assert isinstance(events[-1], Answered)
    assert events[-1].failure is not None


async def test_with_several_rounds_the_caller_hears_the_final_answer_only() -> None:
    heard: list[str | None] = []
    policy = Script(plan((0, "a", ())), plan((1, "b", ())))
    call = Call(question=Call.plain("q").question, on_token=heard.append)
    await Conductor(policy, pool_of("first", "second"), rounds=2)(call)
    assert heard == ["second"]


async def test_a_written_policy_is_a_policy() -> None:
    assert (await Conductor(FixedPolicy(plan((0, "a", ()))), pool_of("x"))(Call.plain("q"))).text == "x"
