"""One request under way: each choice is conducted in a task of its own, and what happens comes out as one stream.

When the reader stops, the tasks stop, and with them every call that is under way: a client that left is not paid for.
"""

import asyncio
import logging
import secrets
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from podium.errors import PodiumError
from podium.events import Answered, Event, Listener, PlanStarted, PlanToken
from podium.protocols import ServedModel
from podium.types import Call, Completion, Failure, Usage

log = logging.getLogger("podium.serving")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEvent:
    """Something that a conducted choice did."""

    choice: int
    event: Event


@dataclass(frozen=True, slots=True, kw_only=True)
class TextDelta:
    """A piece of a choice's answer; None: what was said so far is void, a new attempt begins."""

    choice: int
    text: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceDone:
    """A choice is over."""

    choice: int
    completion: Completion
    failure: Failure | None = None
    """Why there is no answer; the completion then holds what was done and paid for until then."""


Progress = RunEvent | TextDelta | ChoiceDone


async def conducted(conductors: Sequence[ServedModel], call: Call) -> list[ChoiceDone]:
    """Every choice, whole. Cancelling this cancels them all."""
    if len(conductors) == 1:
        return [await answer(conductors[0], call)]
    async with asyncio.TaskGroup() as group:
        tasks = [
            group.create_task(answer(conductor, _drawn(call, choice), choice=choice))
            for choice, conductor in enumerate(conductors)
        ]
    return [task.result() for task in tasks]


@asynccontextmanager
async def conducting(conductors: Sequence[ServedModel], call: Call) -> AsyncIterator[AsyncIterator[Progress]]:
    """What happens, as it happens; ends after each choice's :class:`ChoiceDone`. Leaving the block cancels what is under way."""
    queue: asyncio.Queue[Progress | None] = asyncio.Queue()

    async def one(choice: int, conductor: ServedModel) -> None:
        queue.put_nowait(await _answer_choice(conductor, _drawn(call, choice), choice, queue))

    tasks = [asyncio.create_task(one(choice, conductor)) for choice, conductor in enumerate(conductors)]

    def over(task: "asyncio.Task[None]") -> None:
        if all(each.done() for each in tasks) or (not task.cancelled() and task.exception() is not None):
            queue.put_nowait(None)  # the last one, or a bug

    for task in tasks:
        task.add_done_callback(over)
    raised = False

    async def progress() -> AsyncIterator[Progress]:
        nonlocal raised
        while (item := await queue.get()) is not None:
            yield item
        raised = True
        for task in tasks:
            if task.done():
                task.result()  # raises what was a bug

    try:
        yield progress()
    finally:
        for task in tasks:
            task.cancel()
        ends = await asyncio.gather(*tasks, return_exceptions=True)
        for end in ends:
            if isinstance(end, Exception) and not raised:
                log.error("a bug in a request whose client had left", exc_info=end)


async def answer(conductor: ServedModel, call: Call, on_event: Listener | None = None, choice: int = 0) -> ChoiceDone:
    """One choice, whole. A failure is part of the result, with what was done and paid for before it."""
    try:
        completion = await conductor.conduct(call, on_event)
    except PodiumError as error:
        return failed(choice, error)
    return ChoiceDone(choice=choice, completion=_with_new_ids(completion) if completion.tool_calls else completion)


def _with_new_ids(completion: Completion) -> Completion:
    """``completion`` as the client is given it; the id of a call of a step before the last says whose it is.

    Some providers number their calls anew in every conversation ("call_0"); two that wait must not be taken for one.
    """
    whose = [""] * len(completion.tool_calls)
    if completion.paused is not None:
        whose = [f"s{step.index}_" for step in completion.paused.handed_out if step.asks for _ in step.asks.tool_calls]
    calls = (
        replace(call, id=f"call_{mark}{secrets.token_hex(12)}") for call, mark in zip(completion.tool_calls, whose, strict=True)
    )
    return replace(completion, tool_calls=tuple(calls))


def failed(choice: int, error: PodiumError) -> ChoiceDone:
    """A choice that ended in ``error``, with what was done and paid for before it."""
    usage = Usage.total(transcript.usage for transcript in error.transcripts)
    completion = Completion(text="", usage=usage, transcripts=error.transcripts)
    return ChoiceDone(choice=choice, completion=completion, failure=Failure.of(error, ""))


async def _answer_choice(conductor: ServedModel, call: Call, choice: int, queue: "asyncio.Queue[Progress | None]") -> ChoiceDone:
    """One choice, and on the way everything that happens in it."""
    put = queue.put_nowait

    def on_event(event: Event) -> None:
        # ChoiceDone says what was answered. A plan that is being written is no beginning: it may fail as a whole.
        if not isinstance(event, Answered | PlanStarted | PlanToken):
            put(RunEvent(choice=choice, event=event))

    call = replace(call, on_token=lambda text: put(TextDelta(choice=choice, text=text)))
    return await answer(conductor, call, on_event, choice)


def _drawn(call: Call, choice: int) -> Call:
    """A choice is a draw of its own, also where workers are cached."""
    return replace(call, sample=(*call.sample, choice)) if choice else call
