"""Timed, Retried, Fallback, Hedged, Limited, Cached: laws of all wrappers, then each one's own.

Time is virtual: the event loop's clock jumps to the next timer, so an hour of waiting takes no time and nothing is flaky.
"""

import asyncio
import random
import selectors
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podium.errors import (
    BudgetExceeded,
    ConfigError,
    ContextOverflow,
    PodiumError,
    WorkerError,
    WorkerRefused,
    WorkerUnavailable,
)
from podium.protocols import Worker
from podium.types import Call, Card, Completion, ResponseOptions, Sampling, Usage
from podium.workers.bound import bound
from podium.workers.budget import Budget
from podium.workers.cached import Cached
from podium.workers.call_key import call_key
from podium.workers.fallback import Fallback
from podium.workers.hedged import Hedged
from podium.workers.limited import Limit, Limited
from podium.workers.metered import Metered
from podium.workers.retried import Retried
from podium.workers.scripted import Scripted
from podium.workers.timed import Timed

T = TypeVar("T")


class Jumping(selectors.SelectSelector):
    """Does not wait for a timer but moves the loop's clock to it."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if not ready and timeout:
            self.now += timeout
        return ready


class VirtualLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self.selector = Jumping()
        super().__init__(self.selector)

    def time(self) -> float:
        return self.selector.now


def virtually(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(work())


def now() -> float:
    return asyncio.get_running_loop().time()


class Provider:
    """A worker that keeps books: when each call started and ended, how many were under way, which were cancelled."""

    def __init__(
        self,
        *answers: str | Exception,
        seconds: float | Callable[[Call], float] = 0.0,
        usage: Usage = Usage(prompt_tokens=1, completion_tokens=1, cost_usd=0.001),
        last_words: str = "",
    ) -> None:
        self.answers = answers or ("yes",)
        self.seconds = seconds
        self.usage = usage
        self.last_words = last_words
        self.starts: list[float] = []
        self.calls: list[Call] = []
        self.in_flight = self.most_in_flight = self.cancelled = 0

    async def __call__(self, call: Call) -> Completion:
        answer = self.answers[min(len(self.calls), len(self.answers) - 1)]
        self.calls.append(call)
        self.starts.append(now())
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        seconds = self.seconds(call) if callable(self.seconds) else self.seconds
        try:
            if call.on_token is not None:
                call.on_token(f"{answer}"[:1])
            await asyncio.sleep(seconds)
            if isinstance(answer, Exception):
                raise answer
            if call.on_token is not None:
                call.on_token(answer[1:])
            return Completion(text=answer, usage=self.usage, seconds=seconds)
        except asyncio.CancelledError:
            self.cancelled += 1
            await asyncio.sleep(0.1)  # hanging up takes a moment
            if call.on_token is not None and self.last_words:
                call.on_token(self.last_words)
            raise
        finally:
            self.in_flight -= 1


class Ear:
    """What a listener is left with at the end, and everything it was told."""

    def __init__(self) -> None:
        self.told: list[str | None] = []

    def __call__(self, piece: str | None) -> None:
        self.told.append(piece)

    @property
    def text(self) -> str:
        kept: list[str] = []
        for piece in self.told:
            kept = [] if piece is None else [*kept, piece]
        return "".join(kept)


CARD = Card(name="w", prompt_usd=1e-6, completion_usd=2e-6)
WRAPPERS: dict[str, Callable[[Worker], Worker]] = {
    "timed": lambda worker: Timed(worker, 1000),
    "retried": lambda worker: Retried(worker, attempts=3),
    "fallback": lambda worker: Fallback(worker, worker),
    "hedged": lambda worker: Hedged(worker, worker, after_seconds=3),
    "limited": lambda worker: Limited(worker, Limit(concurrency=3, requests_per_minute=9, tokens_per_minute=9999), max_tokens=50),
    "metered": lambda worker: Metered(worker, CARD, 50, [Budget(usd=1, tokens=9999, seconds=9999)]),
    "cached": lambda worker: Cached(worker, "w"),
    "all": lambda worker: Fallback(
        Hedged(
            Cached(Retried(Limited(Metered(Timed(worker, 900), CARD, 50, [Budget()]), Limit(concurrency=2))), "w"),
            worker,
            after_seconds=3,
        ),
        worker,
    ),
}


@pytest.fixture(params=sorted(WRAPPERS))
def wrap(request: pytest.FixtureRequest) -> Callable[[Worker], Worker]:
    return WRAPPERS[request.param]


class TestEveryWrapper:
    def test_hands_on_the_completion_as_it_is(self, wrap: Callable[[Worker], Worker]) -> None:
        provider = Provider("42", seconds=0.5)
        completion = virtually(lambda: wrap(provider)(Call.plain("6 times 7?")))
        assert completion == Completion(text="42", usage=provider.usage, seconds=0.5)
        assert len(provider.calls) == 1
        assert provider.calls[0] == Call.plain("6 times 7?")

    def test_streams(self, wrap: Callable[[Worker], Worker]) -> None:
        ear = Ear()
        call = Call(subtask="Say it.", on_token=ear)
        virtually(lambda: wrap(Provider("42", seconds=0.5))(call))
        assert ear.told == ["4", "2"]

    def test_hands_on_a_refusal(self, wrap: Callable[[Worker], Worker]) -> None:
        with pytest.raises(WorkerRefused, match="no such model"):
            virtually(lambda: wrap(Provider(WorkerRefused("no such model")))(Call.plain("?")))

    def test_hands_on_a_bug_at_once(self, wrap: Callable[[Worker], Worker]) -> None:
        provider = Provider(ZeroDivisionError("a bug"))
        with pytest.raises(ZeroDivisionError):
            virtually(lambda: wrap(provider)(Call.plain("?")))
        assert len(provider.calls) == 1

    @pytest.mark.parametrize("after_seconds", [0.0, 1.0, 5.0])
    def test_cancellation_reaches_every_call(self, wrap: Callable[[Worker], Worker], after_seconds: float) -> None:
        provider = Provider(seconds=100)

        async def stop() -> None:
            task = asyncio.ensure_future(wrap(provider)(Call.plain("?")))
            await asyncio.sleep(after_seconds)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            # By the time the cancellation is reported, nothing goes on behind it.
            assert provider.in_flight == 0
            assert provider.cancelled == len(provider.calls)
            assert asyncio.all_tasks() == {asyncio.current_task()}

        virtually(stop)

    def test_serves_many_at_once(self, wrap: Callable[[Worker], Worker]) -> None:
        async def many() -> list[Completion]:
            worker = wrap(Provider(seconds=1))
            return await asyncio.gather(*(worker(Call.plain(f"{n}?")) for n in range(30)))

        assert [completion.text for completion in virtually(many)] == ["yes"] * 30


class TestTimed:
    def test_a_slow_call_is_cut_and_may_be_tried_again(self) -> None:
        provider = Provider(seconds=10)
        with pytest.raises(WorkerUnavailable, match=r"within 2\.5 seconds"):
            virtually(lambda: Timed(provider, 2.5)(Call.plain("?")))
        assert provider.cancelled == 1

    def test_a_timeout_error_of_the_worker_stays_a_bug(self) -> None:
        with pytest.raises(TimeoutError, match="its own"):
            virtually(lambda: Timed(Provider(TimeoutError("its own")), 5)(Call.plain("?")))

    @pytest.mark.parametrize("seconds", [0, -1, float("nan")])
    def test_no_time_at_all_is_a_user_error(self, seconds: float) -> None:
        with pytest.raises(ConfigError):
            Timed(Provider(), seconds)


BUSY = WorkerUnavailable("429")


class TestRetried:
    def test_tries_again_and_voids_the_tokens_before(self) -> None:
        ear = Ear()
        provider = Provider(BUSY, WorkerUnavailable("cut"), "done")
        completion = virtually(lambda: Retried(provider, attempts=3)(Call(subtask="Go.", on_token=ear)))
        assert completion.text == ear.text == "done"
        assert ear.told == ["4", None, "c", None, "d", "one"]

    def test_raises_the_last_error_after_the_last_attempt(self) -> None:
        provider = Provider(BUSY, WorkerUnavailable("second"), WorkerUnavailable("third"), "too late")
        with pytest.raises(WorkerUnavailable, match="third"):
            virtually(lambda: Retried(provider, attempts=3)(Call.plain("?")))

    @pytest.mark.parametrize("error", [WorkerRefused("no"), ContextOverflow("too long"), BudgetExceeded("spent")])
    def test_only_passing_faults_are_worth_it(self, error: PodiumError) -> None:
        provider = Provider(error, "done")
        with pytest.raises(type(error)):
            virtually(lambda: Retried(provider, attempts=3)(Call.plain("?")))
        assert len(provider.calls) == 1

    def test_a_long_retry_after_gives_up_at_once(self) -> None:
        provider = Provider(WorkerUnavailable("tomorrow", retry_after=86400), "done")
        with pytest.raises(WorkerUnavailable, match="tomorrow"):
            virtually(lambda: Retried(provider, attempts=3, cap_seconds=60)(Call.plain("?")))
        assert len(provider.calls) == 1

    @pytest.mark.parametrize("hostile", [float("nan"), float("inf"), -5.0])
    def test_a_hostile_retry_after_neither_hangs_nor_hurries(self, hostile: float) -> None:
        provider = Provider(WorkerUnavailable("?", retry_after=hostile), "done")
        try:
            virtually(lambda: Retried(provider, attempts=2)(Call.plain("?")))
        except WorkerUnavailable:
            assert hostile != -5.0
        assert provider.starts == sorted(provider.starts)

    @given(
        asked=st.lists(st.none() | st.floats(0, 30), min_size=1, max_size=6),
        base=st.floats(0.01, 5),
        cap=st.floats(30, 60),
        seed=st.integers(),
    )
    @settings(max_examples=50, deadline=None)
    def test_waits_at_least_what_was_asked_and_at_most_the_ceiling_more(
        self, asked: list[float | None], base: float, cap: float, seed: int
    ) -> None:
        provider = Provider(*(WorkerUnavailable("busy", retry_after=seconds) for seconds in asked), "done")
        worker = Retried(provider, attempts=len(asked) + 1, base_seconds=base, cap_seconds=cap, rng=random.Random(seed))
        virtually(lambda: worker(Call.plain("?")))
        waits = [after - before for before, after in zip(provider.starts, provider.starts[1:], strict=False)]
        for attempt, (seconds, waited) in enumerate(zip(asked, waits, strict=True)):
            least = seconds or 0.0
            assert least - 1e-9 <= waited <= least + min(cap, base * 2**attempt) + 1e-9

    def test_the_jitter_is_full_and_seeded(self) -> None:
        def waits(seed: int) -> list[float]:
            provider = Provider(*[BUSY] * 200, "done")
            worker = Retried(provider, attempts=201, base_seconds=8, cap_seconds=8, rng=random.Random(seed))
            virtually(lambda: worker(Call.plain("?")))
            return [after - before for before, after in zip(provider.starts, provider.starts[1:], strict=False)]

        assert waits(1) == waits(1) != waits(2)
        assert min(waits(1)) < 1 < 7 < max(waits(1))

    @pytest.mark.parametrize("wrong", [{"attempts": 0}, {"base_seconds": 5, "cap_seconds": 1}, {"base_seconds": -1}])
    def test_impossible_settings_are_user_errors(self, wrong: dict[str, Any]) -> None:
        with pytest.raises(ConfigError):
            Retried(Provider(), **wrong)


class TestFallback:
    @pytest.mark.parametrize("error", [BUSY, WorkerRefused("no"), ContextOverflow("too long")])
    def test_the_other_answers_where_the_first_can_not(self, error: WorkerError) -> None:
        ear = Ear()
        completion = virtually(lambda: Fallback(Provider(error), Provider("mine"))(Call(subtask="Go.", on_token=ear)))
        assert completion.text == ear.text == "mine"
        assert ear.told[1] is None

    def test_a_reached_budget_is_no_reason(self) -> None:
        other = Provider("mine")
        with pytest.raises(BudgetExceeded):
            virtually(lambda: Fallback(Provider(BudgetExceeded("spent")), other)(Call.plain("?")))
        assert not other.calls

    def test_where_both_fail_the_error_is_the_others_and_tells_the_first(self) -> None:
        with pytest.raises(WorkerRefused, match="me neither") as caught:
            virtually(lambda: Fallback(Provider(BUSY), Provider(WorkerRefused("me neither")))(Call.plain("?")))
        assert caught.value.__context__ is BUSY


class TestHedged:
    def run(self, first: Provider, other: Provider) -> tuple[Completion, Ear, float]:
        ear = Ear()

        async def hedged() -> tuple[Completion, Ear, float]:
            completion = await Hedged(first, other, after_seconds=5)(Call(subtask="Go.", on_token=ear))
            assert first.in_flight == other.in_flight == 0
            return completion, ear, now()

        return virtually(hedged)

    def test_a_quick_first_is_alone(self) -> None:
        first, other = Provider("first", seconds=4), Provider("other")
        completion, ear, seconds = self.run(first, other)
        assert (completion.text, ear.told, seconds) == ("first", ["f", "irst"], 4)
        assert not other.calls

    def test_the_other_wins_over_a_slow_first(self) -> None:
        first, other = Provider("first", seconds=50), Provider("other", seconds=2)
        completion, ear, seconds = self.run(first, other)
        assert (completion.text, ear.told, seconds) == ("other", ["f", None, "other"], 7.1)
        assert first.cancelled == 1

    def test_what_the_loser_says_last_is_forgotten_too(self) -> None:
        _, ear, _ = self.run(Provider("first", seconds=50, last_words="Goodbye."), Provider("other"))
        assert ear.text == "other"

    def test_the_first_may_still_win(self) -> None:
        first, other = Provider("first", seconds=6), Provider("other", seconds=20)
        completion, ear, seconds = self.run(first, other)
        assert (completion.text, ear.told, seconds) == ("first", ["f", "irst"], 6.1)
        assert other.cancelled == 1

    def test_a_draw_is_the_firsts(self) -> None:
        completion, _, _ = self.run(Provider("first", seconds=7), Provider("other", seconds=2))
        assert completion.text == "first"

    def test_a_failure_of_one_leaves_it_to_the_other(self) -> None:
        assert self.run(Provider(BUSY, seconds=6), Provider("other", seconds=9))[0].text == "other"
        assert self.run(Provider("first", seconds=9), Provider(BUSY, seconds=1))[0].text == "first"
        assert self.run(Provider("first", seconds=9), Provider(BudgetExceeded("spent")))[0].text == "first"

    def test_where_both_fail_the_error_is_the_firsts(self) -> None:
        for seconds in (1, 30):
            with pytest.raises(WorkerUnavailable, match="429"):
                self.run(Provider(BUSY, seconds=10), Provider(WorkerRefused("no"), seconds=seconds))

    def test_a_failure_in_time_is_not_hedged(self) -> None:
        other = Provider("other")
        with pytest.raises(WorkerUnavailable):
            self.run(Provider(BUSY, seconds=1), other)
        assert not other.calls


class TestLimited:
    @given(
        concurrency=st.none() | st.integers(1, 4),
        requests=st.none() | st.integers(1, 6),
        tokens=st.none() | st.integers(120, 400),
        calls=st.lists(
            st.tuples(
                st.floats(0, 90),  # arrives at
                st.floats(0, 90),  # takes
                st.integers(1, 60),  # completion tokens allowed
                st.floats(0, 1),  # and the part of its bound that it uses
                st.none() | st.floats(0, 100),  # cancelled at
            ),
            max_size=25,
        ),
    )
    @settings(max_examples=150, deadline=None)
    def test_never_exceeds_concurrency_and_rates(
        self,
        concurrency: int | None,
        requests: int | None,
        tokens: int | None,
        calls: list[tuple[float, float, int, float, float | None]],
    ) -> None:
        starts: list[tuple[float, int]] = []
        in_flight = most = 0

        async def provider(call: Call) -> Completion:
            nonlocal in_flight, most
            number = int(call.subtask)
            _, seconds, _, part, _ = calls[number]
            in_flight, most = in_flight + 1, max(most, in_flight + 1)
            # A cancelled call counts for all it could have used, until proven otherwise.
            starts.append((now(), bound(call, 1).tokens))
            place = len(starts) - 1
            try:
                await asyncio.sleep(seconds)
            finally:
                in_flight -= 1
            used = max(1, int(bound(call, 1).tokens * part))
            starts[place] = (starts[place][0], used)
            return Completion(text="", usage=Usage(prompt_tokens=used))

        limit = Limit(concurrency=concurrency, requests_per_minute=requests, tokens_per_minute=tokens)
        worker = Limited(provider, limit, max_tokens=1)

        async def arrive(number: int) -> None:
            at, _, cap, _, stop = calls[number]
            await asyncio.sleep(at)
            call = Call(subtask=str(number), sampling=Sampling(max_tokens=cap))
            try:
                async with asyncio.timeout_at(stop):
                    await worker(call)
            except TimeoutError:
                pass

        async def day() -> None:
            await asyncio.gather(*(arrive(number) for number in range(len(calls))))
            # Nothing is left behind by the cancelled: a late call is admitted after a rest.
            await asyncio.sleep(120)
            before = now()
            async with limit.admitted(10):
                assert now() == before

        virtually(day)
        assert concurrency is None or most <= concurrency
        for begin, _ in starts:
            window = [used for at, used in starts if begin <= at < begin + 60 - 1e-6]
            assert requests is None or len(window) <= requests
            assert tokens is None or sum(window) <= tokens

    def test_is_as_quick_as_the_limit_allows(self) -> None:
        provider = Provider(seconds=1)

        async def many() -> float:
            worker = Limited(provider, Limit(requests_per_minute=10))
            await asyncio.gather(*(worker(Call.plain(f"{n}?")) for n in range(25)))
            return now()

        assert virtually(many) == pytest.approx(121)
        assert provider.most_in_flight == 10

    def test_first_come_first_served(self) -> None:
        provider = Provider(seconds=1)

        async def many() -> list[str]:
            worker = Limited(provider, Limit(concurrency=2, requests_per_minute=3))
            await asyncio.gather(*(worker(Call(subtask=f"{n}")) for n in range(20)))
            return [call.subtask for call in provider.calls]

        assert virtually(many) == [f"{n}" for n in range(20)]

    def test_unused_tokens_are_given_back_when_the_call_returns(self) -> None:
        provider = Provider(seconds=2, usage=Usage(prompt_tokens=5, completion_tokens=5))

        async def many() -> list[float]:
            worker = Limited(provider, Limit(tokens_per_minute=1100), max_tokens=1000)
            await asyncio.gather(*(worker(Call.plain(f"{n}?")) for n in range(3)))
            return provider.starts

        assert virtually(many) == [0, 2, 4]

    def test_what_a_long_call_leaves_unused_is_not_given_back_in_a_later_minute(self) -> None:
        provider = Provider(seconds=70, usage=Usage(prompt_tokens=5, completion_tokens=5))
        most = bound(Call(subtask="long"), 1000).tokens
        limit = Limit(tokens_per_minute=most)

        async def day() -> float:
            worker = Limited(provider, limit, max_tokens=1000)
            long = asyncio.ensure_future(worker(Call(subtask="long")))
            await asyncio.sleep(65)
            async with limit.admitted(most):
                await long
            async with limit.admitted(100):
                return now()

        assert virtually(day) == 125

    def test_a_call_larger_than_the_allowance_waits_for_an_empty_window(self) -> None:
        provider = Provider(seconds=1, usage=Usage(prompt_tokens=50, completion_tokens=450))

        async def many() -> list[float]:
            worker = Limited(provider, Limit(tokens_per_minute=100), max_tokens=500)
            await asyncio.gather(*(worker(Call.plain(f"{n}?")) for n in range(3)))
            return provider.starts

        assert virtually(many) == pytest.approx([0, 60, 120])

    def test_is_shared_between_workers_of_one_account(self) -> None:
        a, b = Provider(seconds=1), Provider(seconds=1)

        async def both() -> float:
            account = Limit(concurrency=1)
            await asyncio.gather(*(Limited(worker, account)(Call.plain("?")) for worker in (a, b, a, b)))
            return now()

        assert virtually(both) == 4

    def test_a_failed_call_frees_its_place(self) -> None:
        async def twice() -> str:
            worker = Limited(Provider(BUSY, "yes"), Limit(concurrency=1))
            with pytest.raises(WorkerUnavailable):
                await worker(Call.plain("?"))
            return (await worker(Call.plain("?"))).text

        assert virtually(twice) == "yes"

    def test_impossible_limits_are_user_errors(self) -> None:
        for name in ("concurrency", "requests_per_minute", "tokens_per_minute"):
            with pytest.raises(ConfigError, match=name):
                Limit(**{name: 0})
        with pytest.raises(ConfigError, match="max_tokens"):
            Limited(Provider(), Limit(tokens_per_minute=100))


class TestCached:
    @given(st.lists(st.tuples(st.integers(0, 4), st.floats(0, 20)), max_size=40))
    @settings(max_examples=50, deadline=None)
    def test_equal_calls_are_made_once(self, arrivals: list[tuple[int, float]]) -> None:
        provider = Provider(seconds=3)

        async def day() -> None:
            worker = Cached(provider, "w")

            async def arrive(which: int, at: float) -> None:
                await asyncio.sleep(at)
                assert (await worker(Call(subtask=f"{which}"))).text == "yes"

            await asyncio.gather(*(arrive(which, at) for which, at in arrivals))

        virtually(day)
        assert sorted(call.subtask for call in provider.calls) == sorted({f"{which}" for which, _ in arrivals})

    def test_a_draw_of_its_own_is_another_call(self) -> None:
        provider = Provider()

        async def draws() -> None:
            worker = Cached(provider, "w")
            for sample in ((0,), (1,), (0,)):
                await worker(Call(subtask="?", sample=sample))

        virtually(draws)
        assert len(provider.calls) == 2

    def test_errors_are_not_kept(self) -> None:
        async def twice() -> str:
            worker = Cached(Provider(BUSY, "yes"), "w")
            with pytest.raises(WorkerUnavailable):
                await worker(Call.plain("?"))
            return (await worker(Call.plain("?"))).text

        assert virtually(twice) == "yes"

    def test_a_failure_is_everybodys_who_waited(self) -> None:
        async def three() -> list[Completion | BaseException]:
            worker = Cached(Provider(BUSY, seconds=1), "w")
            return await asyncio.gather(*(worker(Call.plain("?")) for _ in range(3)), return_exceptions=True)

        assert virtually(three) == [BUSY] * 3

    def test_one_who_leaves_does_not_take_the_call_along(self) -> None:
        provider = Provider("42", seconds=10)
        ears = [Ear(), Ear(), Ear()]

        async def three() -> None:
            worker = Cached(provider, "w")
            tasks = [asyncio.ensure_future(worker(Call(subtask="?", on_token=ear))) for ear in ears]
            await asyncio.sleep(1)
            tasks[0].cancel()
            await asyncio.sleep(1)
            tasks[2].cancel()
            assert (await tasks[1]).text == "42"
            assert provider.cancelled == 0

        virtually(three)
        assert [ear.told for ear in ears] == [["4"], ["42"], []]

    def test_the_last_one_who_leaves_does(self) -> None:
        provider = Provider(seconds=10)

        async def two() -> None:
            worker = Cached(provider, "w")
            tasks = [asyncio.ensure_future(worker(Call.plain("?"))) for _ in range(2)]
            await asyncio.sleep(1)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            assert provider.cancelled == 1
            assert (await worker(Call.plain("?"))).text == "yes"

        virtually(two)
        assert len(provider.calls) == 2

    def test_a_kept_text_streams_in_one_piece(self) -> None:
        ear = Ear()

        async def twice() -> None:
            worker = Cached(Scripted("one\ntwo"), "w")
            await worker(Call.plain("?"))
            await worker(Call(question=Call.plain("?").question, on_token=ear))

        virtually(twice)
        assert ear.told == ["one\ntwo"]


@pytest.mark.parametrize("place", ["call", "demands"])
@pytest.mark.parametrize(("one", "other"), [({"temperature": 1}, {"temperature": 1.0}), ({"top_p": 1}, {"top_p": 1.0})])
def test_numbers_that_are_equal_are_one_key(place: str, one: dict[str, Any], other: dict[str, Any]) -> None:
    def key(numbers: dict[str, Any]) -> str:
        sampling = Sampling(**numbers)
        call = Call.plain("?", sampling) if place == "call" else Call(response_options=ResponseOptions(sampling=sampling))
        return call_key("w", call)

    assert key(one) == key(other)
    assert key({"temperature": 0}) == key({"temperature": 0.0}) == key({"temperature": -0.0})
    assert key({"temperature": 0.5}) != key({"temperature": 1}) != key({"top_p": 1})


def test_the_key_tells_apart_what_a_worker_can_tell_apart() -> None:
    call = Call.plain("6 times 7?", Sampling(temperature=1.0))
    same = [
        Call.plain("6 times 7?", Sampling(temperature=1)),
        Call(question=call.question, sampling=call.sampling, depth=3, on_token=Ear()),
    ]
    other = [
        Call.plain("6 times 8?", call.sampling),
        Call.plain("6 times 7?", Sampling(temperature=0.5)),
        Call.plain("6 times 7?", Sampling(temperature=1.0, seed=1)),
        Call(question=call.question, sampling=call.sampling, sample=(0,)),
        Call(question=call.question, sampling=call.sampling, subtask="Plan."),
        Call.plain("\ud800", call.sampling),
    ]
    keys = [call_key("w", call), call_key("v", call), *(call_key("w", each) for each in other)]
    assert len(set(keys)) == len(keys)
    assert {call_key("w", each) for each in same} == {keys[0]}
