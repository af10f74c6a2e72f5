"""Workflow -> Transcript: an async graph in which a step starts the moment everything it may see is there.

One task per step, no barriers between waves. The result equals serial execution: what a step is shown depends on the
access lists alone, never on who finished first. A worker's failure is data in the transcript; only bugs and cancellation
travel as exceptions. A step of which is known beforehand that it can not be carried out fails before anybody is asked. Limits,
retries, timeouts, caches and prices are the workers' own business (``workers/``).

Where a step fails on which the last one depends, there will be no answer: steps under way are stopped and no other is
started, so that nothing more is paid for. Until then every step is carried out, also one that no later step sees, because
the policy wrote it.

A step with a condition is decided on (:mod:`podium.workflow.deciding`) as soon as the steps that settle it are over. Where it is
skipped, it passes on a response that it saw, its worker is never asked, and whatever only skipped steps would have seen is
stopped, or not started. The last step is carried out whatever its condition says where it is to call tools or to follow a form.

A step that asks for the client's tools (:mod:`podium.workflow.pausing`) is not over: what it holds up is carried out when the
same workflow goes on with what came of them.
"""

import asyncio
import time
from dataclasses import replace
from functools import partial
from typing import Any

from podium.access import call_for
from podium.conditions import ALWAYS, Condition, Skipped, read_condition
from podium.errors import NotNeeded, PodiumError, UnworkableStep, UpstreamFailed
from podium.events import Listener, StepFinished
from podium.types import Call, Completion, Failure, Generation, PausedWorkflow, StepResult, Transcript, Waiting, Workflow
from podium.workers.checking import as_check
from podium.workers.nested import collecting
from podium.workers.pool import WorkerPool
from podium.workers.seeing import has_attachments, in_words
from podium.workflow.announced import announced
from podium.workflow.deciding import Deciding, hard, needed
from podium.workflow.pausing import Pausing, not_yet
from podium.workflow.sight import without_sight

_ALWAYS = Condition()


