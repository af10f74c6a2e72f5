"""What a server serves: models by name, each a Conductor made for one request (:mod:`podium.pools.models` makes them)."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from podium.protocols import ServedModel
from podium.request_options import RequestOptions
from podium.types import Card


class ModelCatalog(Protocol):
    """Everything that can be asked for."""

    @property
    def models(self) -> Sequence[str]:
        """Names of models, the default first: one per policy, then every worker by its own name."""
        ...

    @property
    def baselines(self) -> Mapping[str, str]:
        """Policies that know nothing and are good to compare with -> what each does."""
        ...

    @property
    def cards(self) -> Sequence[Card]:
        """The workers."""
        ...

    @property
    def task_worker(self) -> str | None:
        """Who gets titles and summaries that clients slip in; None: nobody does."""
        ...

    @property
    def tools_in_every_step(self) -> bool:
        """Whether steps before the last may call a client's tools where it does not say."""
        ...

    def conductor(self, model: str, options: RequestOptions = RequestOptions()) -> ServedModel:
        """The Conductor called ``model``, with these ``options``. Raises :class:`ConfigError` where that can not be had."""
        ...
