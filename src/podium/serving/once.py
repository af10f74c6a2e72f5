"""Results of tools that a client sends twice at once (a retry that came too early) ask the waiting step once."""

from podium.events import Listener
from podium.protocols import ServedModel
from podium.types import Call, Completion
from podium.workers.call_key import call_key
from podium.workers.single_flight import SingleFlight


class Once:
    """``conductor``, asked once for equal calls of ``owner``'s at the same time; who comes second gets what the first one got.

    Example: ``await Once(conductor, flights, owner="key_1 solver").conduct(call)``.
    """

    def __init__(self, conductor: ServedModel, flights: SingleFlight, owner: str) -> None:
        self._conductor = conductor
        self._flights = flights
        self._owner = owner

    async def conduct(self, call: Call, on_event: Listener | None = None) -> Completion:
        """As the conductor does; the events are the first one's alone."""

        async def asked(call: Call) -> Completion:
            return await self._conductor.conduct(call, on_event)

        return await self._flights(call_key(self._owner, call), call, asked)
