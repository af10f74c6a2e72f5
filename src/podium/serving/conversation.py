"""A request -> the call a Conductor answers: the whole conversation, and the response options of the last step."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from podium.errors import ConfigError
from podium.request_options import RequestOptions
from podium.serving.bodies import FilePart, InputFilePart, InputPicturePart, Part, PicturePart, TextPart
from podium.serving.parts import Turn
from podium.serving.requests import (
    AllowedToolsChoice,
    ChatRequest,
    FormBody,
    MessageBody,
    ToolCallBody,
    ToolChoiceBody,
)
from podium.serving.toolbox import Named, kept_only, schema_text, tool_of
from podium.types import Call, Message, ResponseOptions, Sampling, ToolCall


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedRequest:
    """A request, understood."""

    model: str
    call: Call
    options: RequestOptions
    choices: int = 1
    stream: bool = False
    include_usage: bool = False
    ignored: tuple[str, ...] = ()
    """What the client asked for and does not get; the answer's header names it."""
    tools: Mapping[str, Named] = field(default_factory=dict)
    """Tools that the client calls otherwise than the worker does, by the worker's names."""
    shows_steps: bool = True
    """Whether the client wants to be told of the steps before the answer."""
    stores: bool = False
    """Whether the response is kept, to be gone on from by its id."""
    previous: str | None = None
    """The kept response that it goes on from."""
    has_instructions: bool = False
    """Whether the first turn is not a part of what is kept."""
    session: str = ""
    """What the client calls its session in the body (:mod:`podium.serving.sessions`)."""
    task: str = ""
    """What small thing is wanted that clients slip in (:mod:`podium.serving.tasks`); empty: the user asks."""


def of_chat(request: ChatRequest) -> ParsedRequest:
    """Raises :class:`ConfigError` where the conversation can not be asked."""
    question = tuple(_message(message, index) for index, message in enumerate(request.messages))
    tools = [
        tool_of(tool.function.name, tool.function.description, tool.function.parameters, tool.function.strict)
        for tool in request.tools or ()
    ]
    choice: str = "auto"
    if isinstance(request.tool_choice, AllowedToolsChoice):
        allowed = request.tool_choice.allowed_tools
        choice, tools = allowed.mode, kept_only(tools, {tool.function.name for tool in allowed.tools})
    elif isinstance(request.tool_choice, ToolChoiceBody):
        choice = chosen(request.tool_choice.function.name)
    elif request.tool_choice is not None:
        choice = request.tool_choice
    response_options = ResponseOptions(
        sampling=Sampling(
            temperature=request.temperature,
            top_p=request.top_p,
            max_tokens=request.max_completion_tokens if request.max_tokens is None else request.max_tokens,
            seed=request.seed,
        ),
        stop=checked_stops(request.stop),
        tools=tuple(tools),
        tool_choice=choice,
        one_tool_call=request.parallel_tool_calls is False,
        response_format=_form(request.response_format),
        effort=request.reasoning_effort,
    )
    return ParsedRequest(
        model=request.model,
        call=Call(question=checked(question), response_options=consistent(response_options)),
        options=request.podium,
        choices=request.n or 1,
        stream=bool(request.stream),
        include_usage=request.stream_options is not None and request.stream_options.include_usage,
        ignored=request.ignored,
        session=request.prompt_cache_key or "",
    )


def _message(message: MessageBody, index: int) -> Message:
    role = "system" if message.role == "developer" else message.role
    turn = turn_of(message.content, f"messages[{index}]")
    if role == "tool":
        if not message.tool_call_id:
            raise ConfigError(f"messages[{index}] is the result of a tool and names no tool_call_id")
        return turn.message("tool", tool_call_id=message.tool_call_id)
    calls = tuple(_call(call) for call in message.tool_calls or ())
    if calls and role != "assistant":
        raise ConfigError(f"messages[{index}] has tool_calls, which only an assistant's turn has")
    said = turn.message(role, tool_calls=calls)
    if not said.content and not said.attachments and not calls and role != "assistant":
        raise ConfigError(f"messages[{index}] has no content")
    return said


