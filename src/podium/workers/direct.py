"""A worker by its own name, called in the same way as a Conductor: the conversation goes to it as it is."""

import asyncio
import time
from dataclasses import replace

from podium.errors import ConfigError, PodiumError
from podium.events import Answered, Listener, StepFinished, StepStarted, StepToken, WorkflowWritten, interrupted_by
from podium.types import (
    Call,
    Completion,
    Failure,
    Generation,
    Step,
    StepResult,
    TokenListener,
    Transcript,
    Waiting,
    Workflow,
)
from podium.workers.nested import collecting
from podium.workers.pool import Member
from podium.workers.render import render
from podium.workers.seeing import in_words, needs_eyes


class DirectWorker:
    """One worker as something that conducts.

    Example: ``await DirectWorker(pool.named("brook")).conduct(Call.plain("6 times 7?"))``.

    Its run is a workflow of one step, so that it can be shown, kept and compared like any other. A step that goes on after the
    client ran its tools is asked here too: its record holds what it was shown and its turns since as one conversation.
    """

    def __init__(self, member: Member) -> None:
        self._member = member

    async def conduct(self, call: Call, on_event: Listener | None = None) -> Completion:
        """Ask the worker; the last event is :class:`Answered`.

        Raises what it raises, with the run in ``error.transcripts``, and :class:`ConfigError` for what it can not do.
        """
        self._member.check(call.response_options)
        if not self._member.card.sees:
            if needs_eyes(call) and not call.visible:
                raise ConfigError(f"{self._member.name!r} can not see pictures or files; take a model that does (GET /v1/models)")
            call = in_words(call)
        name, started, asked = self._member.name, time.perf_counter(), call
        step = Step(worker=0, subtask=call.subtask)
        workflow, generation = Workflow(steps=(step,)), Generation(text="")
        if on_event is not None:
            on_event(WorkflowWritten(round=1, workflow=workflow, generation=generation, workers=(name,)))
            on_event(StepStarted(round=1, index=0, worker=name))
            asked = replace(call, on_token=_token_events(call, on_event, name))
        failure, completion = None, None
        error: BaseException | None = None
        try:
            with collecting() as failed_rounds:
                completion = await self._member.worker(asked)
        except PodiumError as raised:
            error, failure = raised, Failure.of(raised, f"step 0 ({name})")
        except (asyncio.CancelledError, Exception) as end:
            error, failure = end, interrupted_by(end)
        seconds = time.perf_counter() - started
        result = StepResult(
            step=step, worker=name, completion=completion, failure=failure, seconds=seconds, failed_rounds=tuple(failed_rounds)
        )
        transcript = Transcript(
            question=render(replace(call, subtask="")),
            generation=generation,
            workflow=workflow,
            results=(result,),
            answer=None if completion is None else completion.text,
            failure=failure,
            seconds=seconds,
        )
        if on_event is not None:
            on_event(StepFinished(round=1, index=0, result=result))
            answer, usage = transcript.answer, transcript.usage
            on_event(Answered(answer=answer, failure=failure, transcripts=(transcript,), usage=usage, seconds=seconds))
        if isinstance(error, PodiumError):
            error.transcripts = (transcript,)
        if error is not None:
            raise error
        assert completion is not None  # noqa: S101 - there is one or an error
        waiting = Waiting(worker=name, call=replace(call, on_token=None)) if completion.tool_calls else None
        return replace(completion, usage=transcript.usage, transcripts=(transcript,), waiting=waiting)


def _token_events(call: Call, on_event: Listener, name: str) -> TokenListener:
    attempt = 1

    def on_token(text: str | None) -> None:
        nonlocal attempt
        if text is None:
            attempt += 1
            on_event(StepStarted(round=1, index=0, worker=name, attempt=attempt))
        else:
            on_event(StepToken(round=1, index=0, text=text))
        if call.on_token is not None:
            call.on_token(text)

    return on_token
