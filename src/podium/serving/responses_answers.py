"""Completions and events as OpenAI's Responses objects, whole and streamed. Nothing is kept between requests."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from podium.errors import WorkerUnavailable
from podium.serving.asking import Done, Happened, Progress, failed
from podium.serving.chat_answers import ChoiceText
from podium.serving.desk import Ticket
from podium.serving.problems import problem_of
from podium.serving.shown import answer_usage, event_object, podium_object
from podium.serving.stopping import Stopping
from podium.types import Completion, Failure, Usage


def response_object(ticket: Ticket, done: Done) -> dict[str, Any]:
    """``response``, complete; the run's whole story is its field ``podium``."""
    completion = done.completion
    items = [_message(ticket, completion.text)] if completion.text or not completion.tool_calls else []
    items += [_call(ticket, index, completion) for index in range(len(completion.tool_calls))]
    incomplete = completion.finish_reason == "length"
    return {
        **_head(ticket, "incomplete" if incomplete else "completed"),
        "incomplete_details": {"reason": "max_output_tokens"} if incomplete else None,
        "output": items,
        "usage": _usage(answer_usage([completion])),
        "podium": podium_object(ticket.run, completion),
    }


@dataclass(slots=True)
class ResponseEvents:
    """Progress -> the events of a streamed response. One per stream."""

    ticket: Ticket
    finish: Callable[[Sequence[Done]], Awaitable[None]]
    _number: int = 0

    async def of(self, progress: AsyncIterator[Progress]) -> AsyncIterator[dict[str, Any]]:
        """Events as things happen; what Podium adds are events of the type ``podium``."""
        ticket, state = self.ticket, ChoiceText(Stopping(()))
        begun = {**_head(ticket, "in_progress"), "incomplete_details": None, "output": [], "usage": None}
        yield self._event("response.created", response=begun)
        yield self._event("response.in_progress", response=begun)
        opened = False
        async for item in progress:
            if isinstance(item, Happened):
                told = event_object(item.event)
                if told is not None:
                    yield self._event("podium", podium=told)
                continue
            if isinstance(item, Done):
                item, text = state.ended(item)
            else:
                try:
                    text = state.said(item.text)
                except WorkerUnavailable as error:
                    item, text = failed(item.choice, error), ""
            if isinstance(item, Done):
                await self.finish([item])
                if item.failure is not None:
                    yield self._failed(item.failure)
                    return
            if not opened and (text or (isinstance(item, Done) and not item.completion.tool_calls)):
                opened = True
                for event in self._opened():
                    yield event
            if text:
                place = {"item_id": _item(ticket), "output_index": 0, "content_index": 0}
                yield self._event("response.output_text.delta", **place, delta=text, logprobs=[])
            if isinstance(item, Done):
                for event in self._closed(item, opened=opened):
                    yield event

    def _opened(self) -> list[dict[str, Any]]:
        item = {**_message(self.ticket, ""), "status": "in_progress", "content": []}
        place = {"item_id": item["id"], "output_index": 0, "content_index": 0}
        return [
            self._event("response.output_item.added", output_index=0, item=item),
            self._event("response.content_part.added", **place, part=_part("")),
        ]

    def _closed(self, done: Done, *, opened: bool) -> list[dict[str, Any]]:
        ticket, completion = self.ticket, done.completion
        events = []
        if opened:
            place = {"item_id": _item(ticket), "output_index": 0, "content_index": 0}
            events = [
                self._event("response.output_text.done", **place, text=completion.text, logprobs=[]),
                self._event("response.content_part.done", **place, part=_part(completion.text)),
                self._event("response.output_item.done", output_index=0, item=_message(ticket, completion.text)),
            ]
        for index in range(len(completion.tool_calls)):
            call, output = _call(ticket, index, completion), index + int(opened)
            started = {**call, "status": "in_progress", "arguments": ""}
            place = {"item_id": call["id"], "output_index": output}
            events += [
                self._event("response.output_item.added", output_index=output, item=started),
                self._event("response.function_call_arguments.delta", **place, delta=call["arguments"]),
                self._event("response.function_call_arguments.done", **place, name=call["name"], arguments=call["arguments"]),
                self._event("response.output_item.done", output_index=output, item=call),
            ]
        whole = response_object(ticket, done)
        return [*events, self._event(f"response.{whole['status']}", response=whole)]

    def _failed(self, failure: Failure) -> dict[str, Any]:
        problem = problem_of(failure.error())
        error = {"code": problem.code, "message": problem.message}
        head = {**_head(self.ticket, "failed"), "error": error, "incomplete_details": None, "output": [], "usage": None}
        return self._event("response.failed", response=head)

    def _event(self, kind: str, **fields: Any) -> dict[str, Any]:
        number, self._number = self._number, self._number + 1
        return {"type": kind, "sequence_number": number, **fields}


def _head(ticket: Ticket, status: str) -> dict[str, Any]:
    demands = ticket.call.demands
    return {
        "id": f"resp_{ticket.run.removeprefix('run_')}",
        "object": "response",
        "created_at": int(ticket.created.timestamp()),
        "status": status,
        "error": None,
        "model": ticket.model,
        "instructions": None,
        "metadata": {},
        "parallel_tool_calls": True,
        "temperature": demands.sampling.temperature,
        "top_p": demands.sampling.top_p,
        "max_output_tokens": demands.sampling.max_tokens,
        "tool_choice": "auto",
        "tools": [],
        "previous_response_id": None,
        "store": False,
    }


def _item(ticket: Ticket) -> str:
    return f"msg_{ticket.run.removeprefix('run_')}"


def _message(ticket: Ticket, text: str) -> dict[str, Any]:
    return {"id": _item(ticket), "type": "message", "role": "assistant", "status": "completed", "content": [_part(text)]}


def _part(text: str) -> dict[str, Any]:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def _call(ticket: Ticket, index: int, completion: Completion) -> dict[str, Any]:
    call = completion.tool_calls[index]
    return {
        "id": f"fc_{index}_{ticket.run.removeprefix('run_')}",
        "type": "function_call",
        "status": "completed",
        "call_id": call.id,
        "name": call.name,
        "arguments": call.arguments,
    }


def _usage(usage: Usage) -> dict[str, Any]:
    return {
        "input_tokens": usage.prompt_tokens,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": usage.completion_tokens,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": usage.tokens,
    }
