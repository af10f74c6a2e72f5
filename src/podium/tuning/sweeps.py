"""Who does which part of the work best, found one part at a time, where a right answer shows it.

Every worker is tried in every role that prepares, on problems that somebody has right, and who takes the last step is found
alike (:mod:`podium.tuning.proving`). As in LLMSelector (arXiv 2502.14815) the calls grow with the sum of the places, not with
the product. Teams of those found are raced on problems in the order they come, never on chosen ones.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations, product, zip_longest
from typing import Any

from podium.policies.tuned_record import LONGEST
from podium.tuning.candidates import Candidate, Part, beside, solo, team_of, without
from podium.tuning.catalogue import SOLVE
from podium.tuning.measuring import AGAIN, ENOUGH
from podium.tuning.proving import Proving
from podium.tuning.shown import Prepared
from podium.tuning.telling import SOUND, TRIED, WRONG

FIRST_WRONG = 2
"""Problems that a team has wrong, on which it is mended first."""
COMPARED = 2
"""Of the workers who are right most often alone, so many are measured."""
REVIEWED = 3
"""Single workers that are reviewed at most."""
WORTH_REVIEWING = 0.25
"""Share right from which somebody looks again."""
MUCH = 3
"""So many of these right show more than ten problems that nobody chose."""
CROSSED, LIKELY = 3, 6
"""Workers of each place that are crossed, and of the teams that come out those that are raced."""
RACE = 60
"""Calls that are kept for racing and measuring what comes out of crossing."""
LOOKED_AT = 2
"""Teams that are measured on more problems at a time."""
MOST_REVIEWERS = 3
"""Reviewers of a sound team that are measured: each takes one call a problem."""
NEARLY = 0.15
"""A longer team that is less right by this much only is mended first: it has more places to gain in."""


class Sweeps(Proving):
    """The sweeps of one kind."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """As :class:`podium.tuning.proving.Proving`."""
        super().__init__(*args, **kwargs)
        self._good_enough = AGAIN  # share right from which what is there is better mended
        self._good: dict[str, list[int]] = {}
        self._is_wide = False
        self._begun = 0
        self._mended: set[Candidate] = set()  # teams in which nobody gains in another place

    async def begin_again(self) -> None:
        """Forget who was found good, and go by other problems first, each time by others."""
        self._good, self._is_wide, self._good_enough = {}, False, ENOUGH
        self._mended = set()
        self._shown.begin_again()
        half = len(self.problems) // 2
        parts = (self.problems[:half], self.problems[half:], self.problems[::2])
        self._spent = self._doubtful | {problem.id for problem in parts[self._begun % len(parts)]}
        self._begun += 1

    async def alone(self) -> None:
        """Measure the best single workers."""
        best = sorted(self._workers(), key=lambda worker: (-self._share(solo(worker, self._about)), self._ranked.index(worker)))
        for worker in dict.fromkeys((*best[:COMPARED], self._ranked[0])):
            await self.measure(solo(worker, self._about))

    async def prepare(self, roles: Sequence[str]) -> None:
        """Find who spoils nothing in each of ``roles``, put before the last step of whoever is right."""
        if self.share >= self._good_enough:
            return  # what is there already is better mended
        parts = [Part(role=role, worker=worker, about=self._about) for role in roles for worker in self._workers()]
        found = await self._harmless(parts, lambda team, part: beside(team, part.role, part.worker))
        self._good |= {role: [part.worker for part in each] for role, each in found.items()}

    async def join(self) -> None:
        """Put teams together of those who prepare well, find who ends them best, and race them."""
        steps = [(role, own[0]) for role, own in self._good.items() if own]
        if not steps or self.share >= self._good_enough:
            return
        is_complete = all(self._good.values())
        lasts = ((await self._lasts(tuple(steps)))[:2] if is_complete else []) or self._usual()
        ways = [tuple(steps), *((one,) for one in steps)] if is_complete and len(steps) > 1 else [tuple(steps)]
        await self.race([team_of(each, last) for each in ways for last in lasts])

    async def widen(self, roles: Sequence[str]) -> None:
        """Put one or two steps more of ``roles`` into the best team, by those who spoil nothing there, and race the teams."""
        teams = [one for one in self.measured if 1 < len(one) < LONGEST]
        if not teams or self.share >= self._good_enough:
            return
        teams = [one for one in teams if not self._looks_again(one)] or teams
        best = max(self.measured[one] for one in teams)
        team = max((one for one in teams if self.measured[one] > best - NEARLY), key=lambda one: (len(one), self.measured[one]))
        await self.prepare(roles)
        self._is_wide = True
        found = [(role, self._good[role][0]) for role in roles if self._good.get(role)]
        found.sort(key=self._shown.doubt)
        there = {(part.role, part.worker) for part in team}
        wider = [beside(team, *one) for one in found if one not in there]
        if len(team) < LONGEST - 1:
            wider += [beside(beside(team, *one), *other) for one, other in combinations(found[:3], 2) if not {one, other} & there]
        # What was asked for as a whole before is not needed any more where its parts are asked for.
        plain = {role.split()[0] for role, _ in found if " " in role}
        wider += [without(one, at) for one in wider for at, part in enumerate(one) if at and part.role in plain]
        await self.race(wider)

    async def cross(self) -> None:
        """Put the best for the first role, and for two in which it matters most who takes them, together in all ways; race the
        teams that are right where the best one is wrong. What begins alike is paid for once: a team more costs a last step."""
        if self.share >= self._good_enough or not (workers := self._workers()):
            return
        first, more = self._catalogue.prepared
        matter = sorted(self._matter & {*more} - {*first}, key=lambda role: (-self._shown.spread(role, workers), role))[:2]
        roles = [*first[:1], *(first[1:2] if len(matter) < 2 else ()), *matter]

        def crossed(count: int) -> list[Candidate]:
            *steps, lasts = [[(role, one) for one in self._shown.ranked(role, workers)[:count]] for role in (*roles, SOLVE)]
            ends = [Part(role=SOLVE, worker=worker, about=self._about) for _, worker in lasts]
            return [team_of(before, last) for before in product(*steps) for last in ends]

        wrong = [p for p in self.problems if self._known.get((p.id, self.best)) is not True][:2]
        for count in range(CROSSED, 1, -1):
            teams = crossed(count)
            if not wrong or self.may_ask >= self._price([(team, wrong[0]) for team in teams]) + RACE:
                break
        else:
            return  # what is found has to be raced, too
        right = Counter[Candidate]()
        for problem in wrong:
            wanted = [(team, problem) for team in teams]
            if self.may_ask >= self._price(wanted) + RACE:
                await self._ask(wanted)
            right.update(team for team in teams if self._known.get((problem.id, team)))
            teams = [team for team in teams if right[team]] or teams
        likely = [team for team in teams if right[team]]
        likely.sort(key=lambda team: (-right[team], -self._shown.together((part.role, part.worker) for part in team)))
        await self.race(likely[:LIKELY])

    def _usual(self) -> list[Part]:
        """The two who are right most often alone."""
        first = sorted(self._workers(), key=lambda worker: -self._share(solo(worker, self._about)))[:2]
        return [Part(role=SOLVE, worker=worker, about=self._about) for worker in first]

    async def _lasts(self, steps: tuple[Prepared, ...]) -> list[Part]:
        """Who spoils nothing as the last step behind ``steps``, the best first."""
        solving = [Part(role=SOLVE, worker=worker, about=self._about) for worker in self._workers()]
        found = await self._harmless(solving, lambda team, last: team_of(steps, last))
        return [part for each in zip_longest(*found.values()) for part in each if part is not None]

    async def review(self) -> None:
        """Put a step that looks again behind the best team where it is wrong, and behind single workers nearly as good."""
        if not self.measured:
            return
        ranked = sorted(self.measured, key=lambda one: (-self.measured[one], len(one)))
        near = [one for one in ranked[:REVIEWED] if self.measured[one] > self.measured[ranked[0]] - NEARLY and len(one) == 1]
        for team in near if len(ranked[0]) == 1 else ranked[:1]:
            if self.measured[team] < WORTH_REVIEWING:
                break
            if len(team) < LONGEST and (team == ranked[0] or not self.is_done):
                last = Part(role="review", worker=0, access=tuple(range(len(team))), about=self._about)
                others = [(*team, replace(last, worker=worker)) for worker in self._workers()]
                if self.measured[team] >= SOUND:
                    await self._best_where_wrong(team, others, first=WRONG, compared=MOST_REVIEWERS)
                else:
                    await self._best_where_wrong(team, others)

    async def mend(self) -> None:
        """Put others into single places of the best team, where it is wrong; who gains most there stays."""
        if not self.measured:
            return
        await self.look_twice()
        await self.tell()
        if self.is_done:
            return
        if self._good and not all(self._good.values()) and not self._is_wide:
            return  # a part of the work is missing, which nobody's work in the other places makes good
        team = self._to_mend()
        if team is None:
            return
        others = [
            (*team[:at], replace(team[at], worker=worker), *team[at + 1 :])
            for at in range(len(team))
            for worker in self._workers()
            if worker != team[at].worker and self._shown.may_be_good(team[at].role, worker)
        ]
        # What a step does too much may be in the way, and so may be a part where the whole is needed.
        others += [without(team, at) for at in range(1, len(team) - 1)]
        plain = [(at, part.role.split()[0]) for at, part in enumerate(team) if " " in part.role]
        others += [
            (*team[:at], replace(team[at], role=role), *team[at + 1 :]) for at, role in plain if role in self._catalogue.roles
        ]
        if len(team) < LONGEST:
            there = {part.role for part in team}
            others += [beside(team, role, worker) for role, own in self._good.items() if role not in there for worker in own[:2]]
        if not await self._best_where_wrong(team, others) and self.may_ask > 0:
            self._mended.add(team)  # and not for want of calls

    def _to_mend(self) -> Candidate | None:
        """The longest of the best teams, since it has more places to gain in; where these were mended in vain, and none is good,
        the best of the others."""
        best = self.share
        teams = [team for team in self.measured if len(team) > 1 and team not in self._mended]
        if near := [team for team in teams if self.measured[team] > best - NEARLY]:
            return max(near, key=lambda one: (best >= SOUND or not self._looks_again(one), len(one), self.measured[one]))
        return max(teams, key=lambda one: (self.measured[one], len(one)), default=None) if best < AGAIN else None

    async def look_twice(self) -> None:
        """Measure the teams that may be the best on as many problems more: ten may be bad luck, and what is sought then in vain
        costs more."""
        least = max(SOUND, self.share - NEARLY)
        likely = [one for one, share in self.measured.items() if least <= share < AGAIN and one not in self._twice]
        for one in sorted(likely, key=lambda one: (-self.measured[one], len(one)))[:LOOKED_AT]:
            await self.measure_more(one)

    async def _best_where_wrong(
        self, team: Candidate, others: Sequence[Candidate], *, first: int = FIRST_WRONG, compared: int = 2
    ) -> bool:
        """Measure the ``compared`` of ``others`` that are right most often where ``team`` is wrong; where none of those that were
        not measured yet is right, on other problems that it has wrong, so that what is done twice is not done in vain. Whether
        one of them is right on any."""
        others = [other for other in dict.fromkeys(others) if other not in self.measured]
        wrong = self._wrong(team)
        likely: list[Candidate] = []

        def gained(other: Candidate, count: int) -> int:
            return sum(self._known.get((problem.id, other), False) for problem in wrong[:count])

        if self._are_many:
            first = 1  # chance hits are many, too: all of them are compared below
        most = len(wrong) if self.measured[team] >= SOUND else FIRST_WRONG
        for start in range(0, most, first):
            end = start + first
            await self._ask([(other, problem) for other in others for problem in wrong[start:end]])
            by_gain = {other: gained(other, end) for other in others}
            if likely := sorted((other for other in others if by_gain[other]), key=by_gain.__getitem__, reverse=True)[
                : len(others) if self._are_many else TRIED * compared // 2
            ]:
                break
        if self._are_many:
            await self._ask([(other, problem) for other in likely for problem in wrong[: WRONG // 2 + 1]])
            likely = sorted(likely, key=lambda other: -gained(other, WRONG // 2 + 1))[: TRIED * compared]
        await self._ask([(other, problem) for other in likely for problem in wrong[:WRONG]])
        for other in sorted(likely, key=lambda other: -gained(other, WRONG))[:compared]:
            await self.measure(other)
            if SOUND <= self.measured.get(other, 0.0) < AGAIN and gained(other, WRONG) >= MUCH:
                await self.measure_more(other)  # ten problems may be bad luck
        return bool(likely)
