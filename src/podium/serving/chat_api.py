"""``POST /v1/chat/completions``."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
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

Finish = Callable[[ActiveRequest, Sequence[ChoiceDone]], Awaitable[None]]


async def chat(service: RequestService, request: Request, key: Key | None, parsed: ParsedRequest) -> Response:
    """Answer ``parsed``. Raises what :func:`podium.serving.app.make_app` turns into error objects."""
    return await (_streamed if parsed.stream else _whole)(service, request, key, parsed)


async def _whole(service: RequestService, request: Request, key: Key | None, parsed: ParsedRequest) -> Response:
    async with service.admitted(key, parsed, request.headers, patience=partial(unless_left, request)) as active:
        dones = await answered(service, request, active)
        return json_answer(chat_object(active, dones), headers=run_headers(active, dones))


async def answered(
    service: RequestService, request: Request, active: ActiveRequest, *, finish: Finish | None = None
) -> list[ChoiceDone]:
    """Every choice, once the run is written down (by ``finish``, where that is not the service's own).

    Raises the failure of the first one that has no answer, :class:`ClientLeft`.
    """
    dones = await unless_left(request, conducted(active.conductors, active.call))
    await (finish or service.finish)(active, dones)
    for done in dones:
        if done.failure is not None:
            raise done.failure.error()
    return dones


async def _streamed(service: RequestService, request: Request, key: Key | None, parsed: ParsedRequest) -> Response:
    async with AsyncExitStack() as stack:
        active, progress = await opened(service, request, stack, key, parsed)
        chunks = ChatChunks(active, parsed.include_usage, partial(service.finish, active))

        async def events() -> AsyncIterator[bytes]:
            async for chunk in chunks.of(progress):
                yield event(chunk)
            yield DONE

        return EventStream(events(), stack.pop_all(), headers=run_headers(active))


async def opened(
    service: RequestService, request: Request, stack: AsyncExitStack, key: Key | None, parsed: ParsedRequest
) -> tuple[ActiveRequest, AsyncIterator[Progress]]:
    """A request under way, and what happens in it; a failure before anything else is raised, not streamed."""
    admitted = service.admitted(key, parsed, request.headers, patience=partial(unless_left, request))
    active = await stack.enter_async_context(admitted)
    progress = await stack.enter_async_context(conducting(active.conductors, active.call))
    first = await unless_left(request, anext(progress))
    if isinstance(first, ChoiceDone) and first.failure is not None:
        await service.finish(active, [first])
        raise first.failure.error()

    async def all_of_it() -> AsyncIterator[Progress]:
        yield first
        async for item in progress:
            yield item

    return active, all_of_it()