class Execution:
    """One run of one workflow.

    Example::

        transcript = await Execution(workflow, pool, Call.plain("6 times 7?"), generation).run()

    ``call`` is what the user (or the Conductor above) asks: its question goes to the first step, its response options to the
    last, its sampling, depth and sample to every step. ``results`` fills as steps finish and stays readable after a cancellation,
    so that what was paid for is not lost.
    """

    def __init__(
        self,
        workflow: Workflow,
        pool: WorkerPool,
        call: Call,
        generation: Generation,
        *,
        on_event: Listener | None = None,
        round_number: int = 1,
        last_answer: str | None = None,
    ) -> None:
        self._workflow = workflow
        self._last = len(workflow.steps) - 1
        self._pool = pool
        self._call = call
        self._generation = generation
        self._on_event = on_event
        self._round = round_number
        self._last_answer = last_answer
        self._started = 0.0
        self._starts: dict[int, float] = {}
        self._responses: dict[int, str] = {}
        self._last_call = Call()
        self._conditional = any(step.condition != ALWAYS for step in workflow.steps)
        self._needed = needed(workflow)
        self._hard = hard(workflow) if self._conditional else self._needed
        self._watched = {seen for step in workflow.steps if step.condition != ALWAYS for seen in step.access}
        """Steps that a condition looks at: a last line "CHECK: FAILED" is a failing check and no answer, whoever wrote it."""
        self._for_the_client = self._last if call.response_options.needs_a_chat_model else None
        """The last step, where it is never skipped: nobody else was asked for tools or a form."""
        self._agreed = False
        """Whether it would be skipped, because enough of those it sees agree whatever became of the others."""
        self._lost: int | None = None
        """The step whose failure left the run without an answer."""
        self._calling: dict[int, asyncio.Task[Any]] = {}
        self._failed_rounds: dict[int, list[Transcript]] = {}
        """Of each step, what Conductors below it carried out for no answer."""
        self._stopped: set[int] = set()
        """Steps that were told to stop because nothing needs them, whether or not they have."""
        kept = () if call.paused is None else call.paused.results
        self.results: dict[int, StepResult] = {index: result for index, result in enumerate(kept) if result is not None}
        self._responses |= {index: each.completion.text for index, each in self.results.items() if each.completion is not None}
        self._pausing = Pausing(workflow, pool, call, self._needed)
        self._has_files = has_attachments(call.question)
        self._deciding = Deciding(workflow, call.question, self.results, pool)

    async def run(self) -> Transcript:
        """Carry out every step and return the whole record. The last step's response is the answer."""
        self._started = time.perf_counter()
        tasks: list[asyncio.Task[None]] = []
        self._check()
        for of_before in self.results.items():
            self._tell(*of_before)
        try:
            async with asyncio.TaskGroup() as group:
                for index, step in enumerate(self._workflow.steps):
                    before = [tasks[seen] for seen in step.access]
                    tasks.append(group.create_task(self._step(index, before)))
        except ExceptionGroup as bugs:
            raise bugs.exceptions[0] from None  # a worker's bug, not a worker's failure: those never leave _step
        if self._lost is not None:
            for index in range(len(self._workflow.steps)):  # who was held up will never be carried out
                if index not in self.results and not self._forgotten(index):
                    self._hopeless(index, self._elapsed(), read_condition(self._workflow.steps[index].condition))
        return self.transcript()

    def transcript(self, interrupted: Failure | None = None) -> Transcript:
        """The record so far; steps without a result carry ``interrupted``, the reason the run was stopped for."""
        missing = [i for i in range(len(self._workflow.steps)) if i not in self.results]
        if interrupted is not None:
            rest = {i: self._result(i, self._starts.get(i, self._elapsed()), failure=interrupted) for i in missing}
        else:
            rest = {i: self._result(i, self._elapsed(), failure=not_yet(self._where(i))) for i in missing}
        results = tuple(result for _, result in sorted((self.results | self._pausing.shown(rest)).items()))
        last, is_paused = results[-1], bool(rest) and interrupted is None
        return Transcript(
            question=self._call.question,
            generation=self._generation,
            workflow=self._workflow,
            results=results,
            answer="" if is_paused else None if last.completion is None else last.completion.text,
            failure=None if is_paused else last.failure if self._last in rest else self._deciding.cause(self._last),
            seconds=self._elapsed(),
        )

    @property
    def waiting(self) -> Waiting | PausedWorkflow | None:
        """Who waits for the client's tools: the last step, where it asked instead of giving the answer, or steps before it."""
        result = self.results.get(self._last)
        if result is None and self._pausing.asking:
            return self.paused
        if result is None or result.completion is None or not result.completion.tool_calls:
            return None
        workflow = self.paused if self._call.tools_in_every_step else None
        return Waiting(worker=result.worker, call=self._last_call, workflow=workflow)

    @property
    def paused(self) -> PausedWorkflow:
        """How far it has come."""
        return self._pausing.paused(self.results, self._round, self._last_answer)

    def _check(self) -> None:
        """Fail what can be known to fail before anybody is asked: it is the policy's, whatever the world does meanwhile."""
        unsighted = without_sight(self._workflow, self._pool) if self._has_files else ()
        for index in sorted(self._needed - self.results.keys()):
            step = self._workflow.steps[index]
            if self._lost is None and index in unsighted:
                name = self._pool[step.worker].name
                error = UnworkableStep(f"{name} can not see pictures or files, and sees no step that describes them")
                self._fail(index, 0.0, error)
                self._lost = index
            if self._lost is None and not step.access:
                try:
                    self._pool[step.worker].check_call(partial(self._call_of, index))
                except UnworkableStep as error:
                    self._fail(index, 0.0, error)
                    self._lost = index

    async def _step(self, index: int, before: list[asyncio.Task[None]]) -> None:
        if index in self.results or index in self._pausing.asking:  # of a workflow that goes on
            return
        step = self._workflow.steps[index]
        condition = read_condition(step.condition) if index not in self._pausing.goes_on else _ALWAYS
        for task in before:
            await task
            if condition.agree is not None:
                await self._settle()
                if index in self.results:
                    return
        if self._conditional:
            await self._settle()
        if index in self.results:
            return
        start = self._elapsed()
        if self._hopeless(index, start, condition):
            return
        if any(seen not in self.results for seen in step.access):
            return  # held up by one that waits for the client
        self._starts[index] = start
        if condition.if_failed and index != self._for_the_client and (well := self._deciding.all_well(step.access)) is not None:
            self._skip(index, well)
            return
        member = self._pool[step.worker]
        call = self._pausing.call_of(index, self._call_of(index))
        if index == self._last:
            self._last_call = call
        task = self._calling[index] = _this_task()
        try:
            with collecting() as self._failed_rounds[index]:
                completion = await member.worker(self._announced(index, member.name, call))
        except PodiumError as error:
            # The boundary between a worker and the run: its failure is an outcome of this step, not of the process.
            self._fail(index, start, error)
        except asyncio.CancelledError:
            if index in self._calling or task.cancelling() > 1:  # the run is stopped, not this step alone
                raise
            task.uncancel()
            self._leave_out(index, "stopped")
        else:
            if index in self._watched:
                completion = as_check(completion, call)
            self._responses[index] = completion.text
            self._finish(index, self._result(index, start, completion=completion), call)
            if self._call.on_progress is not None and self._lost is None:
                await self._call.on_progress(self.paused)

    def _hopeless(self, index: int, start: float, condition: Condition) -> bool:
        """Whether step ``index`` is not to be started any more, because of what failed."""
        failed = self._failed_before(index, condition)
        if failed is not None:
            self._fail(index, start, UpstreamFailed(f"step {failed} gave no answer"))
        elif self._lost is not None:
            self._leave_out(index, "not started")
        return index in self.results

    def _forgotten(self, index: int) -> bool:
        """Whether step ``index`` waited for the client, for nobody now; what it said stands in its result."""
        if (said := self._pausing.forget(index)) is not None:
            self.results[index] = said
        return said is not None

    async def _settle(self) -> None:
        """Skip every step of which it is known that enough agree, before anything is paid that only it would have seen."""
        for index, step in enumerate(self._workflow.steps):
            condition = read_condition(self._workflow.steps[index].condition)
            if condition.agree is None or index in self.results:
                continue
            over = next((at for at, seen in enumerate(step.access) if seen not in self.results), len(step.access))
            for position in range(condition.agree, over + 1):
                agreement = await self._deciding.agreement_soon(step.access[:position], condition.agree)
                if agreement is not None:
                    if index == self._for_the_client:
                        self._agreed = True
                    elif index not in self.results and index not in self._calling:
                        self._skip(index, agreement)
                    break

    def _call_of(self, index: int) -> Call:
        call = call_for(
            self._workflow,
            index,
            self._call.question,
            self._responses,
            hidden=self._deciding.hidden(self._workflow.steps[index].access) if self._conditional else (),
            last_answer=self._last_answer,
            sampling=self._call.sampling,
            depth=self._call.depth + 1,
            sample=(*self._call.sample, self._round),
        )
        sees = not self._has_files or self._pool[self._workflow.steps[index].worker].card.sees
        return call if sees else in_words(call)

    def _announced(self, index: int, worker: str, call: Call) -> Call:
        """``call`` with what happens told to whoever listens."""
        to_caller = self._call.on_token if index == self._last else None
        if self._on_event is None:
            return call if to_caller is None else replace(call, on_token=to_caller)
        return announced(call, self._on_event, self._round, index, worker, to_caller)

    def _result(
        self, index: int, start: float, *, completion: Completion | None = None, failure: Failure | None = None
    ) -> StepResult:
        step = self._workflow.steps[index]
        return StepResult(
            step=step,
            worker=self._pool[step.worker].name,
            completion=completion,
            failure=failure,
            start_seconds=start,
            seconds=self._elapsed() - start,
            failed_rounds=tuple(self._failed_rounds.get(index, ())),
        )

    def _finish(self, index: int, result: StepResult, call: Call | None = None) -> None:
        if call is None or not self._pausing.ask(index, call, result):
            self.results[index] = result
        self._calling.pop(index, None)
        self._tell(index, result)

    def _tell(self, index: int, result: StepResult) -> None:
        if self._on_event is not None:
            self._on_event(StepFinished(round=self._round, index=index, result=result))

    def _fail(self, index: int, start: float, error: PodiumError) -> None:
        self._finish(index, self._result(index, start, failure=Failure.of(error, self._where(index))))
        if self._lost is None and index in self._hard:
            self._lost = index
            while self._calling:
                self._calling.popitem()[1].cancel()

    def _failed_before(self, index: int, condition: Condition) -> int | None:
        """The first step that ``index`` was to see, that failed, and for which it can not stand in."""
        if index in self._pausing.goes_on:
            return None  # it was begun in spite of what failed
        stands_in = condition.if_failed or (self._agreed and index == self._for_the_client)
        for seen in self._workflow.steps[index].access:
            if seen in self.results and self._deciding.failed(seen) and not (stands_in and self._deciding.caught(seen)):
                return seen
        return None

    def _skip(self, index: int, skipped: Skipped) -> None:
        """Pass on what step ``index`` saw, and end what was only for it."""
        said = self.results[skipped.passes_on].completion
        if said is None:
            raise RuntimeError(f"step {skipped.passes_on} gave no response that could be passed on")
        self._responses[index] = said.text
        passed_on = Completion(text=said.text, finish_reason=said.finish_reason)
        result = self._result(index, self._elapsed(), completion=passed_on)
        if index == self._last and self._call.on_token is not None:
            self._call.on_token(said.text)
        self._finish(index, replace(result, skipped=skipped))
        for unneeded in self._deciding.not_needed():
            if unneeded in self._calling:
                self._stopped.add(unneeded)
                self._calling.pop(unneeded).cancel()
            elif unneeded not in self._stopped and not self._forgotten(unneeded):
                self._leave_out(unneeded, "not started")

    def _leave_out(self, index: int, how: str) -> None:
        """Record that nobody can use step ``index`` any more."""
        why = "no step needs it any more" if self._lost is None else f"step {self._lost} failed, so there will be no answer"
        start = self._starts.get(index, self._elapsed())
        self._finish(index, self._result(index, start, failure=Failure.of(NotNeeded(f"{how}: {why}"), self._where(index))))

    def _where(self, index: int) -> str:
        return f"step {index} ({self._pool[self._workflow.steps[index].worker].name})"

    def _elapsed(self) -> float:
        return time.perf_counter() - self._started


def _this_task() -> asyncio.Task[Any]:
    task = asyncio.current_task()
    if task is None:
        raise RuntimeError("a step runs in a task of its own")
    return task
