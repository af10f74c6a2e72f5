"""The candidates of one kind measured: how often they are right on problems that nobody chose, and which of several is best."""

import math
from collections.abc import Awaitable, Callable, Sequence

from podium.tuning.candidates import Candidate, solo
from podium.types import Problem

RACED, MEASURED = 4, 10
"""Problems of the first round of a race, and those that a team is measured on."""
FEW = 0.8
"""Share of these that has to be answered, so that it is a measurement."""
AGAIN = 0.75
"""Share right from which it is measured on as many more."""
ENOUGH = 0.9
"""Share right from which a kind is left alone."""

Ask = Callable[[Sequence[tuple[Candidate, Problem]]], Awaitable[None]]
Price = Callable[[Sequence[tuple[Candidate, Problem]]], int]


async def _always(calls: int) -> bool:
    return True


class Measuring:
    """What is known of one kind. ``ask`` tries candidates on problems and puts into ``known`` whether they were right; ``price``
    says how many calls that takes."""

    def __init__(
        self,
        problems: Sequence[Problem],
        about: str,
        ask: Ask,
        price: Price,
        known: dict[tuple[str, Candidate], bool],
        ranked: Sequence[int],
    ) -> None:
        self.problems = problems
        """In the order in which candidates are measured on them."""
        self._about = about
        self._ask_all = ask
        self._price = price
        self.may_ask = math.inf
        """Calls that are left to it. What has begun is finished, since candidates are compared on the same problems."""
        self.may_begin: Callable[[int], Awaitable[bool]] = _always
        """Whether so many calls can be paid for at all. A batch that is larger is not begun."""
        self.spent = 0
        """Calls that it has taken."""
        self._known = known
        self._ranked = list(ranked)
        self.measured: dict[Candidate, float] = {}
        """Candidate -> share right on problems that were not chosen."""
        self._twice: set[Candidate] = set()
        """Those that were tried on twice as many problems though they are not right often."""

    @property
    def is_done(self) -> bool:
        """Whether there is little left to gain."""
        return self.share >= ENOUGH

    @property
    def share(self) -> float:
        """Share right of the best team."""
        return max(self.measured.values(), default=0.0)

    @property
    def best(self) -> Candidate:
        """The team that was right most often, of equals the shorter."""
        return max(self.measured, key=lambda one: (self.measured[one], -len(one)), default=solo(self._ranked[0], self._about))

    def asked(self, candidate: Candidate) -> int:
        """On how many problems that were not chosen ``candidate`` was tried."""
        twice = candidate in self._twice or self.measured[candidate] >= AGAIN
        first = self.problems[: 2 * MEASURED if twice else MEASURED]
        return sum((problem.id, candidate) in self._known for problem in first)

    async def measure(self, candidate: Candidate) -> None:
        """Try ``candidate`` on problems in the order they come."""
        for count in (MEASURED, 2 * MEASURED):
            await self._ask([(candidate, problem) for problem in self.problems[:count]])
            if (share := self.share_of(candidate)) is not None:
                self.measured[candidate] = share
            if self.measured.get(candidate, 0.0) < AGAIN:
                return

    async def measure_more(self, candidate: Candidate) -> None:
        """Try ``candidate`` on as many problems as one that is right often."""
        self._twice.add(candidate)
        await self._ask([(candidate, problem) for problem in self.problems[: 2 * MEASURED]])
        if (share := self.share_of(candidate)) is not None:
            self.measured[candidate] = share

    def share_of(self, candidate: Candidate) -> float | None:
        """Share right of ``candidate`` on the first problems, on more where it is high or was to be; None where few are known.

        On more only then: of the others it was asked some because another team has them right or wrong.
        """
        share = None
        for count in (MEASURED, 2 * MEASURED):
            found = [r for p in self.problems[:count] if (r := self._known.get((p.id, candidate))) is not None]
            if len(found) >= min(FEW * count, len(self.problems)):
                share = (sum(found) + 0.5) / (len(found) + 1.0)
            if share is None or (share < AGAIN and candidate not in self._twice):
                break
        return share

    async def race(self, teams: Sequence[Candidate]) -> None:
        """The best of ``teams`` on the first problems are measured; of equals the shorter."""
        right: dict[Candidate, int] = {}
        for count in (RACED // 2, RACED):
            few = self.problems[:count]
            teams = [team for team in teams if right.get(team, 0) >= max(right.values(), default=0) - 1]
            await self._ask([(team, problem) for team in teams for problem in few])
            right = {team: sum(self._known.get((p.id, team), False) for p in few) for team in teams}
        ranked = sorted(teams, key=lambda team: (-right[team], len(team)))
        for team in ranked[: 1 + (len(ranked) > 1 and right[ranked[0]] == right[ranked[1]])]:
            await self.measure(team)

    def _wrong(self, candidate: Candidate) -> list[Problem]:
        return [problem for problem in self.problems if self._known.get((problem.id, candidate)) is False]

    def _share(self, candidate: Candidate) -> float:
        found = [r for p in self.problems if (r := self._known.get((p.id, candidate))) is not None]
        return (sum(found) + 0.5) / (len(found) + 1.0)

    async def _ask(self, trials: Sequence[tuple[Candidate, Problem]]) -> None:
        wanted = [(c, p) for c, p in dict.fromkeys(trials) if (p.id, c) not in self._known]
        if wanted and self.may_ask > 0:
            calls = self._price(wanted)
            if not await self.may_begin(calls):
                self.may_ask = 0.0  # a part of it would compare candidates on different problems
                return
            self.may_ask -= calls
            self.spent += calls
            await self._ask_all(wanted)
