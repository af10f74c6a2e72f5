"""A request from its arrival until it is written down: whose it is, whether there is room, what it may cost, its result.

The same for every endpoint; endpoints only read requests and write answers.
"""

import asyncio
import logging
import secrets
import time
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime

from podium.errors import Cancelled, ConfigError, KeyBusy
from podium.jsonl import dumps
from podium.protocols import ServedModel
from podium.serving.accounts import Accounts, Admission
from podium.serving.api_errors import no_such_model
from podium.serving.asking import ChoiceDone
from podium.serving.catalog import ModelCatalog
from podium.serving.concurrency import ConcurrencyGate, Patience
from podium.serving.conversation import ParsedRequest
from podium.serving.metrics import Metrics
from podium.serving.paused_step import Resumed, paused_step, resumed
from podium.serving.store.keys import Key
from podium.serving.store.quotas import Counted
from podium.serving.store.runs import Run
from podium.serving.telemetry import record
from podium.serving.wire import ClientLeft
from podium.types import Call, Message, Transcript, Usage
from podium.workers.metered import question_budgets
from podium.workers.tenant import tenant

log = logging.getLogger("podium.serving")

BUSY_SECONDS = 0.2
"""When to look again whether other replicas work on fewer requests of a key."""


@dataclass(slots=True, eq=False)
class ActiveRequest:
    """A request that is being worked on."""

    run: str
    parsed: ParsedRequest
    call: Call
    """What the conductors are asked: the conversation, or the step that goes on with it."""
    conductors: Sequence[ServedModel]
    admission: Admission
    headers: Mapping[str, str]
    """Of the request."""
    resumed: Resumed | None = None
    """The step that goes on, where the request brings the results of its tools."""
    is_kept: bool = False
    """Whether the run is written down: a client may still leave while it is sent the end of its answer."""
    created: datetime = field(default_factory=lambda: datetime.now(UTC))
    started: float = field(default_factory=time.perf_counter)

    @property
    def model(self) -> str:
        """The name of the model that was asked for."""
        return self.parsed.model


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestService:
    """Takes requests.

    Example: ``async with service.admitted(key, parsed) as active: ...; await service.finish(active, dones)``.
    """

    catalog: ModelCatalog
    accounts: Accounts
    gate: ConcurrencyGate
    metrics: Metrics

    @asynccontextmanager
    async def admitted(
        self,
        key: Key | None,
        parsed: ParsedRequest,
        headers: Mapping[str, str] = {},
        *,
        conductor: ServedModel | None = None,
        patience: Patience | None = None,
    ) -> AsyncIterator[ActiveRequest]:
        """Work on a request inside the block; its calls are held to its budget, and when the block ends what they cost is written
        down.

        A block that ends with an exception before its run is kept (:meth:`finish`) has the run kept with that failure.
        ``conductor`` answers it, whatever the model is called; None: the model that is offered under that name. ``patience``
        waits for a place (:mod:`podium.serving.concurrency`).

        Raises :class:`ApiErrorException`, :class:`QuotaExceeded`, :class:`ConfigError`.
        """
        if conductor is None and parsed.model not in self.catalog.models:
            raise no_such_model(parsed.model, self.catalog.models)
        async with self._let_in(key, parsed, patience) as admission:
            # After the quota: who is refused for the moment finds the paused step still waiting.
            waiting = None if conductor is not None else await self._taken(key, parsed)
            call = parsed.call if waiting is None else waiting.call
            conductors = [conductor] if conductor is not None else self._conductors(parsed, waiting)
            question_budgets.set((admission.budget,))  # of this request's task, and of all that it starts
            tenant.set(self.accounts.tenant(key))
            active = ActiveRequest(f"run_{secrets.token_hex(12)}", parsed, call, conductors, admission, headers, waiting)
            try:
                yield active
            except BaseException as end:  # the client has left, the server stops, or a bug: what was done is paid for
                await asyncio.shield(self.left(active, end=end))
                raise

    @asynccontextmanager
    async def _let_in(self, key: Key | None, parsed: ParsedRequest, patience: Patience | None) -> AsyncIterator[Admission]:
        """Room, and money. The quota of the minute is counted first, so that a request over it takes no room."""
        tokens, options = _size(parsed.call) // 4, parsed.options
        place = self.gate.join() if key is None else self.gate.join(key.id, key.concurrency)
        counted: Counted | None = None
        try:
            try:
                while True:
                    if key is not None and counted is None and not place.is_inside:
                        counted = await self.accounts.quotas.count(key, tokens)
                    await place.reached(patience)
                    try:
                        admission = await self.accounts.admit(
                            key, usd=options.budget_usd, seconds=options.budget_seconds, tokens=tokens, counted=counted
                        )
                    except KeyBusy:  # on other replicas; here others go first meanwhile
                        place.step_back(BUSY_SECONDS)
                    else:
                        break
            except BaseException:
                if key is not None and counted is not None:
                    await asyncio.shield(self.accounts.quotas.uncount(key, counted))
                raise
            try:
                yield admission
            finally:
                await self.accounts.close(admission)
        finally:
            place.leave()

    async def finish(self, active: ActiveRequest, dones: Sequence[ChoiceDone]) -> None:
        """Keep the run, and what waits for the client's tools; before the answer is sent, so that no answered run is lost."""
        first = next((done for done in dones if done.failure is not None), dones[0])
        # Where one choice failed the client sees none of the others, so it would never come back for what waits.
        for done in dones if first.failure is None else ():
            paused = paused_step(done.completion, active.parsed)
            if paused is not None:
                ids = tuple(call.id for call in done.completion.tool_calls)
                await self.accounts.pause(ids, active.admission, dumps(paused))
        # A choice that was broken off in the middle, or is not over, says nothing of what it had used by then.
        over = len(dones) == len(active.conductors)
        is_complete = over and all(done.failure is None or done.completion.transcripts for done in dones)
        run = self._run(
            active,
            tuple(transcript for done in dones for transcript in done.completion.transcripts),
            simulated=max(_simulated(done.completion.transcripts) for done in dones),
            usage=total_usage(dones) if is_complete else active.admission.budget.spent,
            failure="" if first.failure is None else first.failure.kind,
            answer=first.completion.text if first.failure is None else None,
        )
        await self._kept(run, active)

    async def left(self, active: ActiveRequest, transcripts: Sequence[Transcript] = (), end: BaseException | None = None) -> None:
        """Keep the run of a client that went away before there was an answer; ``transcripts``: what was done until then.

        ``end``: what ended it, where that may be a bug.
        """
        run = self._run(
            active,
            tuple(transcripts),
            simulated=_simulated(transcripts),
            usage=active.admission.budget.spent,
            failure=_ended_by(end),
            answer=None,
        )
        await self._kept(run, active)

    def _run(
        self,
        active: ActiveRequest,
        transcripts: tuple[Transcript, ...],
        *,
        simulated: float,
        usage: Usage,
        failure: str,
        answer: str | None,
    ) -> Run:
        return Run(
            id=active.run,
            key=active.admission.key_id,
            model=active.model,
            created=active.created,
            seconds=max(time.perf_counter() - active.started, simulated),
            usage=usage,
            paid_usd=active.admission.budget.paid.cost_usd,
            failure=failure,
            steps=sum(len(transcript.asked) for transcript in transcripts),
            workers=tuple(dict.fromkeys(result.worker for transcript in transcripts for result in transcript.asked)),
            question=_question(active.parsed.call),
            answer=answer,
            transcripts=transcripts,
        )

    async def _kept(self, run: Run, active: ActiveRequest) -> None:
        if active.is_kept:
            return
        active.is_kept = True
        await asyncio.shield(self._written(run, active))  # a client that leaves meanwhile changes nothing about it

    async def _written(self, run: Run, active: ActiveRequest) -> None:
        if run.failure and active.resumed is not None:
            # A client that sends the results again finds the step waiting as before, and pays for nothing twice.
            await self.accounts.pause(active.resumed.ids, active.admission, active.resumed.state)
        await self.accounts.keep_run(run, active.admission)
        self._report(run)
        record(run, run.transcripts, active.headers)

    def _report(self, run: Run) -> None:
        self.metrics.finished(run)
        log.info(
            "run",
            extra={
                "podium": {
                    "run": run.id,
                    "key": run.key,
                    "model": run.model,
                    "seconds": round(run.seconds, 4),
                    "steps": run.steps,
                    "workers": list(run.workers),
                    "tokens": run.usage.tokens,
                    "cost_usd": run.usage.cost_usd,
                    "paid_usd": run.paid_usd,
                    "failure": run.failure,
                }
            },
        )

    def _conductors(self, parsed: ParsedRequest, waiting: Resumed | None) -> list[ServedModel]:
        """Who answers: results of tools go to the step that asked for them; everything else is conducted from the start."""
        if waiting is not None:
            return [self.catalog.conductor(waiting.worker)]
        return [self.catalog.conductor(parsed.model, parsed.options) for _ in range(parsed.choices)]

    async def _taken(self, key: Key | None, parsed: ParsedRequest) -> Resumed | None:
        """The paused step whose tool results ``parsed`` brings; it is taken out of the store."""
        ids = tuple(sorted({message.tool_call_id for message in _newest(parsed.call.question) if message.role == "tool"}))
        if not ids:
            return None
        workers = [card.name for card in self.catalog.cards]
        if parsed.model in workers and parsed.options.policy is None:
            return None  # a worker by its own name is asked the conversation and nothing else
        if parsed.choices > 1:
            raise ConfigError("n: a step that waited for its tools goes on once; leave n out")
        state = await self.accounts.paused.take(ids, "" if key is None else key.id)
        return None if state is None else resumed(ids, state, parsed, workers)


