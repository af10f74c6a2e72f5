"""Completions and events as OpenAI's Responses objects, whole and streamed."""

from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from podium.serving.api_errors import problem_of
from podium.serving.asking import ChoiceDone, Progress, RunEvent
from podium.serving.chat_answers import ChoiceText
from podium.serving.one_answer import Finish, one_answer
from podium.serving.responses_items import call_items, message_item, reasoning_item, summary_part, text_part
from podium.serving.service import ActiveRequest
from podium.serving.shown import answer_usage, event_object, podium_object, reasoning, step_summaries
from podium.serving.stop_sequences import StopSequences
from podium.types import Completion, Failure, Usage

Object = dict[str, Any]


def response_object(active: ActiveRequest, done: ChoiceDone) -> Object:
    """``response``, complete; the run's whole story is its field ``podium``."""
    completion = done.completion
    steps = step_summaries(completion.transcripts)
    items = [reasoning_item(active, 0, steps)] if steps else []
    items += [message_item(active, completion.text)] if completion.text or not completion.tool_calls else []
    return _whole(active, done, [*items, *call_items(active, completion)])


@dataclass(slots=True)
class ResponseEvents:
    """Progress -> the events of a streamed response. One per stream."""

    active: ActiveRequest
    finish: Finish
    _number: int = 0
    _output: list[Object] = field(default_factory=list)
    """The items that are closed; the next one is open or yet to come."""
    _steps: list[str] | None = None
    """What the open reasoning item holds; None where none is open."""
    _answering: bool = False
    """Whether the message is open."""
    _answered: bool = False
    _late: list[str] = field(default_factory=list)
    """What happened beside the answer, once that was begun: steps that it was not to see."""

    async def of(self, progress: AsyncIterator[Progress]) -> AsyncIterator[Object]:
        """Events as things happen; what Podium adds are events of the type ``podium``."""
        state = ChoiceText(StopSequences(()))
        begun = {**_head(self.active, "in_progress"), "incomplete_details": None, "output": [], "usage": None}
        yield self._event("response.created", response=begun)
        yield self._event("response.in_progress", response=begun)
        async for item in one_answer(progress, state, self.finish):
            if isinstance(item, RunEvent):
                events = self._happened(item, state)
            elif isinstance(item, str):
                events = self._said(item)
            elif item.failure is not None:
                events = iter([self._failed(item.failure)])
            else:
                events = self._done(item)
            for event in events:
                yield event

    def _happened(self, item: RunEvent, state: ChoiceText) -> Iterator[Object]:
        event = item.event
        shown = event_object(event)
        if shown is not None:
            yield self._event("podium", podium=shown)
        words = reasoning(event, state.last)
        if words and self._answering:
            self._late.append(words)
        elif words:
            yield from self._step(words)

    def _step(self, words: str) -> Iterator[Object]:
        """One more thing that happened, as a part of the reasoning's summary."""
        if self._steps is None:
            self._steps = []
            yield self._added(reasoning_item(self.active, int(self._answered), ()))
        place = {**self._place(self._reasoning()), "summary_index": len(self._steps)}
        self._steps.append(words)
        yield self._event("response.reasoning_summary_part.added", **place, part=summary_part(""))
        yield self._event("response.reasoning_summary_text.delta", **place, delta=words)
        yield self._event("response.reasoning_summary_text.done", **place, text=words)
        yield self._event("response.reasoning_summary_part.done", **place, part=summary_part(words))

    def _steps_over(self) -> Iterator[Object]:
        if self._steps is not None:
            item, self._steps = self._reasoning(), None
            yield self._over(item)

    def _reasoning(self) -> Object:
        return reasoning_item(self.active, int(self._answered), self._steps or ())

    def _said(self, text: str) -> Iterator[Object]:
        item = message_item(self.active, "", "in_progress")
        if not self._answering:
            yield from self._steps_over()
            self._answering = True
            yield self._added(item)
            yield self._event("response.content_part.added", **self._place(item), content_index=0, part=text_part(""))
        if text:
            yield self._event("response.output_text.delta", **self._place(item), content_index=0, delta=text, logprobs=[])

    def _done(self, done: ChoiceDone) -> Iterator[Object]:
        completion = done.completion
        if not completion.tool_calls and not self._answering:
            yield from self._said("")
        if self._answering:
            item = message_item(self.active, completion.text)
            place = {**self._place(item), "content_index": 0}
            yield self._event("response.output_text.done", **place, text=completion.text, logprobs=[])
            yield self._event("response.content_part.done", **place, part=text_part(completion.text))
            yield self._over(item)
            self._answering, self._answered = False, True
        for words in self._late:
            yield from self._step(words)
        yield from self._steps_over()
        for item in call_items(self.active, completion):
            yield from self._called(item)
        whole = _whole(self.active, done, self._output)
        yield self._event(f"response.{whole['status']}", response=whole)

    def _called(self, item: Object) -> Iterator[Object]:
        written = "input" if item["type"] == "custom_tool_call" else "arguments"
        kind = "response.custom_tool_call_input" if written == "input" else "response.function_call_arguments"
        yield self._added({**item, "status": "in_progress", written: ""})
        yield self._event(f"{kind}.delta", **self._place(item), delta=item[written])
        named = {} if written == "input" else {"name": item["name"]}
        yield self._event(f"{kind}.done", **self._place(item), **named, **{written: item[written]})
        yield self._over(item)

    def _added(self, item: Object) -> Object:
        return self._event("response.output_item.added", output_index=len(self._output), item=item)

    def _over(self, item: Object) -> Object:
        self._output.append(item)
        return self._event("response.output_item.done", output_index=len(self._output) - 1, item=item)

    def _place(self, item: Object) -> Object:
        return {"item_id": item["id"], "output_index": len(self._output)}

    def _failed(self, failure: Failure) -> Object:
        problem = problem_of(failure.error())
        # OpenAI's list of codes has one for all that is not the client's doing; which it was stands in "type".
        code = "server_error" if problem.kind == "server_error" else problem.code
        error = {"code": code, "type": problem.code, "message": problem.message}
        head = {**_head(self.active, "failed"), "error": error, "incomplete_details": None}
        return self._event("response.failed", response={**head, "output": self._output, "usage": None})

    def _event(self, kind: str, **fields: Any) -> Object:
        number, self._number = self._number, self._number + 1
        return {"type": kind, "sequence_number": number, **fields}


