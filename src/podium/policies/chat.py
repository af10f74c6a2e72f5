"""A model behind an API, prompted as a Conductor. Any Worker will do: a chat endpoint, a recording, a human."""

import asyncio
from dataclasses import replace

from podium.errors import NotNeeded, WorkflowError
from podium.policies.named import NamedPolicy, PolicyRequest, PolicySetup
from podium.protocols import Worker
from podium.registry import register
from podium.types import Brief, Call, Completion, Failure, Generation, Message, Sampling, Transcript
from podium.workers.nested import give_up
from podium.workflow.guide import NO_GUIDE, Guide
from podium.workflow.parse import parse
from podium.workflow.prompt import correction, messages
from podium.workflow.syntax import WorkflowSyntax


class ChatPolicy:
    """Prompts ``worker`` with the task of a Conductor and returns what it writes.

    Example::

        policy = ChatPolicy(ChatWorker("openai:gpt-5-mini", ...), attempts=2)

    ``attempts`` 2 sends a text that is no workflow back once, with the reason and a demand for the bare lists; the usage of
    both is counted. ``guide`` is what is known of the workers. Raises :class:`podium.errors.WorkerError` where the worker gives
    no text.
    """

    def __init__(
        self,
        worker: Worker,
        *,
        syntax: WorkflowSyntax = WorkflowSyntax(),
        sampling: Sampling = Sampling(),
        attempts: int = 1,
        guide: Guide = NO_GUIDE,
    ) -> None:
        if attempts < 1:
            raise ValueError("attempts is at least 1")
        self._worker = worker
        self._syntax = syntax
        self._sampling = sampling
        self._attempts = attempts
        self._guide = guide

    async def write(self, brief: Brief, n: int = 1) -> list[Generation]:
        """``n`` independent samples, drawn at once."""
        tasks: list[asyncio.Task[Generation]] = []
        try:
            async with asyncio.TaskGroup() as group:
                tasks += [group.create_task(self._write_one(replace(brief, sample=(*brief.sample, i)))) for i in range(n)]
        except (asyncio.CancelledError, ExceptionGroup) as end:
            give_up(_unused(brief, task.result()) for task in tasks if not task.cancelled() and task.exception() is None)
            if isinstance(end, ExceptionGroup):
                raise end.exceptions[0] from None  # the others were cancelled with it
            raise
        return [task.result() for task in tasks]

    async def _write_one(self, brief: Brief) -> Generation:
        conversation = messages(brief, self._syntax, self._guide)
        written: list[Completion] = []
        for attempt in range(1, self._attempts + 1):
            if attempt > 1 and brief.on_token is not None:
                brief.on_token(None)
            call = Call(question=conversation, sampling=self._sampling, sample=(*brief.sample, attempt), on_token=brief.on_token)
            try:
                written.append(await self._worker(call))
            except (asyncio.CancelledError, Exception):
                give_up([_unused(brief, _generation(written))] if written else [])
                raise
            if attempt == self._attempts:
                break
            try:
                parse(written[-1].text, brief, self._syntax)
                break
            except WorkflowError as error:
                reply = Message(role="assistant", content=written[-1].text)
                conversation = (*conversation, reply, correction(error, self._syntax))
        return _generation(written)


def _generation(written: list[Completion]) -> Generation:
    """The last text, and what all of them cost."""
    return Generation(
        text=written[-1].text,
        finish_reason=written[-1].finish_reason,
        usage=sum((c.usage for c in written[1:]), written[0].usage),
        seconds=sum(c.seconds for c in written),
    )


def _unused(brief: Brief, generation: Generation) -> Transcript:
    """The record of what was written and paid for, and then not used, because another call failed."""
    failure = Failure.of(NotNeeded("what was written is not used: another call of the policy failed"), "the policy")
    return Transcript(question=brief.question, generation=generation, workflow=None, failure=failure)


def _chat(asked: PolicyRequest) -> PolicySetup:
    config = asked.conductor
    writer = asked.workers[asked.worker(default=asked.workers.names[0] if config is None else config.worker)]
    syntax = WorkflowSyntax() if config is None else WorkflowSyntax(cards=config.cards, conditions=config.conditions)
    policy = ChatPolicy(writer.worker, syntax=syntax, attempts=2 if config is None else config.attempts)
    return PolicySetup(policy=policy, workers=asked.workers, max_steps=asked.steps, syntax=syntax)


register("policies", "chat")(
    NamedPolicy(
        form="chat[:NAME]",
        about="worker NAME writes the workflow (default: [conductor] of the pool file, else the first worker)",
        make=_chat,
    )
)
