"""A request from its arrival until it is written down: whose it is, whether there is room, what it may cost, its result.

The same for every endpoint; endpoints only read requests and write answers.
"""

import asyncio
import json
import logging
import secrets
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial

from podium.errors import KeyBusy
from podium.jsonl import dumps
from podium.protocols import ServedModel
from podium.serving.accounts import Accounts, Admission
from podium.serving.api_errors import no_such_model
from podium.serving.asking import ChoiceDone
from podium.serving.catalog import ModelCatalog
from podium.serving.concurrency import ConcurrencyGate, Patience
from podium.serving.conversation import ParsedRequest
from podium.serving.figures import ended_by, prompt_size, question_of, simulated_seconds, total_usage
from podium.serving.going_on import Round, is_kept, noting, round_of, waits_for, with_thoughts
from podium.serving.histories import ends
from podium.serving.kept_thoughts import place_of, thoughts_of
from podium.serving.metrics import Metrics
from podium.serving.once import Once
from podium.serving.paused_step import Resumed, paused
from podium.serving.sessioned import sessioned, task_worker
from podium.serving.sessions import Session
from podium.serving.store.keys import Key
from podium.serving.store.patience import patiently
from podium.serving.store.quotas import Counted
from podium.serving.store.runs import Run
from podium.serving.store.shares import shares
from podium.serving.telemetry import record
from podium.types import Call, Transcript, Usage, Workflow
from podium.workers.metered import question_budgets
from podium.workers.seeing import all_told
from podium.workers.single_flight import SingleFlight
from podium.workers.tenant import tenant

log = logging.getLogger("podium.serving")

BUSY_SECONDS = 0.2
"""When to look again whether other replicas work on fewer requests of a key."""


