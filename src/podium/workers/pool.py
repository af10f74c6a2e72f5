"""An ordered set of named workers with cards. A worker's position is the number by which a policy calls it."""

import random
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace

from podium.errors import ConfigError
from podium.protocols import ChecksCalls, ChecksResponseOptions, Worker
from podium.types import Call, Card, ResponseOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One worker of a pool. Example: ``Member(worker=Scripted("42"), card=Card(name="oracle"))``."""

    worker: Worker
    card: Card
    able: object | None = None
    """Who knows what the worker can do, where the worker is a wrapper around it."""
    _options: ChecksResponseOptions | None = field(init=False, repr=False, compare=False)
    _calls: ChecksCalls | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # Once and not with every call: to ask whether something follows a protocol is slow.
        able = self.worker if self.able is None else self.able
        object.__setattr__(self, "_options", able if isinstance(able, ChecksResponseOptions) else None)
        object.__setattr__(self, "_calls", able if isinstance(able, ChecksCalls) else None)

    @property
    def name(self) -> str:
        """The name in tables and transcripts; the policy sees it only where its prompt shows cards."""
        return self.card.name

    def check(self, response_options: ResponseOptions) -> None:
        """Raises :class:`ConfigError` where this worker could not honour ``response_options``, as far as is known beforehand."""
        if self._options is not None:
            self._options.check(response_options)

    def check_call(self, call: Callable[[], Call]) -> None:
        """Raises :class:`UnworkableStep` where this worker could do nothing with ``call()``, as far as is known beforehand.

        Most workers have nothing to say about calls; then none is made.
        """
        if self._calls is not None:
            self._calls.check_call(call())


class WorkerPool:
    """Workers in order. Never changes: drawing, shuffling and wrapping return another pool.

    Example::

        pool = WorkerPool([Member(worker=a, card=Card(name="a")), Member(worker=b, card=Card(name="b"))])
        small = pool.draw(1, random.Random(0))

    Raises :class:`ConfigError` for an empty pool and for two workers of one name.
    """

    def __init__(self, members: Sequence[Member]) -> None:
        if not members:
            raise ConfigError("the pool is empty; name at least one worker")
        names = [member.name for member in members]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ConfigError(f"two workers are named {twice[0]!r}; every worker of a pool needs a name of its own")
        self._members = tuple(members)
        self._names = tuple(names)

    def __len__(self) -> int:
        return len(self._members)

    def __iter__(self) -> Iterator[Member]:
        return iter(self._members)

    def __getitem__(self, index: int) -> Member:
        return self._members[index]

    @property
    def names(self) -> tuple[str, ...]:
        """Worker names in order."""
        return self._names

    @property
    def cards(self) -> tuple[Card, ...]:
        """Worker cards in order."""
        return tuple(member.card for member in self._members)

    def named(self, name: str) -> Member:
        """The worker called ``name``; :class:`ConfigError` where there is none."""
        return self._members[self._index(name)]

    def draw(self, k: int, rng: random.Random) -> "WorkerPool":
        """``k`` workers at random, in random order (adaptive pools, paper section 3.3)."""
        if not 1 <= k <= len(self):
            raise ConfigError(f"can not draw {k} workers from a pool of {len(self)}")
        return WorkerPool(rng.sample(self._members, k))

    def shuffled(self, rng: random.Random) -> "WorkerPool":
        """The same workers in random order."""
        return self.draw(len(self), rng)

    def restricted(self, allow: Collection[str] | None = None, deny: Collection[str] = ()) -> "WorkerPool":
        """Only the workers of ``allow`` (None: all) that are not in ``deny``, in pool order."""
        for name in (*(allow or ()), *deny):
            self._index(name)
        kept = [m for m in self if (allow is None or m.name in allow) and m.name not in deny]
        if not kept:
            raise ConfigError("allow and deny leave no worker in the pool")
        return WorkerPool(kept)

    def wrapped(self, wrap: Callable[[Member], Worker]) -> "WorkerPool":
        """The same cards over other workers, e.g. every worker metered: ``pool.wrapped(lambda m: Metered(m.worker))``."""
        return WorkerPool([replace(member, worker=wrap(member), able=member.able or member.worker) for member in self])

    def _index(self, name: str) -> int:
        if name not in self.names:
            raise ConfigError(f"no worker is named {name!r}; the pool has {', '.join(self.names)}")
        return self.names.index(name)
