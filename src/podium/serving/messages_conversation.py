"""A request of the Messages API -> the call a Conductor answers."""

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from podium.errors import ConfigError
from podium.serving.conversation import ParsedRequest, checked, checked_stops, chosen, consistent
from podium.serving.messages_requests import (
    Block,
    CacheControl,
    CountRequest,
    DocumentBlock,
    ImageBlock,
    MessagesChoice,
    MessagesRequest,
    MessagesTool,
    ResultPart,
    SearchResultBlock,
    ServerBlock,
    TextBlock,
    ToolResultBlock,
    ToolUseBlock,
)
from podium.serving.parts import Turn, ttl_of
from podium.serving.toolbox import Named, schema_text, short_name, tool_of
from podium.types import CachePoint, Call, Effort, Message, ResponseOptions, Sampling, Tool, ToolCall
from podium.workers.efforts import effort


def of_messages(request: CountRequest) -> ParsedRequest:
    """Raises :class:`ConfigError` where the conversation can not be asked."""
    reading = _Reading()
    turns: list[Message] = []
    if request.system:
        turns.append(reading.turn(request.system, "system").message("system"))
    for index, turn in enumerate(request.messages):
        turns += reading.turns(turn.role, turn.content, f"messages[{index}]")
    if request.cache_control is not None and turns:
        turns[-1] = _kept_to_the_end(turns[-1], request.cache_control)
    asks = request if isinstance(request, MessagesRequest) else None
    response_options = ResponseOptions(
        sampling=Sampling(
            temperature=request.temperature, top_p=request.top_p, max_tokens=None if asks is None else asks.max_tokens
        ),
        stop=() if asks is None else checked_stops(asks.stop_sequences),
        tools=tuple(reading.offered(request)),
        tool_choice=_choice(request.tool_choice),
        one_tool_call=request.tool_choice is not None and request.tool_choice.disable_parallel_tool_use,
        response_format=_form(request),
        effort=_effort(request),
        cache_tools=reading.tools_kept,
    )
    return ParsedRequest(
        model=request.model,
        call=Call(question=checked(_merged(turns)), response_options=consistent(response_options)),
        options=request.podium,
        stream=bool(request.stream),
        ignored=tuple(dict.fromkeys((*request.ignored, *reading.ignored))),
        tools=reading.named,
        session="" if asks is None or asks.metadata is None else _session_in(asks.metadata.user_id or ""),
        shows_steps=request.thinking is not None
        and request.thinking.type != "disabled"
        and request.thinking.display != "omitted",
    )


class _Reading:
    """What is collected on the way."""

    def __init__(self) -> None:
        self.ignored: list[str] = []
        self.named: dict[str, Named] = {}
        self.tools_kept: Literal["", "5m", "1h"] = ""

    def offered(self, request: CountRequest) -> list[Tool]:
        tools = []
        for tool in request.tools or ():
            if not isinstance(tool, MessagesTool):
                self.ignored.append(f"tools.{tool.type}")
                continue
            name = short_name(tool.name)
            if name != tool.name:
                self.named[name] = Named(name=tool.name)
            if tool.cache_control is not None:
                self.tools_kept = ttl_of(tool.cache_control.model_dump())
            tools.append(tool_of(name, tool.description, tool.input_schema, tool.strict))
        return tools

    def turns(self, role: str, content: str | Sequence[Block], place: str) -> list[Message]:
        """One turn of theirs is one or more of ours: results of tools are turns of their own, before what the user says."""
        blocks = [TextBlock(type="text", text=content)] if isinstance(content, str) else content
        results = [self._result(block, place) for block in blocks if isinstance(block, ToolResultBlock)]
        if results and role != "user":
            raise ConfigError(f"{place}: a tool_result belongs into a turn of the user")
        calls = tuple(self._call(block) for block in blocks if isinstance(block, ToolUseBlock))
        if calls and role != "assistant":
            raise ConfigError(f"{place}: a tool_use belongs into a turn of the assistant")
        rest = self.turn([block for block in blocks if not isinstance(block, ToolResultBlock | ToolUseBlock)], place)
        if role == "assistant":
            return [rest.message("assistant", tool_calls=calls)]
        said = rest.message("system" if role == "system" else "user")
        if results and said.content and all(_is_reminder(block) for block in blocks if not isinstance(block, ToolResultBlock)):
            return [*results[:-1], _joined(results[-1], said)]
        if said.content or said.attachments:
            return [*results, said]
        if not results:
            raise ConfigError(f"{place} has no content")
        return results

    def turn(self, content: str | Sequence[Block] | Sequence[ResultPart] | Sequence[TextBlock], place: str) -> Turn:
        """Text, pictures and files, one after another."""
        turn = Turn(place)
        if isinstance(content, str):
            turn.say(content)
            return turn
        for block in content:
            match block:
                case TextBlock():
                    turn.say(block.text)
                case ImageBlock():
                    self._picture(block, turn)
                case DocumentBlock():
                    self._document(block, turn)
                case SearchResultBlock():
                    turn.quote("\n".join(part.text for part in block.content), f"{block.title} ({block.source})")
                case ServerBlock():
                    self.ignored.append(f"messages.{block.type[:100]}" if block.type.isascii() else "messages")
                case _:
                    continue  # thinking: what was said before an answer
            control = getattr(block, "cache_control", None)
            if control is not None:
                turn.mark(control.model_dump())
        return turn

    def _result(self, block: ToolResultBlock, place: str) -> Message:
        turn = Turn(place)
        if block.is_error:
            turn.say("(the tool failed)\n")
        turn.join(self.turn(block.content, place))
        if block.cache_control is not None:
            turn.mark(block.cache_control.model_dump())
        return turn.message("tool", tool_call_id=block.tool_use_id)

    def _call(self, block: ToolUseBlock) -> ToolCall:
        if block.cache_control is not None:
            self.ignored.append("messages.tool_use.cache_control")
        return ToolCall(id=block.id, name=short_name(block.name), arguments=schema_text(block.input))

    def _picture(self, block: ImageBlock, turn: Turn) -> None:
        match block.source.type:
            case "base64":
                turn.attach(block.source.media_type, block.source.data)
            case "url":
                turn.show(block.source.url)
            case _:
                raise ConfigError(f"{turn.place}: a picture is base64 or has a url; no files are kept here")

    def _document(self, block: DocumentBlock, turn: Turn) -> None:
        if block.context:
            turn.say(f"{block.context}\n")
        source, title = block.source, block.title or ""
        match source.type:
            case "base64":
                turn.attach(source.media_type, source.data, name=title)
            case "text":
                turn.quote(source.data, title)
            case "content":
                parts = source.content
                turn.quote(parts if isinstance(parts, str) else "\n".join(part.text for part in parts), title)
            case _:
                raise ConfigError(f"{turn.place}: a document comes along as base64 or text; this server opens no addresses")


