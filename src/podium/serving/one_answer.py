"""A stream of one answer, whatever it is written as: what happened, text that can be sent, and the end."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

from podium.errors import WorkerUnavailable
from podium.events import WorkflowWritten
from podium.serving.asking import ChoiceDone, Progress, RunEvent, TextDelta, failed
from podium.serving.chat_answers import ChoiceText

Finish = Callable[[Sequence[ChoiceDone]], Awaitable[None]]
"""Told of the end before a client learns of it."""


async def one_answer(
    progress: AsyncIterator[Progress], state: ChoiceText, finish: Finish
) -> AsyncIterator[RunEvent | str | ChoiceDone]:
    """Events, pieces of the text, and last how it ended. ``state`` holds what was sent.

    An answer that its worker takes back after it was begun ends as a failure: what was sent can not be unsent.
    """
    async for item in progress:
        if isinstance(item, RunEvent):
            if isinstance(item.event, WorkflowWritten):
                state.last = -1 if item.event.workflow is None else len(item.event.workflow.steps) - 1
            yield item
            continue
        end: ChoiceDone | None = None
        if isinstance(item, TextDelta):
            try:
                text = state.said(item.text)
            except WorkerUnavailable as error:
                end, text = failed(item.choice, error), ""
        else:
            end, text = state.ended(item)
        if end is not None:
            await finish([end])
        if text:
            yield text
        if end is not None:
            yield end
            if end.failure is not None:
                return
