"""OpenAI JSON <-> Call and Completion: what a chat request of the gym server may say, and what a reply looks like.

Requests are hostile input: every field that is used is checked, and what would change the answer but is not supported
(tools, response formats, pictures) is refused rather than ignored.
"""

import json
from dataclasses import dataclass
from typing import Any

from podium.types import Call, Completion, Message, Sampling, Usage

MAX_CHOICES = 16
"""Largest ``n`` that is honoured."""

_ROLES = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant"}
_REFUSED = ("tools", "functions", "response_format", "audio", "prediction")


class BadRequest(Exception):
    """The request can not be carried out; becomes an OpenAI error object with this status."""

    def __init__(self, message: str, *, status: int = 400, param: str | None = None, code: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.param = param
        self.code = code


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequest:
    """A chat request, checked. Example: ``read_request(b'{"model": "atlas", "messages": [...]}')``."""

    model: str
    messages: tuple[Message, ...]
    sampling: Sampling
    seed: int | None
    choices: int
    stream: bool
    include_usage: bool

    def call(self, choice: int) -> Call:
        """The call for one of the choices; ``seed`` is the sample, and further choices are further samples."""
        sample = () if self.seed is None else (self.seed,)
        return Call(question=self.messages, sampling=self.sampling, sample=(*sample, choice) if choice else sample)


def read_request(body: bytes) -> ChatRequest:
    """Check a request body. Raises :class:`BadRequest`."""
    try:
        data = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise BadRequest("the body is not JSON") from error
    if not isinstance(data, dict):
        raise BadRequest("the body is not a JSON object")
    for name in _REFUSED:
        if data.get(name) is not None and data[name] != {"type": "text"}:
            raise BadRequest(f"{name} is not supported by the gym", param=name)
    options = _optional(data, "stream_options", dict) or {}
    model = _optional(data, "model", str)
    if model is None:
        raise BadRequest("model is missing", param="model")
    limits = [_whole(data, name, 1, 10**9) for name in ("max_completion_tokens", "max_tokens")]
    return ChatRequest(
        model=model,
        messages=_messages(data.get("messages")),
        sampling=Sampling(max_tokens=next((limit for limit in limits if limit is not None), None)),
        seed=_whole(data, "seed", -(2**63), 2**63 - 1),
        choices=_whole(data, "n", 1, MAX_CHOICES) or 1,
        stream=bool(_optional(data, "stream", bool)),
        include_usage=options.get("include_usage") is True,
    )


def _optional(data: dict[str, Any], name: str, kind: type) -> Any:
    value = data.get(name)
    if value is not None and not isinstance(value, kind):
        raise BadRequest(f"{name} is not of type {kind.__name__}", param=name)
    return value


def _whole(data: dict[str, Any], name: str, low: int, high: int) -> int | None:
    value = data.get(name)
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise BadRequest(f"{name} is a whole number from {low} to {high}", param=name)
    return value


def _messages(items: Any) -> tuple[Message, ...]:
    if not isinstance(items, list) or not items:
        raise BadRequest("messages is a list of at least one message", param="messages")
    messages = []
    for i, item in enumerate(items):
        role = item.get("role") if isinstance(item, dict) else None
        if not isinstance(role, str) or role not in _ROLES:
            raise BadRequest(f"messages[{i}] has no role among {', '.join(_ROLES)}", param=f"messages[{i}].role")
        messages.append(Message(role=_ROLES[role], content=_text(item.get("content"), i)))  # type: ignore[arg-type]
    return tuple(messages)


def _text(content: Any, index: int) -> str:
    """A message's content: a string, or a list of text parts, which are joined as they are."""
    if isinstance(content, str):
        return content
    if isinstance(content, list) and all(
        isinstance(part, dict) and part.get("type") == "text" and isinstance(part.get("text"), str) for part in content
    ):
        return "".join(part["text"] for part in content)
    raise BadRequest(f"messages[{index}].content is neither a text nor a list of texts", param=f"messages[{index}].content")


def completion_object(request: ChatRequest, completions: list[Completion], identity: str, created: int) -> dict[str, Any]:
    """The JSON object of a whole reply."""
    return {
        "id": identity,
        "object": "chat.completion",
        "created": created,
        "model": request.model,
        "choices": [
            {
                "index": i,
                "message": {"role": "assistant", "content": completion.text, "refusal": None},
                "finish_reason": completion.finish_reason,
                "logprobs": None,
            }
            for i, completion in enumerate(completions)
        ],
        "usage": usage_object(billed(completions)),
    }


def chunk_objects(request: ChatRequest, completions: list[Completion], identity: str, created: int) -> list[dict[str, Any]]:
    """The JSON objects of a streamed reply: role, pieces of text, finish reason, and the usage where it was asked for."""
    head = {"id": identity, "object": "chat.completion.chunk", "created": created, "model": request.model}
    # With include_usage every other chunk carries a null usage, as the API documents it.
    tail = {"usage": None} if request.include_usage else {}

    def chunk(index: int, delta: dict[str, str], finish_reason: str | None = None) -> dict[str, Any]:
        choice = {"index": index, "delta": delta, "finish_reason": finish_reason, "logprobs": None}
        return {**head, "choices": [choice], **tail}

    chunks = []
    for i, completion in enumerate(completions):
        chunks.append(chunk(i, {"role": "assistant", "content": ""}))
        chunks += [chunk(i, {"content": line}) for line in completion.text.splitlines(keepends=True)]
        chunks.append(chunk(i, {}, completion.finish_reason))
    if request.include_usage:
        chunks.append({**head, "choices": [], "usage": usage_object(billed(completions))})
    return chunks


def billed(completions: list[Completion]) -> Usage:
    """What a reply costs: prompt and text of every choice, each of which is a call of its own."""
    return Usage.total(completion.usage for completion in completions)


def usage_object(usage: Usage) -> dict[str, int]:
    """Token counts as the API names them."""
    return {
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "total_tokens": usage.tokens,
    }


def error_object(message: str, *, kind: str, param: str | None = None, code: str | None = None) -> dict[str, Any]:
    """An error as the API writes it."""
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}
