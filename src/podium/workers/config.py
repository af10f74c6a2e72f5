"""pool.toml -> the workers of a pool.

Two workers in six lines; the rest has defaults, listed in :class:`WorkerConfig`::

    [[worker]]
    name = "small"
    model = "openai:gpt-5-mini"

    [[worker]]
    name = "local"
    model = "ollama:qwen3:8b"

Reading is pure: no key is looked up and no server asked until the pool is built. A key never stands in the file, only the
name of the variable that holds it. An unknown key is an error. Whoever builds the pool wraps its workers in limits and so on.
"""

import difflib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Self, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import ErrorDetails

from podium.errors import ConfigError
from podium.protocols import Worker
from podium.types import Card, Sampling
from podium.workers.chat import DEFAULT_SECONDS, ChatWorker
from podium.workers.connections import Connections
from podium.workers.extra_body import checked_body, price_problem
from podium.workers.pool import Member, WorkerPool
from podium.workers.prices import Price
from podium.workers.providers import PROVIDERS, checked_url, split_model
from podium.workers.rates import PER_MILLION
from podium.workers.secrets import KEY_SHAPE, KEYS_STAY_OUT, refuse_secrets
from podium.workers.toml_file import read_toml

DEFAULT_MAX_TOKENS = 8192


def _valid(check: Callable[[Any], Any]) -> AfterValidator:
    """A check of ours inside pydantic, which collects ValueErrors."""

    def run(value: Any) -> Any:
        try:
            check(value)
        except ConfigError as error:
            raise ValueError(str(error)) from error
        return value

    return AfterValidator(run)


def _checked_name(name: str) -> str:
    if not name.strip() or name != name.strip() or not name.isprintable() or len(name) > 64:
        raise ConfigError("a name is 1 to 64 printable characters without spaces around them")
    return name


def _checked_variable(name: str) -> str:
    if not re.fullmatch(r"[A-Z_][A-Z0-9_]{0,63}", name):
        raise ConfigError(f"this is not the name of a variable in capitals, like OPENAI_API_KEY; {KEYS_STAY_OUT}")
    return name


Name = Annotated[str, _valid(_checked_name)]
Positive = Annotated[int, Field(gt=0)]
Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Dollars = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class WorkerConfig(_Table):
    """One ``[[worker]]`` table. Example: ``WorkerConfig(name="small", model="openai:gpt-5-mini")``."""

    name: Name
    model: Annotated[str, _valid(split_model)]
    """``provider:model``; everything after the first colon is the provider's own name for it."""
    base_url: Annotated[str, _valid(checked_url)] | None = None
    """Another address than the provider's: vLLM, Ollama, a gateway."""
    api_key_env: Annotated[str, _valid(_checked_variable)] | None = None
    """Name of the variable that holds the key. Default: the provider's usual one, and none with a ``base_url``, so that a
    provider's key never goes to another address by accident."""
    max_tokens: Positive = DEFAULT_MAX_TOKENS
    """Completion tokens at most, thinking included where the provider counts it so. Budgets are reserved by it."""
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    top_p: Annotated[float, Field(gt=0, le=1)] | None = None
    thinking_tokens: Annotated[int, Field(ge=0)] | None = None
    """Thinking budget; 0 asks for the least the provider allows."""
    extra_body: Annotated[dict[str, Any], _valid(checked_body)] = Field(default_factory=dict)
    """Further fields of the request, as the provider documents them; none that changes how much is asked for or what it costs."""
    timeout_seconds: Seconds = DEFAULT_SECONDS
    """For one attempt, streaming included."""
    retries: Annotated[int, Field(ge=0, le=100)] = 3
    """Further attempts after a passing fault."""
    concurrency: Positive | None = None
    """Calls in flight at once; None = not limited."""
    requests_per_minute: Positive | None = None
    tokens_per_minute: Positive | None = None
    fallback: str | None = None
    """The worker that answers where this one can not."""
    hedge_after_seconds: Seconds | None = None
    """Ask a second time when no answer has come by then, and take the first of the two; outside ``concurrency``."""
    prompt_usd_per_million: Dollars | None = None
    """Dollars per million prompt tokens; 0 where it is free. Default: the price list."""
    completion_usd_per_million: Dollars | None = None
    about: str = ""
    """One line for the policy."""
    skills: dict[str, Annotated[float, Field(ge=0, le=1)]] = Field(default_factory=dict)
    """Measured success rates by skill."""

    @model_validator(mode="after")
    def _agree(self) -> Self:
        if (self.prompt_usd_per_million is None) != (self.completion_usd_per_million is None):
            raise ValueError("set both prompt_usd_per_million and completion_usd_per_million, or neither")
        if self.thinking_tokens is not None and self.thinking_tokens >= self.max_tokens:
            raise ValueError(f"thinking_tokens = {self.thinking_tokens} leaves nothing of max_tokens = {self.max_tokens}")
        if self.price is None and (problem := price_problem(self.extra_body)) is not None:
            raise ValueError(problem)
        if self.fallback == self.name:
            raise ValueError("a worker can not be its own fallback; name another one")
        return self

    @property
    def key_env(self) -> str | None:
        """The variable the key is read from; None where no key is sent."""
        if self.api_key_env is not None or self.base_url is not None:
            return self.api_key_env
        return PROVIDERS[split_model(self.model)[0]].key_env

    @property
    def sampling(self) -> Sampling:
        """The worker's decoding defaults."""
        return Sampling(
            temperature=self.temperature,
            top_p=self.top_p,
            max_tokens=self.max_tokens,
            thinking_tokens=self.thinking_tokens,
        )

    @property
    def price(self) -> Price | None:
        """The price the file declares; None where it leaves it to the price list."""
        if self.prompt_usd_per_million is None or self.completion_usd_per_million is None:
            return None
        return Price(
            prompt_usd=self.prompt_usd_per_million * PER_MILLION,
            completion_usd=self.completion_usd_per_million * PER_MILLION,
        )