def _is_reminder(block: Block) -> bool:
    """Whether an agent says this and no user: Claude Code puts such blocks beside what its tools return."""
    text = block.text.strip() if isinstance(block, TextBlock) else ""
    return text.startswith("<system-reminder>") and text.endswith("</system-reminder>")


def _joined(result: Message, said: Message) -> Message:
    """``result`` with what was said beside it, so that nobody takes it for a new turn of the user's."""
    head = f"{result.content}\n\n"
    marks = (replace(mark, at=mark.at + len(head)) for mark in said.cache_points)
    return replace(result, content=head + said.content, cache_points=(*result.cache_points, *marks))


def _merged(turns: Sequence[Message]) -> tuple[Message, ...]:
    """Turns of the assistant that follow each other are one."""
    merged: list[Message] = []
    for turn in turns:
        last = merged[-1] if merged else None
        if last is not None and last.role == turn.role == "assistant":
            said = "\n\n".join(each.content for each in (last, turn) if each.content)
            merged[-1] = Message(role="assistant", content=said, tool_calls=(*last.tool_calls, *turn.tool_calls))
        else:
            merged.append(turn)
    return tuple(merged)


def _kept_to_the_end(message: Message, control: CacheControl) -> Message:
    mark = CachePoint(at=len(message.content), ttl=ttl_of(control.model_dump()))
    return replace(message, cache_points=(*message.cache_points, mark))


def _session_in(user_id: str) -> str:
    """The session that agents write into the user's id, at its end or as a field of JSON; "" where there is none."""
    found = re.search(r"session_([0-9A-Za-z-]{8,100})$", user_id)
    if found is not None:
        return found[1]
    try:
        read = json.loads(user_id)
    except (ValueError, RecursionError):
        return ""
    session = read.get("session_id") if isinstance(read, dict) else None
    return session if isinstance(session, str) else ""


def _choice(choice: MessagesChoice | None) -> str:
    if choice is None or choice.type == "auto":
        return "auto"
    if choice.type == "tool":
        if choice.name is None:
            raise ConfigError("tool_choice names no tool")
        return chosen(short_name(choice.name))
    return "required" if choice.type == "any" else "none"


def _form(request: CountRequest) -> str | None:
    form = None if request.output_config is None else request.output_config.format
    return None if form is None else schema_text(form.schema_)


def _effort(request: CountRequest) -> Effort | None:
    """How much thinking is wanted; a budget in tokens is taken for the level that grants it: the worker may have fewer."""
    if request.thinking is not None and request.thinking.type == "disabled":
        return "none"
    if request.output_config is not None and request.output_config.effort is not None:
        return request.output_config.effort
    if request.thinking is not None and request.thinking.budget_tokens:
        return effort(request.thinking.budget_tokens)
    return None
