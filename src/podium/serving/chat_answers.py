"""Completions and events as OpenAI's chat objects, whole and in chunks."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from podium.errors import WorkerUnavailable
from podium.events import StepFinished, WorkflowWritten
from podium.serving.api_errors import problem_of
from podium.serving.asking import ChoiceDone, Progress, RunEvent, TextDelta, failed
from podium.serving.figures import total_usage
from podium.serving.service import ActiveRequest
from podium.serving.shown import answer_usage, event_object, podium_object, reasoning, totals_object, usage_object
from podium.serving.stop_sequences import StopSequences
from podium.types import Completion, Failure, Usage

_OTHER_WORDS = "the answer broke off after it had begun, and was given in other words; ask again"


def chat_object(active: ActiveRequest, dones: Sequence[ChoiceDone]) -> dict[str, Any]:
    """``chat.completion``; the run's whole story is its field ``podium``."""
    return {
        **_head(active, "chat.completion"),
        "choices": [_choice(done, active.call.response_options.stop) for done in dones],
        "usage": usage_object(_answers(dones)),
        "podium": podium_object(active.run, _together(dones), active.admission.budget, active.told_session),
    }


@dataclass(slots=True)
class ChatChunks:
    """Progress -> ``chat.completion.chunk`` objects. One per stream; used in ``serving/chat_api.py``."""

    active: ActiveRequest
    include_usage: bool
    finish: Callable[[Sequence[ChoiceDone]], Awaitable[None]]
    """Told of all choices when the last one is over, before a client learns of it."""
    _choices: dict[int, "ChoiceText"] = field(default_factory=dict)

    async def of(self, progress: AsyncIterator[Progress]) -> AsyncIterator[dict[str, Any]]:
        """Chunks as things happen.

        A choice that fails ends the stream with an ``error`` object, which clients raise. So does an answer that was begun, then
        taken back by its worker and begun anew in other words: what was sent can not be unsent.
        """
        dones: list[ChoiceDone] = []
        async for item in progress:
            state = self._choices.setdefault(item.choice, ChoiceText(StopSequences(self.active.call.response_options.stop)))
            if isinstance(item, TextDelta):
                try:
                    text = state.said(item.text)
                except WorkerUnavailable as error:
                    await self.finish([*dones, failed(item.choice, error)])
                    yield problem_of(error).body
                    return
                if text:
                    yield self._chunk(item.choice, {**state.role(), "content": text})
            elif isinstance(item, RunEvent):
                for chunk in self._happened(item, state):
                    yield chunk
            else:
                item, rest = state.ended(item)
                dones.append(item)
                if item.failure is not None or len(dones) == len(self.active.conductors):
                    await self.finish(dones)
                if item.failure is not None:
                    yield problem_of(item.failure.error()).body
                    return
                for chunk in self._done(item, rest, state):
                    yield chunk
        if self.include_usage:
            totals = totals_object(self.active.run, total_usage(dones), self.active.admission.budget)
            end = {"usage": usage_object(_answers(dones)), "podium": totals}
            yield {**_head(self.active, "chat.completion.chunk"), "choices": [], **end}

    def _happened(self, item: RunEvent, state: "ChoiceText") -> list[dict[str, Any]]:
        event = item.event
        if isinstance(event, WorkflowWritten):
            state.last = -1 if event.workflow is None else len(event.workflow.steps) - 1
        shown, words = event_object(event), reasoning(event, state.last)
        if shown is None:
            return []
        if isinstance(event, StepFinished) and event.index == state.last:
            # The answer itself comes as content; told twice it would be paid for twice in bandwidth.
            shown = {name: value for name, value in shown.items() if name != "response"}
        delta = {**state.role(), **({"reasoning_content": words} if words else {})}
        return [{**self._chunk(item.choice, delta), "podium": shown}]

    def _done(self, item: ChoiceDone, rest: str, state: "ChoiceText") -> list[dict[str, Any]]:
        completion = item.completion
        chunks = [self._chunk(item.choice, {**state.role(), "content": rest})] if rest else []
        if completion.tool_calls:
            calls = [{"index": index, **call} for index, call in enumerate(_tool_calls(completion))]
            chunks.append(self._chunk(item.choice, {**state.role(), "tool_calls": calls}))
        last = self._chunk(item.choice, state.role(), _finish_reason(completion, stopped=state.stopping.stopped))
        paid = self.active.admission.budget if len(self.active.conductors) == 1 else None
        return [*chunks, {**last, "podium": podium_object(self.active.run, completion, paid, self.active.told_session)}]

    def _chunk(self, choice: int, delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        body = {"index": choice, "delta": delta, "logprobs": None, "finish_reason": finish}
        chunk = {**_head(self.active, "chat.completion.chunk"), "choices": [body]}
        return {**chunk, "usage": None} if self.include_usage else chunk


@dataclass(slots=True)
class ChoiceText:
    """What a client was sent of a choice's answer so far."""

    stopping: StopSequences
    last: int = -1
    _sent_role: bool = False
    _sent: str = ""
    _again: str | None = None
    """A new attempt's text, as long as it only repeats what was sent."""

    def role(self) -> dict[str, str]:
        """The first chunk of a choice names the role."""
        shown, self._sent_role = self._sent_role, True
        return {} if shown else {"role": "assistant"}

    def said(self, text: str | None) -> str:
        """What can be sent now. Raises :class:`WorkerUnavailable` where what was sent no longer holds."""
        if text is None:
            self._again = "" if self._sent else None
            return ""
        if self._again is not None:
            self._again += text
            if len(self._again) < len(self._sent):
                text = ""
                held = self._sent.startswith(self._again)
            else:
                held, text = self._again.startswith(self._sent), self._again[len(self._sent) :]
                self._again = None
            if not held:
                raise WorkerUnavailable(_OTHER_WORDS)
        self._sent += text
        return self.stopping.feed(text)

    def ended(self, done: ChoiceDone) -> tuple[ChoiceDone, str]:
        """The choice as it ended, and what is still missing of its text: what was held back, or all where nothing came in pieces.

        An answer that does not begin with what was sent is a failure: the client holds something else for it.
        """
        whole = done.completion.text
        if done.failure is not None:
            return done, ""
        if not whole.startswith(self._sent):
            return replace(done, failure=Failure.of(WorkerUnavailable(_OTHER_WORDS), "")), ""
        missing = whole[len(self._sent) :]
        self._sent = whole
        return done, self.stopping.feed(missing) + self.stopping.rest()


def _answers(dones: Sequence[ChoiceDone]) -> Usage:
    return answer_usage([done.completion for done in dones])


def _head(active: ActiveRequest, kind: str) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-{active.run.removeprefix('run_')}",
        "object": kind,
        "created": int(active.created.timestamp()),
        "model": active.model,
    }


