"""What trials have shown of who takes which role well: how often a worker was tried there, and how often that spoiled it."""

from collections import Counter
from collections.abc import Sequence

Prepared = tuple[str, int]
"""A role and who takes it."""


class Shown:
    """Counts of one kind: those since the search began anew, and all. Example: ``shown.note("plan", 2, tried=4, missed=1)``."""

    def __init__(self) -> None:
        self._tried, self._missed = Counter[Prepared](), Counter[Prepared]()
        self._ever_tried, self._ever_missed = Counter[Prepared](), Counter[Prepared]()

    def note(self, role: str, worker: int, *, tried: int, missed: int) -> None:
        """``worker`` was put into ``role`` ``tried`` times, and ``missed`` times a right answer was gone."""
        for counts, count in (
            (self._tried, tried),
            (self._missed, missed),
            (self._ever_tried, tried),
            (self._ever_missed, missed),
        ):
            counts[role, worker] += count

    def begin_again(self) -> None:
        """Forget what was counted, but for :meth:`ranked` and :meth:`spread`."""
        self._tried.clear()
        self._missed.clear()

    def may_be_good(self, role: str, worker: int) -> bool:
        """Whether at most half of the answers were spoiled since the beginning."""
        return 2 * self._missed[role, worker] <= self._tried[role, worker]

    def doubt(self, one: Prepared) -> float:
        """The lower, the surer it is that nothing is spoiled: first of all by how often that was tried."""
        return self._missed[one] / self._tried[one] - self._tried[one]

    def ranked(self, role: str, workers: Sequence[int]) -> list[int]:
        """``workers``, those first who have spoiled least in ``role`` of all that was ever tried."""
        return sorted(workers, key=lambda worker: -self._share(role, worker))

    def spread(self, role: str, workers: Sequence[int]) -> float:
        """How much it matters who takes ``role``: how far the best is above the mean, 0..1."""
        shares = [self._share(role, worker) for worker in workers]
        return max(shares) - sum(shares) / len(shares)

    def _share(self, role: str, worker: int) -> float:
        tried, missed = self._ever_tried[role, worker], self._ever_missed[role, worker]
        return (tried - missed + 1) / (tried + 2)
