"""An application on a socket until somebody stops it: bounded heads, an orderly end, a line of JSON for each event."""

import asyncio
import gc
import ipaddress
import json
import logging
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from podium.errors import ConfigError

MOST_HEAD_BYTES = 1 << 20
"""Of a request's address and headers together, and of what comes with them in one piece."""
STOP_SECONDS = 30
"""How long requests under way may take to finish once the server was told to stop; then they are cancelled and booked."""


async def run(app: FastAPI, bound: socket.socket) -> None:
    """Serve ``app`` on ``bound`` until SIGINT or SIGTERM; a second one gives up what is under way."""
    config = uvicorn.Config(
        app, log_config=None, access_log=False, http=_Http, timeout_graceful_shutdown=STOP_SECONDS, backlog=2048
    )
    _log_as_json()
    server = _Server(config)
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, server.stop)
    # What was loaded until now stays; without this the collector looks through all of it again and again.
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    await server.serve(sockets=[bound])
    # Told to stop twice, the server leaves requests under way behind: they end here, while their costs can still be written down.
    for task in (left := list(server.server_state.tasks)):
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)
    if server.force_exit:  # then uvicorn leaves out the end of the application, which books what is open
        await server.lifespan.shutdown()


class _Http(HttpToolsProtocol):
    """Uvicorn's own, which bounds neither an address nor headers."""

    _taken = 0
    """Bytes since the last request ended, as long as the headers of the next one have not."""
    _in_head = True

    def data_received(self, data: bytes) -> None:
        """Read on, unless it is too much."""
        if self._in_head:
            self._taken += len(data)
            if self._taken > MOST_HEAD_BYTES:
                self.send_400_response("These headers are too long.")
                return
        super().data_received(data)

    def on_headers_complete(self) -> None:
        """What follows is the body."""
        self._in_head, self._taken = False, 0
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """What follows is another request."""
        super().on_message_complete()
        self._in_head = True


class _Server(uvicorn.Server):
    """Uvicorn's own handlers end the process when serving ends; ours only end the serving; costs are written down after it."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    def stop(self) -> None:
        """Finish what is under way; told a second time, give it up."""
        self.force_exit, self.should_exit = self.should_exit, True


def is_local(host: str) -> bool:
    """Whether only this machine can reach a server that listens on ``host``."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def new_event_loop() -> asyncio.AbstractEventLoop:
    """uvloop where there is one, else asyncio's own."""
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()


def listening(host: str, port: int) -> socket.socket:
    """A socket that listens. Raises :class:`ConfigError` where it can not."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        bound = socket.create_server((host, port), family=family, backlog=2048)
    except (OSError, OverflowError) as error:
        raise ConfigError(f"can not listen on {host} port {port}: {error}; choose another --host or --port") from error
    # Each piece of an answer is sent at once. Connections inherit it; asyncio sets it only on sockets whose protocol is named.
    bound.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return bound


class _Json(logging.Formatter):
    """A line of JSON per record; what was asked and answered is never part of it."""

    def format(self, record: logging.LogRecord) -> str:
        line = {"time": self.formatTime(record), "level": record.levelname, "logger": record.name, "message": record.getMessage()}
        line |= getattr(record, "podium", {})
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line)


def _log_as_json() -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Json())
    logger = logging.getLogger("podium")
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    logger.propagate = False
    logging.getLogger("uvicorn.error").addFilter(_is_news)


def _is_news(record: logging.LogRecord) -> bool:
    """That a request was given up, because the server was told to stop twice, is no error of its own."""
    return record.exc_info is None or not isinstance(record.exc_info[1], asyncio.CancelledError)
