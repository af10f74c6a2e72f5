"""Whose calls these are. What was paid for one tenant of a server is given to no other, and may be unreadable for others.

A command has one tenant, itself. A server names one per key, before it makes a call for it.
"""

from contextvars import ContextVar
from dataclasses import dataclass
from typing import Protocol


class Seal(Protocol):
    """Makes a text unreadable for everybody else, and readable again."""

    def close(self, text: str, place: str) -> str:
        """``text``, unreadable; ``place`` says what it belongs to, and it opens nowhere else."""
        ...

    def open(self, sealed: str, place: str) -> str:
        """The text. Raises ValueError where it was not closed by this seal for this place."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Tenant:
    """Example: ``tenant.set(Tenant(name="5f0c...", seal=seal, is_kept=False))``."""

    name: str = ""
    """Part of the key of each of its calls (:mod:`podium.workers.call_key`)."""
    seal: Seal | None = None
    is_kept: bool = True
    """Whether its replies may be stored so that others can read them; what may not is closed with ``seal``."""

    def __post_init__(self) -> None:
        if not self.is_kept and self.seal is None:
            raise ValueError("what may not be read needs a seal")


ITSELF = Tenant()
"""The one tenant of a command."""

tenant: ContextVar[Tenant] = ContextVar("tenant", default=ITSELF)
"""The tenant that the calls of this task are made for."""
