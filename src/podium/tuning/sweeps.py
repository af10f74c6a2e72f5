"""Who does which part of the work best, found one place of a plan at a time, where a right answer shows it.

Chains are often wrong as long as one link is weak, so that whole workflows tell little of their parts. But where a team is
right on a problem, everything it took went well there: put another worker in one place, and what comes out is that worker's
doing. So a sweep goes over the places of a plan, from the last, which costs one call a trial, to the first: all workers on
few problems that the team has right, the better half on more (sequential halving: Z. Karnin, T. Koren, O. Somekh, 2013);
whoever spoils nothing is tried where the team is wrong. As in LLMSelector (arXiv 2502.14815) the calls grow with the sum of
the places, not with the product. Every plan begins with the best single worker in all places; those found for a role are
kept for the next plan. The share right of a team is measured on problems in the order they come, never on chosen ones.
"""

import math
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import replace

from podium.tuning.candidates import Candidate, Plan, plan_of, solo, staffed
from podium.types import Problem

SWEPT: tuple[Plan, ...] = (
    (("plan", ()), ("compute", (0,))),
    (("plan", ()), ("nature", (0,)), ("made", (0,)), ("compute", (0, 1, 2))),
    (("plan", ()), ("recall", (0,)), ("compute", (0, 1))),
    (("solve", ()), ("review", (0,))),
    (("recall", ()), ("solve", (0,))),
)
"""The plans that are swept, the short ones first; a plan is left out where a shorter one leaves little to gain."""
ROUNDS = (2, 2, 3)
"""Problems that the team has right, of each round of a sweep."""
WRONG = 5
"""Problems that the team has wrong, on which those are tried who spoil nothing."""
MEASURED = 10
"""Problems that a team is measured on."""
AGAIN = 0.75
"""Share right from which it is measured on as many more."""
ENOUGH = 0.9
"""Share right from which a kind is left alone."""
GIVEN_UP = 12
"""A plan is given up where so many teams were wrong and hardly one was right."""
GENERAL = 2
"""Workers, the best over all kinds, that are asked alone for problems that a team may have right."""

NEARLY = 0.15
"""A longer team that is less right by this much only is mended first: it has more places to gain in."""
TRIED = 4
"""Of those who gain something in one place, so many are tried further."""
IDLE = -1
"""Instead of a worker: it does not matter who takes the place."""

Ask = Callable[[Sequence[tuple[Candidate, Problem]]], Awaitable[None]]


