"""``kind = "human"``: a step waits for a person, who reads what a chat model would be shown and answers it.

Questions wait at the *desk* of the process that carries out the step (:data:`DESK`), until their time is up. A server hands them
to whoever has a key for that (:mod:`podium.serving.questions`). A step that is cancelled takes its question away. An answer is
kept in the journal like any other, so nobody is asked the same twice after a crash.
"""

import asyncio
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass

from podium.acting.command import as_text
from podium.errors import ConfigError, WorkerUnavailable
from podium.registry import register
from podium.types import Call, Completion, ResponseOptions, Usage
from podium.workers.connections import Connections
from podium.workers.kinds import WorkerKind
from podium.workers.prices import Price
from podium.workers.render import render
from podium.workers.table import Dollars, Positive, Seconds, WorkerConfig

LONGEST_ANSWER = 1_000_000
"""Characters."""


class HumanWorkerConfig(WorkerConfig):
    """Example: ``HumanWorkerConfig(name="editor", kind="human", about="knows the house style", usd_per_call=0)``."""

    timeout_seconds: Seconds = 3600.0
    """How long a question waits for an answer."""
    retries: int = 0
    """A question is asked once."""
    concurrency: Positive | None = 8
    """Questions that wait at once; further ones stand in line."""
    usd_per_call: Dollars | None = None
    """What an answer costs, 0 where that is nothing; without it the cost is unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenQuestion:
    """A question that waits for a person.

    Example: ``OpenQuestion(id="q_1f", worker="editor", text="?", since=1.0, until=2.0)``.
    """

    id: str
    worker: str
    text: str
    since: float
    """Seconds since 1970, as ``until``, when it is taken away."""
    until: float


class Desk:
    """Where questions wait. Example: ``DESK.answer(DESK.waiting()[0].id, "Yes.")``. For one event loop."""

    def __init__(self) -> None:
        self._open: dict[str, tuple[OpenQuestion, asyncio.Future[str]]] = {}

    def waiting(self) -> list[OpenQuestion]:
        """The questions that wait, the oldest first."""
        return [question for question, _ in self._open.values()]

    def answer(self, question: str, text: str) -> bool:
        """Answer the question with this id; False where it does not wait (any more). Raises :class:`ConfigError` for a blank."""
        if not text.strip() or len(text) > LONGEST_ANSWER:
            raise ConfigError(f"an answer has 1 to {LONGEST_ANSWER} characters, and not only blanks")
        found = self._open.get(question)
        if found is None or found[1].done():
            return False
        found[1].set_result(text)
        return True

    async def asked(self, worker: str, text: str, seconds: float) -> str:
        """Put a question on the desk and wait for the answer. Raises TimeoutError when its time is up."""
        now = time.time()
        question = OpenQuestion(id=f"q_{secrets.token_hex(12)}", worker=worker, text=text, since=now, until=now + seconds)
        future: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._open[question.id] = question, future
        try:
            async with asyncio.timeout(seconds):
                return await future
        finally:
            del self._open[question.id]


DESK = Desk()
"""The desk of this process."""


class HumanWorker:
    """A person. Example: ``await HumanWorker(table)(Call.plain("Is this right?"))``, and ``DESK.answer(...)`` meanwhile."""

    def __init__(self, table: HumanWorkerConfig, desk: Desk = DESK) -> None:
        self._table = table
        self._desk = desk
        free = table.usd_per_call == 0
        self.price = Price(prompt_usd=0.0, completion_usd=0.0) if free else None
        self.identity = f'{{"kind":"human","name":"{table.name}"}}'

    def most_usd(self, prompt_tokens: int, completion_tokens: int) -> float | None:
        """What an answer costs; None where the table does not say."""
        return self._table.usd_per_call

    def check(self, response_options: ResponseOptions) -> None:
        """Raises :class:`ConfigError` for tools and response formats."""
        if response_options.needs_a_chat_model:
            raise ConfigError("a person answers in words; they call no tools and follow no response_format")

    async def __call__(self, call: Call) -> Completion:
        """Ask, and wait for the answer."""
        self.check(call.response_options)
        started = time.perf_counter()
        try:
            text = await self._desk.asked(self._table.name, as_text(render(call)), self._table.timeout_seconds)
        except TimeoutError as error:
            raise WorkerUnavailable(f"nobody answered within {self._table.timeout_seconds:g} seconds") from error
        if call.on_token is not None:
            call.on_token(text)
        source = "" if self._table.usd_per_call is None else "pool file"
        usage = Usage(cost_usd=self._table.usd_per_call)
        return Completion(text=text, usage=usage, price_source=source, seconds=time.perf_counter() - started)


def _make(table: HumanWorkerConfig, environ: Mapping[str, str], connections: Connections) -> HumanWorker:
    return HumanWorker(table)


register("workers", "human")(
    WorkerKind(
        about="a person, who is asked and waited for",
        config=HumanWorkerConfig,
        make=_make,
        keeps_time=True,
        abilities=lambda table: (f"a person answers, within {table.timeout_seconds:g} seconds",),
        uses_tokens=False,
        probe=None,
    )
)
