"""What one request may choose: workers, policy, rounds, and how much it may cost."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestOptions:
    """What a client may choose for one request. Example: ``RequestOptions(without=("dear",), usd=0.05, rounds=2)``."""

    workers: tuple[str, ...] = ()
    """Only these workers; () is all of them."""
    exclude_workers: tuple[str, ...] = ()
    """All but these."""
    policy: str | None = None
    """Who writes the workflow, by the names of ``podium ask --policy``, instead of the model's own policy."""
    rounds: int | None = None
    budget_usd: float | None = None
    """What the whole answer may cost at most."""
    budget_seconds: float | None = None
    """How long it may take at most."""
