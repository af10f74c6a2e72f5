"""The search: which candidate to try on which problem next, so that few paid calls find the best workflow of every kind."""

import random
from collections import Counter
from collections.abc import Callable, Sequence
from statistics import fmean

import numpy as np

from podium.errors import BudgetExceeded, WorkerUnavailable
from podium.tuning.candidates import ANSWERING, PLANS, Candidate, changed, solo, staffed
from podium.tuning.outcomes import Draw, OutcomeModel, best_for
from podium.tuning.trials import Bench, Trial
from podium.types import Problem

BATCH = 24
RANDOM = 0.1
CHANGED = 0.25
MAX_STEPS = 5
FIRST = 3
"""Problems of each kind that every worker is asked alone before anything else."""


class Search:
    """Thompson sampling over candidates, a batch at a time; deterministic for a seed and the workers' answers."""

    def __init__(self, bench: Bench, problems: Sequence[Problem], workers: int, *, seed: int = 0) -> None:
        self._bench = bench
        self._by_kind: dict[str, list[Problem]] = {}
        for problem in problems:
            self._by_kind.setdefault(bench.kind_of(problem), []).append(problem)
        self._workers = workers
        self._rng = random.Random(seed)
        self.model = OutcomeModel(np.random.default_rng(seed))
        self.trials: list[Trial] = []
        self._seen: dict[str, Counter[Candidate]] = {kind: Counter() for kind in self._by_kind}
        self._done: set[tuple[str, Candidate]] = set()
        self._harvest: set[tuple[str, Candidate]] = set()

    @property
    def workers(self) -> tuple[int, ...]:
        """The workers that can be asked."""
        return self._bench.answering

    async def run(self, goes_on: Callable[[], bool], on_batch: Callable[[Draw], None]) -> None:
        """Try batch after batch as long as ``goes_on()``; ``on_batch`` is given the estimate after each.

        Raises :class:`BudgetExceeded` where the budget ended before one answer, :class:`WorkerUnavailable` where nobody answers.
        """
        first = [(solo(w), p) for k in self._by_kind.values() for w in range(self._workers) for p in k[:FIRST]]
        self._rng.shuffle(first)
        for start in range(0, len(first), BATCH):
            if start == 0 or goes_on():
                await self._batch([one for one in first[start : start + BATCH] if one[0][0].worker in self.workers])
        if not self.trials and not self._bench.is_exhausted:
            raise WorkerUnavailable(f"no answer could be judged: {'; '.join(self._bench.failures)}")
        if not self.trials:
            raise BudgetExceeded(
                "the budget ended before one answer was judged; raise it, or look at the pool: podium pool check"
            )
        self.model.fit()
        while goes_on() and self.workers:
            proposals = self._proposals(mean := self.model.mean())
            if not proposals:
                return
            on_batch(mean)
            await self._batch(proposals)
            self.model.fit()
        self.check()

    def check(self) -> None:
        """Raises :class:`WorkerUnavailable` where nobody can be asked any more."""
        if not self.workers:
            raise WorkerUnavailable(
                f"no worker answers any more; with a journal, tuning goes on: {'; '.join(self._bench.failures)}"
            )

    async def _batch(self, wanted: Sequence[tuple[Candidate, Problem]]) -> None:
        self._done.update((problem.id, candidate) for candidate, problem in wanted)
        for trials in await self._bench.all([self._bench.run(candidate, problem) for candidate, problem in wanted]):
            for trial in trials or ():
                self.note(trial)

    def note(self, trial: Trial) -> None:
        """Learn from ``trial``; a part that was judged along with several trials of one problem counts once."""
        if trial.harvested:
            if (trial.problem, trial.candidate) in self._harvest | self._done:
                return
            self._harvest.add((trial.problem, trial.candidate))
        self.trials.append(trial)
        self._seen[trial.kind][trial.candidate] += 1
        self.model.add(trial.kind, trial.candidate, float(trial.outcome.right))

    def starts(self, kind: str, top: int = 8) -> list[Candidate]:
        """Where the ascent begins: every plan with random workers, and what has been tried most."""
        rng = self._rng
        plans = [staffed(plan, [rng.choice(self.workers) for _ in plan]) for plan in PLANS]
        return plans + [candidate for candidate, _ in self._seen[kind].most_common(top) if self._can_be_asked(candidate)]

    def _can_be_asked(self, candidate: Candidate) -> bool:
        return all(part.worker in self.workers for part in candidate)

    def outlook(self, mean: Draw) -> dict[str, float]:
        """The same as :meth:`best`, to be shown: whoever looks on changes nothing of what is tried next."""
        kept = self._rng.getstate()
        try:
            return self.best(mean) if self.workers else {}
        finally:
            self._rng.setstate(kept)

    def best(self, mean: Draw) -> dict[str, float]:
        """Kind -> estimated share right of its best candidate."""
        kinds = list(self._by_kind)
        return {kind: mean.share(kind, best_for(mean, kind, self.starts(kind), self.workers)) for kind in kinds}

    def leaders(self, kind: str, mean: Draw, count: int) -> list[Candidate]:
        """The best candidates of ``kind`` by the estimate: those that were tried, and what ascent from the plans finds."""
        self.check()
        found = {candidate for candidate, times in self._seen[kind].items() if times >= 2 and self._can_be_asked(candidate)}
        found |= {best_for(mean, kind, [start], self.workers) for start in self.starts(kind, 20)}
        return sorted(found, key=lambda one: (-mean.share(kind, one), len(one), repr(one)))[:count]

    def constant(self, kinds: Sequence[str]) -> Candidate:
        """The candidate with the highest estimated share right over all kinds: one workflow for everything."""
        mean = self.model.mean()
        found = {candidate for kind in kinds for candidate in self.leaders(kind, mean, 30)}

        def over_all(candidate: Candidate) -> float:
            return fmean(mean.share(kind, candidate) for kind in kinds)

        return max(sorted(found, key=repr), key=over_all)

    def costs(self) -> Callable[[Candidate], float | None]:
        """What a candidate costs by what its steps' workers have cost, in dollars; None: unknown."""
        by_worker: dict[int, list[float]] = {}
        for trial in self.trials:
            if trial.harvested:
                continue  # its dollars are those of the whole
            if trial.outcome.usd is None:
                return lambda candidate: None
            for part in trial.candidate:
                by_worker.setdefault(part.worker, []).append(trial.outcome.usd / len(trial.candidate))
        means = {worker: fmean(each) for worker, each in by_worker.items()}
        return lambda candidate: sum(means.get(part.worker, 0.0) for part in candidate)

    def _proposals(self, mean: Draw) -> list[tuple[Candidate, Problem]]:
        kinds = list(self._by_kind)
        best = self.best(mean)
        weights = [0.15 + (1 - best[kind]) for kind in kinds]
        found: list[tuple[Candidate, Problem]] = []
        planned: set[tuple[str, Candidate]] = set()
        for _ in range(BATCH):
            kind = self._rng.choices(kinds, weights)[0]
            candidate = best_for(self.model.draw(), kind, self.starts(kind), self.workers)
            dice = self._rng.random()
            if dice < RANDOM:
                candidate = staffed(plan := self._rng.choice(PLANS), [self._rng.choice(self.workers) for _ in plan])
            if dice < RANDOM + CHANGED:
                candidate = changed(candidate, self.workers, self._rng, MAX_STEPS)
            if candidate[-1].role not in ANSWERING:
                continue
            open_problems = [
                p for p in self._by_kind[kind] if (p.id, candidate) not in self._done and (p.id, candidate) not in planned
            ]
            if not open_problems:
                continue
            few = self._rng.sample(open_problems, min(4, len(open_problems)))
            problem = max(few, key=lambda p: self._bench.shared(candidate, p))
            planned.add((problem.id, candidate))
            found.append((candidate, problem))
        return found