class ConductorConfig(_Table):
    """The optional ``[conductor]`` table: a worker of the pool that is prompted to write workflows."""

    worker: str
    """Name of that worker."""
    cards: bool = False
    """Tell it the workers' names, skills and prices; else it knows them by number only."""
    max_steps: Annotated[int, Field(ge=1, le=100)] = 5
    attempts: Annotated[int, Field(ge=1, le=10)] = 2
    """How often it may write until the text is a workflow."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolConfig:
    """A pool file, read and checked. Example: ``read_pool("pool.toml").workers[0].name``."""

    path: str
    workers: tuple[WorkerConfig, ...]
    conductor: ConductorConfig | None = None


Wrap = Callable[[WorkerConfig, ChatWorker, Card], Worker]


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


def build_chat_worker(config: WorkerConfig, environ: Mapping[str, str], connections: Connections | None = None) -> ChatWorker:
    """The bare worker of one table, with its key out of ``environ``.

    Raises :class:`ConfigError` where the variable is not set or the provider's extra is not installed. Example::

        build_chat_worker(config, os.environ, connections)
    """
    key = None
    if config.key_env is not None:
        key = environ.get(config.key_env, "").strip()
        if not key:
            raise ConfigError(
                f"worker {config.name!r}: the environment variable {config.key_env} is not set; set it to the provider's key "
                "or name another variable in api_key_env"
            )
        if not (key.isascii() and key.isprintable()) or " " in key:
            raise ConfigError(
                f"worker {config.name!r}: the variable {config.key_env} does not hold a key: it has characters no key has"
            )
    try:
        return ChatWorker(
            model=config.model,
            base_url=config.base_url,
            api_key=key,
            sampling=config.sampling,
            extra_body=config.extra_body,
            price=config.price,
            seconds=config.timeout_seconds,
            connections=connections,
        )
    except ConfigError as error:
        raise ConfigError(f"worker {config.name!r}: {error}") from error


def build_pool(config: PoolConfig, environ: Mapping[str, str], wrap: Wrap, connections: Connections) -> WorkerPool:
    """The pool of a file, in file order, every worker wrapped by ``wrap(table, worker, card)``.

    ``wrap`` is called for a worker only after it was called for that worker's fallback, so it can keep what it made by name.
    The connections stay the caller's to close. Example::

        async with Connections() as connections:
            pool = build_pool(read_pool("pool.toml"), os.environ, lambda table, worker, card: worker, connections)
    """
    members: dict[str, Member] = {}
    for table in _fallbacks_first(config.workers):
        try:
            worker = build_chat_worker(table, environ, connections)
        except ConfigError as error:
            raise ConfigError(f"{config.path}: {error}") from error
        card = _card(table, worker)
        members[table.name] = Member(worker=wrap(table, worker, card), card=card, able=worker)
    return WorkerPool([members[table.name] for table in config.workers])


def _card(table: WorkerConfig, worker: ChatWorker) -> Card:
    price = worker.price
    return Card(
        name=table.name,
        about=table.about,
        skills=tuple(table.skills.items()),
        prompt_usd=None if price is None else price.prompt_usd,
        completion_usd=None if price is None else price.completion_usd,
    )


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
        if key not in ("worker", "conductor"):
            refuse_secrets({key: value}, "outside of any table")
            raise ConfigError(_unknown(key, ("worker", "conductor")))
    raw = tables.get("worker", [])
    if not isinstance(raw, list) or not all(isinstance(table, dict) for table in raw):
        raise ConfigError("worker is not a list of tables; begin each worker with a line [[worker]]")
    if not raw:
        raise ConfigError("the pool is empty; add a worker: [[worker]], then name = ... and model = ...")
    workers = tuple(_read(WorkerConfig, table, _place(table, number)) for number, table in enumerate(raw, start=1))
    _check_names(workers)
    conductor = None
    if "conductor" in tables:
        if not isinstance(tables["conductor"], dict):
            raise ConfigError("conductor is not a table; begin it with a line [conductor]")
        conductor = _read(ConductorConfig, tables["conductor"], "conductor")
        names = [worker.name for worker in workers]
        if conductor.worker not in names:
            raise ConfigError(f"conductor: worker: no worker is named {conductor.worker!r}{_hint(conductor.worker, names)}")
    return PoolConfig(path=path, workers=workers, conductor=conductor)


def _check_names(workers: tuple[WorkerConfig, ...]) -> None:
    fallbacks: dict[str, str | None] = {}
    for worker in workers:
        if worker.name in fallbacks:
            raise ConfigError(f"two workers are named {worker.name!r}; give every worker a name of its own")
        fallbacks[worker.name] = worker.fallback
    for worker in workers:
        if worker.fallback is not None and worker.fallback not in fallbacks:
            hint = _hint(worker.fallback, list(fallbacks))
            raise ConfigError(f"worker {worker.name!r}: fallback: no worker is named {worker.fallback!r}{hint}")
    for worker in workers:
        chain, after = [worker.name], worker.fallback
        while after is not None:
            if after in chain:
                circle = " -> ".join([*chain, after])
                raise ConfigError(f"worker {worker.name!r}: fallback: the fallbacks go in a circle: {circle}; remove one of them")
            chain.append(after)
            after = fallbacks[after]


TableT = TypeVar("TableT", bound=_Table)


def _read(kind: type[TableT], table: dict[str, Any], place: str) -> TableT:
    refuse_secrets(table, place)
    try:
        return kind.model_validate(table)
    except ValidationError as error:
        # "from None": pydantic's own text repeats the values it was given.
        raise ConfigError(f"{place}: {_explained(error.errors(include_url=False)[0], tuple(kind.model_fields))}") from None


def _explained(problem: ErrorDetails, known: tuple[str, ...]) -> str:
    field = ".".join(str(part) for part in problem["loc"])
    if problem["type"] == "extra_forbidden":
        return _unknown(field, known)
    if problem["type"] == "missing":
        return f"{field} is missing"
    message = problem["msg"].removeprefix("Value error, ").replace("Input should", "it should")
    return f"{field}: {message}" if field else message


def _unknown(key: str, known: tuple[str, ...]) -> str:
    return f"unknown key {key[:64]!r}{_hint(key, known) or '; known are ' + ', '.join(known)}"


def _hint(word: str, known: tuple[str, ...] | list[str]) -> str:
    near = difflib.get_close_matches(word, known, n=1)
    return f"; did you mean {near[0]!r}?" if near else ""


def _place(table: dict[str, Any], number: int) -> str:
    name = table.get("name")
    if isinstance(name, str) and name.isprintable() and 0 < len(name) <= 64 and not KEY_SHAPE.search(name):
        return f"worker {name!r}"
    return f"worker number {number}"