def _call(body: ToolCallBody) -> ToolCall:
    return ToolCall(id=body.id, name=body.function.name, arguments=body.function.arguments)


def turn_of(content: str | Sequence[Part] | None, place: str) -> Turn:
    """A message's content, read."""
    turn = Turn(place)
    if isinstance(content, str):
        turn.say(content)
        return turn
    for part in content or ():
        match part:
            case TextPart():
                turn.say(part.text or part.refusal)
                turn.mark(part.cache_control)
            case PicturePart():
                turn.show(part.image_url.url, part.image_url.detail or "")
                turn.mark(part.cache_control)
            case InputPicturePart():
                turn.show(_given(part.image_url, place), part.detail or "")
            case FilePart():
                turn.attach_url(_given(part.file.file_data, place), part.file.filename or "")
                turn.mark(part.cache_control)
            case InputFilePart():
                turn.attach_url(_given(part.file_data, place), part.filename or "")
    return turn


def _given(address: str | None, place: str) -> str:
    if address is None:
        raise ConfigError(f"{place}: a picture or file comes along as a data: URL; none is kept here to be named by its id")
    return address


def checked(question: tuple[Message, ...]) -> tuple[Message, ...]:
    """The conversation, if it ends with what is to be answered and every tool call has its result behind it.

    Providers take nothing else, and a result that is missing would have the question planned, and paid for, anew.
    """
    if not question or question[-1].role == "assistant":
        raise ConfigError("the conversation ends with a message of the user, or with the results of tools")
    called: set[str] = set()
    missing: dict[str, None] = {}
    for message in question:
        if message.role == "tool":
            if message.tool_call_id not in called:
                raise ConfigError(
                    f"there is a result of {message.tool_call_id!r}, which the assistant's turn before it did not call"
                )
            missing.pop(message.tool_call_id, None)
            continue
        _all_there(missing)
        missing = {}
        for call in message.tool_calls:
            if call.id in missing:
                raise ConfigError(f"two tool calls of one turn have the id {call.id!r}: no result would say whose it is")
            missing[call.id] = None
        called = {*missing}
    _all_there(missing)
    return question


def _all_there(missing: Collection[str]) -> None:
    if missing:
        named = ", ".join(repr(call_id) for call_id in missing)
        raise ConfigError(f"no result of {named}: send one for every tool call of a turn, before anything else is said")


def consistent(response_options: ResponseOptions) -> ResponseOptions:
    """The options, if no two tools have one name and the chosen one is there. Raises :class:`ConfigError`."""
    names = [tool.name for tool in response_options.tools]
    if len(set(names)) < len(names):
        raise ConfigError("two tools have the same name")
    if response_options.tool_choice == "required":
        if not names:
            raise ConfigError("tool_choice is required, and of the tools in this request there is none that can be called here")
    elif response_options.tool_choice not in ("auto", "none", *names):
        raise ConfigError(f"tool_choice: there is no tool {response_options.tool_choice!r} in this request")
    return response_options


def chosen(name: str) -> str:
    """The tool that has to be called. Raises :class:`ConfigError` for a name that means something else as a choice."""
    if name in ("auto", "none", "required"):
        raise ConfigError(f"tool_choice: a tool that is called {name!r} can not be demanded by its name; rename it")
    return name


def checked_stops(stop: str | tuple[str, ...] | None) -> tuple[str, ...]:
    """Stop texts as a tuple. Raises :class:`ConfigError` for an empty one."""
    stops = (stop,) if isinstance(stop, str) else stop or ()
    if "" in stops:
        raise ConfigError("stop: an empty text stops every answer before it begins")
    return tuple(stops)


def _form(form: FormBody | None) -> str | None:
    if form is None or form.type == "text":
        return None
    if form.type == "json_object":
        return "{}"
    if form.json_schema is None:
        raise ConfigError("response_format: json_schema is missing")
    return schema_text(form.json_schema.schema_)
