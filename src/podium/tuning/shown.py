"""What trials have shown of who takes which role well: how often a worker was tried there, and how often that spoiled it."""

import math
from collections.abc import Hashable, Iterable, Sequence

Prepared = tuple[str, int]
"""A role and who takes it."""


class Shown:
    """Trials of one kind: those since the search began anew, and all. Example: ``shown.note("plan", 2, "p1", right=True)``.

    A trial that is done again, of the same work on the same problem, shows nothing new and counts once.
    """

    def __init__(self) -> None:
        self._now: dict[Prepared, dict[Hashable, bool]] = {}
        self._ever: dict[Prepared, dict[Hashable, bool]] = {}

    def note(self, role: str, worker: int, trial: Hashable, *, right: bool) -> None:
        """``worker`` was put into ``role`` where a team was right, and that was still ``right`` or spoiled."""
        for seen in (self._now, self._ever):
            seen.setdefault((role, worker), {})[trial] = right

    def begin_again(self) -> None:
        """Forget what was seen, but for what rests on all that was ever tried."""
        self._now.clear()

    def may_be_good(self, role: str, worker: int) -> bool:
        """Whether at most half of the answers were spoiled since the beginning."""
        tried = self._now.get((role, worker), {})
        return 2 * sum(tried.values()) >= len(tried)

    def doubt(self, one: Prepared) -> float:
        """The lower, the surer it is that nothing is spoiled: first of all by how often that was tried."""
        tried = self._ever.get(one, {})
        return self.missed(*one) / max(1, len(tried)) - len(tried)

    def tried(self, role: str, worker: int) -> int:
        """How often that was ever tried."""
        return len(self._ever.get((role, worker), {}))

    def missed(self, role: str, worker: int) -> int:
        """How often it ever spoiled a right answer."""
        tried = self._ever.get((role, worker), {})
        return len(tried) - sum(tried.values())

    def share(self, role: str, worker: int) -> float:
        """Share of the answers that stayed right, of all that was ever tried, as if two more had been, one of them right."""
        tried = self.tried(role, worker)
        return (tried - self.missed(role, worker) + 1) / (tried + 2)

    def ranked(self, role: str, workers: Sequence[int]) -> list[int]:
        """``workers``, those first who have spoiled least in ``role`` of all that was ever tried."""
        return sorted(workers, key=lambda worker: -self.share(role, worker))

    def spread(self, role: str, workers: Sequence[int]) -> float:
        """How much it matters who takes ``role``: how far the best is above the mean, 0..1."""
        shares = [self.share(role, worker) for worker in workers]
        return max(shares) - sum(shares) / len(shares)

    def together(self, parts: Iterable[Prepared]) -> float:
        """How well all ``parts`` go, as the logarithm of the chance that none is spoiled."""
        return sum(math.log(self.share(*one)) for one in parts)
