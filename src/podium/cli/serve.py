"""``podium serve``: pool, books, API and page put together, until somebody stops it."""

import asyncio
import gc
import ipaddress
import json
import logging
import secrets
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import uvicorn
from fastapi import FastAPI
from rich.text import Text
from starlette.middleware.trustedhost import TrustedHostMiddleware
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from podium import __version__
from podium.cli.offer import TeamOffer
from podium.cli.screen import Screen
from podium.cli.wiring import Team, open_team
from podium.conduct import Conductor
from podium.errors import ConfigError
from podium.page.attach import attach
from podium.policies.fixed import Written
from podium.serving.accounts import Accounts
from podium.serving.app import Limits, make_app
from podium.serving.offer import Conducts
from podium.serving.origins import ANY, checked_origin
from podium.serving.store.address import shown_address
from podium.serving.store.database import Database
from podium.serving.telemetry import exporting
from podium.workers.budget import Budget

MOST_HEAD_BYTES = 1 << 20
"""Of a request's address and headers together, and of what comes with them in one piece."""
STOP_SECONDS = 30
"""How long requests under way may take to finish once the server was told to stop; then they are cancelled and booked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeFlags:
    """The flags of ``podium serve`` as the user set them."""

    pool: Path | None
    policy: str | None
    host: str
    port: int
    db: str
    with_keys: bool | None
    """None: unless the server listens on this machine only."""
    store_content: bool
    budget: Budget
    request_usd: float
    journal: Path | None
    concurrency: int
    queue: int
    concurrency_per_key: int | None
    training: Path
    page: bool
    origins: tuple[str, ...] = ()
    """Whose web pages may ask the API from a browser."""


async def serve(flags: ServeFlags) -> None:
    """Carry the command out. Raises :class:`PodiumError`."""
    with_keys = not _is_local(flags.host) if flags.with_keys is None else flags.with_keys
    if flags.concurrency_per_key is not None and not with_keys:
        raise ConfigError("--concurrency-per-key is for servers that ask for keys: say --keys, or leave it out")
    origins = tuple(dict.fromkeys(checked_origin(origin) for origin in flags.origins))
    replica = f"{socket.gethostname()}-{secrets.token_hex(4)}"
    async with (
        open_team(flags.pool, flags.budget, flags.journal, run=f"serve {shown_address(flags.db)}") as team,
        Database(flags.db) as database,
    ):
        offer = TeamOffer(team, flags.policy)
        accounts = Accounts(
            database=database,
            replica=replica,
            with_keys=with_keys,
            store_content=flags.store_content,
            request_usd=flags.request_usd,
        )
        await database.migrate()
        if with_keys and not await accounts.keys.list():
            raise ConfigError("nobody could ask this server: make a key first (podium keys create NAME), or say --no-keys")
        limits = Limits(concurrency=flags.concurrency, queue=flags.queue, concurrency_per_key=flags.concurrency_per_key)
        app = make_app(offer, accounts, version=__version__, limits=limits, origins=origins)
        if flags.page:
            attach(app, app.state.desk, training=flags.training, play=_player(team))
        if not with_keys and _is_local(flags.host):
            # A page elsewhere may point a name of its own at this machine, and its visitors' browsers would ask us for it.
            app.add_middleware(TrustedHostMiddleware, allowed_hosts=["localhost", "127.0.0.1", "[::1]", flags.host])
        with exporting():
            await _listen(app, flags, offer, with_keys=with_keys)
        await accounts.settled()


async def _listen(app: FastAPI, flags: ServeFlags, offer: TeamOffer, *, with_keys: bool) -> None:
    bound = listening(flags.host, flags.port)
    config = uvicorn.Config(
        app, log_config=None, access_log=False, http=_Http, timeout_graceful_shutdown=STOP_SECONDS, backlog=2048
    )
    _log_as_json()
    host = f"[{flags.host}]" if ":" in flags.host else flags.host
    base = f"http://{host}:{bound.getsockname()[1]}"
    page = f", page at {base}" if flags.page else ""
    keys = "keys asked for" if with_keys else "no keys asked for"
    Screen(stderr=True).print(
        Text(f"OpenAI-compatible at {base}/v1 ({keys}){page}; models: {', '.join(offer.models)}"), soft_wrap=True
    )
    if ANY in flags.origins and not with_keys:
        Screen(stderr=True).print("Every web page that is open in a browser here may ask this server; nobody is asked for a key.")
    server = _Server(config)
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, server.stop)
    # What was loaded until now stays; without this the collector looks through all of it again and again.
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    await server.serve(sockets=[bound])
    # Told to stop twice, the server leaves requests under way behind: they end here, while their books can still be closed.
    for task in (left := list(server.server_state.tasks)):
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)


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
    """Uvicorn's own handlers end the process when serving ends; ours only end the serving, and books are closed after it."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    def stop(self) -> None:
        """Finish what is under way; told a second time, give it up."""
        self.force_exit, self.should_exit = self.should_exit, True


def _player(team: Team) -> Callable[[str], Conducts] | None:
    """What carries out the workflows that visitors write; None where nobody could tell right from wrong."""

    def play(text: str) -> Conducts:
        return Conductor(Written(text), team.pool)

    return play if team.is_gym else None


def _is_local(host: str) -> bool:
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