def new_run() -> str:
    """An id for a run that begins."""
    return f"run_{secrets.token_hex(12)}"


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
    session: Session | None = None
    """None for what no session is made of (:func:`podium.serving.sessioned.sessioned`)."""
    resumed: Resumed | None = None
    """The step that goes on, where the request brings the results of its tools."""
    is_kept: bool = False
    """Whether the run is written down: a client may still leave while it is sent the end of its answer."""
    created: datetime = field(default_factory=lambda: datetime.now(UTC))
    started: float = field(default_factory=time.perf_counter)

    @property
    def told_session(self) -> dict[str, object] | None:
        """What a client is told of its session."""
        return None if self.session is None else self.session.object()

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
    flights: SingleFlight = field(default_factory=SingleFlight)
    """Steps that go on now."""

    @asynccontextmanager
    async def admitted(
        self,
        key: Key | None,
        parsed: ParsedRequest,
        headers: Mapping[str, str] = {},
        *,
        conductor: ServedModel | None = None,
        patience: Patience | None = None,
        run: str = "",
    ) -> AsyncIterator[ActiveRequest]:
        """Work on a request inside the block; its calls are held to its budget, and when the block ends what they cost is written
        down.

        A block that ends with an exception before its run is kept (:meth:`finish`) has the run kept with that failure.
        ``conductor`` answers it, whatever the model is called; None: the model that is offered under that name. ``patience``
        waits for a place (:mod:`podium.serving.concurrency`). ``run`` is the run's id (:func:`new_run`); "": a new one.

        Raises :class:`ApiErrorException`, :class:`QuotaExceeded`, :class:`ConfigError`.
        """
        if conductor is None and parsed.model not in self.catalog.models:
            raise no_such_model(parsed.model, self.catalog.models)
        async with self._let_in(key, parsed, patience) as admission:
            found = Round() if conductor is not None else await round_of(self.accounts, self.catalog, key, parsed)
            if found.ids:
                parsed = await with_thoughts(self.accounts, key, parsed, found.ids)
            waiting = waits_for(self.catalog, parsed, found)
            run = run or new_run()
            session = None if conductor is not None else await sessioned(self.accounts, self.catalog, key, parsed, headers, run)
            call = self._call(parsed, waiting, session)
            if waiting is not None and waiting.is_workflow:
                call = replace(call, tools_in_every_step=True, on_progress=noting(self.accounts, admission, waiting))
            conductors = [conductor] if conductor is not None else self._conductors(key, parsed, waiting)
            budgets = (admission.budget,) if session is None else (admission.budget, session.budget)
            question_budgets.set(budgets)  # of this request's task, and of all that it starts
            tenant.set(self.accounts.tenant(key))
            active = ActiveRequest(run, parsed, call, conductors, admission, headers, session, waiting)
            try:
                yield active
            except BaseException as end:  # the client has left, the server stops, or a bug: what was done is paid for
                await asyncio.shield(self.left(active, end=end))
                raise

    @asynccontextmanager
    async def _let_in(self, key: Key | None, parsed: ParsedRequest, patience: Patience | None) -> AsyncIterator[Admission]:
        """Room, and money. The quota of the minute is counted first, so that a request over it takes no room."""
        tokens, options = prompt_size(parsed.call) // 4, parsed.options
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
            waits = paused(done.completion, active.parsed, active.resumed)
            if waits is not None:
                ids = tuple(call.id for call in done.completion.tool_calls)
                await self.accounts.pause(ids, active.admission, dumps(waits))
            thoughts = thoughts_of(active.parsed.call.question, done.completion)
            if thoughts is not None:
                ids = place_of([call.id for call in done.completion.tool_calls])
                await self.accounts.pause(ids, active.admission, dumps(thoughts))
        # A choice that was broken off in the middle, or is not over, says nothing of what it had used by then.
        over = len(dones) == len(active.conductors)
        is_complete = over and all(done.failure is None or done.completion.transcripts for done in dones)
        run = self._run(
            active,
            tuple(transcript for done in dones for transcript in done.completion.transcripts),
            simulated=max(simulated_seconds(done.completion.transcripts) for done in dones),
            usage=total_usage(dones) if is_complete else active.admission.budget.spent,
            failure="" if first.failure is None else first.failure.kind,
            answer=first.completion.text if first.failure is None else None,
            asks_client=first.failure is None and bool(first.completion.tool_calls),
        )
        state: str | None = None
        histories: tuple[str, ...] = ()
        if (session := active.session) is not None and first.failure is None:
            state = session.after(dones[0].completion)
            if not session.is_named:
                histories = ends(active.admission.key_id, active.parsed, dones)
        await self._kept(run, active, state, histories)

    async def left(self, active: ActiveRequest, transcripts: Sequence[Transcript] = (), end: BaseException | None = None) -> None:
        """Keep the run of a client that went away before there was an answer; ``transcripts``: what was done until then.

        ``end``: what ended it, where that may be a bug.
        """
        run = self._run(
            active,
            tuple(transcripts),
            simulated=simulated_seconds(transcripts),
            usage=active.admission.budget.spent,
            failure=ended_by(end),
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
        asks_client: bool = False,
    ) -> Run:
        return Run(
            id=active.run,
            key=active.admission.key_id,
            model=active.model,
            created=active.created,
            seconds=max(time.perf_counter() - active.started, simulated),
            usage=usage,
            paid_usd=active.admission.budget.paid_usd,
            session="" if active.session is None else active.session.id,
            failure=failure,
            asks_client=asks_client,
            steps=sum(len(transcript.asked) for transcript in transcripts),
            workers=tuple(dict.fromkeys(result.worker for transcript in transcripts for result in transcript.asked)),
            policy=active.parsed.options.policy or "",
            shares=shares(transcripts),
            question=question_of(active.parsed.call),
            answer=answer,
            # Without the pictures: a run is read by people, and one picture is larger than all its words.
            transcripts=tuple(replace(each, question=all_told(each.question)) for each in transcripts),
        )

    async def _kept(self, run: Run, active: ActiveRequest, state: str | None = None, histories: Sequence[str] = ()) -> None:
        if active.is_kept:
            return
        active.is_kept = True
        # A client that leaves meanwhile changes nothing about it.
        await asyncio.shield(self._written(run, active, state, histories))

    async def _written(self, run: Run, active: ActiveRequest, state: str | None, histories: Sequence[str]) -> None:
        if active.resumed is not None and not run.failure and not is_kept(self.accounts, active.admission, active.resumed):
            # Not before: a client that sends the results again, here or where another replica lives on, finds the step waiting as
            # before, and pays for nothing twice.
            await patiently(partial(self.accounts.paused.drop, active.resumed.ids, active.admission.key_id))
        if (session := active.session) is not None:
            # A call that goes on for another request is booked here at its most, and not once more when it comes back.
            session.budget.on_change = None
            sessions = self.accounts.sessions
            if session.is_new:
                await patiently(partial(sessions.begin, session.id, session.costs_usd, state, histories))
            else:
                await patiently(partial(sessions.settle, session.id, active.run, session.costs_usd, state, histories))
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

    def _call(self, parsed: ParsedRequest, waiting: Resumed | None, session: Session | None) -> Call:
        """What is asked: the conversation, or the step that goes on with it."""
        if session is None:
            return self._planned(parsed.call, parsed) if waiting is None else waiting.call
        if waiting is not None:
            session.goes_on(waiting.worker)
            return waiting.call
        cards = {card.name: card for card in self.catalog.cards}

        def amend(workflow: Workflow, names: tuple[str, ...]) -> Workflow:
            return session.amended(workflow, names, cards, parsed)

        return self._planned(replace(parsed.call, plan_before=session.plan_before, amend=amend), parsed)

    def _planned(self, call: Call, parsed: ParsedRequest) -> Call:
        """``call`` with what holds for all steps of the workflow that is written for it."""
        steps = parsed.options.tool_steps
        every = self.catalog.tools_in_every_step if steps is None else steps == "all"
        return replace(call, tools_in_every_step=True) if every and call.response_options.tools else call

    def _conductors(self, key: Key | None, parsed: ParsedRequest, waiting: Resumed | None) -> list[ServedModel]:
        """Who answers: results of tools go to the step that asked for them, small tasks of a client's to the worker for those;
        everything else is conducted from the start."""
        if waiting is not None and waiting.is_workflow:
            owner = json.dumps(["" if key is None else key.id, waiting.ids, waiting.results])
            return [Once(self.catalog.conductor(parsed.model, parsed.options), self.flights, owner)]
        if waiting is not None:
            owner = json.dumps(["" if key is None else key.id, waiting.worker])
            return [Once(self.catalog.conductor(waiting.worker), self.flights, owner)]
        worker = task_worker(self.catalog, parsed)
        if worker is not None:
            return [self.catalog.conductor(worker) for _ in range(parsed.choices)]
        return [self.catalog.conductor(parsed.model, parsed.options) for _ in range(parsed.choices)]
