"""A pool, opened: its workers, wrapped and ready, and what it brings with it.

A pool can come from a pool file, from the gym (:mod:`podium.pools.gym`), from recordings (:mod:`podium.pools.recorded`) or from
workers made in Python. What differs between them is a field here, so that no code has to ask which one it is.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

from podium.policies.named import NamedPolicy
from podium.protocols import Worker
from podium.types import Problem
from podium.workers.journal import Journal
from podium.workers.pool import WorkerPool
from podium.workers.prices import MostUsd

if TYPE_CHECKING:
    from podium.workers.config import ConductorConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenPool:
    """A pool ready to be conducted. Example: ``async with open_pool("pool.toml") as pool: ...``."""

    workers: WorkerPool
    policies: Mapping[str, NamedPolicy] = field(default_factory=lambda: MappingProxyType({}))
    """Policies that only this pool has, and those that mean something else in it."""
    default_policy: str = "chat"
    """Who writes the workflows where no policy is named."""
    arms: tuple[str, ...] = ()
    """What else to compare in an evaluation that names no arms."""
    problems: Callable[[], Sequence[Problem]] | None = None
    """Problems of its own whose answers are known, to play with and to check its workers by."""
    sort_of: Callable[[Problem], str] = lambda problem: problem.source
    """By what a router may tell problems apart: in the gym their kind, else the benchmark they are from, which is known when
    a benchmark is asked."""
    check_question: Callable[[str], None] = lambda question: None
    """Raises :class:`ConfigError` for a question that this pool is not for (most are for any): to be asked before a policy is
    loaded for it."""
    is_simulated: bool = False
    """Whether its dollars are those that models like its workers would cost, and nobody pays them."""
    answers_text_only: bool = False
    """Whether no worker can call tools or follow a response format."""
    conductor: "ConductorConfig | None" = None
    """What the pool file says about who writes workflows."""
    chat_workers: tuple[str, ...] = ()
    """Those that are models behind an API, as far as is known: one can ask them for more than answers."""
    max_tokens: Mapping[str, int] = field(default_factory=dict)
    """How much each worker may write, by name."""
    most_usd: Mapping[str, MostUsd] = field(default_factory=dict)
    """The most that a call of a worker can cost, by name, where that is not its card's price times the tokens."""
    journal: Journal | None = None
    task_worker: str | None = None
    """Who gets titles and summaries that clients of a server slip in."""
    tools_in_every_step: bool = False
    """Whether steps before the last may call a client's tools where it does not say."""

    def __getitem__(self, name: str) -> Worker:
        """The worker called ``name``, alone. Raises :class:`ConfigError` where there is none."""
        return self.workers.named(name).worker
