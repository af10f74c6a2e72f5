"""A question asked on a page is a request like any other: let in, held to its budget and its key's quota, kept."""

import asyncio
from collections.abc import Callable

from podium.events import Answered, Event, Listener
from podium.page.site import Site
from podium.page.visitor import Visitor
from podium.protocols import ServedModel
from podium.request_options import RequestOptions
from podium.serving.asking import ChoiceDone, answer
from podium.serving.conversation import ParsedRequest
from podium.types import Call, Question, Transcript

BY_HAND = "by hand"
"""What runs of workflows that visitors wrote themselves are kept under."""


async def ran(
    site: Site,
    visitor: Visitor,
    model: str,
    question: str | Question,
    on_event: Listener,
    on_run: Callable[[str], None],
    *,
    options: RequestOptions = RequestOptions(),
    conductor: Callable[[], ServedModel] | None = None,
    run: str = "",
    session: str = "",
) -> ChoiceDone:
    """Ask ``model`` (or what ``conductor`` makes, then only called so); ``on_run`` is told the run's id at its beginning.

    ``question`` is the question, or a conversation that ends with it; ``run`` the id, where it is known before; ``session`` the
    name of the conversation. Run it in a task of its own: the task's calls are held to the request's budget. Cancelling it stops
    the calls under way and keeps the run with what was done. Raises :class:`AccessDenied`, :class:`ApiErrorException`,
    :class:`QuotaExceeded`, :class:`ConfigError`.
    """
    transcripts: tuple[Transcript, ...] = ()

    def heard(event: Event) -> None:
        nonlocal transcripts
        if isinstance(event, Answered):
            transcripts = event.transcripts
        on_event(event)

    parsed = ParsedRequest(model=model, call=Call.plain(question), options=options, session=session)
    made = None if conductor is None else conductor()
    async with site.service.admitted(await visitor.key("ask"), parsed, conductor=made, run=run) as active:
        on_run(active.run)
        try:
            done = await answer(active.conductors[0], active.call, heard)
        except asyncio.CancelledError:
            await site.service.left(active, transcripts)
            raise
        await site.service.finish(active, [done])
        return done
