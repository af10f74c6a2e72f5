"""Between our conversations and the adapter library's: messages, tools, the response format."""

import base64
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition

from podium.errors import ConfigError
from podium.types import Message, ResponseOptions, ToolCall
from podium.workers.chat_files import tool_return, user_content
from podium.workers.seeing import told
from podium.workers.signed import thought_and_said

ANY_OBJECT = "{}"


def library_messages(messages: Sequence[Message], provider: str, response_options: ResponseOptions) -> list[ModelMessage]:
    """One library message for each of ours, so that the adapters neither merge nor move them where the vendor allows it.

    The results of one turn's calls are one, though.
    """
    fit = _nine if provider == "mistral" else _usual
    if provider == "anthropic" and not response_options.tools:
        messages = in_words(messages)
    names = {call.id: call.name for message in messages for call in message.tool_calls}
    found: list[ModelMessage] = []
    was_tool = False
    for message in messages:
        match message.role:
            case "system":
                found.append(ModelRequest(parts=[SystemPromptPart(content=message.content)]))
            case "user":
                found.append(ModelRequest(parts=[UserPromptPart(content=user_content(message, provider))]))
            case "tool":
                returned = tool_return(message, names.get(message.tool_call_id, ""), fit(message.tool_call_id), provider)
                if was_tool:
                    # Anthropic and Google want the results of one turn's calls in one turn; and where files follow results as a
                    # turn of their own, that turn has to come behind all of them.
                    found[-1] = ModelRequest(parts=[*cast(ModelRequest, found[-1]).parts, *returned])
                else:
                    found.append(ModelRequest(parts=returned))
            case "assistant":
                called = [
                    ToolCallPart(tool_name=call.name, args=call.arguments, tool_call_id=fit(call.id))
                    for call in message.tool_calls
                ]
                said = thought_and_said(message)
                found.append(ModelResponse(parts=[*(said or ([] if called else [TextPart(content="")])), *called]))
        was_tool = message.role == "tool"
    return found


def in_words(messages: Sequence[Message]) -> list[Message]:
    """``messages`` with tool calls and results as text.

    Anthropic's API takes them as such only from a caller that may call tools, and a step before the last one may not.
    """
    names = {call.id: call.name for message in messages for call in message.tool_calls}
    found = []
    for message in messages:
        if message.role == "tool":
            message = told(message)
            said = f"(result of {names.get(message.tool_call_id, 'a tool')})\n{message.content}"
            found.append(Message(role="user", content=said))
        elif message.tool_calls:
            calls = (f"(calls {call.name} with {call.arguments})" for call in message.tool_calls)
            said = "\n".join([*filter(None, [message.content]), *calls])
            found.append(replace(message, content=said, tool_calls=(), thoughts=None))
        else:
            found.append(message)
    return found


def in_tool_loop(messages: Sequence[Message]) -> bool:
    """Whether the model's own turn before this one called tools."""
    last = next((message for message in reversed(messages) if message.role == "assistant"), None)
    return last is not None and bool(last.tool_calls)


def parameters_for(response_options: ResponseOptions) -> ModelRequestParameters | None:
    """Tools and response format for the library; None where there are none. Raises :class:`ConfigError` for a broken schema."""
    if not response_options.needs_a_chat_model:
        return None
    tools = [
        ToolDefinition(
            name=tool.name,
            description=tool.description or None,
            parameters_json_schema=_schema(tool.parameters, f"tool {tool.name!r}"),
            strict=tool.strict,
        )
        for tool in response_options.tools
    ]
    if response_options.response_format in (None, ANY_OBJECT):
        return ModelRequestParameters(function_tools=tools)
    schema = OutputObjectDefinition(
        json_schema=_schema(str(response_options.response_format), "the form of the answer"), name="answer"
    )
    return ModelRequestParameters(function_tools=tools, output_mode="native", output_object=schema)


def option_settings(response_options: ResponseOptions, provider: str, body: Mapping[str, Any]) -> ModelSettings:
    """Stop texts, the choice of tools, and the format "any JSON object"; ``body`` is what goes into the request as it is.

    Raises :class:`ConfigError` where the provider has no such format.
    """
    settings: dict[str, Any] = {}
    if response_options.stop:
        settings["stop_sequences"] = list(response_options.stop)
    if response_options.tools and response_options.tool_choice != "auto":
        scalar = response_options.tool_choice in ("none", "required")
        settings["tool_choice"] = response_options.tool_choice if scalar else [response_options.tool_choice]
    if response_options.tools and response_options.one_tool_call and provider != "google":  # which has no such setting
        settings["parallel_tool_calls"] = False
    if response_options.response_format == ANY_OBJECT:
        if provider in ("anthropic", "google"):
            raise ConfigError(f"{provider} has no form for just any JSON object; name a JSON schema")
        settings["extra_body"] = {**body, "response_format": {"type": "json_object"}}
    return cast(ModelSettings, settings)


def tool_calls_of(response: ModelResponse) -> tuple[ToolCall, ...]:
    """What the model wants run."""
    return tuple(
        ToolCall(
            id=part.tool_call_id,
            name=part.tool_name,
            arguments=part.args if isinstance(part.args, str) else part.args_as_json_str(),
        )
        for part in response.parts
        if isinstance(part, ToolCallPart)
    )


def _nine(tool_call_id: str) -> str:
    """Mistral takes ids of nine letters and digits only; a conversation brings ours, or those of another provider."""
    if len(tool_call_id) == 9 and tool_call_id.isascii() and tool_call_id.isalnum():
        return tool_call_id
    return base64.b32encode(hashlib.sha256(tool_call_id.encode("utf-8", "surrogatepass")).digest())[:9].decode("ascii")


def _usual(tool_call_id: str) -> str:
    """An id that every other provider takes: OpenAI bounds its length, Anthropic its characters."""
    if re.fullmatch(r"[A-Za-z0-9_-]{1,40}", tool_call_id) is not None:
        return tool_call_id
    return "call_" + hashlib.sha256(tool_call_id.encode("utf-8", "surrogatepass")).hexdigest()[:24]


def _schema(text: str, whose: str) -> dict[str, Any]:
    try:
        schema = json.loads(text)
    except ValueError as error:
        raise ConfigError(f"the JSON schema of {whose} is no JSON: {error}") from error
    if not isinstance(schema, dict):
        raise ConfigError(f"the JSON schema of {whose} is not an object")
    return schema
