"""Who asks, what that may cost, and what is kept of it: keys, quotas, runs and paused tool calls around one request."""

import asyncio
import logging
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import partial

from podium.errors import AccessDenied, BudgetExceeded, StoreUnavailable
from podium.serving.heartbeat import Heartbeat
from podium.serving.sealed import sealed_tenant
from podium.serving.store.database import Database
from podium.serving.store.feedback import FeedbackStore
from podium.serving.store.keys import Key, Keys
from podium.serving.store.patience import patiently
from podium.serving.store.paused import Paused
from podium.serving.store.quotas import Counted, Lease, Quotas
from podium.serving.store.responses import KeptResponses
from podium.serving.store.runs import Run, Runs
from podium.serving.store.sessions import Sessions
from podium.workers.budget import Budget
from podium.workers.tenant import ITSELF, Tenant

log = logging.getLogger(__name__)

BEAT_SECONDS = 5.0
"""How often a replica says that it is alive."""
DEAD_SECONDS = 60.0
"""After how long without that its open leases are closed by another one."""
RENEW = "renew its leases"
"""The job of the heartbeat that tells other replicas that this one lives."""
TOOL_SECONDS = 3600.0
"""How long a client may take to run its tools."""
RESPONSE_SECONDS = 24 * 3600.0
"""How long a response is kept."""


@dataclass(slots=True, eq=False)
class Admission:
    """A request that was let in: whose it is, and the budget that all its calls are held to."""

    key: Key | None
    budget: Budget
    lease: Lease | None = None

    @property
    def key_id(self) -> str:
        """ "" where no keys are asked for."""
        return "" if self.key is None else self.key.id