def _whole(active: ActiveRequest, done: ChoiceDone, items: Sequence[Object]) -> Object:
    completion = done.completion
    incomplete = completion.finish_reason == "length"
    return {
        **_head(active, "incomplete" if incomplete else "completed"),
        "incomplete_details": {"reason": "max_output_tokens"} if incomplete else None,
        "output": list(items),
        "usage": response_usage([completion]),
        "podium": podium_object(active.run, completion, active.admission.budget, active.told_session),
    }


def _head(active: ActiveRequest, status: str) -> Object:
    response_options = active.parsed.call.response_options
    return {
        "id": f"resp_{active.run.removeprefix('run_')}",
        "object": "response",
        "created_at": int(active.created.timestamp()),
        "status": status,
        "error": None,
        "model": active.model,
        "instructions": None,
        "metadata": {},
        "parallel_tool_calls": not response_options.one_tool_call,
        "temperature": response_options.sampling.temperature,
        "top_p": response_options.sampling.top_p,
        "max_output_tokens": response_options.sampling.max_tokens,
        "reasoning": {"effort": response_options.effort, "summary": "detailed"},
        "tool_choice": "auto",
        "tools": [],
        "truncation": "disabled",
        "previous_response_id": active.parsed.previous,
        "store": active.parsed.stores,
    }


def response_usage(completions: Sequence[Completion]) -> Object:
    """Tokens, as a response names them."""
    usage: Usage = answer_usage(completions)
    return {
        "input_tokens": usage.prompt_tokens,
        "input_tokens_details": {"cached_tokens": usage.cached_tokens, "cache_write_tokens": 0},
        "output_tokens": usage.completion_tokens,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": usage.tokens,
    }
