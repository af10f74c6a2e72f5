"""What all pages of one server share: what is offered, what is kept, where training runs lie."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Protocol

from podium.gym.profiles import PROFILES
from podium.page.training_files import TrainingRuns
from podium.serving.offer import Conducts, Offer
from podium.serving.store.runs import Run


class RunsLike(Protocol):
    """The kept runs, as :class:`podium.serving.store.runs.Runs` has them. ``key`` None: whoever asked."""

    async def add(self, run: Run) -> None:
        """Keep ``run``."""
        ...

    async def get(self, id: str, *, key: str | None) -> Run | None:  # noqa: A002 - what everybody calls it
        """The run called ``id``, whole."""
        ...

    async def search(
        self,
        *,
        key: str | None,
        text: str = "",
        model: str = "",
        failed: bool | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        limit: int = 50,
        before: str | None = None,
    ) -> Sequence[Run]:
        """The newest ``limit`` runs that fit, newest first."""
        ...

    async def spending(self, *, key: str | None, days: int) -> Sequence[tuple[date, float | None]]:
        """Dollars a day; None where a price is unknown."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """One server's pages. Example: ``site.link("/play")`` is ``"/ui/play"`` where the pages live below ``/ui``."""

    offer: Offer
    runs: RunsLike | None
    training: TrainingRuns
    play: Callable[[str], Conducts] | None
    prefix: str
    store_content: bool = True
    """Whether what was asked and answered is kept."""

    def link(self, path: str) -> str:
        """The address of one of our pages."""
        return self.prefix.rstrip("/") + path

    @property
    def is_gym(self) -> bool:
        """Whether the workers are the gym's, so that its problems can be asked and judged."""
        return {profile.name for profile in PROFILES} <= {card.name for card in self.offer.cards}

    @property
    def policies(self) -> tuple[str, ...]:
        """The models that write workflows."""
        workers = {card.name for card in self.offer.cards}
        return tuple(model for model in self.offer.models if model not in workers)

    @property
    def workers(self) -> tuple[str, ...]:
        """The models that are one worker alone."""
        workers = {card.name for card in self.offer.cards}
        return tuple(model for model in self.offer.models if model in workers)
