"""question -> workflow -> answer. Read this first.

A Conductor joins a policy, which writes workflows, and a pool, which carries them out, and is itself a Worker: behind HTTP
it is the server, under the evaluator it stands beside a bare worker, in a pool it nests.

Recursion (paper section 3.3): with ``rounds`` above 1 the finished transcript goes into the next brief, and the policy writes
another workflow, or empty lists, which keep the answer. A condition can say when that is worth asking for.
"""

import asyncio
import time
from collections.abc import Callable, Collection, Sequence
from copy import copy
from dataclasses import replace

from podium.conditions import ALWAYS, read_condition
from podium.errors import ConfigError, PodiumError, UnworkableStep
from podium.events import Answered, Listener, PlanStarted, PlanToken, interrupted_by
from podium.protocols import Policy, Worker
from podium.types import (
    Brief,
    Call,
    Card,
    Completion,
    Failure,
    Generation,
    PausedWorkflow,
    ResponseOptions,
    Transcript,
    Usage,
    Waiting,
    Workflow,
)
from podium.workers.nested import collecting, give_up
from podium.workers.pool import WorkerPool
from podium.workers.render import render
from podium.workers.seeing import needs_eyes
from podium.workflow.again import wants_another
from podium.workflow.parse import parse
from podium.workflow.pausing import tools_of_every_step
from podium.workflow.round import Round
from podium.workflow.syntax import WorkflowSyntax