class Sweeps:
    """The sweeps of one kind. ``ask`` tries candidates on problems and puts into ``known`` whether they were right."""

    def __init__(
        self,
        problems: Sequence[Problem],
        workers: Callable[[], Sequence[int]],
        about: str,
        ask: Ask,
        shared: Callable[[Candidate, Problem], int],
        known: dict[tuple[str, Candidate], bool],
        ranked: Sequence[int],
    ) -> None:
        self._problems = problems
        self._workers = workers
        self._about = about
        self._ask_all = ask
        self._shared = shared
        self.may_ask = math.inf
        """Calls that are left to it; what has begun is finished."""
        self._known = known
        self._ranked = list(ranked)
        self._usual = self._ranked[0]
        """Takes the places that nobody was found for."""
        self._chosen: dict[str, int] = {}
        self._turned = False
        self._missed = Counter[tuple[str, int]]()
        self._tried = Counter[tuple[str, int]]()
        self.measured: dict[Candidate, float] = {}
        """Candidate -> share right on problems that were not chosen."""

    @property
    def is_done(self) -> bool:
        """Whether there is little left to gain."""
        return any(share >= ENOUGH for share in self.measured.values())

    def asked(self, candidate: Candidate) -> int:
        """On how many problems that were not chosen ``candidate`` was tried."""
        first = self._problems[: MEASURED if self.measured[candidate] < AGAIN else 2 * MEASURED]
        return sum((problem.id, candidate) in self._known for problem in first)

    async def alone(self) -> None:
        """Measure the best single workers."""
        best = max(self._workers(), key=lambda worker: (self._share(solo(worker, self._about)), -self._ranked.index(worker)))
        for worker in dict.fromkeys((best, self._ranked[0])):
            await self._measure(solo(worker, self._about))
        self._usual = max((best, self._ranked[0]), key=lambda worker: self.measured.get(solo(worker, self._about), 0.0))

    def begin_again(self) -> None:
        """Forget who was chosen, and look at the other end of the problems first."""
        self._chosen = {}
        self._missed.clear()
        self._tried.clear()
        self._turned = True

    async def plan(self, plan: Plan) -> None:
        """Sweep over the places of ``plan``, and measure the team that comes out."""
        proofs = await self._proofs(plan, sum(ROUNDS))
        if len(proofs) < ROUNDS[0]:
            return
        for at in reversed(range(len(plan))):
            role = plan[at][0]
            if role in self._chosen and at < len(plan) - 1:
                continue
            worker = await self._sweep(proofs, at)
            if worker == IDLE:
                return
            if worker is None:
                continue
            self._chosen[role] = worker
            changed = [(self._with(team, at, worker), problem) for team, problem in proofs]
            await self._ask(changed)
            proofs = [one for one in changed if self._known.get((one[1].id, one[0]))]
            proofs += await self._proofs(plan, sum(ROUNDS) - len(proofs), {p.id for _, p in proofs})
            if len(proofs) < ROUNDS[0]:
                break  # too little to go by for the other places, but what was found is a team, and can be mended
        await self._measure(self._team(plan, self._usual))

    async def mend(self) -> None:
        """Put others into single places of the best team, where it is wrong; who gains most there stays."""
        best = max(self.measured.values())
        near = [team for team, share in self.measured.items() if share > best - NEARLY and len(team) > 1]
        if not near:
            return
        team = max(near, key=lambda one: (len(one), self.measured[one]))
        wrong = self._wrong(team)[:WRONG]
        others = [
            self._with(team, at, worker)
            for at in range(len(team))
            for worker in self._workers()
            if worker != team[at].worker and self._may_be_good(team[at].role, worker)
        ]
        gained = Counter[Candidate]()
        for part in (wrong[:2], wrong[2:]):
            await self._ask([(other, problem) for other in others for problem in part])
            for other in others:
                gained[other] += sum(self._known.get((p.id, other), False) for p in part)
            others = sorted((other for other in others if gained[other]), key=lambda other: -gained[other])[:TRIED]
        for other in others[:2]:
            await self._measure(other)

    def _wrong(self, team: Candidate) -> list[Problem]:
        return [problem for problem in self._problems if self._known.get((problem.id, team)) is False]

    def _may_be_good(self, role: str, worker: int) -> bool:
        return 3 * self._missed[role, worker] <= self._tried[role, worker] + 1

    def _team(self, plan: Plan, else_: int) -> Candidate:
        return staffed(plan, [self._chosen.get(role, else_) for role, _ in plan], self._about)

    async def _proofs(self, plan: Plan, least: int, but: Collection[str] = ()) -> list[tuple[Candidate, Problem]]:
        """Teams of ``plan``, each with a problem that it has right: first those of a worker who alone has it right are asked."""
        found: dict[str, tuple[Candidate, Problem]] = {}
        wrong = 0
        async for part in self._likely(plan, but):
            new = [one for one in {problem.id: (team, problem) for team, problem in part}.values() if one[1].id not in found]
            for start in range(0, len(new), ROUNDS[-1]):
                await self._ask(new[start : start + ROUNDS[-1]])
                for team, problem in new[start : start + ROUNDS[-1]]:
                    right = self._known.get((problem.id, team))
                    wrong += not right
                    if right:
                        found[problem.id] = team, problem
                if len(found) >= least or (wrong >= GIVEN_UP and len(found) < wrong / 4):
                    return list(found.values())
        return list(found.values())

    async def _likely(self, plan: Plan, but: Collection[str]) -> AsyncIterator[list[tuple[Candidate, Problem]]]:
        """Teams and problems that may go well together, the likeliest first."""
        problems = [problem for problem in self._problems if problem.id not in but]
        if self._turned:
            problems.reverse()

        def alone(workers: Sequence[int]) -> list[tuple[Candidate, Problem]]:
            return [(self._team(plan, w), p) for p in problems for w in workers if self._known.get((p.id, solo(w, self._about)))]

        yield alone(self._workers())
        if any(role in self._chosen for role, _ in plan):
            yield [(self._team(plan, self._usual), problem) for problem in problems]
        for worker in self._ranked[:GENERAL]:
            for start in range(0, len(problems), 4):
                few = problems[start : start + 4]
                await self._ask([(solo(worker, self._about), problem) for problem in few])
                yield [one for one in alone([worker]) if one[1] in few]

    def _share(self, candidate: Candidate) -> float:
        found = [right for (_, one), right in self._known.items() if one == candidate]
        return (sum(found) + 0.5) / (len(found) + 1.0)

    async def _ask(self, trials: Sequence[tuple[Candidate, Problem]]) -> None:
        wanted = [(c, p) for c, p in dict.fromkeys(trials) if (p.id, c) not in self._known]
        if wanted and self.may_ask > 0:
            self.may_ask -= sum(len(candidate) - self._shared(candidate, problem) for candidate, problem in wanted)
            await self._ask_all(wanted)

    async def _sweep(self, proofs: Sequence[tuple[Candidate, Problem]], at: int) -> int | None:
        """The worker for place ``at``; None where nobody is shown to be good there."""
        hits = dict.fromkeys(self._workers(), 0)
        tries = dict.fromkeys(self._workers(), 0)
        left, start, role = list(hits), 0, proofs[0][0][at].role
        for size in ROUNDS:
            part = proofs[start : start + size]
            start += size
            trials = [
                (worker, self._with(team, at, worker), p) for team, p in part for worker in left if worker != team[at].worker
            ]
            await self._ask([(one, problem) for _, one, problem in trials])
            for worker, one, problem in trials:
                if (right := self._known.get((problem.id, one))) is not None:
                    tries[worker] += 1
                    hits[worker] += right
            if start == ROUNDS[0] and at < len(proofs[0][0]) - 1 and sum(hits.values()) == sum(tries.values()):
                return IDLE
            fewest = sorted(tries[worker] - hits[worker] for worker in left)[(len(left) - 1) // 2]
            left = [worker for worker in left if tries[worker] - hits[worker] <= max(fewest, 1)]
        for worker, tried in tries.items():
            self._missed[role, worker] += tried - hits[worker]
            self._tried[role, worker] += tried
        missed = {worker: tries[worker] - hits[worker] for worker in left if tries[worker]}
        good = [worker for worker in missed if missed[worker] <= (tries[worker] > 4)]
        if len(good) < 2:
            return good[0] if good else None
        return await self._gaining(self._team(plan_of(proofs[0][0]), self._usual), at, good, missed, self._chosen.get(role))

    async def _gaining(
        self, team: Candidate, at: int, good: Sequence[int], missed: Mapping[int, int], kept: int | None
    ) -> int | None:
        """Of those who spoil nothing, who gains most where ``team`` is wrong; of equals the one who was chosen before."""
        if len(self._wrong(team)) < ROUNDS[0] + 1:
            await self._ask([(team, p) for p in self._problems if (p.id, team) not in self._known][:MEASURED])
        wrong = self._wrong(team)
        gained = dict.fromkeys(good, 0)
        for part in (wrong[:3], wrong[3:WRONG]):
            await self._ask([(self._with(team, at, worker), p) for worker in good for p in part])
            for worker in good:
                gained[worker] += sum(self._known.get((p.id, self._with(team, at, worker)), False) for p in part)
            if not any(gained.values()):
                break
        return max(good, key=lambda worker: (gained[worker] - missed[worker], worker == kept))

    async def _measure(self, candidate: Candidate) -> None:
        for count in (MEASURED, 2 * MEASURED):
            await self._ask([(candidate, problem) for problem in self._problems[:count]])
            found = [r for p in self._problems[:count] if (r := self._known.get((p.id, candidate))) is not None]
            if found:
                self.measured[candidate] = (sum(found) + 0.5) / (len(found) + 1.0)
            if not found or self.measured[candidate] < AGAIN:
                return

    def _with(self, team: Candidate, at: int, worker: int) -> Candidate:
        return (*team[:at], replace(team[at], worker=worker), *team[at + 1 :])
