"""One round: the text that a policy wrote -> the workflow in it -> its transcript. The same for an answer and for training."""

import asyncio
from dataclasses import dataclass, field, replace

from podium.errors import WorkflowError
from podium.events import Listener, WorkflowWritten, interrupted_by
from podium.types import Brief, Call, Failure, Generation, PausedWorkflow, Transcript, Waiting, Workflow
from podium.workers.pool import WorkerPool
from podium.workflow.execute import Execution
from podium.workflow.parse import parse
from podium.workflow.pausing import renumbered
from podium.workflow.syntax import WorkflowSyntax


@dataclass(slots=True)
class Round:
    """A round of one question. Example: ``await Round(generation, brief, WorkflowSyntax(), workers, call).run()``.

    ``brief`` is what ``generation`` was written for; ``call`` is what the user asks. The two questions differ where a policy was
    shown only a part of one.
    """

    generation: Generation
    brief: Brief
    syntax: WorkflowSyntax
    workers: WorkerPool
    call: Call
    on_event: Listener | None = None
    cut_short: Transcript | None = field(default=None, init=False)
    """What was done before a cancellation or a bug ended the round."""
    waiting: Waiting | PausedWorkflow | None = field(default=None, init=False)
    """Who waits for the client's tools, where there is no answer yet."""

    async def run(self) -> Transcript:
        """The whole record. A text that is no workflow is an outcome of the round, never an exception.

        A workflow that goes on (``call.paused``) was read before: its text is not.
        """
        if self.call.paused is not None:
            return await self._gone_on(renumbered(self.call.paused, self.workers))
        number, last = (
            len(self.brief.previous_rounds) + 1,
            self.brief.previous_rounds[-1].answer if self.brief.previous_rounds else None,
        )
        try:
            workflow = parse(self.generation.text, self.brief, self.syntax)
        except WorkflowError as error:
            return self._without_steps(failure=Failure.of(error, f"the policy, round {number}"))
        names = self.workers.names
        if workflow is not None and self.call.amend is not None:
            workflow = self.call.amend(workflow, names)
        if self.on_event is not None:
            self.on_event(WorkflowWritten(round=number, workflow=workflow, generation=self.generation, workers=names))
        if workflow is None:
            return self._without_steps(answer=last)
        return await self._executed(workflow, number, last)

    async def _gone_on(self, paused: PausedWorkflow) -> Transcript:
        self.call = replace(self.call, paused=paused, sample=paused.sample)
        if self.on_event is not None:
            written = WorkflowWritten(
                round=paused.round, workflow=paused.workflow, generation=self.generation, workers=paused.workers
            )
            self.on_event(written)
        return await self._executed(paused.workflow, paused.round, paused.last_answer)

    async def _executed(self, workflow: Workflow, number: int, last: str | None) -> Transcript:
        execution = Execution(
            workflow,
            self.workers,
            self.call,
            self.generation,
            on_event=self.on_event,
            round_number=number,
            last_answer=last,
        )
        try:
            transcript = await execution.run()
        except (asyncio.CancelledError, Exception) as end:
            self.cut_short = execution.transcript(interrupted=interrupted_by(end))
            raise
        self.waiting = execution.waiting
        return transcript

    def _without_steps(self, *, answer: str | None = None, failure: Failure | None = None) -> Transcript:
        question = self.brief.question
        return Transcript(question=question, generation=self.generation, workflow=None, answer=answer, failure=failure)
