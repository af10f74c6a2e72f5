"""A second worker for the calls the first can not answer."""

import hashlib
import json
from collections import OrderedDict
from dataclasses import asdict, replace

from podium.errors import WorkerError
from podium.protocols import Worker
from podium.types import Call, Completion
from podium.workers.render import render
from podium.workers.tenant import tenant

_MOST_LOOPS = 1024
"""Tool loops that are remembered."""


class Fallback:
    """Asks ``other`` where ``worker`` raised a :class:`WorkerError`; where both fail, the error is the other's.

    A reached budget is no reason to ask a second worker: :class:`BudgetExceeded` passes through. In a loop of tool calls the
    first worker is asked again in the next round; with ``stays`` the second one goes on to the loop's end, as far as this
    process knows of it. Example: ``Fallback(large, small)``.
    """

    def __init__(self, worker: Worker, other: Worker, *, stays: bool = False) -> None:
        self._worker = worker
        self._other = other
        self._stays = stays
        self._loops: OrderedDict[str, None] = OrderedDict()

    async def __call__(self, call: Call) -> Completion:
        """Answer ``call`` by the first of the two that can."""
        loop = _loop(call) if self._stays and call.response_options.tools else ""
        if loop in self._loops:
            return await self._by_other(call, loop)
        try:
            return await self._worker(call)
        except WorkerError:
            if call.on_token is not None:
                call.on_token(None)
            return await self._by_other(call, loop)

    async def _by_other(self, call: Call, loop: str) -> Completion:
        completion = await self._other(call)
        self._loops.pop(loop, None)
        if loop and completion.tool_calls:
            self._loops[loop] = None
            while len(self._loops) > _MOST_LOOPS:
                self._loops.popitem(last=False)
        return completion


def _loop(call: Call) -> str:
    """What tells one tool loop from another: everything that was said before its first call, and whose it is."""
    messages = list(render(call))
    while messages and (messages[-1].role == "tool" or messages[-1].tool_calls):
        messages.pop()
    # Marks for a cache say nothing of the conversation: clients move them along from round to round.
    said = [asdict(replace(message, cache_points=())) for message in messages]
    parts = [tenant.get().name, said, list(call.sample)]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode("ascii")).hexdigest()