class Conductor:
    """A policy over a pool, as one Worker.

    Example::

        conductor = Conductor(Solo(0), pool)
        completion = await conductor(Call.plain("6 times 7?"))
        print(completion.text, completion.transcripts[0].workflow)

    ``answering`` names the workers, by position, that this policy may give the last step to; None is all of them.
    ``max_steps`` bounds one workflow, ``rounds`` the workflows per question, ``max_depth`` how many Conductors may stand
    above one another. A failure in round 1 is raised with what was done in ``error.transcripts``, and stands in the result of
    the step above (``StepResult.failed_rounds``), where there is one; a failure in a later
    round is recorded and the answer of the round before stands, because it was given and paid for.

    ``again`` is the condition of a further round, over the steps of the one before: ``"unless 2 agree"``, ``"if failed"``. With
    the latter a round that gave no answer because a step failed is followed by another, too.
    """

    def __init__(
        self,
        policy: Policy,
        pool: WorkerPool,
        *,
        rounds: int = 1,
        max_steps: int = 5,
        syntax: WorkflowSyntax = WorkflowSyntax(),
        max_depth: int = 3,
        answering: Collection[int] | None = None,
        again: str = ALWAYS,
    ) -> None:
        if rounds < 1 or max_steps < 1 or max_depth < 1:
            raise ValueError("rounds, max_steps and max_depth are at least 1")
        self._policy = policy
        self._pool = pool
        self._rounds = rounds
        self._max_steps = max_steps
        self._syntax = syntax
        self._max_depth = max_depth
        self._again = read_condition(again)
        self._answering = range(len(pool)) if answering is None else answering

    @property
    def pool(self) -> WorkerPool:
        """The workers that are conducted."""
        return self._pool

    @property
    def rounds(self) -> int:
        """Workflows for one question, at most."""
        return self._rounds

    def wrapped(self, *, policy: Callable[[Policy], Policy], worker: Callable[[Worker, Card], Worker]) -> "Conductor":
        """The same Conductor with something around its policy and each of its workers: spans, say."""
        made = copy(self)
        made._policy = policy(self._policy)
        made._pool = self._pool.wrapped(lambda member: worker(member.worker, member.card))
        return made

    def check(self, response_options: ResponseOptions) -> None:
        """Raises :class:`ConfigError` where a worker that may give the answer can not honour ``response_options``."""
        for index in self._answering:
            try:
                self._pool[index].check(response_options)
            except ConfigError as error:
                if len(self._answering) == 1:
                    raise
                name = self._pool[index].name
                raise ConfigError(f"{error}; or leave out worker {name!r}, which may be given the last step") from error

    async def __call__(self, call: Call) -> Completion:
        """Answer ``call`` as any worker would; the last step's text streams where there is one round only."""
        return await self.conduct(call)

    async def ask(self, question: str) -> Completion:
        """Answer a question of one message. Example: ``print((await conductor.ask("Why is the sky blue?")).text)``."""
        return await self.conduct(Call.plain(question))

    async def conduct(self, call: Call, on_event: Listener | None = None) -> Completion:
        """Answer ``call`` and report every event to ``on_event``; the last event is always :class:`Answered`, whatever ends it.

        Raises :class:`WorkflowError` where the policy wrote no workflow, the step's own error where the answer could not be had;
        and before anybody is asked, :class:`ConfigError` for response options that can not be honoured (:meth:`check`) and
        :class:`UnworkableStep` where Conductors are nested deeper than ``max_depth``.
        """
        self.check(call.response_options)
        if needs_eyes(call) and not any(card.sees for card in self._pool.cards):
            raise ConfigError("no worker here can see pictures or files; send text, or say sees = true in the pool file of one")
        if call.depth >= self._max_depth:
            raise UnworkableStep(f"Conductors are nested deeper than {self._max_depth}; raise max_depth or check the pool")
        started = time.perf_counter()
        transcripts: list[Transcript] = []
        try:
            waiting = await self._rounds_of(_as_question(call), transcripts, on_event)
        except (asyncio.CancelledError, Exception) as end:
            give_up(transcripts)
            _report(on_event, _completion(transcripts), interrupted_by(end), started)
            raise
        completion = _completion(transcripts, waiting)
        answered = any(transcript.answer is not None for transcript in transcripts)
        failure = None if answered else transcripts[-1].failure
        _report(on_event, completion, failure, started)
        if failure is not None:
            give_up(transcripts)
            error = failure.error()
            error.transcripts = completion.transcripts
            raise error
        if call.on_token is not None and self._rounds > 1 and call.paused is None:
            # Which round is the last is known only now, so the answer comes in one piece.
            call.on_token(completion.text)
        return completion

    async def plan(self, question: str) -> Workflow | None:
        """The workflow of the first round, which nobody carries out; the policy is asked, and paid where it costs something.

        Raises :class:`WorkflowError` where the policy wrote none, and whatever the policy raises.
        """
        brief = self._brief(Call.plain(question), ())
        [generation] = await self._policy.write(brief)
        return parse(generation.text, brief, self._syntax)

    def _brief(self, call: Call, previous: Sequence[Transcript]) -> Brief:
        return Brief(
            question=call.question,
            cards=self._pool.cards,
            max_steps=self._max_steps,
            previous_rounds=tuple(previous),
            plan_before=call.plan_before,
            tools=tools_of_every_step(call),
            sample=(*call.sample, len(previous) + 1),
        )

    async def _rounds_of(
        self, call: Call, transcripts: list[Transcript], on_event: Listener | None
    ) -> Waiting | PausedWorkflow | None:
        """Append one transcript per round, until the policy keeps an answer, a round fails, or the rounds are used up.

        A step that asks for tools ends the rounds too, and is returned: there is no answer yet that another could look at. What
        goes on with the results of tools is that round, and the last one.
        """
        asked = call if self._rounds == 1 else replace(call, on_token=None)
        if call.paused is not None:
            nobody, brief = Generation(text=""), self._brief(call, ())
            return await _carried_out(Round(nobody, brief, self._syntax, self._pool, call, on_event=on_event), transcripts)
        for round_number in range(1, self._rounds + 1):
            brief = _announced(self._brief(call, transcripts), round_number, on_event)
            try:
                with collecting() as failed_rounds:  # what the policy had paid for before it failed
                    [generation] = await self._policy.write(brief)
            except PodiumError as error:
                # The boundary between the policy and the run: no workflow is an outcome of this round.
                transcripts.append(_unwritten(call, Failure.of(error, f"the policy, round {round_number}"), failed_rounds))
                return None
            except (asyncio.CancelledError, Exception) as end:
                transcripts += [_unwritten(call, interrupted_by(end), failed_rounds)] if failed_rounds else []
                raise
            this = Round(generation, brief, self._syntax, self._pool, asked, on_event=on_event)
            await _carried_out(this, transcripts)
            if this.waiting is not None or round_number == self._rounds:
                return this.waiting
            # In a thread: formulas are compared in another process, which is waited for.
            if not await asyncio.to_thread(wants_another, transcripts[-1], self._again):
                return None
        return None


