"""What one request may choose: workers, policy, rounds, and how much it may cost."""

from typing import Literal

from pydantic import Field

from podium.body import Body, Name


class RequestOptions(Body):
    """``podium`` in a request, or headers such as ``X-Podium-Budget-Usd``: what a client may choose for this request.

    Example: ``RequestOptions(exclude_workers=("dear",), budget_usd=0.05, rounds=2)``.
    """

    workers: tuple[Name, ...] = Field(default=(), max_length=100)
    """Only these workers; () is all of them."""
    exclude_workers: tuple[Name, ...] = Field(default=(), max_length=100)
    """All but these."""
    policy: Name | None = None
    """Who writes the workflow, by the names of ``podium ask --policy``, instead of the model's own policy."""
    tool_steps: Literal["last", "all"] | None = None
    """Which steps of the workflow may call the client's tools, instead of what the pool file says."""
    rounds: int | None = Field(default=None, ge=1, le=10)
    budget_usd: float | None = Field(default=None, gt=0, le=1e6, allow_inf_nan=False)
    """What the whole answer may cost at most."""
    session_usd: float | None = Field(default=None, gt=0, le=1e6, allow_inf_nan=False)
    """What the whole session may cost at most, this answer included (docs/sessions.md)."""
    budget_seconds: float | None = Field(default=None, gt=0, le=1e6, allow_inf_nan=False)
    """How long it may take at most."""
