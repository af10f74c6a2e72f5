"""What a server serves: models by name, each a Conductor made for one request. The command line makes an offer of a pool."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from podium.events import Listener
from podium.types import Call, Card, Completion


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """What a client may choose for one request. Example: ``Wishes(without=("dear",), usd=0.05, rounds=2)``."""

    workers: tuple[str, ...] = ()
    """Only these workers; () is all of them."""
    without: tuple[str, ...] = ()
    """All but these."""
    policy: str | None = None
    """Who writes the workflow, by the names of ``podium ask --policy``, instead of the model's own policy."""
    rounds: int | None = None
    usd: float | None = None
    """What the whole answer may cost at most."""
    seconds: float | None = None
    """How long it may take at most."""


class Conducts(Protocol):
    """A Conductor."""

    async def conduct(self, call: Call, on_event: Listener | None = None) -> Completion:
        """Answer ``call`` and report every event (:class:`podium.conduct.Conductor`)."""
        ...


class Offer(Protocol):
    """Everything that can be asked for."""

    @property
    def models(self) -> Sequence[str]:
        """Names of models, the default first: one per policy, then every worker by its own name."""
        ...

    @property
    def baselines(self) -> Mapping[str, str]:
        """Policies (:attr:`Wishes.policy`) that know nothing and are good to compare with -> what each does."""
        ...

    @property
    def cards(self) -> Sequence[Card]:
        """The workers."""
        ...

    def conductor(self, model: str, wishes: Wishes = Wishes()) -> Conducts:
        """The Conductor called ``model``, as wished for. Raises :class:`ConfigError` where that can not be had."""
        ...
