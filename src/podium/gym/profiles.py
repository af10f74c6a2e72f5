"""Who the workers are on paper: a level for each part of the work on each kind of question, habits, a price and a speed."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from podium.gym.kinds import home

ELSEWHERE = 0.35
"""The level at work that a worker can not tell the kind of, because it does not see the question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Habits:
    """What spoils a worker's work although it knows how. Each is one small number. Example: ``Habits(distracted=0.05)``."""

    distracted: float = 0.05
    """What each response that is seen and not needed, or that speaks against what is used, takes off every level, as a share.
    Real models lose with every irrelevant sentence (GSM-IC, arXiv 2302.00093), steadily more with their number (GSM-DC,
    2505.18761)."""
    spoils: float = 0.06
    """How often something right is spoilt in reviewing it: GPT-4 falls from 95.5 to 91.5 % on GSM8K in one round of reviewing
    (2310.01798)."""
    alters: float = 0.15
    """How often an answer is altered when it is only to be passed on: aggregators reason anew instead of copying (2310.01798:
    75.8 to 38.1 % on CommonSenseQA after reviews)."""
    rambles: float = 0.02
    """What each 1,000 characters beyond the first 1,000 take off every level: length alone costs 13.9 to 85 % (2510.05381)."""
    needs_words: float = 0.04
    """What a subtask that does not name the matter takes off every level, and twice that one which names another matter."""
    family: str = ""
    """Workers of one family make some of their mistakes together: the same wrong choice in 60 % of common errors (2506.07962)."""
    shared: float = 0.3
    """The share of its luck that a worker has in common with its family."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """A worker on paper. Example: ``Profile(name="atlas", levels={("story", "plan"): 0.99})``.

    ``levels`` is for tables and tests; it is not on the card, which must not tell the policy what it has to find out.
    """

    name: str
    levels: Mapping[tuple[str, str], float]
    """(kind, part) -> how often it comes out right, in 0..1."""
    habits: Habits = field(default_factory=Habits)
    prompt_usd: float = 1e-6
    """Dollars per prompt token."""
    completion_usd: float = 4e-6
    """Dollars per completion token."""
    latency_seconds: float = 0.6
    """Seconds before the first token."""
    tokens_per_second: float = 80.0

    def level(self, kind: str | None, part: str) -> float:
        """How good this worker is at ``part`` of a question of ``kind``; None: it can not tell which."""
        if kind is None:
            return ELSEWHERE
        found = self.levels.get((kind, part))
        return self.levels.get((home(kind), part), ELSEWHERE) if found is None else found
