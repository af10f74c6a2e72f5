"""Tasks -> rollout groups: the policy writes, the workers carry out, the verifier judges, the reward is given.

All workflows of an iteration are written in one batch and carried out at once. Recursion (paper section 3.3): a task of two
rounds shows the policy the finished transcript of round 1 and lets it write again; every round is a turn with its own reward.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from podium.errors import Blame, PodiumError
from podium.protocols import Verifier
from podium.training.reward import less_cost, less_steps, priced, reward, within
from podium.training.rollout import Rollout, RolloutGroup, Turn
from podium.types import Brief, Call, Failure, Generation, Problem, Sampling, Usage, ask
from podium.workers.pool import WorkerPool
from podium.workflow.round import Round
from podium.workflow.syntax import WorkflowSyntax


class Writer(Protocol):
    """A policy that writes for many briefs in one batch, and says what its completions were conditioned on."""

    def write_many(self, briefs: Sequence[Brief], n: int, forced_prefixes: Sequence[str] = ()) -> list[list[Generation]]:
        """``n`` workflows for each brief, each beginning with its brief's forced prefix."""
        ...

    def prompt_ids(self, brief: Brief, forced_prefix: str = "") -> Sequence[int]:
        """The tokens before the first one that the policy writes."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A group to be collected: a problem, the pool it is shown with, and how its rollouts begin.

    ``sample`` names the visit, so that a second visit of the same problem draws anew; ``rounds`` is 1 or 2.
    """

    problem: Problem
    pool: WorkerPool
    sample: tuple[int, ...]
    seen: str = ""
    """What the policy is shown of the question where that is not all of it (:mod:`podium.training.word_dropout`)."""
    forced_prefix: str = ""
    draft: str = ""
    """What the untrained policy wrote, of which ``forced_prefix`` is the first line; "" where nothing was drawn."""
    budget_usd: float | None = None
    """What the prompt says an answer may cost, all rounds together; a right answer that cost more earns no more than a wrong
    one."""
    cost_weight: float = 1.0
    """How much of what the answer cost counts, in 0..1."""
    rounds: int = 1
    max_steps: int = 5

    @property
    def brief(self) -> Brief:
        """What the policy sees in round 1."""
        question = ask(self.seen or self.problem.question)
        return Brief(
            question=question,
            cards=self.pool.cards,
            max_steps=self.max_steps,
            sample=self.sample,
            budget_usd=self.budget_usd,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Collector:
    """Everything that stays the same from task to task. Example: ``await Collector(...).collect(policy, tasks, 16)``."""

    verifier: Verifier
    syntax: WorkflowSyntax
    sampling: Sampling = Sampling()
    per_usd: float = 0.0
    """What a dollar of worker cost takes off the reward of a right answer."""
    per_step: float = 0.0
    """What a step takes off it."""
    concurrency: int = 256
    """Rollouts under way at once."""

    async def collect(self, writer: Writer, tasks: Sequence[Task], n: int) -> list[RolloutGroup]:
        """A group of ``n`` rollouts for each task.

        Raises :class:`BudgetExceeded` where a cap was reached: nothing of the iteration may then be learned from, because
        what is missing is not missing at random.
        """
        gate = asyncio.Semaphore(self.concurrency)
        first = await self._round(writer, tasks, [(task.brief, task.forced_prefix) for task in tasks], n, gate)
        turns: list[list[list[Turn]]] = [[[turn] for turn in row] for row in first]
        again = [
            (t, g)
            for t, task in enumerate(tasks)
            if task.rounds > 1
            for g in range(n)
            if turns[t][g][0].transcript.answer is not None
        ]
        if again:
            briefs = [(replace(tasks[t].brief, previous_rounds=(turns[t][g][0].transcript,)), "") for t, g in again]
            numbered = [replace(tasks[t], sample=(*tasks[t].sample, g)) for t, g in again]
            second = await self._round(writer, numbered, briefs, 1, gate)
            for (t, g), [turn] in zip(again, second, strict=True):
                turns[t][g].append(turn)
        return [
            RolloutGroup(
                problem=task.problem,
                brief=task.brief,
                forced_prefix=task.forced_prefix,
                draft=task.draft,
                rollouts=tuple(Rollout(turns=tuple(each)) for each in row),
            )
            for task, row in zip(tasks, turns, strict=True)
        ]

    async def _round(
        self,
        writer: Writer,
        tasks: Sequence[Task],
        briefs: Sequence[tuple[Brief, str]],
        n: int,
        gate: asyncio.Semaphore,
    ) -> list[list[Turn]]:
        written = writer.write_many([brief for brief, _ in briefs], n, [forced_prefix for _, forced_prefix in briefs])

        async def one(index: int, g: int) -> Turn:
            async with gate:
                brief, forced_prefix = briefs[index]
                return await self._turn(tasks[index], brief, tuple(writer.prompt_ids(brief, forced_prefix)), written[index][g], g)

        try:
            async with asyncio.TaskGroup() as group:
                rows = [[group.create_task(one(index, g)) for g in range(n)] for index in range(len(tasks))]
        except ExceptionGroup as stopped:
            raise stopped.exceptions[0] from None  # a cap or a bug; the others were cancelled with it
        return [[task.result() for task in row] for row in rows]

    async def _turn(self, task: Task, brief: Brief, prompt_ids: tuple[int, ...], generation: Generation, g: int) -> Turn:
        call = Call(question=ask(task.problem.question), sampling=self.sampling, sample=(*task.sample, g))
        transcript = await Round(generation, brief, self.syntax, task.pool, call).run()
        verdict, failure = None, transcript.failure
        if transcript.answer is not None:
            try:
                verdict = await self.verifier(task.problem, transcript.answer)
            except PodiumError as error:
                failure = Failure.of(error, "the verifier")
        if failure is not None and failure.blame is Blame.USER:
            raise failure.error()
        # An answer took what its own round took and the rounds before it, of which it is made.
        rounds = (*brief.previous_rounds, transcript)
        cost_usd = Usage.total(each.usage for each in rounds).cost_usd
        per_usd = self.per_usd * task.cost_weight
        earned = priced(reward(failure, verdict), cost_usd, counts=per_usd != 0 or task.budget_usd is not None)
        if verdict is not None and verdict.correct:
            earned = less_cost(earned, cost_usd, per_usd=per_usd)
            earned = less_steps(earned, sum(len(each.asked) for each in rounds), per_step=self.per_step * task.cost_weight)
            earned = within(earned, cost_usd, budget_usd=task.budget_usd)
        return Turn(
            prompt_ids=prompt_ids,
            generation=generation,
            transcript=transcript,
            verdict=verdict,
            failure=failure,
            reward=earned,
            over_budget=task.budget_usd is not None and cost_usd is not None and cost_usd > task.budget_usd,
        )
