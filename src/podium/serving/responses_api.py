"""``POST /v1/responses``."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from functools import partial

from starlette.requests import Request
from starlette.responses import Response

from podium.serving.chat_api import answered, opened
from podium.serving.conversation import ParsedRequest
from podium.serving.headers import run_headers
from podium.serving.responses_answers import ResponseEvents, response_object
from podium.serving.service import RequestService
from podium.serving.store.keys import Key
from podium.serving.wire import EventStream, event, json_answer, unless_left


async def responses(desk: RequestService, request: Request, key: Key | None, asked: ParsedRequest) -> Response:
    """Answer ``asked``. Raises what :func:`podium.serving.app.make_app` turns into error objects."""
    if not asked.stream:
        async with desk.admitted(key, asked, request.headers, patience=partial(unless_left, request)) as ticket:
            [done] = await answered(desk, request, ticket)
            return json_answer(response_object(ticket, done), headers=run_headers(ticket, [done]))
    async with AsyncExitStack() as stack:
        ticket, progress = await opened(desk, request, stack, key, asked)
        told = ResponseEvents(ticket, partial(desk.finish, ticket))

        async def events() -> AsyncIterator[bytes]:
            async for item in told.of(progress):
                yield event(item, item["type"])

        return EventStream(events(), stack.pop_all(), headers=run_headers(ticket))
