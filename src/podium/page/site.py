"""What all pages of one server share: the desk that takes questions, where training runs lie, what can be played."""

from collections.abc import Callable
from dataclasses import dataclass

from nicegui import ui

from podium.gym.profiles import PROFILES
from podium.page.training_files import TrainingRuns
from podium.page.visitor import Visitor
from podium.protocols import ServedModel
from podium.serving.catalog import ModelCatalog
from podium.serving.service import RequestService
from podium.serving.store.runs import Runs


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """One server's pages. Example: ``site.link("/play")`` is ``"/ui/play"`` where the pages live below ``/ui``."""

    service: RequestService
    training: TrainingRuns
    play: Callable[[str], ServedModel] | None
    prefix: str

    @property
    def catalog(self) -> ModelCatalog:
        """What can be asked."""
        return self.service.catalog

    @property
    def runs(self) -> Runs:
        """What was asked."""
        return self.service.accounts.runs

    @property
    def with_keys(self) -> bool:
        """Whether visitors sign in."""
        return self.service.accounts.with_keys

    def visitor(self) -> Visitor:
        """Whoever looks at the page that is being built."""
        return Visitor(self.service.accounts, ui.context.client.request)

    def link(self, path: str) -> str:
        """The address of one of our pages."""
        return self.prefix.rstrip("/") + path

    @property
    def is_gym(self) -> bool:
        """Whether the workers are the gym's, so that its problems can be asked and judged."""
        return {profile.name for profile in PROFILES} <= {card.name for card in self.catalog.cards}

    @property
    def policies(self) -> tuple[str, ...]:
        """The models that write workflows."""
        workers = {card.name for card in self.catalog.cards}
        return tuple(model for model in self.catalog.models if model not in workers)

    @property
    def workers(self) -> tuple[str, ...]:
        """The models that are one worker alone."""
        workers = {card.name for card in self.catalog.cards}
        return tuple(model for model in self.catalog.models if model in workers)
