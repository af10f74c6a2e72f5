"""Execution: who sees what, what overlaps, what is kept, and that the order of finishing changes no text."""

import asyncio
import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podium.access import call_for
from podium.errors import Blame, BudgetExceeded, UnworkableStep, UpstreamFailed, WorkerUnavailable
from podium.events import Event, StepFinished, StepStarted, StepToken
from podium.types import (
    Attachment,
    Call,
    Card,
    Completion,
    Failure,
    Generation,
    Message,
    ResponseOptions,
    Step,
    Transcript,
    Workflow,
)
from podium.workers.budget import Budget
from podium.workers.limited import Limit, Limited
from podium.workers.metered import Metered
from podium.workers.pool import WorkerPool
from podium.workers.scripted import Scripted
from podium.workflow.execute import Execution
from tests.workflows import WORKERS, pool_of, workflows

WRITTEN = Generation(text="")


def chain(*workers: int) -> Workflow:
    return Workflow(
        steps=tuple(Step(worker=w, subtask=f"s{i}", access=tuple(range(i))) for i, w in enumerate(workers)),
    )


async def run(workflow: Workflow, pool: WorkerPool, **options: object) -> Transcript:
    return await Execution(workflow, pool, Call.plain("the question"), WRITTEN, **options).run()  # type: ignore[arg-type]


def everything_in(call: Call) -> str:
    """All a worker can know from its call, as one text that says where it came from."""
    seen = [f"<asked {m.content}>" for m in call.question]
    for step in call.visible:
        seen += [f"<asked {m.content}>" for m in step.question] + [f"<{step.subtask}: {step.response}>"]
    return "".join([*seen, f"<do {call.subtask}>"])


class Slow:
    """Answers with all it knows, after a pause drawn from its own random numbers."""

    def __init__(self, seed: int) -> None:
        self._rng = random.Random(seed)

    async def __call__(self, call: Call) -> Completion:
        for _ in range(self._rng.randint(0, 6)):
            await asyncio.sleep(0)
        return Completion(text=everything_in(call))


async def serially(workflow: Workflow) -> list[str]:
    """The reference: one step after another, in the order they are written."""
    responses: dict[int, str] = {}
    for index in range(len(workflow.steps)):
        responses[index] = everything_in(call_for(workflow, index, Call.plain("the question").question, responses))
    return list(responses.values())


@settings(max_examples=300, deadline=None)
@given(workflow=workflows(max_steps=7), seed=st.integers(0, 10**6))
def test_parallel_equals_serial(workflow: Workflow, seed: int) -> None:
    async def both() -> tuple[list[str], list[str]]:
        transcript = await run(workflow, pool_of(*(Slow(seed + i) for i in range(WORKERS))))
        assert transcript.answer == transcript.results[-1].completion.text  # type: ignore[union-attr]
        return [result.completion.text for result in transcript.results if result.completion], await serially(workflow)

    parallel, serial = asyncio.run(both())
    assert parallel == serial


@settings(max_examples=300, deadline=None)
@given(workflow=workflows(max_steps=7, subtasks=st.just("do it")))
def test_a_worker_never_sees_what_its_access_list_omits(workflow: Workflow) -> None:
    # Each step answers with a secret of its own and with the secrets it found in its call.
    heard: dict[int, set[str]] = {}
    secrets = [f"secret-{index}-" for index in range(len(workflow.steps))]

    async def check() -> None:
        numbered = Workflow(steps=tuple(replace(step, subtask=f"#{i}") for i, step in enumerate(workflow.steps)))

        def tell(call: Call) -> str:
            index = int(call.subtask[1:])
            text = everything_in(call)
            heard[index] = {secret for secret in [*secrets, "the question"] if secret in text}
            return secrets[index]

        await run(numbered, pool_of(*[tell] * WORKERS))

    asyncio.run(check())
    for index, step in enumerate(workflow.steps):
        allowed = {secrets[seen] for seen in step.access}
        if index == 0 or 0 in step.access:
            allowed.add("the question")
        assert heard[index] == allowed


