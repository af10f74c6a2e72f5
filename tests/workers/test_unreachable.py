"""What never reached the provider is free and says why; what may have reached it is not. Real sockets, the real transport."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager

import pytest

from podium.errors import ContextOverflow, WorkerRefused, WorkerUnavailable, WorkerUnreachable
from podium.types import Call, Card, Failure, Generation, Transcript, ask
from podium.workers.billing import surely_unpaid
from podium.workers.budget import Budget
from podium.workers.chat import ChatWorker
from podium.workers.faults import cause_of
from podium.workers.metered import Metered

MODELS = ("openai:m", "openrouter:vendor/m", "anthropic:claude-haiku-4-5", "google:gemini-2.5-flash")
CARD = Card(name="w", prompt_usd=1e-6, completion_usd=2e-6)


async def attempt(model: str, url: str, *, streamed: bool, seconds: float = 5.0) -> tuple[WorkerUnavailable, Budget]:
    """The failure of one metered call, and the budget it was held to."""
    budget = Budget(usd=1.0)
    call = Call(question=ask("6 times 7?"), on_token=(lambda text: None) if streamed else None)
    async with ChatWorker(model=model, base_url=url, api_key="key-1", seconds=seconds) as chat:
        with pytest.raises(WorkerUnavailable) as caught:
            await Metered(chat, CARD, 100, [budget])(call)
    return caught.value, budget


@contextmanager
def closed_port() -> Iterator[int]:
    """A port that is ours and that nobody listens on."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield bound.getsockname()[1]


@contextmanager
def full_port() -> Iterator[int]:
    """A port whose line is full: the kernel drops whoever tries to connect."""
    with contextlib.ExitStack() as open_sockets:
        listening = open_sockets.enter_context(socket.socket())
        listening.bind(("127.0.0.1", 0))
        listening.listen(0)
        for _ in range(3):
            waiting = open_sockets.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(listening.getsockname())
        yield listening.getsockname()[1]


@asynccontextmanager
async def server(seconds: float) -> AsyncIterator[int]:
    """Takes connections, reads what comes, hangs up after ``seconds`` without a word."""
    writers: list[asyncio.StreamWriter] = []

    async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)
        await reader.read(1)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await reader.read()
        writer.close()

    listening = await asyncio.start_server(hang_up, "127.0.0.1", 0)
    try:
        yield listening.sockets[0].getsockname()[1]
    finally:
        listening.close()
        for writer in writers:
            writer.close()
        await asyncio.sleep(0)


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("model", MODELS)
class TestNothingWasSent:
    async def test_refused(self, model: str, streamed: bool) -> None:
        with closed_port() as port:
            error, budget = await attempt(model, f"http://127.0.0.1:{port}/v1", streamed=streamed)
        assert type(error) is WorkerUnreachable
        assert f"connection refused by http://127.0.0.1:{port}: is it running?" in str(error)
        assert (budget.uncertain_usd, budget.remaining_usd) == (0, 1)

    async def test_a_name_that_nobody_has(self, model: str, streamed: bool) -> None:
        error, budget = await attempt(model, "http://no-such-host.invalid:8000/v1", streamed=streamed)
        assert type(error) is WorkerUnreachable
        assert "the name 'no-such-host.invalid' can not be resolved: check base_url" in str(error)
        assert budget.uncertain_usd == 0

    async def test_no_tls(self, model: str, streamed: bool) -> None:
        async with server(0.0) as port:
            error, budget = await attempt(model, f"https://127.0.0.1:{port}/v1", streamed=streamed)
        assert type(error) is WorkerUnreachable
        assert f"https://127.0.0.1:{port}" in str(error)
        assert "http or https?" in str(error)
        assert budget.uncertain_usd == 0

    async def test_no_connection_in_time(self, model: str, streamed: bool) -> None:
        with full_port() as port:
            error, budget = await attempt(model, f"http://127.0.0.1:{port}/v1", streamed=streamed, seconds=0.5)
        assert type(error) is WorkerUnreachable
        assert f"no connection to http://127.0.0.1:{port} in time" in str(error)
        assert budget.uncertain_usd == 0


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("model", MODELS)
class TestItMayHaveBeenPaid:
    async def test_cut_after_sending(self, model: str, streamed: bool) -> None:
        async with server(0.0) as port:
            error, budget = await attempt(model, f"http://127.0.0.1:{port}/v1", streamed=streamed)
        assert type(error) is WorkerUnavailable
        assert "timed out" not in str(error)
        assert budget.uncertain_usd > 0

    async def test_no_answer_in_time(self, model: str, streamed: bool) -> None:
        async with server(30.0) as port:
            error, budget = await attempt(model, f"http://127.0.0.1:{port}/v1", streamed=streamed, seconds=0.3)
        assert type(error) is WorkerUnavailable
        assert budget.uncertain_usd > 0


async def test_a_second_workers_cut_connection_is_not_free_because_the_firsts_was_refused() -> None:
    async with server(0.0) as port:
        with closed_port() as closed:
            budget = Budget(usd=1.0)
            async with (
                ChatWorker(model="openai:m", base_url=f"http://127.0.0.1:{closed}/v1") as first,
                ChatWorker(model="openai:m", base_url=f"http://127.0.0.1:{port}/v1") as second,
            ):
                try:
                    await first(Call.plain("?"))
                except WorkerUnreachable:
                    with pytest.raises(WorkerUnavailable) as caught:
                        await Metered(second, CARD, 100, [budget])(Call.plain("?"))
    assert type(caught.value) is WorkerUnavailable
    assert budget.uncertain_usd > 0


class Said(Exception):
    """As vendors' libraries raise it."""

    def __init__(self, status_code: int | None = None, *, in_stream: bool = False, text: str = "no") -> None:
        super().__init__(text)
        self.status_code = status_code
        self.in_stream = in_stream


@pytest.mark.parametrize(
    ("make", "unpaid"),
    [
        (lambda: WorkerUnreachable("refused"), True),
        (lambda: raised(WorkerUnavailable("busy", retry_after=1), Said(429, in_stream=True)), False),
        (lambda: raised(WorkerRefused("credit"), Said(402, in_stream=True)), False),
        (lambda: raised(ContextOverflow("too long"), Said(400)), True),
        (lambda: raised(ContextOverflow("too long"), Said(500)), True),
        (lambda: raised(ContextOverflow("the window ran full"), Said(400, in_stream=True)), False),
        (lambda: raised(ContextOverflow("the window ran full"), Said()), False),
        (lambda: raised(WorkerRefused("filter"), cause_of(Said(text="sk-1"), "sk-1")), False),
    ],
)
def test_what_was_said_after_the_answer_had_begun_is_not_free(make: Callable[[], Exception], unpaid: bool) -> None:
    assert surely_unpaid(make()) is unpaid


def raised(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


def test_a_conductors_failure_is_not_free_because_its_last_steps_was() -> None:
    error = WorkerUnreachable("step 1: refused")
    failure = Failure.of(error, "step 1")
    error.transcripts = (Transcript(question=ask("?"), generation=Generation(text=""), workflow=None, failure=failure),)
    assert not surely_unpaid(error)
