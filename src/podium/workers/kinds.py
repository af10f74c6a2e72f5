"""The kinds of worker that a pool file can name: ``kind = "NAME"`` in a ``[[worker]]`` table; without it, ``chat``.

A new kind is a :class:`WorkerKind`, registered in the group ``workers``, here or in another package. Limits, retries, fallback,
journal, budget and price work for every kind alike: they stand around the worker (:mod:`podium.workers.stack`).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol, runtime_checkable

from podium.errors import ConfigError
from podium.protocols import ChecksResponseOptions, Worker
from podium.registry import registered
from podium.types import Call, Card, Completion, ResponseOptions
from podium.workers.bound import price
from podium.workers.connections import Connections
from podium.workers.prices import ModelFacts, MostUsd, Price
from podium.workers.table import WorkerConfig, hint
from podium.workers.timed import Timed


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerKind:
    """A kind of worker. Example: ``register("workers", "echo")(WorkerKind(about="repeats", make=lambda t, e, c: Echo()))``."""

    about: str
    """One line for people."""
    make: Callable[[Any, Mapping[str, str], Connections], Worker]
    """(its table, the environment, shared HTTP connections) -> the bare worker. Raises :class:`ConfigError`."""
    config: type[WorkerConfig] = WorkerConfig
    """Its table: a subclass with the kind's own keys."""
    keeps_time: bool = False
    """Whether the worker itself keeps to ``timeout_seconds``; else it is cancelled from outside."""
    abilities: Callable[[Any], tuple[str, ...]] = lambda table: ()
    """What a worker with this table does besides writing text, for its card (:class:`podium.types.Card`)."""
    uses_tokens: bool = True
    """False for workers that are no language model: no tokens are reserved for their calls."""
    probe: str | None = "Reply with the one word: ready"
    """What ``podium pool check`` asks its workers; None: they are not asked, because that would bother somebody."""
    caution: Callable[[Any], str] = lambda table: ""
    """What ``podium pool check`` says of a worker with this table: a limit that does not hold on this machine; "" for nothing."""


StackTool = Callable[[Worker, str], Worker]
"""(a tool as a worker, its identity) -> the same, held to the budgets and kept in the journal as any other call."""


@runtime_checkable
class TakesSeveralCalls(Protocol):
    """A worker whose one answer takes several calls, each of which has its own line in the ledger: it goes around itself."""

    def around(self, worker: Worker, stack_tool: StackTool) -> Worker:
        """(this worker with its layers, what puts the layers around a tool) -> the worker that is asked."""
        ...


@runtime_checkable
class PricedWorker(Protocol):
    """A worker that knows its own price and identity, as a chat worker does; those of any other are what its table says."""

    @property
    def price(self) -> Price | None:
        """What it costs per token; None where that is unknown."""
        ...

    @property
    def most_usd(self) -> MostUsd:
        """The most that a call of so many tokens can cost."""
        ...

    @property
    def identity(self) -> str:
        """Everything that decides what it answers, for cache keys, without secrets."""
        ...


@runtime_checkable
class KnownModel(Protocol):
    """A worker that knows more of its model, as a chat worker does; the keys of its table come first."""

    @property
    def facts(self) -> ModelFacts:
        """What is known."""
        ...


def worker_kind(name: str) -> WorkerKind:
    """The kind called ``name``. Raises :class:`ConfigError` where there is none."""
    known = registered("workers", WorkerKind)
    if name not in known:
        raise ConfigError(f"kind: there is no kind of worker {name[:64]!r}{hint(name, [*known])}; there are {', '.join(known)}")
    return known[name]


@dataclass(frozen=True, slots=True, kw_only=True)
class BareWorker:
    """A worker of a pool file before anything stands around it but its time limit."""

    table: WorkerConfig
    worker: Worker
    card: Card
    identity: str
    """Under what the journal keeps its replies."""
    most_usd: MostUsd | None
    """The bound on what a call costs where the worker knows a better one than its card's price times the tokens."""
    able: ChecksResponseOptions
    kind: WorkerKind
    several: TakesSeveralCalls | None = None

    @property
    def max_tokens(self) -> int:
        """The longest reply that budgets reserve for; 0 for a worker that uses no tokens."""
        return self.table.max_tokens if self.kind.uses_tokens else 0

    def around(self, worker: Worker, stack_tool: StackTool) -> Worker:
        """``worker``, this one with its layers, with what it puts around them itself."""
        return worker if self.several is None else self.several.around(worker, stack_tool)


def build_worker(table: WorkerConfig, environ: Mapping[str, str], connections: Connections) -> BareWorker:
    """The worker of one table. Raises :class:`ConfigError`."""
    kind = worker_kind(table.kind)
    worker = kind.make(table, environ, connections)
    priced = worker if isinstance(worker, PricedWorker) else None
    known = table.price if priced is None else priced.price
    facts = worker.facts if isinstance(worker, KnownModel) else ModelFacts()
    card = Card(
        name=table.name,
        about=table.about,
        skills=tuple(table.skills.items()),
        prompt_usd=None if known is None else known.prompt_usd,
        completion_usd=None if known is None else known.completion_usd,
        cached_usd=None if known is None else known.cached_usd,
        context_tokens=facts.context_tokens if table.context_tokens is None else table.context_tokens,
        sees=facts.sees if table.sees is None else table.sees,
        abilities=kind.abilities(table),
    )
    billed = worker if priced is not None else _AtCardPrice(worker, card)
    return BareWorker(
        table=table,
        worker=billed if kind.keeps_time else Timed(billed, table.timeout_seconds),
        card=card,
        identity=table.identity if priced is None else priced.identity,
        most_usd=None if priced is None else priced.most_usd,
        able=worker if isinstance(worker, ChecksResponseOptions) else _TextOnly(table.kind),
        kind=kind,
        several=worker if isinstance(worker, TakesSeveralCalls) else None,
    )


class _AtCardPrice:
    """A worker that knows no price: its tokens cost what the table says; where that says nothing, the cost is unknown, not 0."""

    def __init__(self, worker: Worker, card: Card) -> None:
        self._worker = worker
        self._card = card

    async def __call__(self, call: Call) -> Completion:
        completion = await self._worker(call)
        used = completion.usage
        cost = price(self._card, used.prompt_tokens, used.completion_tokens)
        return replace(completion, usage=replace(used, cost_usd=cost))


class _TextOnly:
    """For a worker that does not say what it can do: it answers in text. Tools and formats are refused, never left out."""

    def __init__(self, kind: str) -> None:
        self._kind = kind

    def check(self, response_options: ResponseOptions) -> None:
        if response_options.needs_a_chat_model:
            raise ConfigError(
                f"a worker of the kind {self._kind!r} calls no tools and follows no response_format; name a chat worker"
            )
