"""Candidates tried on problems: each trial is one round over the pool, judged; equal calls are paid for once."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from math import fsum
from statistics import fmean
from typing import TypeVar

from podium.errors import Blame, BudgetExceeded, PodiumError
from podium.policies.rules import CONDITIONAL
from podium.policies.tuned_record import asked
from podium.policies.voting import VOTE, with_vote
from podium.protocols import Verifier, Worker
from podium.tuning.allowance import Allowance, PaidCall
from podium.tuning.candidates import Candidate, ending_at, prefixes, workflow
from podium.tuning.catalogue import GENERAL, Catalogue
from podium.types import Brief, Call, Completion, Generation, Problem, Transcript, Workflow, ask
from podium.workers.cached import Cached
from podium.workers.pool import WorkerPool
from podium.workflow.parse import format_workflow
from podium.workflow.round import Round

Result = TypeVar("Result")

GIVEN_UP = 6
"""A worker that failed as often as this in a row, retries not counted, is not asked any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """How one workflow did on one problem, as if nothing of it had been paid for before."""

    right: bool
    usd: float | None
    """None: unknown."""
    seconds: float
    steps: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """What is compared on the sealed problems."""

    judge: Callable[[Problem], Awaitable[Judged | None]]
    """How it does on a problem; None where the world failed."""
    calls: Callable[[Problem], int]
    """How many calls that takes at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """How one candidate did on one problem."""

    problem: str
    kind: str
    candidate: Candidate
    outcome: Judged
    harvested: bool = False
    """Whether it is an earlier end of another trial that was judged along with it."""


def costs_of(trials: Sequence[Trial]) -> Callable[[Candidate], float | None]:
    """What a candidate costs by what its steps' workers have cost in ``trials``, in dollars; None: unknown."""
    by_worker: dict[int, list[float]] = {}
    for trial in trials:
        if trial.harvested:
            continue  # its dollars are those of the whole
        if trial.outcome.usd is None:
            return lambda candidate: None
        for part in trial.candidate:
            by_worker.setdefault(part.worker, []).append(trial.outcome.usd / len(trial.candidate))
    means = {worker: fmean(each) for worker, each in by_worker.items()}
    return lambda each: sum(means[p.worker] for p in each) if all(p.worker in means for p in each) else None


class _Counted:
    """Notes the calls that a worker answered, and how often in a row it could not."""

    def __init__(self, worker: Worker, allowance: Allowance, name: str) -> None:
        self._worker, self._allowance, self._name = worker, allowance, name
        self.failed_in_a_row = 0
        self.last_failure = ""

    async def __call__(self, call: Call) -> Completion:
        with self._allowance.place():
            try:
                completion = await self._worker(call)
            except PodiumError as error:
                if error.blame is Blame.WORLD:
                    self.failed_in_a_row, self.last_failure = self.failed_in_a_row + 1, f"{self._name}: {error}"
                raise
            self.failed_in_a_row = 0
            self._allowance.paid.append(PaidCall(worker=self._name, usd=completion.usage.cost_usd))
        return completion