async def test_independent_steps_overlap_and_a_step_waits_only_for_what_it_sees() -> None:
    """Steps 0 and 1 are independent; 2 sees only the fast one and must not wait for the slow one."""
    release = asyncio.Event()
    order: list[str] = []

    class Waits:
        async def __call__(self, call: Call) -> Completion:
            await release.wait()
            order.append(call.subtask)
            return Completion(text="late")

    def note(call: Call) -> str:
        order.append(call.subtask)
        if call.subtask == "after fast":
            release.set()
        return "ok"

    workflow = Workflow(
        steps=(
            Step(worker=0, subtask="slow"),
            Step(worker=1, subtask="fast"),
            Step(worker=1, subtask="after fast", access=(1,)),
            Step(worker=1, subtask="end", access=(0, 2)),
        )
    )
    async with asyncio.timeout(5):  # with barriers between waves this would never end
        transcript = await run(workflow, pool_of(Waits(), note))
    assert order == ["fast", "after fast", "slow", "end"]
    assert transcript.answer == "ok"


async def test_equal_steps_are_different_draws() -> None:
    samples: list[tuple[int, ...]] = []

    def note(call: Call) -> str:
        samples.append(call.sample)
        return "x"

    same = Step(worker=0, subtask="again")
    await run(Workflow(steps=(same, same, same)), pool_of(note))
    assert len(set(samples)) == 3


class Fails:
    """Fails, after the steps that can answer at once have."""

    async def __call__(self, call: Call) -> Completion:
        await asyncio.sleep(0.02)
        raise WorkerUnavailable("busy", retry_after=7)


def unavailable(call: Call) -> str:
    raise WorkerUnavailable("busy", retry_after=7)


async def test_a_failure_is_data_and_what_depends_on_it_is_not_started() -> None:
    called: list[str] = []

    def note(call: Call) -> str:
        called.append(call.subtask)
        return "fine"

    workflow = Workflow(
        steps=(
            Step(worker=0, subtask="fails"),
            Step(worker=1, subtask="independent"),
            Step(worker=1, subtask="needs it", access=(0,)),
            Step(worker=1, subtask="last", access=(1, 2)),
        )
    )
    transcript = await run(workflow, pool_of(Fails(), note))
    assert called == ["independent"]
    assert transcript.answer is None
    assert transcript.failure is not None
    assert (transcript.failure.kind, transcript.failure.retry_after) == ("WorkerUnavailable", 7)
    assert transcript.failure.where == "step 0 (w0)"
    kinds = [result.failure.kind if result.failure else "" for result in transcript.results]
    assert kinds == ["WorkerUnavailable", "", UpstreamFailed.__name__, UpstreamFailed.__name__]
    error = transcript.failure.error()
    assert isinstance(error, WorkerUnavailable)
    assert error.retry_after == 7


class Sleeps:
    """Sleeps for long; knows what was stopped."""

    def __init__(self) -> None:
        self.started: list[str] = []
        self.stopped: list[str] = []

    async def __call__(self, call: Call) -> Completion:
        self.started.append(call.subtask)
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            self.stopped.append(call.subtask)
            raise
        return Completion(text="late")


async def test_siblings_of_a_failure_that_loses_the_answer_are_stopped_or_not_started() -> None:
    sleeps = Sleeps()
    workflow = Workflow(
        steps=(
            Step(worker=1, subtask="sibling"),
            Step(worker=0, subtask="fails"),
            Step(worker=1, subtask="seen by nobody"),
            Step(worker=1, subtask="after the sibling", access=(0,)),
            Step(worker=1, subtask="joins", access=(0, 1)),
            Step(worker=1, subtask="last", access=(3, 4)),
        )
    )
    async with asyncio.timeout(5):
        transcript = await run(workflow, pool_of(Fails(), sleeps))
    assert sorted(sleeps.started) == sorted(sleeps.stopped) == ["seen by nobody", "sibling"]
    failures = [result.failure for result in transcript.results]
    kinds = ["NotNeeded", "WorkerUnavailable", "NotNeeded", "NotNeeded", "UpstreamFailed", "UpstreamFailed"]
    assert [failure.kind for failure in failures if failure] == kinds
    assert "stopped: step 1 failed" in str(failures[0])
    assert "not started: step 1 failed" in str(failures[3])
    assert transcript.failure == failures[1]


