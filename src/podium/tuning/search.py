"""The search: which candidate to try on which problem next, so that few paid calls find the best workflow of every kind."""

import random
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import zip_longest
from statistics import fmean
from types import MappingProxyType

import numpy as np

from podium.errors import BudgetExceeded, WorkerUnavailable
from podium.policies.tuned_record import LONGEST
from podium.tuning.candidates import Candidate, changed, solo, staffed
from podium.tuning.catalogue import Catalogue
from podium.tuning.headroom import LITTLE, Headroom, headroom_of, needed
from podium.tuning.measuring import AGAIN
from podium.tuning.outcomes import Draw, OutcomeModel, best_for
from podium.tuning.plan_sweeps import PlanSweeps
from podium.tuning.selection import PRIOR
from podium.tuning.stages import ALWAYS, Stage, nothing, stages_of
from podium.tuning.sweeps import Sweeps
from podium.tuning.trials import Bench, Trial
from podium.tuning.turns import Turns
from podium.types import Problem

BATCH = 24
RANDOM = 0.1
CHANGED = 0.25
FEWEST = 3
"""Of the best of a kind; only where fewer were measured estimates take their place: they rest on chosen problems."""
AHEAD = 150
"""Calls by which a kind without a good team may be ahead of another one."""
FIRST = 5  # problems of each kind that every worker is asked alone before anything else


