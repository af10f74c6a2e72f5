"""What a task is about, where nobody said so: a team is told one thing after the other, until it is right where it was wrong.

Words of the questions that tell a kind from the others come first, then sorts of tasks from the catalogue. Left out: several
things at once, which would say too much.
"""

from collections.abc import Mapping, Sequence

from podium.tuning.candidates import Candidate, told_about
from podium.tuning.measuring import AGAIN, Measuring
from podium.types import Problem

SOUND = 0.55
"""Share right of a team that may be wrong through one thing alone."""
TOLD = 2
"""Problems that a team has wrong, on which it is told all that may help, each time that it is told at most."""
WRONG, TRIED = 5, 4
"""Problems that a team has wrong, on which others are compared with it, and those of them that are tried on all these."""


class Telling(Measuring):
    """What is known of one kind, and what its teams may be told. Example: ``await sweeps.tell()``."""

    _words: Sequence[Sequence[str]] = ()
    """What the task may be about, one list to be tried after the other; none of them is empty."""
    _told: frozenset[Candidate] = frozenset()
    """Teams that were told all there is, on the first problems that were wrong."""

    def go_on(self, problems: Sequence[Problem], measured: Mapping[Candidate, float]) -> None:
        """Go on with other problems, on which teams are right as often as ``measured`` says."""
        self.problems, self.measured = problems, dict(measured)
        self._told = frozenset()

    async def tell(self) -> None:
        """Tell the best team what the task may be about, where nothing told has helped yet; a single worker, and a team of a kind
        that is called by a word of its questions, only where it is right often, and the latter only what these say.

        What that is shows where a team is wrong and, told, is right: the best one first, then others. The best team that is
        told so takes its own place, if it is no worse.
        """
        best = self.best
        sound = AGAIN if len(best) == 1 or self._about else SOUND
        if best[-1].about != self._about or best in self._told or self.share < sound:
            return
        own = [one for one in self.measured if one[-1].about == self._about and (len(one) > 1) == (len(best) > 1)]
        teams = sorted(own, key=lambda one: (-self.measured[one], len(one)))
        for words in filter(None, self._words[:1] if self._about else self._words):
            wrong = [(team, p) for team in teams for p in self._wrong(team)]
            new = [(team, p) for team, p in wrong if (p.id, told_about(team, words[-1])) not in self._known]
            for team, problem in new[:TOLD]:
                if self.may_ask <= 0:
                    return
                await self._ask([(told_about(team, word), problem) for word in words])
                if likely := [word for word in words if self._known.get((problem.id, told_about(team, word)))]:
                    if self.may_ask > 0:
                        self._told |= {best}
                        await self._tell(best, likely[:TRIED])
                    return
        self._told |= {best}

    async def tell_again(self) -> None:
        """The same with more problems that teams have wrong."""
        self._told = frozenset()
        await self.tell()

    async def _tell(self, best: Candidate, words: Sequence[str]) -> None:
        """Measure the ``best`` team told the one of ``words`` by which it is right most often where it is wrong."""
        others = [told_about(best, word) for word in words]
        wrong = self._wrong(best)[:WRONG]
        await self._ask([(other, problem) for other in others for problem in wrong])
        found = max(others, key=lambda other: sum(self._known.get((problem.id, other), False) for problem in wrong))
        await self.measure(found)
        if self.measured.get(found, 0.0) >= self.measured[best]:
            del self.measured[best]