def _size(call: Call) -> int:
    """Characters of the prompt, tools and response format included."""
    size = len(call.response_options.response_format or "")
    for message in call.question:
        size += len(message.content)
        for called in message.tool_calls:
            size += len(called.name) + len(called.arguments)
    for tool in call.response_options.tools:
        size += len(tool.name) + len(tool.description) + len(tool.parameters)
    return size


def total_usage(dones: Sequence[ChoiceDone]) -> Usage:
    """Tokens and dollars of all choices together."""
    return Usage.total(done.completion.usage for done in dones)


def _ended_by(end: BaseException | None) -> str:
    """What stands in the run's record: the name of a bug, or that the run was stopped from outside."""
    while isinstance(end, BaseExceptionGroup):
        end = end.exceptions[0]
    is_bug = isinstance(end, Exception) and not isinstance(end, ClientLeft)
    return type(end).__name__ if is_bug else Cancelled.__name__


def _question(call: Call) -> str:
    """What the user said last; in the middle of a tool loop that is not the last turn."""
    return next((turn.content for turn in reversed(call.question) if turn.role == "user"), call.question[-1].content)


def _simulated(transcripts: Iterable[Transcript]) -> float:
    """The seconds that a run stands for: simulated workers answer at once."""
    return sum(transcript.critical_seconds for transcript in transcripts)


def _newest(question: Sequence[Message]) -> tuple[Message, ...]:
    """The last turn that called tools and what came after it; nothing where the user has spoken since."""
    for index in range(len(question) - 1, -1, -1):
        if question[index].role == "user":
            return ()
        if question[index].tool_calls:
            return tuple(question[index:])
    return ()
