"""The same call twice is paid once, for the life of a process. The journal does it for longer."""

from podium.protocols import Worker
from podium.types import Call, Completion
from podium.workers.call_key import call_key
from podium.workers.single_flight import SingleFlight


class Cached:
    """Keeps every completion in memory, by the key of its call; errors are not kept.

    Equal calls at the same time share one call (:class:`SingleFlight`). A kept text is streamed in one piece.
    Nothing is ever dropped: a cache lives as long as one run. Example: ``Cached(worker, "openai:gpt-5-mini")``.
    """

    def __init__(self, worker: Worker, identity: str) -> None:
        self._worker = worker
        self._identity = identity
        self._kept: dict[str, Completion] = {}
        self._flights = SingleFlight()

    async def __call__(self, call: Call) -> Completion:
        """Answer ``call``, from memory where it was answered before."""
        key = call_key(self._identity, call)
        if key in self._kept:
            completion = self._kept[key]
            if call.on_token is not None:
                call.on_token(completion.text)
            return completion

        async def answer(call: Call) -> Completion:
            self._kept[key] = await self._worker(call)
            return self._kept[key]

        return await self._flights(key, call, answer)