@dataclass(slots=True, eq=False)
class Accounts:
    """Who may ask, and what it costs them, for one replica. Without ``with_keys`` everybody may ask, without a quota.

    Example: ``async with accounts.open(): admission = await accounts.admit(key, usd=0.1, seconds=None, tokens=900)``.
    """

    database: Database
    replica: str
    with_keys: bool
    store_content: bool
    """Whether questions and answers of requests without a key are kept."""
    request_usd: float
    """What a request may cost where neither it nor anything else says so; counts for keys with a quota."""
    keys: Keys = field(init=False)
    quotas: Quotas = field(init=False)
    runs: Runs = field(init=False)
    feedback: FeedbackStore = field(init=False)
    paused: Paused = field(init=False)
    responses: KeptResponses = field(init=False)
    sessions: Sessions = field(init=False)
    heartbeat: Heartbeat = field(init=False)
    _nobodys: Tenant = field(init=False)
    _closing: set[asyncio.Task[None]] = field(init=False, default_factory=set)
    _owed: list[Admission] = field(init=False, default_factory=list)
    """Requests that are over, whose cost the database has not taken yet."""

    def __post_init__(self) -> None:
        self.keys, self.quotas = Keys(self.database), Quotas(self.database, self.replica)
        self.runs, self.paused = Runs(self.database), Paused(self.database)
        self.feedback = FeedbackStore(self.database)
        self.responses, self.sessions = KeptResponses(self.database), Sessions(self.database)
        self.heartbeat = Heartbeat(
            {
                RENEW: self.quotas.beat,
                "close the leases of dead replicas": partial(self.quotas.reap, DEAD_SECONDS),
                "forget expired tool calls": self.paused.forget,
                "forget expired responses": self.responses.forget,
                "forget sessions that are over": self.sessions.forget,
                "book requests that are over": self._pay_owed,
            }
        )
        # Without keys no request brings a secret along; what was sealed opens for as long as this process lives.
        self._nobodys = ITSELF if self.store_content else sealed_tenant(secrets.token_bytes(32), is_kept=False)

    @asynccontextmanager
    async def open(self) -> AsyncIterator["Accounts"]:
        """Bring the schema up to date, and keep the leases alive meanwhile. Raises :class:`ConfigError`."""
        await self.database.migrate()
        async with self.heartbeat.beating(BEAT_SECONDS):
            try:
                yield self
            finally:
                await self.settled()
        await self._pay_owed()

    def check_alive(self) -> None:
        """Raises :class:`StoreUnavailable` where another replica may soon take this one for dead."""
        self.heartbeat.check(RENEW, DEAD_SECONDS / 2)

    async def identify(self, authorization: str | None, *scopes: str, anew: bool = False) -> Key | None:
        """Whose request it is, which needs one of ``scopes``; None where no keys are asked for. Raises :class:`AccessDenied`.

        ``anew``: as the key is now, not as it was found some seconds ago.
        """
        if not self.with_keys:
            return None
        scheme, _, secret = (authorization or "").partition(" ")
        if scheme.lower() != "bearer" or not secret.strip():
            raise AccessDenied("this server wants a key: Authorization: Bearer pod_...")
        key = await self.keys.find(secret.strip(), anew=anew)
        if key.scopes.isdisjoint({*scopes, "admin"}):
            raise AccessDenied(f"this key may not do that; it lacks the scope {' or '.join(scopes)}", known=True)
        return key

    def seen_by(self, key: Key | None) -> str | None:
        """Whose runs ``key`` sees, as :class:`Runs` is asked: its own; an operator's, or no key at all, sees all (None)."""
        return None if key is None or "admin" in key.scopes else key.id

    def tenant(self, key: Key | None) -> Tenant:
        """Whose calls a request with ``key`` makes: a key's own. Requests without keys are of one tenant."""
        if key is None:
            return self._nobodys
        if key.root is None:
            raise ValueError(f"the key {key.id} came without its secret, so its tenant can not be told")
        return sealed_tenant(key.root, is_kept=key.store_content)

    async def admit(
        self, key: Key | None, *, usd: float | None, seconds: float | None, tokens: int, counted: Counted | None = None
    ) -> Admission:
        """Let a request in and lend it what it may cost. Raises :class:`QuotaExceeded`, :class:`ConfigError`."""
        lease = None
        if key is not None:
            lease = await self.quotas.admit(key, usd, tokens, otherwise_usd=self.request_usd, counted=counted)
            usd = lease.usd
        budget = Budget(usd, None, seconds, name="request")
        if lease is not None and usd is not None:
            budget.on_change = partial(self._note, lease, budget)
        return Admission(key=key, budget=budget, lease=lease)

    async def close(self, admission: Admission) -> None:
        """Book what the request has cost. Twice is harmless.

        A call that it began and left may go on for another request of its key: then its account is closed after that, because
        who began a call pays for it. Where the database is away for long, the request ends all the same and is booked later: its
        lease stays open until then.
        """
        if admission.budget.is_reserved:
            task = asyncio.create_task(self._book_later(admission))
            self._closing.add(task)
            task.add_done_callback(self._booked_later)
        else:
            await self._book(admission)

    async def settled(self) -> None:
        """Wait until the costs of all requests that have ended are written down."""
        while self._closing:
            await asyncio.gather(*self._closing, return_exceptions=True)

    async def _book_later(self, admission: Admission) -> None:
        await admission.budget.idle()
        await self._book(admission)

    def _booked_later(self, task: asyncio.Task[None]) -> None:
        self._closing.discard(task)
        if not task.cancelled() and task.exception() is not None:
            log.error("a bug kept a request from being booked; that is tried again", exc_info=task.exception())

    async def _book(self, admission: Admission) -> None:
        try:
            await patiently(partial(self._settle, admission))
        except StoreUnavailable:
            log.exception("the database does not answer; a request is booked when it does")
            self._owed.append(admission)
        except (asyncio.CancelledError, Exception):  # the client has left, or a bug: what was used is written down all the same
            self._owed.append(admission)
            raise

    async def keep_run(self, run: Run, admission: Admission) -> None:
        """Keep ``run``, without its content unless that is wanted."""
        wanted = self.store_content if admission.key is None else admission.key.store_content
        kept = run if wanted else replace(run, question=None, answer=None, transcripts=())
        await patiently(partial(self.runs.add, kept))

    async def pause(self, tool_call_ids: tuple[str, ...], admission: Admission, state: str) -> None:
        """Keep what a client's tool results will be answered with."""
        expires = datetime.now(UTC) + timedelta(seconds=TOOL_SECONDS)
        await patiently(partial(self.paused.keep, tool_call_ids, admission.key_id, state, expires))

    async def keep_response(self, response: str, admission: Admission, state: str) -> None:
        """Keep a response for its key."""
        expires = datetime.now(UTC) + timedelta(seconds=RESPONSE_SECONDS)
        await patiently(partial(self.responses.keep, response, admission.key_id, state, expires))

    async def _note(self, lease: Lease, budget: Budget) -> None:
        """Before each call and after it: what a replica that dies now has spent is known, to the calls under way.

        Raises :class:`BudgetExceeded` where the lease was closed by another replica, which took this one for dead.
        """

        async def write() -> bool:  # what is so at the time it is written
            in_flight = budget.reserved_usd + budget.uncertain_usd
            return await self.quotas.progress(lease, budget.spent.cost_usd or 0.0, in_flight)

        if not await patiently(write):
            raise BudgetExceeded("this request was given up because its replica had not been heard of; ask again")

    async def _settle(self, admission: Admission) -> None:
        if admission.lease is not None:
            spent = admission.budget.spent
            await self.quotas.settle(admission.lease, spent.cost_usd, admission.budget.uncertain_usd, spent.tokens)

    async def _pay_owed(self) -> None:
        """Book what could not be booked before, each request for itself.

        What is owed still when this process ends is booked as a dead replica's.
        """
        bugs = []
        for admission in list(self._owed):
            try:
                await self._settle(admission)
            except StoreUnavailable:
                log.exception("the database does not answer; %s requests are not booked yet", len(self._owed))
                break
            except Exception as error:  # raised below: one request that can not be booked keeps no other one waiting
                bugs.append(error)
            else:
                self._owed.remove(admission)
        if bugs:
            raise ExceptionGroup(f"{len(bugs)} requests could not be booked", bugs)
