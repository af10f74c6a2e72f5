"""One HTTP client per event loop, shared by any number of workers. Its library is loaded when the first one is opened."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Self, TypeVar

if TYPE_CHECKING:
    import httpx2

T = TypeVar("T")


class Connections:
    """HTTP connections for workers; close it in the event loop that used it.

    Example::

        async with Connections() as connections:
            worker = ChatWorker(model="openai:gpt-5-mini", api_key=key, connections=connections)
    """

    def __init__(self) -> None:
        self._clients: dict[asyncio.AbstractEventLoop, httpx2.AsyncClient] = {}
        self._closing: list[Callable[[], Awaitable[None]]] = []

    def client(self) -> "httpx2.AsyncClient":
        """The client of the running event loop, opened on first use."""
        from podium.workers.http_client import open_client

        return of_this_loop(self._clients, open_client)

    def close_too(self, close: Callable[[], Awaitable[None]]) -> None:
        """Have ``close`` awaited when these are closed: for what else a worker opens, a sandbox or a server of tools."""
        self._closing.append(close)

    async def aclose(self) -> None:
        """Close the running loop's connections; the next call opens new ones. Twice is harmless."""
        try:
            for close in reversed(self._closing):
                await close()
        finally:
            client = self._clients.pop(asyncio.get_running_loop(), None)
            if client is not None:
                await client.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


def of_this_loop(kept: dict[asyncio.AbstractEventLoop, T], make: Callable[[], T]) -> T:
    """The entry of the running loop, made on first use; entries of loops that are closed are forgotten."""
    loop = asyncio.get_running_loop()
    if loop not in kept:
        for closed in [other for other in kept if other.is_closed()]:
            del kept[closed]
        kept[loop] = make()
    return kept[loop]
