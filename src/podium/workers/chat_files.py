"""Pictures, files and cache marks of a turn, as the adapter library takes them.

An address is handed on as it is and opened by the provider: nothing is fetched here, so no client can have this machine open one.
"""

import base64
import binascii
from typing import Any, cast

from pydantic_ai.messages import (
    BinaryContent,
    CachePoint,
    ImageUrl,
    ModelRequestPart,
    ToolReturnPart,
    UserContent,
    UserPromptPart,
)
from pydantic_ai.settings import ModelSettings

from podium.errors import ConfigError, WorkerRefused
from podium.types import Attachment, Call, Message
from podium.workers.render import render

_MARKS = ("anthropic",)
"""Providers whose cache is told where a prompt is kept; the others find that by themselves."""


def user_content(message: Message, provider: str) -> str | list[UserContent]:
    """The content of a user's turn: a text where there is nothing but text."""
    marks = message.cache_points if provider in _MARKS else ()
    if not message.attachments and not marks:
        return message.content
    inserts: list[tuple[int, int, UserContent]] = [(each.at, 0, file_of(each, provider)) for each in message.attachments]
    inserts += [(mark.at, 1, CachePoint(ttl=mark.ttl)) for mark in marks]
    pieces: list[UserContent] = []
    done = 0
    for at, _, insert in sorted(inserts, key=lambda each: each[:2]):
        pieces += [message.content[done:at]] if at > done else []
        if pieces or not isinstance(insert, CachePoint):  # nothing at all can not be kept
            pieces.append(insert)
        done = max(done, at)
    return [*pieces, *([message.content[done:]] if message.content[done:] else [])]


def tool_return(message: Message, name: str, tool_call_id: str, provider: str) -> list[ModelRequestPart]:
    """What a tool of the client's returned."""
    files = [file_of(each, provider) for each in message.attachments]
    content: Any = [*([message.content] if message.content else []), *files] if files else message.content
    parts: list[ModelRequestPart] = [ToolReturnPart(tool_name=name, content=content, tool_call_id=tool_call_id)]
    if message.cache_points and provider in _MARKS:
        parts.append(UserPromptPart(content=[CachePoint(ttl=message.cache_points[-1].ttl)]))
    return parts


def file_of(attachment: Attachment, provider: str) -> BinaryContent | ImageUrl:
    """One picture or file. Raises :class:`WorkerRefused` where ``provider`` takes none by its address."""
    detail = {"detail": attachment.detail} if attachment.detail else None
    if attachment.url:
        if provider == "google":
            raise WorkerRefused("google takes no picture by its address; send the picture itself (a data: URL)")
        return ImageUrl(url=attachment.url, media_type=attachment.media_type, vendor_metadata=detail)
    try:
        data = base64.b64decode(attachment.data, validate=True)
    except binascii.Error as error:
        raise ConfigError(f"a picture or file is not base64: {error}") from error
    return BinaryContent(data=data, media_type=attachment.media_type, vendor_metadata=detail)


def cache_settings(call: Call, provider: str) -> ModelSettings:
    """Where the prompt's head is to be kept: the tools, and the system prompt that begins the conversation."""
    settings: dict[str, Any] = {}
    if provider in _MARKS:
        if call.response_options.tools and call.response_options.cache_tools:
            settings["anthropic_cache_tool_definitions"] = call.response_options.cache_tools
        first = next(iter(render(call)), None)
        if first is not None and first.role == "system" and first.cache_points:
            settings["anthropic_cache_instructions"] = first.cache_points[-1].ttl
    return cast(ModelSettings, settings)