class Bench:
    """Where candidates are tried. Example: ``await Bench(pool, verifier, lambda p: p.kind).run(solo(0), problem)``."""

    def __init__(
        self, pool: WorkerPool, verifier: Verifier, kind_of: Callable[[Problem], str], catalogue: Catalogue = GENERAL
    ) -> None:
        self.kind_of = kind_of
        self.catalogue = catalogue
        self.allowance = Allowance()
        """How many calls may be paid for; no limit at first."""
        self.is_exhausted = False
        """Whether a cap was reached: nothing more can be asked."""
        self._counted = [_Counted(member.worker, self.allowance, member.name) for member in pool]
        by_name = dict(zip(pool.names, self._counted, strict=True))
        self._names = pool.names
        self._pool = pool.wrapped(lambda m: Cached(by_name[m.name], m.name))
        self._voting = self._pool if VOTE in pool.names else with_vote(self._pool)
        self._verifier = verifier
        self._not_judged = ""
        self._answered: dict[str, set[object]] = {}

    @property
    def workers(self) -> WorkerPool:
        """The workers as they are asked here: counted, equal calls once."""
        return self._pool

    @property
    def paid(self) -> Sequence[PaidCall]:
        """Every call that was answered; equal ones once."""
        return self.allowance.paid

    @property
    def usd(self) -> float | None:
        """What all calls cost; None where a price is unknown."""
        return None if any(call.usd is None for call in self.paid) else fsum(call.usd or 0.0 for call in self.paid)

    @property
    def answering(self) -> tuple[int, ...]:
        """The workers that can be asked: all but those that failed ``GIVEN_UP`` times in a row."""
        return tuple(n for n, counted in enumerate(self._counted) if counted.failed_in_a_row < GIVEN_UP)

    @property
    def given_up(self) -> tuple[str, ...]:
        """The names of the others."""
        return tuple(name for number, name in enumerate(self._names) if number not in self.answering)

    @property
    def failures(self) -> tuple[str, ...]:
        """The last failure of each worker that is failing, and that of the verifier."""
        found = [counted.last_failure for counted in self._counted if counted.failed_in_a_row]
        return (*found, self._not_judged) if self._not_judged else tuple(found)

    async def all(self, work: Sequence[Awaitable[Result]]) -> list[Result | None]:
        """What comes of ``work``, side by side; None where a cap on dollars, tokens or seconds was in the way.

        Raises any other failure, after all have ended.
        """
        found: list[Result | None] = []
        for one in await asyncio.gather(*work, return_exceptions=True):
            if isinstance(one, BudgetExceeded):
                self.is_exhausted = True
                found.append(None)
            elif isinstance(one, BaseException):
                raise one
            else:
                found.append(one)
        return found

    def shared(self, candidate: Candidate, problem: Problem) -> int:
        """How many calls of ``candidate`` on ``problem`` have been answered before."""
        answered = self._answered.get(problem.id, set())
        return sum(prefix in answered for prefix in prefixes(candidate))

    def price(self, trials: Sequence[tuple[Candidate, Problem]]) -> int:
        """How many calls ``trials`` take at most: those answered before cost nothing, and what begins alike is paid for once."""
        wanted = {(problem.id, prefix) for candidate, problem in trials for prefix in prefixes(candidate)}
        return sum(prefix not in self._answered.get(problem, ()) for problem, prefix in wanted)

    def can_pay(self, trials: Sequence[tuple[Candidate, Problem]]) -> bool:
        """Whether the calls that may be begun suffice for all of ``trials``."""
        return self.price(trials) <= self.allowance.room

    async def run(self, candidate: Candidate, problem: Problem) -> list[Trial]:
        """The trial, first, and those of earlier ends that were judged along with it; empty where the world failed.

        Raises what is the user's to mend, such as a budget that is used up.
        """
        transcript = await self._transcript(workflow(candidate, self.catalogue), problem, prefixes(candidate))
        found: list[Trial] = []
        ends = [
            place
            for place in range(len(candidate))
            if candidate[place].role in self.catalogue.answering or place == len(candidate) - 1
        ]
        for last in reversed(ends):
            end = ending_at(candidate, last)
            outcome = await self._judged(transcript, last, len(end), problem)
            harvested = last < len(candidate) - 1
            if outcome is None and not harvested:
                return []
            if outcome is not None:
                trial = Trial(problem=problem.id, kind=self.kind_of(problem), candidate=end, outcome=outcome, harvested=harvested)
                found.append(trial)
        return found

    async def reply(self, candidate: Candidate, problem: Problem) -> str | None:
        """What ``candidate`` answers to ``problem``, not judged; None where there is no answer."""
        return (await self._transcript(workflow(candidate, self.catalogue), problem)).answer

    async def judge(self, template: Workflow, problem: Problem) -> Judged | None:
        """One workflow on one problem; None where the world failed. It may have conditions, and count votes as its last step."""
        transcript = await self._transcript(template, problem)
        asked_for = sum(self._voting.names[result.step.worker] != VOTE for result in transcript.asked)
        return await self._judged(transcript, len(template.steps) - 1, asked_for, problem)

    async def _transcript(self, template: Workflow, problem: Problem, made: Sequence[object] = ()) -> Transcript:
        """``made``: what makes the call of each step, where those that are answered are to be free from now on."""
        text = format_workflow(asked(template, problem.question), CONDITIONAL)
        brief = Brief(question=ask(problem.question), cards=self._voting.cards, max_steps=len(template.steps))
        call = Call.plain(problem.question)
        transcript = await Round(Generation(text=text), brief, CONDITIONAL, self._voting, call).run()
        answered = (one for one, step in zip(made, transcript.results, strict=False) if step.completion is not None)
        self._answered.setdefault(problem.id, set()).update(answered)
        if transcript.failure is not None and transcript.failure.blame is Blame.USER:
            raise transcript.failure.error()
        return transcript

    async def _judged(self, transcript: Transcript, step: int, steps: int, problem: Problem) -> Judged | None:
        """What came of step ``step``; None where it has no answer through no fault of the workflow, or no verdict."""
        result = transcript.results[step] if transcript.results else None
        failure = transcript.failure
        if result is None or result.completion is None:
            if failure is None or failure.blame is not Blame.POLICY or step < len(transcript.results) - 1:
                return None
            right = False
        else:
            verdict = await self.is_right(problem, result.completion.text)
            if verdict is None:
                return None
            right = verdict
        usages = [one.completion.usage for one in transcript.results if one.completion is not None]
        known = all(usage.cost_usd is not None for usage in usages)
        return Judged(
            right=right,
            usd=sum(usage.cost_usd or 0.0 for usage in usages) if known else None,
            seconds=transcript.critical_seconds,
            steps=steps,
        )

    async def is_right(self, problem: Problem, answer: str) -> bool | None:
        """The verdict on ``answer``; None where the verifier failed. Raises what is the user's to mend."""
        try:
            return (await self._verifier(problem, answer)).correct
        except PodiumError as error:
            if error.blame is Blame.USER:
                raise
            self._not_judged = f"the verifier: {error}"
            return None
