"""The places of a plan swept one after the other, for a catalogue that says which plans are worth it.

Where a team is right on a problem, everything it took went well there: put another worker in one place, and what comes out is
that worker's doing. So a sweep goes over the places of a plan from the last, which costs one call a trial, to the first: all
workers on few problems that the team has right, those who spoil nothing on more (sequential halving: Z. Karnin, T. Koren, O.
Somekh, 2013); whoever spoils nothing is tried where the team is wrong. Every plan begins with the best single worker in all
places; those found for a role are kept for the next plan.
"""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from podium.tuning.candidates import Candidate, plan_of, solo, staffed
from podium.tuning.catalogue import Plan
from podium.tuning.measuring import MEASURED
from podium.tuning.proving import PROVED
from podium.tuning.sweeps import Sweeps
from podium.tuning.telling import WRONG
from podium.types import Problem

HOPELESS = 12
"""A plan is given up where so many teams were wrong and hardly one was right."""
STRONG = 2
"""Workers, the best over all kinds, that are asked alone for problems that a team may have right."""
IDLE = -1
"""Instead of a worker: it does not matter who takes the place."""


class PlanSweeps(Sweeps):
    """The sweeps of one kind over whole plans. Example: ``await sweeps.plan(OWN.swept[0])``."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._chosen: dict[str, int] = {}
        self._turned = False

    @property
    def usual(self) -> int:
        """Who takes the places that nobody was found for: the best alone."""
        able = [worker for worker in self._ranked if worker in self._workers()] or self._ranked
        return max(able, key=lambda worker: self.measured.get(solo(worker, self._about), 0.0))

    async def begin_again(self) -> None:
        """Forget who was chosen as well, and look at the other end of the problems first."""
        await super().begin_again()
        self._chosen = {}
        self._turned = True

    async def plan(self, plan: Plan) -> None:
        """Sweep over the places of ``plan``, and measure the team that comes out."""
        proofs = await self._proofs_of(plan, sum(PROVED))
        if len(proofs) < PROVED[0]:
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
            proofs += await self._proofs_of(plan, sum(PROVED) - len(proofs), {p.id for _, p in proofs})
            if len(proofs) < PROVED[0]:
                break  # too little to go by for the other places, but what was found is a team, and can be mended
        await self.measure(self._staffed(plan, self.usual))

    def _staffed(self, plan: Plan, else_: int) -> Candidate:
        return staffed(plan, [self._chosen.get(role, else_) for role, _ in plan], self._about)

    async def _proofs_of(self, plan: Plan, least: int, but: Collection[str] = ()) -> list[tuple[Candidate, Problem]]:
        """Teams of ``plan``, each with a problem that it has right: first those of a worker who alone has it right are asked."""
        found: dict[str, tuple[Candidate, Problem]] = {}
        wrong = 0
        async for part in self._likely(plan, but):
            new = [one for one in {problem.id: (team, problem) for team, problem in part}.values() if one[1].id not in found]
            for start in range(0, len(new), PROVED[-1]):
                await self._ask(new[start : start + PROVED[-1]])
                for team, problem in new[start : start + PROVED[-1]]:
                    right = self._known.get((problem.id, team))
                    wrong += not right
                    if right:
                        found[problem.id] = team, problem
                if len(found) >= least or (wrong >= HOPELESS and len(found) < wrong / 4):
                    return list(found.values())
        return list(found.values())

    async def _likely(self, plan: Plan, but: Collection[str]) -> AsyncIterator[list[tuple[Candidate, Problem]]]:
        """Teams and problems that may go well together, the likeliest first."""
        problems = [problem for problem in self.problems if problem.id not in but]
        if self._turned:
            problems.reverse()

        def alone(workers: Sequence[int]) -> list[tuple[Candidate, Problem]]:
            return [
                (self._staffed(plan, w), p) for p in problems for w in workers if self._known.get((p.id, solo(w, self._about)))
            ]

        yield alone(self._workers())
        if any(role in self._chosen for role, _ in plan):
            yield [(self._staffed(plan, self.usual), problem) for problem in problems]
        for worker in self._ranked[:STRONG]:
            for start in range(0, len(problems), 4):
                few = problems[start : start + 4]
                await self._ask([(solo(worker, self._about), problem) for problem in few])
                yield [one for one in alone([worker]) if one[1] in few]

    async def _sweep(self, proofs: Sequence[tuple[Candidate, Problem]], at: int) -> int | None:
        """The worker for place ``at``; None where nobody is shown to be good there."""
        hits = dict.fromkeys(self._workers(), 0)
        tries = dict.fromkeys(self._workers(), 0)
        left, start, role = list(hits), 0, proofs[0][0][at].role
        for size in PROVED:
            if not left:
                return None  # everybody was given up
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
                    self._shown.note(role, worker, (problem.id, one), right=right)
            if start == PROVED[0] and at < len(proofs[0][0]) - 1 and sum(hits.values()) == sum(tries.values()):
                return IDLE
            fewest = sorted(tries[worker] - hits[worker] for worker in left)[(len(left) - 1) // 2]
            left = [worker for worker in left if tries[worker] - hits[worker] <= max(fewest, 1)]
        missed = {worker: tries[worker] - hits[worker] for worker in left if tries[worker]}
        good = [worker for worker in missed if missed[worker] <= (tries[worker] > 4)]
        if len(good) < 2:
            return good[0] if good else None
        return await self._gaining(self._staffed(plan_of(proofs[0][0]), self.usual), at, good, missed, self._chosen.get(role))

    async def _gaining(
        self, team: Candidate, at: int, good: Sequence[int], missed: Mapping[int, int], kept: int | None
    ) -> int | None:
        """Of those who spoil nothing, who gains most where ``team`` is wrong; of equals the one who was chosen before."""
        if len(self._wrong(team)) < PROVED[0] + 1:
            await self._ask([(team, p) for p in self.problems if (p.id, team) not in self._known][:MEASURED])
        wrong = self._wrong(team)
        gained = dict.fromkeys(good, 0)
        for part in (wrong[:3], wrong[3:WRONG]):
            await self._ask([(self._with(team, at, worker), p) for worker in good for p in part])
            for worker in good:
                gained[worker] += sum(self._known.get((p.id, self._with(team, at, worker)), False) for p in part)
            if not any(gained.values()):
                break
        return max(good, key=lambda worker: (gained[worker] - missed[worker], worker == kept))

    def _with(self, team: Candidate, at: int, worker: int) -> Candidate:
        return (*team[:at], replace(team[at], worker=worker), *team[at + 1 :])
