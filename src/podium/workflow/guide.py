"""What a prompted Conductor is told besides the language: what was found out about the workers it conducts."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from podium.types import Workflow


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A question and a workflow for it. Example: ``Example(question="6 times 7?", reasoning="One will do.", workflow=one)``."""

    question: str
    reasoning: str
    workflow: Workflow


@dataclass(frozen=True, slots=True, kw_only=True)
class Guide:
    """What is known of a pool. Example: ``Guide(advice="Ask model 2 for sums.", skills={"calc": (("sum", 0.97),)})``."""

    advice: str = ""
    examples: tuple[Example, ...] = ()
    """Shown in place of the usual ones, where there are any."""
    skills: Mapping[str, tuple[tuple[str, float], ...]] = field(default_factory=lambda: MappingProxyType({}))
    """Worker -> its measured shares right, in place of what its card says."""


NO_GUIDE = Guide()
