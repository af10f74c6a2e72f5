"""``POST /v1/messages`` and ``POST /v1/messages/count_tokens``: Anthropic's API."""

import math
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from functools import partial

from starlette.requests import Request
from starlette.responses import Response

from podium.serving.chat_api import answered, opened
from podium.serving.conversation import ParsedRequest
from podium.serving.figures import prompt_size
from podium.serving.headers import run_headers
from podium.serving.messages_answers import MessageEvents, message_object
from podium.serving.service import RequestService
from podium.serving.store.keys import Key
from podium.serving.wire import EventStream, anthropic_event, event, json_answer, unless_left

BYTES_PER_TOKEN = 3.5
"""Of English and code, in the vocabularies of Anthropic's models, about."""


async def messages(service: RequestService, request: Request, key: Key | None, parsed: ParsedRequest) -> Response:
    """Answer ``parsed``. Raises what :func:`podium.serving.app.make_app` turns into error objects."""
    if not parsed.stream:
        async with service.admitted(key, parsed, request.headers, patience=partial(unless_left, request)) as active:
            [done] = await answered(service, request, active)
            return json_answer(message_object(active, done), headers=run_headers(active, [done]))
    async with AsyncExitStack() as stack:
        active, progress = await opened(service, request, stack, key, parsed)
        answer = MessageEvents(active, partial(service.finish, active))

        async def events() -> AsyncIterator[bytes]:
            async for item in answer.of(progress):
                yield event(item, item["type"])

        return EventStream(events(), stack.pop_all(), headers=run_headers(active), problem_event=anthropic_event)


def counted(parsed: ParsedRequest) -> Response:
    """An estimate of the prompt's tokens: which worker reads it, with which vocabulary, is not known before it is planned."""
    return json_answer({"input_tokens": math.ceil(prompt_size(parsed.call) / BYTES_PER_TOKEN)})
