"""What routers and rules learn from: who was right on which training question, and what everybody answered."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from statistics import fmean
from types import MappingProxyType

from podium.errors import ConfigError
from podium.policies.chosen import ChosenWorkflow


@dataclass(frozen=True, slots=True, kw_only=True)
class RouterDataset:
    """Who did how well on the training questions.

    Example: ``RouterDataset(questions=("2 + 2?",), kinds=("math",), right=((1.0, 0.0),))``.
    """

    questions: tuple[str, ...]
    kinds: tuple[str, ...]
    right: tuple[tuple[float, ...], ...]
    """Per question and worker (in the pool's order), the share of its answers that were right, 0..1."""
    answers: tuple[tuple[str | None, ...], ...] = ()
    """What each worker answered: equal texts for the same, None for nothing. For what learns from who agrees with whom."""

    def __post_init__(self) -> None:
        """Raises :class:`ConfigError` where there is nothing to learn from or the lengths differ."""
        if not self.questions or len(self.questions) != len(self.right) or len(self.questions) != len(self.kinds):
            raise ConfigError("a router learns from questions, each with its kind and with what every worker made of it")
        if not any(question.strip() for question in self.questions):
            raise ConfigError("a router learns from the words of questions; there are none")
        if len({len(row) for row in (*self.right, *self.answers)}) > 1 or len(self.answers) not in (0, len(self.questions)):
            raise ConfigError("a router learns from all workers at every question")
        if any(not 0.0 <= share <= 1.0 for row in self.right for share in row):
            raise ConfigError("how well a worker did is a share, from 0 to 1")


@dataclass(frozen=True, slots=True, kw_only=True)
class RouterTrainingData:
    """What routers learn from: how the workers alone, and the catalogue, did on training problems."""

    alone: RouterDataset
    sort_of: Callable[[str], str | None]
    """The kind of a question, or the benchmark it is from, as in ``alone.kinds``; None where nobody knows."""
    catalogue: RouterDataset | None = None
    """Of the arms :data:`CATALOGUE`, behind the workers alone."""
    workflows: Mapping[str, ChosenWorkflow] = field(default_factory=lambda: MappingProxyType({}))
    """Workflows that were chosen on training problems, by arm."""

    @property
    def best(self) -> int:
        """Position of the worker that was right most often; of equals the first."""
        means = [fmean(shares) for shares in zip(*self.alone.right, strict=True)]
        return means.index(max(means))
