"""``POST /v1/responses``."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from functools import partial

from starlette.requests import Request
from starlette.responses import Response

from podium.serving.chat_api import answered, opened
from podium.serving.conversation import ParsedRequest
from podium.serving.headers import run_headers
from podium.serving.kept_responses import finish_kept
from podium.serving.responses_answers import ResponseEvents, response_object
from podium.serving.service import RequestService
from podium.serving.store.keys import Key
from podium.serving.wire import EventStream, event, json_answer, unless_left


async def responses(service: RequestService, request: Request, key: Key | None, parsed: ParsedRequest) -> Response:
    """Answer ``parsed``. Raises what :func:`podium.serving.app.make_app` turns into error objects."""
    if not parsed.stream:
        async with service.admitted(key, parsed, request.headers, patience=partial(unless_left, request)) as active:
            [done] = await answered(service, request, active, finish=partial(finish_kept, service))
            return json_answer(response_object(active, done), headers=run_headers(active, [done]))
    async with AsyncExitStack() as stack:
        active, progress = await opened(service, request, stack, key, parsed)
        answer = ResponseEvents(active, partial(finish_kept, service, active))

        async def events() -> AsyncIterator[bytes]:
            async for item in answer.of(progress):
                yield event(item, item["type"])

        return EventStream(events(), stack.pop_all(), headers=run_headers(active))
