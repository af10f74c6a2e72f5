"""A number that is held for a part of a run and then falls evenly to zero."""

from dataclasses import dataclass

from podium.errors import ConfigError


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """``start`` until the share ``hold`` of the run is done; from there it falls evenly and is 0 from the share ``end`` on.

    Example: ``Schedule(start=0.3, hold=0.5, end=0.7).at(0.6)`` is 0.15. Raises :class:`ConfigError` unless
    ``0 <= hold <= end <= 1``.
    """

    start: float = 0.0
    hold: float = 0.0
    end: float = 1.0

    def __post_init__(self) -> None:
        if not 0 <= self.hold <= self.end <= 1:
            raise ConfigError(f"a schedule needs 0 <= hold <= end <= 1, and this one has hold={self.hold}, end={self.end}")

    def at(self, progress: float) -> float:
        """The number when the share ``progress`` of the run is done, in 0..1."""
        if progress < self.hold:
            return self.start
        if progress >= self.end:
            return 0.0
        return self.start * (1 - (progress - self.hold) / (self.end - self.hold))