def _choice(done: ChoiceDone, stops: Sequence[str]) -> dict[str, Any]:
    completion = done.completion
    stopping = StopSequences(stops)
    text = stopping.feed(completion.text) + stopping.rest()
    message: dict[str, Any] = {"role": "assistant", "content": text or None if completion.tool_calls else text, "refusal": None}
    if completion.tool_calls:
        message["tool_calls"] = _tool_calls(completion)
    reason = _finish_reason(completion, stopped=stopping.stopped)
    return {"index": done.choice, "message": message, "logprobs": None, "finish_reason": reason}


def _tool_calls(completion: Completion) -> list[dict[str, Any]]:
    return [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
        for call in completion.tool_calls
    ]


def _finish_reason(completion: Completion, *, stopped: bool) -> str:
    if completion.tool_calls:
        return "tool_calls"
    known = ("stop", "length", "content_filter")
    return "stop" if stopped or completion.finish_reason not in known else completion.finish_reason


def _together(dones: Sequence[ChoiceDone]) -> Completion:
    """All choices as one story."""
    return Completion(
        text="",
        usage=total_usage(dones) if dones else Usage(),
        seconds=max(done.completion.seconds for done in dones),
        transcripts=tuple(transcript for done in dones for transcript in done.completion.transcripts),
    )