async def test_a_step_that_nobody_sees_is_carried_out_while_there_can_be_an_answer() -> None:
    class Quickly:
        async def __call__(self, call: Call) -> Completion:
            await asyncio.sleep(0.02)
            return Completion(text=call.subtask)

    workflow = Workflow(
        steps=(Step(worker=0, subtask="unseen, fails"), Step(worker=1, subtask="unseen"), Step(worker=1, subtask="x"))
    )
    transcript = await run(workflow, pool_of(unavailable, Quickly()))
    assert [result.completion.text if result.completion else "" for result in transcript.results] == ["", "unseen", "x"]
    last_fails = Workflow(steps=(Step(worker=1, subtask="unseen"), Step(worker=0, subtask="last")))
    sleeps = Sleeps()
    async with asyncio.timeout(5):
        transcript = await run(last_fails, pool_of(Fails(), sleeps))
    assert sleeps.stopped == ["unseen"]
    assert transcript.failure is not None
    assert transcript.failure.kind == "WorkerUnavailable"


async def test_what_a_stopped_step_may_have_cost_stays_booked_and_what_was_not_sent_does_not() -> None:
    budget = Budget(usd=1)
    card = Card(name="w", prompt_usd=1e-6, completion_usd=1e-6)
    sleeps = Sleeps()
    sent = Metered(sleeps, card, 100, [budget])
    in_line = Limited(sent, Limit(concurrency=1))
    workflow = Workflow(
        steps=(
            Step(worker=0, subtask="fails"),
            Step(worker=1, subtask="sent"),
            Step(worker=2, subtask="sent"),
            Step(worker=2, subtask="wait"),
            Step(worker=1, subtask="last", access=(0, 1, 2, 3)),
        )
    )
    async with asyncio.timeout(5):
        await run(workflow, pool_of(Fails(), sent, in_line))
    assert sleeps.stopped == ["sent", "sent"]
    assert (budget.reserved_usd, budget.uncertain_usd) == (0, 2 * (sent.bound(Call(subtask="sent")).cost_usd or 0))


async def test_a_call_that_hangs_up_slowly_can_be_stopped_again_from_outside() -> None:
    hanging_up = asyncio.Event()

    class Slowly:
        async def __call__(self, call: Call) -> Completion:
            try:
                await asyncio.sleep(30)
            finally:
                hanging_up.set()
                await asyncio.sleep(30)
            return Completion(text="late")

    workflow = Workflow(
        steps=(Step(worker=0, subtask="fails"), Step(worker=1, subtask="a"), Step(worker=1, subtask="last", access=(0, 1)))
    )
    task = asyncio.create_task(run(workflow, pool_of(Fails(), Slowly())))
    async with asyncio.timeout(5):
        await hanging_up.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


async def test_a_failure_that_the_last_step_never_sees_does_not_spoil_the_answer() -> None:
    workflow = Workflow(steps=(Step(worker=0, subtask="fails"), Step(worker=1, subtask="last")))
    assert (await run(workflow, pool_of(unavailable, "42"))).answer == "42"


async def test_an_exceeded_budget_is_recorded_like_any_failure() -> None:
    def broke(call: Call) -> str:
        raise BudgetExceeded("no dollars left")

    transcript = await run(chain(0, 1), pool_of("draft", broke))
    assert transcript.results[0].completion is not None
    assert transcript.failure == Failure.of(BudgetExceeded("no dollars left"), "step 1 (w1)")


async def test_what_is_demanded_of_the_answer_reaches_the_last_step_alone() -> None:
    seen: dict[str, ResponseOptions] = {}

    def note(call: Call) -> str:
        seen[call.subtask] = call.response_options
        return "text"

    response_options = ResponseOptions(stop=("END",))
    await Execution(
        chain(0, 1, 0), pool_of(note, note), replace(Call.plain("the question"), response_options=response_options), WRITTEN
    ).run()
    assert seen == {"s0": ResponseOptions(), "s1": ResponseOptions(), "s2": response_options}


async def test_a_steps_seconds_are_its_own() -> None:
    class Slowish:
        async def __call__(self, call: Call) -> Completion:
            await asyncio.sleep(0.05)
            return Completion(text="text")

    transcript = await run(chain(0, 0, 0), pool_of(Slowish()))
    assert all(0.04 < each.seconds <= transcript.seconds - 0.09 for each in transcript.results)
    assert transcript.results[2].start_seconds > 0.09


class Blind:
    """Can do nothing with a call that shows it nothing, and says so before it is asked."""

    def check_call(self, call: Call) -> None:
        if not call.visible:
            raise UnworkableStep("nothing to count")

    async def __call__(self, call: Call) -> Completion:
        raise AssertionError("was asked all the same")


