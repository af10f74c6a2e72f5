"""pool.toml -> the workers of a pool.

Two workers in six lines; the rest has defaults, listed in :class:`podium.workers.table.WorkerConfig` and, for a model behind an
API, in :class:`podium.workers.chat_config.ChatWorkerConfig`::

    [[worker]]
    name = "small"
    model = "openai:gpt-5-mini"

    [[worker]]
    name = "local"
    model = "ollama:qwen3:8b"

Reading is pure: no key is looked up and no server asked until the pool is built. A key never stands in the file, only the name of
the variable that holds it. An unknown key is an error. The code that builds the pool wraps its workers in limits and so on.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator

from podium.conditions import ALWAYS, read_condition
from podium.errors import ConfigError
from podium.protocols import Worker
from podium.workers import chat_config
from podium.workers.connections import Connections
from podium.workers.kinds import BareWorker, build_worker, worker_kind
from podium.workers.pool import Member, WorkerPool
from podium.workers.secrets import refuse_secrets
from podium.workers.table import DEFAULT_KIND, Table, WorkerConfig, hint, place_of, read_table, unknown_key
from podium.workers.toml_file import read_toml

BUILT_IN = (chat_config,)
"""Modules that register the kinds of worker of this package when they are imported."""


class ConductorConfig(Table):
    """The optional ``[conductor]`` table: a worker of the pool that is prompted to write workflows."""

    worker: str
    """Name of that worker."""
    cards: bool = False
    """Tell it the workers' names, skills and prices; else it knows them by number only."""
    max_steps: Annotated[int, Field(ge=1, le=100)] = 5
    attempts: Annotated[int, Field(ge=1, le=10)] = 2
    """How often it may write until the text is a workflow."""
    conditions: bool = False
    """Whether it may say when a step is carried out (:mod:`podium.conditions`)."""
    again: str = ALWAYS
    """When a further round is asked for, where there may be one: ``unless 2 agree``, ``if failed``."""

    @field_validator("again")
    @classmethod
    def _is_a_condition(cls, text: str) -> str:
        return str(read_condition(text))


class ServerConfig(Table):
    """The optional ``[server]`` table: what a server makes of this pool."""

    task_worker: str | None = None
    """Name of the worker that gets titles, summaries and compactions which clients slip in; default: they are planned."""
    tool_steps: Literal["last", "all"] = "last"
    """Which steps of a workflow may call a client's tools where it does not say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolConfig:
    """A pool file, read and checked. Example: ``read_pool("pool.toml").workers[0].name``."""

    path: str
    workers: tuple[WorkerConfig, ...]
    conductor: ConductorConfig | None = None
    server: ServerConfig | None = None


Wrap = Callable[[BareWorker], Worker]


def read_pool(path: str | Path) -> PoolConfig:
    """Read and check a pool file.

    Raises :class:`ConfigError`, which names the file, the worker and the key and never repeats a value that could be a
    secret. Example: ``read_pool("pool.toml")``.
    """
    tables = read_toml(Path(path))
    try:
        return _pool(str(path), tables)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from error


def build_pool(config: PoolConfig, environ: Mapping[str, str], wrap: Wrap, connections: Connections) -> WorkerPool:
    """The pool of a file, in file order, every worker wrapped by ``wrap(bare)``.

    ``wrap`` is called for a worker only after it was called for that worker's fallback, so it can keep what it made by name.
    The connections stay the caller's to close. Example::

        async with Connections() as connections:
            pool = build_pool(read_pool("pool.toml"), os.environ, lambda bare: bare.worker, connections)
    """
    members: dict[str, Member] = {}
    for table in _fallbacks_first(config.workers):
        try:
            bare = build_worker(table, environ, connections)
        except ConfigError as error:
            raise ConfigError(f"{config.path}: worker {table.name!r}: {error}") from error
        members[table.name] = Member(worker=wrap(bare), card=bare.card, able=bare.able)
    return WorkerPool([members[table.name] for table in config.workers])


def _fallbacks_first(workers: tuple[WorkerConfig, ...]) -> Iterator[WorkerConfig]:
    by_name = {worker.name: worker for worker in workers}
    done: set[str] = set()
    for worker in workers:
        chain = [worker]
        while (after := chain[-1].fallback) is not None:
            chain.append(by_name[after])
        for link in reversed(chain):
            if link.name not in done:
                done.add(link.name)
                yield link


def _pool(path: str, tables: dict[str, Any]) -> PoolConfig:
    for key, value in tables.items():
        if key not in ("worker", "conductor", "server"):
            refuse_secrets({key: value}, "outside of any table")
            raise ConfigError(unknown_key(key, ("worker", "conductor", "server")))
    raw = tables.get("worker", [])
    if not isinstance(raw, list) or not all(isinstance(table, dict) for table in raw):
        raise ConfigError("worker is not a list of tables; begin each worker with a line [[worker]]")
    if not raw:
        raise ConfigError("the pool is empty; add a worker: [[worker]], then name = ... and model = ...")
    workers = tuple(_worker(table, place_of(table, number)) for number, table in enumerate(raw, start=1))
    _check_names(workers)
    conductor = None
    if "conductor" in tables:
        if not isinstance(tables["conductor"], dict):
            raise ConfigError("conductor is not a table; begin it with a line [conductor]")
        conductor = read_table(ConductorConfig, tables["conductor"], "conductor")
        names = [worker.name for worker in workers]
        if conductor.worker not in names:
            raise ConfigError(f"conductor: worker: no worker is named {conductor.worker!r}{hint(conductor.worker, names)}")
    return PoolConfig(path=path, workers=workers, conductor=conductor, server=_server(tables, workers))


def _server(tables: dict[str, Any], workers: tuple[WorkerConfig, ...]) -> ServerConfig | None:
    if "server" not in tables:
        return None
    if not isinstance(tables["server"], dict):
        raise ConfigError("server is not a table; begin it with a line [server]")
    server = read_table(ServerConfig, tables["server"], "server")
    names = [worker.name for worker in workers]
    if server.task_worker is not None and server.task_worker not in names:
        raise ConfigError(f"server: task_worker: no worker is named {server.task_worker!r}{hint(server.task_worker, names)}")
    return server


def _worker(table: dict[str, Any], place: str) -> WorkerConfig:
    refuse_secrets(table, place)
    name = table.get("kind", DEFAULT_KIND)
    if not isinstance(name, str):
        raise ConfigError(f"{place}: kind: it should be the name of a kind of worker")
    try:
        kind = worker_kind(name)
    except ConfigError as error:
        raise ConfigError(f"{place}: {error}") from error
    return read_table(kind.config, table, place)


def _check_names(workers: tuple[WorkerConfig, ...]) -> None:
    fallbacks: dict[str, str | None] = {}
    for worker in workers:
        if worker.name in fallbacks:
            raise ConfigError(f"two workers are named {worker.name!r}; give every worker a name of its own")
        fallbacks[worker.name] = worker.fallback
    for worker in workers:
        if worker.fallback is not None and worker.fallback not in fallbacks:
            near = hint(worker.fallback, list(fallbacks))
            raise ConfigError(f"worker {worker.name!r}: fallback: no worker is named {worker.fallback!r}{near}")
    for worker in workers:
        chain, after = [worker.name], worker.fallback
        while after is not None:
            if after in chain:
                circle = " -> ".join([*chain, after])
                raise ConfigError(f"worker {worker.name!r}: fallback: the fallbacks go in a circle: {circle}; remove one of them")
            chain.append(after)
            after = fallbacks[after]
