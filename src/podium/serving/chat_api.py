"""``POST /v1/chat/completions``."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from functools import partial

from starlette.requests import Request
from starlette.responses import Response

from podium.serving.asking import ChoiceDone, Progress, conducted, conducting
from podium.serving.chat_answers import ChatChunks, chat_object
from podium.serving.conversation import ParsedRequest
from podium.serving.headers import run_headers
from podium.serving.service import ActiveRequest, RequestService
from podium.serving.store.keys import Key
from podium.serving.wire import DONE, EventStream, event, json_answer, unless_left


async def chat(desk: RequestService, request: Request, key: Key | None, asked: ParsedRequest) -> Response:
    """Answer ``asked``. Raises what :func:`podium.serving.app.make_app` turns into error objects."""
    return await (_streamed if asked.stream else _whole)(desk, request, key, asked)


async def _whole(desk: RequestService, request: Request, key: Key | None, asked: ParsedRequest) -> Response:
    async with desk.admitted(key, asked, request.headers, patience=partial(unless_left, request)) as ticket:
        dones = await answered(desk, request, ticket)
        return json_answer(chat_object(ticket, dones), headers=run_headers(ticket, dones))


async def answered(desk: RequestService, request: Request, ticket: ActiveRequest) -> list[ChoiceDone]:
    """Every choice, kept in the books. Raises the failure of the first one that has no answer, :class:`ClientLeft`."""
    dones = await unless_left(request, conducted(ticket.conductors, ticket.call))
    await desk.finish(ticket, dones)
    for done in dones:
        if done.failure is not None:
            raise done.failure.error()
    return dones


async def _streamed(desk: RequestService, request: Request, key: Key | None, asked: ParsedRequest) -> Response:
    async with AsyncExitStack() as stack:
        ticket, progress = await opened(desk, request, stack, key, asked)
        chunks = ChatChunks(ticket, asked.include_usage, partial(desk.finish, ticket))

        async def events() -> AsyncIterator[bytes]:
            async for chunk in chunks.of(progress):
                yield event(chunk)
            yield DONE

        return EventStream(events(), stack.pop_all(), headers=run_headers(ticket))


async def opened(
    desk: RequestService, request: Request, stack: AsyncExitStack, key: Key | None, asked: ParsedRequest
) -> tuple[ActiveRequest, AsyncIterator[Progress]]:
    """A request under way, and what happens in it; a failure before anything else is raised, not streamed."""
    admitted = desk.admitted(key, asked, request.headers, patience=partial(unless_left, request))
    ticket = await stack.enter_async_context(admitted)
    progress = await stack.enter_async_context(conducting(ticket.conductors, ticket.call))
    first = await unless_left(request, _next(progress))
    if isinstance(first, ChoiceDone) and first.failure is not None:
        await desk.finish(ticket, [first])
        raise first.failure.error()

    async def all_of_it() -> AsyncIterator[Progress]:
        yield first
        async for item in progress:
            yield item

    return ticket, all_of_it()


async def _next(progress: AsyncIterator[Progress]) -> Progress:
    return await anext(progress)