async def test_a_step_that_can_do_nothing_ends_the_run_before_anybody_is_asked() -> None:
    asked: list[str] = []

    def note(call: Call) -> str:
        asked.append(call.subtask)
        return "text"

    steps = (Step(worker=1, subtask="s0"), Step(worker=0, subtask="s1"), Step(worker=1, subtask="s2", access=(0, 1)))
    transcript = await run(Workflow(steps=steps), pool_of(Blind(), note))
    assert asked == []
    assert transcript.failure is not None
    assert (transcript.failure.kind, transcript.failure.blame) == ("UnworkableStep", Blame.POLICY)
    kinds = [result.failure.kind for result in transcript.results if result.failure]
    assert kinds == ["NotNeeded", "UnworkableStep", "UpstreamFailed"]
    assert transcript.results[1].start_seconds == 0.0


async def test_a_bug_propagates_bare() -> None:
    def bug(call: Call) -> str:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await run(chain(0), pool_of(bug))


async def test_cancellation_reaches_every_call_and_keeps_what_was_finished() -> None:
    cancelled: list[str] = []

    class Hangs:
        async def __call__(self, call: Call) -> Completion:
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                cancelled.append(call.subtask)
                raise
            raise AssertionError("unreachable")

    workflow = Workflow(
        steps=(
            Step(worker=0, subtask="quick"),
            Step(worker=1, subtask="hang a"),
            Step(worker=1, subtask="hang b", access=(0,)),
            Step(worker=0, subtask="never", access=(1, 2)),
        )
    )
    execution = Execution(workflow, pool_of("done", Hangs()), Call.plain("q"), WRITTEN)
    task = asyncio.create_task(execution.run())
    await asyncio.sleep(0.02)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert sorted(cancelled) == ["hang a", "hang b"]
    reason = Failure.of(WorkerUnavailable("stopped"), "")
    kept = execution.transcript(interrupted=reason)
    assert kept.results[0].completion is not None
    assert [result.failure for result in kept.results[1:]] == [reason] * 3


async def test_events_tell_the_run_as_it_happens() -> None:
    events: list[Event] = []

    class Flaky:
        async def __call__(self, call: Call) -> Completion:
            assert call.on_token is not None
            call.on_token("wro")
            call.on_token(None)
            call.on_token("right")
            return Completion(text="right")

    transcript = await run(chain(0, 1), pool_of("plan", Flaky()), on_event=events.append)
    assert [type(event) for event in events] == [
        *(StepStarted, StepToken, StepFinished),
        *(StepStarted, StepToken, StepStarted, StepToken, StepFinished),
    ]
    assert [event.attempt for event in events if isinstance(event, StepStarted)] == [1, 1, 2]
    finished = [event.result for event in events if isinstance(event, StepFinished)]
    assert tuple(finished) == transcript.results


@pytest.mark.parametrize("with_events", [False, True])
async def test_only_the_last_steps_text_streams_to_the_caller(with_events: bool) -> None:
    heard: list[str | None] = []
    events: list[Event] = []
    call = Call(question=Call.plain("q").question, on_token=heard.append)
    on_event = events.append if with_events else None
    await Execution(chain(0, 1), pool_of("plan", "line 1\nline 2"), call, WRITTEN, on_event=on_event).run()
    assert heard == ["line 1\n", "line 2"]
    told = [event.text for event in events if isinstance(event, StepToken)]
    assert told == (["plan", "line 1\n", "line 2"] if with_events else [])


async def test_a_picture_that_nobody_could_see_ends_the_run_before_anybody_is_asked() -> None:
    asked: list[str] = []

    def note(call: Call) -> str:
        asked.append(call.subtask)
        return "text"

    picture = Message(role="user", content="What?", attachments=(Attachment(media_type="image/png", data="aGk="),))
    transcript = await Execution(chain(0, 1), pool_of(note, note), Call.plain((picture,)), WRITTEN).run()
    assert asked == []
    assert transcript.failure is not None
    assert (transcript.failure.kind, transcript.failure.blame) == ("UnworkableStep", Blame.POLICY)
    assert "can not see pictures" in transcript.failure.message


async def test_seconds_are_those_of_the_critical_path() -> None:
    fan = Workflow(
        steps=(*(Step(worker=0, subtask=f"s{i}") for i in range(4)), Step(worker=0, subtask="end", access=(0, 1, 2, 3)))
    )
    transcript = await run(fan, pool_of(Scripted("x", seconds=0.3)))
    assert 0.59 < transcript.seconds < 1.4  # two of five, not five of five
    assert transcript.results[-1].start_seconds == pytest.approx(0.3, abs=0.25)