class Search:
    """Thompson sampling over candidates, a batch at a time; deterministic for a seed and the workers' answers."""

    def __init__(
        self,
        bench: Bench,
        problems: Sequence[Problem],
        workers: int,
        *,
        about: Mapping[str, str] = MappingProxyType({}),
        words: Mapping[str, Sequence[Sequence[str]]] = MappingProxyType({}),
        near: Mapping[str, tuple[str, ...]] = MappingProxyType({}),
        seed: int = 0,
    ) -> None:
        self.bench = bench
        self.by_kind: dict[str, list[Problem]] = {}
        self._words = words
        self.near = near
        """Problem, by id -> other kinds that it may be of; the doubtful ones are searched on last."""
        for problem in sorted(problems, key=lambda problem: bool(near.get(problem.id))):
            self.by_kind.setdefault(bench.kind_of(problem), []).append(problem)
        self.about = {kind: about.get(kind, "") for kind in self.by_kind}
        self.known: dict[tuple[str, Candidate], bool] = {}
        self.sweeps: dict[str, Sweeps] = {}
        self._workers = workers
        self._seed = seed
        self._rng = random.Random(seed)
        self.model = OutcomeModel(np.random.default_rng(seed))
        self.trials: list[Trial] = []
        self._seen: dict[str, Counter[Candidate]] = {kind: Counter() for kind in self.by_kind}
        self._done: set[tuple[str, Candidate]] = set()
        self._harvest: set[tuple[str, Candidate]] = set()
        self._turns = Turns(lambda: bench.allowance.room)

    @property
    def _catalogue(self) -> Catalogue:
        """Proposals add to it."""
        return self.bench.catalogue

    @property
    def workers(self) -> tuple[int, ...]:
        """The workers that can be asked."""
        return self.bench.answering

    async def begin(self, left: Callable[[], float]) -> None:
        """Ask every worker the first problems of each kind alone.

        Raises :class:`BudgetExceeded` where the budget ended before one answer, :class:`WorkerUnavailable` where nobody answers.
        """
        first = [(worker, p) for own in self.by_kind.values() for worker in range(self._workers) for p in own[:FIRST]]
        self._rng.shuffle(first)
        await self._alone(first, left)
        if not self.trials and self._done and not self.bench.is_exhausted:
            raise WorkerUnavailable(f"no answer could be judged: {'; '.join(self.bench.failures)}")
        if not self.trials:
            raise BudgetExceeded(
                "the budget ended before one answer was judged; raise it, or look at the pool: podium pool check"
            )
        self.model.fit()

    async def headroom(self, left: Callable[[], float]) -> Headroom:
        """What the best worker leaves to the others; more problems are asked of all only where it seems to be little."""
        found = self._headroom()
        waiting = [p for row in zip_longest(*(own[FIRST:] for own in self.by_kind.values())) for p in row if p is not None]
        while waiting and self.workers and left() > 0:
            more = needed(len(self.workers)) - found.problems
            if more <= 0 or found.others > LITTLE * (found.problems + more):
                break
            count = min(more, FIRST)
            part, waiting = waiting[:count], waiting[count:]
            await self._alone([(worker, problem) for problem in part for worker in self.workers], left)
            found = self._headroom()
        self.model.fit()
        return found

    def _headroom(self) -> Headroom:
        self.check()
        return headroom_of(self.trials, self.workers)

    async def _alone(self, asked: Sequence[tuple[int, Problem]], left: Callable[[], float]) -> None:
        for start in range(0, len(asked), BATCH):
            if self.trials and left() <= 0:
                return
            few = [(worker, p) for worker, p in asked[start : start + BATCH] if worker in self.workers]
            wanted = [(solo(worker, self.about[self.bench.kind_of(p)]), p) for worker, p in few]
            while wanted and not self.bench.can_pay(wanted):
                wanted.pop()
            await self.batch(wanted)

    async def run(
        self,
        left: Callable[[], float],
        on_batch: Callable[[Draw], None],
        between: Callable[[], Awaitable[None]] = nothing,
    ) -> None:
        """Try batch after batch as long as calls are ``left()``; ``on_batch`` is given the estimate after each.

        ``between`` comes when every kind has been searched once, and at the end. Raises :class:`WorkerUnavailable` where nobody
        answers any more.
        """
        once, again = stages_of(self._catalogue)
        self.sweeps = {kind: self.sweeps.get(kind) or self.sweeps_of(kind) for kind in self.by_kind}
        await self._side_by_side({kind: list(once) for kind in self.by_kind}, left, on_batch)
        before = dict(self.sweeps)
        await between()
        anew = [kind for kind in self.by_kind if self.sweeps[kind] is not before[kind]]
        await self._side_by_side({kind: list(once) for kind in anew}, left, on_batch)
        await self._side_by_side({kind: list(again) for kind in self.by_kind}, left, on_batch, by_need=True)
        await between()
        while left() > 0 and self.workers and not all(each.is_done for each in self.sweeps.values()):
            proposals = self._proposals(mean := self.model.mean())
            if not proposals or not self.bench.can_pay(proposals):
                return
            on_batch(mean)
            await self.batch(proposals)
            self.model.fit()
        self.check()

    async def _side_by_side(
        self,
        stages: Mapping[str, list[Stage]],
        left: Callable[[], float],
        on_batch: Callable[[Draw], None],
        *,
        by_need: bool = False,
    ) -> None:
        """Search kinds side by side until the best of each is right often enough; ``by_need``: those without a good team first,
        and of these those that have taken least since their problems are what they are.

        Whether to go on is asked between stages, so that it does not hang on who answers first.
        """
        while left() > 0 and self.workers:
            for kind in (kind for kind in stages if self.sweeps[kind].is_done):
                stages[kind][:] = [stage for stage in stages[kind] if stage in ALWAYS]
            active = [kind for kind in stages if stages[kind]]
            if not active:
                return
            if by_need:
                active = [kind for kind in active if self.sweeps[kind].share < AGAIN] or active
                least = min(self.sweeps[kind].spent for kind in active)
                active = [kind for kind in active if self.sweeps[kind].spent <= least + AHEAD]
            for kind in active:
                self.sweeps[kind].may_ask = left() / len(active)
            await self.bench.all(self._turns.side_by_side({kind: stages[kind].pop(0)(self.sweeps[kind]) for kind in active}))
            self.model.fit()
            on_batch(self.model.mean())

    def regroup(self, kind_of: Callable[[Problem], str]) -> None:
        """Go on with problems that are of other kinds than was thought. What is known of them stays known; a kind whose problems
        have changed is searched anew where that leaves it without a good team."""
        self.bench.kind_of = kind_of
        before, everything = self.by_kind, [problem for own in self.by_kind.values() for problem in own]
        self.by_kind = {
            kind: [*(p for p in had if kind_of(p) == kind), *(p for p in everything if kind_of(p) == kind and p not in had)]
            for kind, had in before.items()
        }
        self._relearn({problem.id: kind_of(problem) for problem in everything})
        for kind, had in before.items():
            if self.by_kind[kind] != had:
                old, new = self.sweeps[kind], self.sweeps_of(kind)
                new.measured = {one: share for one in old.measured if (share := new.share_of(one)) is not None}
                if new.share >= AGAIN:
                    old.go_on(new.problems, new.measured)
                    new = old
                self.sweeps[kind] = new

    def _relearn(self, kinds: Mapping[str, str]) -> None:
        """Learn from all trials anew, with the kinds of problems, by id, as they are thought to be now."""
        self.model = OutcomeModel(np.random.default_rng(self._seed))
        self._seen = {kind: Counter() for kind in self.by_kind}
        known = [replace(trial, kind=kinds.get(trial.problem, trial.kind)) for trial in self.trials]
        self.trials = sorted(known, key=lambda trial: (trial.problem, repr(trial.candidate)))  # not by who answered first
        for trial in self.trials:
            self._seen[trial.kind][trial.candidate] += 1
            self.model.add(trial.kind, trial.candidate, float(trial.outcome.right))
        self.model.fit()

    async def race(self, kind: str, teams: Sequence[Candidate], calls: float) -> None:
        """Measure the best of ``teams`` on problems of ``kind``, with about so many calls."""
        self.sweeps[kind] = sweeps = self.sweeps_of(kind)
        sweeps.may_ask = calls
        await sweeps.race(teams)

    def sweeps_of(self, kind: str) -> Sweeps:
        """New sweeps over the problems of ``kind``; what is known of them stays known."""
        alone = Counter(trial.candidate[0].worker for trial in self.trials if trial.outcome.right)
        ranked = sorted(range(self._workers), key=lambda worker: -alone[worker])
        sweeps = (PlanSweeps if self._catalogue.swept else Sweeps)(
            self.by_kind[kind], lambda: self.workers, self.about[kind], self.batch, self.bench.price, self.known, ranked,
            self._catalogue, {problem.id for problem in self.by_kind[kind] if self.near.get(problem.id)},
            self._words.get(kind, ()),
        )  # fmt: skip
        sweeps.may_begin = partial(self._turns.may_begin, kind)
        return sweeps

    def check(self) -> None:
        """Raises :class:`WorkerUnavailable` where nobody can be asked any more."""
        if not self.workers:
            raise WorkerUnavailable(
                f"no worker answers any more; with a journal, tuning goes on: {'; '.join(self.bench.failures)}"
            )

    async def batch(self, wanted: Sequence[tuple[Candidate, Problem]]) -> None:
        """Try candidates on problems, side by side."""
        self._done.update((problem.id, candidate) for candidate, problem in wanted)
        for trials in await self.bench.all([self.bench.run(candidate, problem) for candidate, problem in wanted]):
            for trial in trials or ():
                self.note(trial)

    def note(self, trial: Trial) -> None:
        """Learn from ``trial``; a part that was judged along with several trials of one problem counts once."""
        if trial.harvested:
            if (trial.problem, trial.candidate) in self._harvest | self._done:
                return
            self._harvest.add((trial.problem, trial.candidate))
        self.trials.append(trial)
        self.known[trial.problem, trial.candidate] = trial.outcome.right
        self._seen[trial.kind][trial.candidate] += 1
        self.model.add(trial.kind, trial.candidate, float(trial.outcome.right))

    def starts(self, kind: str, top: int = 8) -> list[Candidate]:
        """Where the ascent begins: every plan with random workers, and what has been tried most."""
        rng = self._rng
        plans = [staffed(plan, [rng.choice(self.workers) for _ in plan], self.about[kind]) for plan in self._catalogue.plans]
        return plans + [candidate for candidate, _ in self._seen[kind].most_common(top) if self.can_be_asked(candidate)]

    def can_be_asked(self, candidate: Candidate) -> bool:
        """Whether all its workers still answer."""
        return all(part.worker in self.workers for part in candidate)

    def best(self, mean: Draw) -> dict[str, float]:
        """Kind -> estimated share right of its best candidate."""
        found = {}
        for kind in self.by_kind:
            tried = [candidate for candidate, times in self._seen[kind].items() if times >= 2]
            shares = self.measured(kind) or {candidate: mean.share(kind, candidate) for candidate in tried}
            found[kind] = max(shares.values(), default=0.0)
        return found

    def measured(self, kind: str) -> Mapping[Candidate, float]:
        """Share right of what was measured on problems of ``kind`` that were not chosen."""
        return self.sweeps[kind].measured if kind in self.sweeps else {}

    def weight(self, kind: str, candidate: Candidate) -> float:
        """How many problems its expected share right counts as: those it was measured on, else ``PRIOR``."""
        return self.sweeps[kind].asked(candidate) if candidate in self.measured(kind) else PRIOR

    def expected(self, kind: str, candidate: Candidate, mean: Draw) -> float:
        """Share right as measured, else as estimated."""
        measured = self.measured(kind)
        return measured[candidate] if candidate in measured else mean.share(kind, candidate)

    def leaders(self, kind: str, mean: Draw, count: int) -> list[Candidate]:
        """The best candidates of ``kind``: those that were measured; where these are too few, by the estimate those that were
        tried twice, and where these are too few as well what ascent from the plans finds."""
        self.check()
        measured = {one: share for one, share in self.measured(kind).items() if self.can_be_asked(one)}
        leaders = sorted(measured, key=lambda one: (-measured[one], len(one), repr(one)))
        tried = {candidate for candidate, times in self._seen[kind].items() if times >= 2 and self.can_be_asked(candidate)}
        if len(leaders) < FEWEST:
            leaders += self._by_estimate(kind, mean, tried - measured.keys())
        if len(leaders) < FEWEST:
            found = {best_for(mean, kind, [start], self.workers) for start in self.starts(kind, 20)}
            leaders += self._by_estimate(kind, mean, found - {*leaders})
        return leaders[:count]

    def _by_estimate(self, kind: str, mean: Draw, candidates: Collection[Candidate]) -> list[Candidate]:
        return sorted(candidates, key=lambda one: (-mean.share(kind, one), len(one), repr(one)))

    def constant(self, kinds: Sequence[str]) -> Candidate:
        """The candidate with the highest estimated share right over all kinds: one workflow for everything."""
        mean = self.model.mean()
        self.check()
        tried = {one for kind in kinds for one, times in self._seen[kind].items() if times >= 2 or one in self.measured(kind)}
        found = {one for one in tried if self.can_be_asked(one)} or {solo(worker) for worker in self.workers}

        def over_all(candidate: Candidate) -> float:
            return fmean(mean.share(kind, candidate) for kind in kinds)

        return max(sorted(found, key=repr), key=over_all)

    def _proposals(self, mean: Draw) -> list[tuple[Candidate, Problem]]:
        kinds = list(self.by_kind)
        best = self.best(mean)
        weights = [0.15 + (1 - best[kind]) for kind in kinds]
        found: list[tuple[Candidate, Problem]] = []
        planned: set[tuple[str, Candidate]] = set()
        for _ in range(BATCH):
            kind = self._rng.choices(kinds, weights)[0]
            candidate = best_for(self.model.draw(), kind, self.starts(kind), self.workers)
            dice = self._rng.random()
            if dice < RANDOM:
                candidate = staffed(
                    plan := self._rng.choice(self._catalogue.plans),
                    [self._rng.choice(self.workers) for _ in plan],
                    self.about[kind],
                )
            if dice < RANDOM + CHANGED:
                candidate = changed(candidate, self.workers, self._rng, LONGEST, self._catalogue)
            if candidate[-1].role not in self._catalogue.answering:
                continue
            open_problems = [
                p for p in self.by_kind[kind] if (p.id, candidate) not in self._done and (p.id, candidate) not in planned
            ]
            if not open_problems:
                continue
            few = self._rng.sample(open_problems, min(4, len(open_problems)))
            problem = max(few, key=lambda p: self.bench.shared(candidate, p))
            planned.add((problem.id, candidate))
            found.append((candidate, problem))
        return found
