"""What a run of tuning came to."""

from dataclasses import dataclass
from pathlib import Path

from podium.evaluation.metrics import Interval
from podium.policies.tuned_policy import TunedPolicy
from podium.policies.tuned_record import TunedRecord
from podium.tuning.advising import Advised
from podium.tuning.headroom import Headroom
from podium.tuning.proposals import Proposals

TUNED = "tuned"
"""The policy's name among the arms of its test."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tested:
    """An arm on the sealed problems."""

    name: str
    share: float
    """Share right, 0..1."""
    interval: Interval
    """95 % of it."""
    problems: int
    usd: float | None
    """Dollars of one question; None: unknown."""
    steps: float
    """Calls of one question."""
    gain: Interval | None
    """Of the tuned policy over this arm, in pairs; None for the tuned policy itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuned:
    """What a run came to."""

    folder: Path
    policy: TunedPolicy
    record: TunedRecord
    tested: tuple[Tested, ...]
    calls: int
    """Calls that were made; recorded answers that were looked at, where it is recordings that were tuned on."""
    usd: float | None
    best_worker: str
    given_up: tuple[str, ...] = ()
    """Workers that failed so often in a row that they were not asked any more."""
    headroom: Headroom | None = None
    """Where it ended early because there is nothing to conduct: what showed it. The sealed problems were not asked then."""
    is_recorded: bool = False
    """Whether nobody was asked, because all answers had been recorded."""
    advised: Advised | None = None
    """The prompted Conductor, where one was to be tuned and there was something to conduct."""
    proposals: Proposals | None = None
    """Plans that a model of the pool proposed; None where none was asked."""

    @property
    def policies(self) -> tuple[str, ...]:
        """What was written, as policies are named."""
        prompted = self.advised is not None and self.advised.share is not None
        return (f"tuned:{self.folder}", *((f"prompted:{self.folder}",) if prompted else ()))

    @property
    def use_worker(self) -> bool:
        """Whether the best worker alone is as good, as far as the sealed problems show: there is nothing to conduct then."""
        alone = next((one for one in self.tested if one.name == f"worker:{self.best_worker}"), None)
        return alone is None or alone.gain is None or alone.gain.low <= 0
