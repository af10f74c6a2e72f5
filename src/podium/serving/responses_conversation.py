"""A request for a response -> the call a Conductor answers."""

from collections.abc import Sequence

from podium.errors import ConfigError
from podium.serving.conversation import ParsedRequest, checked, chosen, consistent, turn_of
from podium.serving.responses_requests import (
    Item,
    ResponsesAllowed,
    ResponsesCall,
    ResponsesChoice,
    ResponsesCompaction,
    ResponsesCustomCall,
    ResponsesHostedItem,
    ResponsesHostedTool,
    ResponsesMessage,
    ResponsesMoreTools,
    ResponsesReference,
    ResponsesRequest,
    ResponsesResult,
)
from podium.serving.summaries import SUMMARY_HEAD, opened_summary
from podium.serving.toolbox import Toolbox, flat_name, schema_text
from podium.types import Call, Message, ResponseOptions, Sampling, ToolCall


def of_responses(request: ResponsesRequest, before: Sequence[Message] = (), *, stores: bool = False) -> ParsedRequest:
    """``before`` is what was said until then (``previous_response_id``); ``stores``: whether the response is to be kept.

    Raises :class:`ConfigError` where the conversation can not be asked.
    """
    if request.background:
        raise ConfigError("background: answers are given while one waits; leave it out")
    box = Toolbox()
    box.add(request.tools or ())
    turns = [] if request.instructions is None else [Message(role="system", content=request.instructions)]
    turns += [*before, *said_turns(request.input, box)]
    choice = _choice(request, box)
    form = request.text.format if request.text is not None else None
    response_options = ResponseOptions(
        sampling=Sampling(temperature=request.temperature, top_p=request.top_p, max_tokens=request.max_output_tokens),
        tools=tuple(box.tools),
        tool_choice=choice,
        one_tool_call=request.parallel_tool_calls is False,
        response_format=None if form is None or form.type == "text" else schema_text(form.schema_ or {}),
        effort=None if request.reasoning is None else request.reasoning.effort,
    )
    return ParsedRequest(
        model=request.model,
        call=Call(question=checked(merged(turns)), response_options=consistent(response_options)),
        options=request.podium,
        stream=bool(request.stream),
        ignored=tuple(dict.fromkeys((*request.ignored, *box.ignored))),
        tools=box.named,
        stores=stores,
        session=request.prompt_cache_key or "",
        previous=request.previous_response_id,
        has_instructions=request.instructions is not None,
    )


def said_turns(items: str | Sequence[Item], box: Toolbox) -> list[Message]:
    """``input`` as turns; tools that come up in it go into ``box``."""
    if isinstance(items, str):
        return [Message(role="user", content=items)]
    turns = []
    for index, item in enumerate(items):
        match item:
            case ResponsesMessage():
                role = "system" if item.role == "developer" else item.role
                turns.append(turn_of(item.content, f"input[{index}]").message(role))
            case ResponsesCall():
                turns.append(_called(item.call_id, flat_name(item.name, item.namespace), item.arguments))
            case ResponsesCustomCall():
                arguments = schema_text({"input": item.input})
                turns.append(_called(item.call_id, flat_name(item.name, item.namespace), arguments))
            case ResponsesResult():
                turns.append(turn_of(item.output, f"input[{index}]").message("tool", tool_call_id=item.call_id))
            case ResponsesMoreTools():
                box.add(item.tools)
            case ResponsesReference():
                raise ConfigError(f"input[{index}] is an item_reference to what is not kept, or no more; send the item itself")
            case ResponsesCompaction():
                summary = opened_summary(item.encrypted_content or "")
                if summary is None:
                    box.ignored.append(f"input.{item.type}")
                else:
                    turns.append(Message(role="user", content=f"{SUMMARY_HEAD}{summary}"))
            case ResponsesHostedItem():
                box.ignored.append(f"input.{item.type}")
            case _:
                pass  # reasoning: what this server said itself
    return turns


def _called(call_id: str, name: str, arguments: str) -> Message:
    return Message(role="assistant", content="", tool_calls=(ToolCall(id=call_id, name=name, arguments=arguments),))


def _choice(request: ResponsesRequest, box: Toolbox) -> str:
    choice = request.tool_choice
    if isinstance(choice, ResponsesAllowed):
        box.only(choice)
        return choice.mode
    if isinstance(choice, ResponsesHostedTool):
        raise ConfigError(f"tool_choice: {choice.type} is not served here")
    if isinstance(choice, ResponsesChoice):
        return chosen(flat_name(choice.name, choice.namespace))
    return choice or "auto"


def merged(turns: Sequence[Message]) -> tuple[Message, ...]:
    """Calls that were made at once are one turn, with what was said beside them, and results stand right behind their calls.

    Items may come in another order: a message of the user's, say, that was written while a tool ran.
    """
    merged: list[Message] = []
    for turn in turns:
        last = merged[-1] if merged else None
        if turn.role == "tool":
            merged.insert(_behind_call(merged, turn.tool_call_id), turn)
        elif turn.role == "assistant" and last is not None and last.role == "assistant" and (turn.tool_calls or last.tool_calls):
            said = "\n\n".join(each.content for each in (last, turn) if each.content)
            merged[-1] = Message(role="assistant", content=said, tool_calls=(*last.tool_calls, *turn.tool_calls))
        else:
            merged.append(turn)
    return tuple(merged)


def _behind_call(turns: Sequence[Message], call_id: str) -> int:
    """Where the result of ``call_id`` belongs: behind the newest turn that made this call, and behind the results there."""
    for index in range(len(turns) - 1, -1, -1):
        if any(call.id == call_id for call in turns[index].tool_calls):
            behind = (place for place in range(index + 1, len(turns)) if turns[place].role != "tool")
            return next(behind, len(turns))
    return len(turns)