async def _carried_out(this: Round, transcripts: list[Transcript]) -> Waiting | PausedWorkflow | None:
    """Append the record of a round, also where something ends it, and return who waits."""
    try:
        transcripts.append(await this.run())
    except (asyncio.CancelledError, Exception):
        transcripts += [] if this.cut_short is None else [this.cut_short]
        raise
    return this.waiting


def _announced(brief: Brief, round_number: int, on_event: Listener | None) -> Brief:
    """``brief`` with what is written for it reported as events; a new attempt is reported as a new start."""
    if on_event is None:
        return brief
    emit, attempt = on_event, 1
    emit(PlanStarted(round=round_number))

    def on_token(text: str | None) -> None:
        nonlocal attempt
        if text is None:
            attempt += 1
            emit(PlanStarted(round=round_number, attempt=attempt))
        else:
            emit(PlanToken(round=round_number, text=text))

    return replace(brief, on_token=on_token)


def _as_question(call: Call) -> Call:
    """``call`` with everything its worker may see as one conversation: what a nested Conductor is asked."""
    if not (call.subtask or call.visible or call.turns):
        return call
    return replace(call, question=render(call), subtask="", visible=(), turns=())


def _unwritten(call: Call, failure: Failure, failed_rounds: list[Transcript]) -> Transcript:
    """The record of a round for which no workflow was written; ``failed_rounds`` is what was paid for on the way."""
    nothing = Generation(text="", usage=Usage.total(transcript.usage for transcript in failed_rounds))
    return Transcript(question=call.question, generation=nothing, workflow=None, failure=failure)


def _completion(transcripts: list[Transcript], waiting: Waiting | PausedWorkflow | None = None) -> Completion:
    """What all rounds together come to; the text is the newest answer, empty where there is none."""
    last = transcripts[-1].results[-1].completion if isinstance(waiting, Waiting) else None
    paused = waiting if isinstance(waiting, PausedWorkflow) else None
    asked = [] if paused is None else [call for step in paused.handed_out if step.asks for call in step.asks.tool_calls]
    answers = [transcript.answer for transcript in transcripts if transcript.answer is not None]
    return Completion(
        text=answers[-1] if answers else "",
        finish_reason=_finish_reason(transcripts),
        usage=Usage.total(transcript.usage for transcript in transcripts),
        seconds=sum(transcript.critical_seconds for transcript in transcripts),
        tool_calls=tuple(asked) if last is None else last.tool_calls,
        thoughts=None if last is None else last.thoughts,
        waiting=waiting if isinstance(waiting, Waiting) else None,
        paused=paused,
        transcripts=tuple(transcripts),
    )


def _report(on_event: Listener | None, completion: Completion, failure: Failure | None, started: float) -> None:
    if on_event is not None:
        answer = completion.text if failure is None else None
        on_event(
            Answered(
                answer=answer,
                failure=failure,
                transcripts=completion.transcripts,
                usage=completion.usage,
                seconds=time.perf_counter() - started,
            )
        )


def _finish_reason(transcripts: list[Transcript]) -> str:
    """Of the step whose text is the answer; ``stop`` where there is none."""
    for transcript in reversed(transcripts):
        if transcript.answer is not None and transcript.results:
            last = transcript.results[-1].completion
            return "stop" if last is None else last.finish_reason
    return "stop"
