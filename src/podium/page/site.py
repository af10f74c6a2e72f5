"""What all pages of one server share: the service that takes questions, where training runs lie, what can be played."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from weakref import WeakValueDictionary

from nicegui import ui

from podium.page.live import LiveRuns
from podium.page.training_files import TrainingRuns
from podium.page.visitor import Visitor
from podium.protocols import ServedModel, Verifier
from podium.serving.catalog import ModelCatalog
from podium.serving.service import RequestService
from podium.serving.store.runs import Run, Runs
from podium.types import Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class Playground:
    """Problems that a visitor can try to conduct, where the pool brings problems whose answers are known."""

    problems: Sequence[Problem]
    verifier: Verifier
    conductor: Callable[[str], ServedModel]
    """From a workflow that a visitor wrote to what carries it out, over the workers in the order of the catalog's cards."""
    check_question: Callable[[str], None] = lambda question: None
    """Raises :class:`ConfigError` for a question that the pool is not for."""
    answers_only_these: bool = False
    """Whether the pool answers questions of these kinds and no others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """One server's pages. Example: ``site.link("/play")`` is ``"/ui/play"`` where the pages live below ``/ui``."""

    service: RequestService
    training: TrainingRuns
    playground: Playground | None
    """None where the pool brings no problems."""
    prefix: str
    pool_files: Path | None = None
    """Where visitors who may do that write pool files; None: nobody may."""
    lives: LiveRuns = field(default_factory=LiveRuns)
    """The runs that pages have under way."""
    shown: WeakValueDictionary[str, Run] = field(default_factory=WeakValueDictionary)
    """The kept runs that open pages show."""

    @property
    def catalog(self) -> ModelCatalog:
        """The models that can be asked."""
        return self.service.catalog

    @property
    def runs(self) -> Runs:
        """The runs that are kept."""
        return self.service.accounts.runs

    async def kept(self, id: str, *, sees: str | None) -> Run | None:  # noqa: A002 - what everybody calls it
        """A kept run that ``sees`` may see, None where there is none. Pages that show the same one share its texts: of a run
        with megabytes of them each would hold a copy else."""
        found = None if len(id) > 100 else await self.runs.get(id, key=sees)
        if found is None:
            return None
        shared = self.shown.setdefault(id, found)
        return shared if shared == found else found

    @property
    def with_keys(self) -> bool:
        """Whether visitors sign in."""
        return self.service.accounts.with_keys

    def visitor(self) -> Visitor:
        """The person who looks at the page that is being built."""
        return Visitor(self.service.accounts, ui.context.client.request)

    def link(self, path: str) -> str:
        """The address of one of our pages."""
        return self.prefix.rstrip("/") + path

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
