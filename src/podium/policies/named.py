"""What a policy needs to be called by a name: how the name is written, what it does, and how it is made for a pool.

A new one is a :class:`NamedPolicy`, registered beside the code that writes its workflows, here or in another package.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from podium.errors import ConfigError
from podium.policies.spec import PolicySpec
from podium.protocols import Policy
from podium.workers.pool import WorkerPool
from podium.workflow.syntax import WorkflowSyntax

if TYPE_CHECKING:
    from podium.workers.config import ConductorConfig

DEFAULT_STEPS = 5
"""Most steps of a workflow where nothing else is said (paper, section 4.1)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyRequest:
    """What a policy is made from."""

    spec: PolicySpec
    workers: WorkerPool
    conductor: "ConductorConfig | None" = None
    """What a pool file says about who writes workflows."""
    max_steps: int | None = None
    """As the user set it."""

    @property
    def steps(self) -> int:
        """Most steps of a workflow that a policy chooses itself."""
        return self.max_steps or (DEFAULT_STEPS if self.conductor is None else self.conductor.max_steps)

    def worker(self, default: str = "") -> int:
        """Position of the worker that the string names, by its name or its number. Raises :class:`ConfigError`."""
        name, names = self.spec.argument or default, self.workers.names
        if not name:
            raise ConfigError(
                f"policy {self.spec.kind!r} needs a worker: {self.spec.kind}:NAME, with NAME one of {', '.join(names)}"
            )
        if name in names or not name.isdecimal():
            return names.index(self.workers.named(name).name)
        if int(name) >= len(names):
            raise ConfigError(f"there is no worker {name}; workers are 0 to {len(names) - 1}: {', '.join(names)}")
        return int(name)


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicySetup:
    """A policy, ready to conduct, with the workers it conducts and the language it writes."""

    policy: Policy
    workers: WorkerPool
    max_steps: int
    syntax: WorkflowSyntax = WorkflowSyntax()
    answering: Collection[int] | None = None
    """The workers that can be given the last step; None: any of them."""
    one_round: str = ""
    """Why it can not look at an answer and plan anew; empty where it can."""
    rounds: int = 1
    """Rounds that the policy needs, at least."""


@runtime_checkable
class SetsUp(Protocol):
    """A policy that knows which workers and which language it needs, so that it can be conducted as it is."""

    def setup(self, workers: WorkerPool) -> PolicySetup:
        """What conducts ``workers`` by this policy."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedPolicy:
    """A policy that can be called by name. Example: ``register("policies", "solo")(NamedPolicy(form="solo:NAME", ...))``."""

    form: str
    """How it is written, as in ``solo:NAME``."""
    about: str
    """One line for ``--help`` and the page."""
    make: Callable[[PolicyRequest], PolicySetup]
    """Raises :class:`ConfigError` where it can not be made for this pool."""
    knows_workers_by_number: bool = False
    """Whether it was learned for these workers in this order, so that none can be left out."""
    is_baseline: bool = False
    """Whether it needs no choice of a worker, so that it can stand beside any Conductor."""
