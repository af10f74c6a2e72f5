"""A second worker for the calls the first can not answer."""

from podium.errors import WorkerError
from podium.protocols import Worker
from podium.types import Call, Completion


class Fallback:
    """Asks ``other`` where ``worker`` raised a :class:`WorkerError`; where both fail, the error is the other's.

    A reached budget is no reason to ask a second worker: :class:`BudgetExceeded` passes through.
    Example: ``Fallback(large, small)``.
    """

    def __init__(self, worker: Worker, other: Worker) -> None:
        self._worker = worker
        self._other = other

    async def __call__(self, call: Call) -> Completion:
        """Answer ``call`` by the first of the two that can."""
        try:
            return await self._worker(call)
        except WorkerError:
            if call.on_token is not None:
                call.on_token(None)
            return await self._other(call)
