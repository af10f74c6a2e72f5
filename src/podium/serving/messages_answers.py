"""Completions and events as Anthropic's messages, whole and streamed.

The steps before the answer are thinking blocks where the client asked for thinking: there are clients that take the first block
for the answer. Their signature only says whose they are: they are left out again when they come back.
"""

import json
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from typing import Any, NoReturn

from podium.serving.api_errors import problem_of
from podium.serving.asking import ChoiceDone, Progress, RunEvent
from podium.serving.bodies import is_shallow
from podium.serving.chat_answers import ChoiceText
from podium.serving.one_answer import Finish, one_answer
from podium.serving.service import ActiveRequest
from podium.serving.shown import answer_usage, podium_object, reasoning, step_summaries
from podium.serving.stop_sequences import StopSequences
from podium.serving.toolbox import Named
from podium.types import Completion, ToolCall, Usage

Object = dict[str, Any]
_REASONS = {"length": "max_tokens", "content_filter": "refusal"}


def message_object(active: ActiveRequest, done: ChoiceDone) -> Object:
    """``message``, complete; the run's whole story is its field ``podium``."""
    completion = done.completion
    stopping = StopSequences(active.call.response_options.stop)
    text = stopping.feed(completion.text) + stopping.rest()
    steps = step_summaries(completion.transcripts) if active.parsed.shows_steps else []
    content = [{"type": "thinking", "thinking": "".join(steps), "signature": _signature(active)}] if steps else []
    content += [{"type": "text", "text": text}] if text or not completion.tool_calls else []
    content += [_tool_use(active, call) for call in completion.tool_calls]
    return {
        **_head(active),
        "content": content,
        **_stop(completion, stopping),
        "usage": _usage(answer_usage([completion])),
        "podium": podium_object(active.run, completion, active.admission.budget, active.told_session),
    }


@dataclass(slots=True)
class MessageEvents:
    """Progress -> the events of a streamed message. One per stream."""

    active: ActiveRequest
    finish: Finish
    _index: int = -1
    _open: str = ""
    """The kind of block that is open."""
    _late: list[str] = field(default_factory=list)
    """What happened beside the answer, once that was begun."""

    async def of(self, progress: AsyncIterator[Progress]) -> AsyncIterator[Object]:
        """Events as things happen."""
        state = ChoiceText(StopSequences(self.active.call.response_options.stop))
        begun = {**_head(self.active), "content": [], "stop_reason": None, "stop_sequence": None, "usage": _usage(Usage())}
        yield {"type": "message_start", "message": begun}
        async for item in one_answer(progress, state, self.finish):
            if isinstance(item, RunEvent):
                words = reasoning(item.event, state.last) if self.active.parsed.shows_steps else ""
                if words and self._open == "text":
                    self._late.append(words)
                elif words:
                    for event in self._thought(words):
                        yield event
            elif isinstance(item, str):
                for event in self._said(item):
                    yield event
            elif item.failure is not None:
                yield problem_of(item.failure.error()).anthropic_body
                return
            else:
                for event in self._done(item, state):
                    yield event

    def _thought(self, words: str) -> Iterator[Object]:
        if self._open != "thinking":
            yield from self._over()
            yield self._begin({"type": "thinking", "thinking": "", "signature": ""})
        yield self._delta({"type": "thinking_delta", "thinking": words})

    def _said(self, text: str) -> Iterator[Object]:
        if self._open != "text":
            yield from self._over()
            yield self._begin({"type": "text", "text": ""})
        if text:
            yield self._delta({"type": "text_delta", "text": text})

    def _done(self, done: ChoiceDone, state: ChoiceText) -> Iterator[Object]:
        completion = done.completion
        if self._open != "text" and not completion.tool_calls:
            yield from self._said("")
        for words in self._late:
            yield from self._thought(words)
        for call in completion.tool_calls:
            yield from self._over()
            block = _tool_use(self.active, call)
            yield self._begin({**block, "input": {}})
            yield self._delta({"type": "input_json_delta", "partial_json": json.dumps(block["input"])})
        yield from self._over()
        delta = _stop(completion, state.stopping)
        podium = podium_object(self.active.run, completion, self.active.admission.budget, self.active.told_session)
        yield {"type": "message_delta", "delta": delta, "usage": _usage(answer_usage([completion])), "podium": podium}
        yield {"type": "message_stop"}

    def _begin(self, block: Object) -> Object:
        self._index, self._open = self._index + 1, block["type"]
        return {"type": "content_block_start", "index": self._index, "content_block": block}

    def _delta(self, delta: Object) -> Object:
        return {"type": "content_block_delta", "index": self._index, "delta": delta}

    def _over(self) -> Iterator[Object]:
        if self._open == "thinking":
            yield self._delta({"type": "signature_delta", "signature": _signature(self.active)})
        if self._open:
            yield {"type": "content_block_stop", "index": self._index}
        self._open = ""


def _head(active: ActiveRequest) -> Object:
    run = active.run.removeprefix("run_")
    return {"id": f"msg_{run}", "type": "message", "role": "assistant", "model": active.model}


def _signature(active: ActiveRequest) -> str:
    return f"podium:{active.run}"


def _tool_use(active: ActiveRequest, call: ToolCall) -> Object:
    """A call of the client's tool, by the name the client gave it. Arguments that are no JSON object are put into one.

    So are those that a client could not read (``NaN``), or not send back as they are nested too deep.
    """
    try:
        given = json.loads(call.arguments or "{}", parse_constant=_no_json)
    except (ValueError, RecursionError):
        given = call.arguments
    if not is_shallow(given):
        given = call.arguments
    name = active.parsed.tools.get(call.name, Named(name=call.name)).name
    return {"type": "tool_use", "id": call.id, "name": name, "input": given if isinstance(given, dict) else {"input": given}}


def _no_json(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")


def _stop(completion: Completion, stopping: StopSequences) -> Object:
    if completion.tool_calls:
        return {"stop_reason": "tool_use", "stop_sequence": None}
    if stopping.stopped:
        return {"stop_reason": "stop_sequence", "stop_sequence": stopping.found}
    return {"stop_reason": _REASONS.get(completion.finish_reason, "end_turn"), "stop_sequence": None}


def _usage(usage: Usage) -> Object:
    """Tokens as Anthropic counts them: what was read from the cache is no part of ``input_tokens``."""
    return {
        "input_tokens": usage.prompt_tokens - usage.cached_tokens,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": usage.cached_tokens,
        "output_tokens": usage.completion_tokens,
    }
