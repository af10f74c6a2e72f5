"""A request -> the call a Conductor answers: the whole conversation, and what is demanded of the last step."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from podium.errors import ConfigError
from podium.serving.offer import Wishes
from podium.serving.requests import (
    ChatRequest,
    Extension,
    FormBody,
    MessageBody,
    ResponsesCall,
    ResponsesMessage,
    ResponsesRequest,
    ResponsesResult,
    TextPart,
    ToolCallBody,
    ToolChoiceBody,
)
from podium.types import Call, Demands, Message, Sampling, Tool, ToolCall


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A request, understood."""

    model: str
    call: Call
    wishes: Wishes
    choices: int = 1
    stream: bool = False
    include_usage: bool = False


def of_chat(request: ChatRequest) -> Asked:
    """Raises :class:`ConfigError` where the conversation can not be asked."""
    question = tuple(_message(message, index) for index, message in enumerate(request.messages))
    demands = Demands(
        sampling=Sampling(
            temperature=request.temperature,
            top_p=request.top_p,
            max_tokens=request.max_completion_tokens if request.max_tokens is None else request.max_tokens,
            seed=request.seed,
        ),
        stop=_stops(request.stop),
        tools=tuple(
            _tool(tool.function.name, tool.function.description, tool.function.parameters, tool.function.strict)
            for tool in request.tools or ()
        ),
        tool_choice=_choice(
            request.tool_choice.function.name if isinstance(request.tool_choice, ToolChoiceBody) else request.tool_choice
        ),
        form=_form(request.response_format),
    )
    return Asked(
        model=request.model,
        call=Call(question=_checked(question), demands=_consistent(demands)),
        wishes=wishes(request.podium),
        choices=request.n or 1,
        stream=bool(request.stream),
        include_usage=request.stream_options is not None and request.stream_options.include_usage,
    )


def of_responses(request: ResponsesRequest) -> Asked:
    """Raises :class:`ConfigError` where the conversation can not be asked."""
    if request.previous_response_id is not None:
        raise ConfigError("previous_response_id: this server keeps no conversations; send the whole of it as input")
    if request.background:
        raise ConfigError("background: answers are given while one waits; leave it out")
    turns = [] if request.instructions is None else [Message(role="system", content=request.instructions)]
    if isinstance(request.input, str):
        turns.append(Message(role="user", content=request.input))
    else:
        for item in request.input:
            if isinstance(item, ResponsesMessage):
                role = "system" if item.role == "developer" else item.role
                turns.append(Message(role=role, content=_text(item.content)))
            elif isinstance(item, ResponsesCall):
                called = ToolCall(id=item.call_id, name=item.name, arguments=item.arguments)
                turns.append(Message(role="assistant", content="", tool_calls=(called,)))
            elif isinstance(item, ResponsesResult):
                turns.append(Message(role="tool", content=item.output, tool_call_id=item.call_id))
    form = request.text.format if request.text is not None else None
    choice = request.tool_choice
    demands = Demands(
        sampling=Sampling(temperature=request.temperature, top_p=request.top_p, max_tokens=request.max_output_tokens),
        tools=tuple(_tool(tool.name, tool.description, tool.parameters, tool.strict) for tool in request.tools or ()),
        tool_choice=_choice(choice.name if choice is not None and not isinstance(choice, str) else choice),
        form=None if form is None or form.type == "text" else _schema(form.schema_ or {}),
    )
    return Asked(
        model=request.model,
        call=Call(question=_checked(_merged(turns)), demands=_consistent(demands)),
        wishes=wishes(request.podium),
        stream=bool(request.stream),
    )


def wishes(extension: Extension) -> Wishes:
    """The extension object as the offer takes it."""
    return Wishes(
        workers=extension.workers,
        without=extension.without,
        policy=extension.policy,
        rounds=extension.rounds,
        usd=extension.budget_usd,
        seconds=extension.budget_seconds,
    )


def _message(message: MessageBody, index: int) -> Message:
    role = "system" if message.role == "developer" else message.role
    text = _text(message.content)
    if role == "tool":
        if not message.tool_call_id:
            raise ConfigError(f"messages[{index}] is the result of a tool and names no tool_call_id")
        return Message(role="tool", content=text, tool_call_id=message.tool_call_id)
    calls = tuple(_call(call) for call in message.tool_calls or ())
    if calls and role != "assistant":
        raise ConfigError(f"messages[{index}] has tool_calls, which only an assistant's turn has")
    if not text and not calls and role != "assistant":
        raise ConfigError(f"messages[{index}] has no content")
    return Message(role=role, content=text, tool_calls=calls)


def _call(body: ToolCallBody) -> ToolCall:
    return ToolCall(id=body.id, name=body.function.name, arguments=body.function.arguments)


def _text(content: str | Sequence[TextPart] | None) -> str:
    text = content if isinstance(content, str) else "".join(part.text or part.refusal for part in content or ())
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ConfigError(f"a message holds half of a surrogate pair ({error.reason}); send whole characters") from error
    return text


def _merged(turns: Sequence[Message]) -> tuple[Message, ...]:
    """Calls that were made at once are one turn."""
    merged: list[Message] = []
    for turn in turns:
        if turn.tool_calls and merged and merged[-1].role == "assistant":
            last = merged.pop()
            turn = Message(role="assistant", content=last.content, tool_calls=(*last.tool_calls, *turn.tool_calls))
        merged.append(turn)
    return tuple(merged)


def _checked(question: tuple[Message, ...]) -> tuple[Message, ...]:
    """A conversation ends with what is to be answered, and every tool result with its call before it."""
    if not question or question[-1].role not in ("user", "tool"):
        raise ConfigError("the conversation ends with a message of the user, or with the results of tools")
    known: set[str] = set()
    for index, message in enumerate(question):
        known |= {call.id for call in message.tool_calls}
        if message.role == "tool" and message.tool_call_id not in known:
            raise ConfigError(f"messages[{index}] is the result of {message.tool_call_id!r}, which no assistant's turn called")
    return question


def _consistent(demands: Demands) -> Demands:
    names = [tool.name for tool in demands.tools]
    if len(set(names)) < len(names):
        raise ConfigError("two tools have the same name")
    if demands.tool_choice not in ("auto", "none", *names):
        if demands.tool_choice == "required" and names:
            return demands
        raise ConfigError(f"tool_choice: there is no tool {demands.tool_choice!r} in this request")
    return demands


def _stops(stop: str | tuple[str, ...] | None) -> tuple[str, ...]:
    stops = (stop,) if isinstance(stop, str) else stop or ()
    if "" in stops:
        raise ConfigError("stop: an empty text stops every answer before it begins")
    return tuple(stops)


def _choice(choice: str | None) -> str:
    return choice or "auto"


def _tool(name: str, description: str | None, parameters: dict[str, object] | None, strict: bool | None) -> Tool:
    schema = parameters or {"type": "object", "properties": {}}
    return Tool(name=name, description=_text(description), parameters=_schema(schema), strict=strict)


def _form(form: FormBody | None) -> str | None:
    if form is None or form.type == "text":
        return None
    if form.type == "json_object":
        return "{}"
    if form.json_schema is None:
        raise ConfigError("response_format: json_schema is missing")
    return _schema(form.json_schema.schema_)


def _schema(schema: dict[str, object]) -> str:
    try:
        return json.dumps(schema, sort_keys=True, allow_nan=False)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"a JSON schema can not be written as JSON: {error}") from error
