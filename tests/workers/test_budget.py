"""Budgets and meters: what is booked adds up exactly, and no cap is passed by more than the calls under way."""

import asyncio
import contextlib
import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podium.errors import (
    BudgetExceeded,
    ConfigError,
    ContextOverflow,
    UpstreamFailed,
    WorkerError,
    WorkerRefused,
    WorkerUnavailable,
)
from podium.types import Call, Card, Completion, Sampling, Usage, ask
from podium.workers.billing import surely_unpaid
from podium.workers.bound import bound, price
from podium.workers.budget import Budget, Reservation
from podium.workers.metered import Metered
from podium.workers.scripted import Scripted

CARD = Card(name="mistral", prompt_usd=1e-6, completion_usd=2e-6)
CENTS = st.floats(0, 0.02) | st.sampled_from([0.0, 0.01, 0.001])


class HTTPError(Exception):
    """As vendors' libraries raise it."""

    def __init__(self, status_code: int) -> None:
        super().__init__(f"HTTP {status_code}")
        self.status_code = status_code


def raised_from(error: Exception, cause: Exception | None) -> Exception:
    error.__cause__ = cause
    return error


class TestBudget:
    def test_a_cap_in_dollars(self) -> None:
        run = Budget(usd=1.0)
        first = run.reserve(0.6, 100)
        with pytest.raises(BudgetExceeded, match=r"\$1: \$0 spent, \$0\.6 reserved.*may need \$0\.5"):
            run.reserve(0.5, 100)
        run.settle(first, Usage(prompt_tokens=10, completion_tokens=5, cost_usd=0.25))
        assert run.spent == Usage(prompt_tokens=10, completion_tokens=5, cost_usd=0.25)
        assert run.remaining_usd == 0.75
        run.reserve(0.75, 100)
        assert run.remaining_usd == 0

    def test_calls_under_way_add_up(self) -> None:
        run = Budget(usd=1.0)
        first, second = run.reserve(0.25, 1), run.reserve(0.5, 1)
        assert run.reserved_usd == 0.75
        with pytest.raises(BudgetExceeded):
            run.reserve(0.5, 1)
        run.release(first)
        assert run.reserved_usd == 0.5
        run.release(second)
        assert (run.reserved_usd, run.reserve(1.0, 1).usd) == (0.0, 1.0)

    async def test_it_is_idle_when_the_last_call_has_ended(self) -> None:
        run = Budget(usd=1.0)
        first, second = run.reserve(0.25, 1), run.reserve(0.5, 1)
        idle = asyncio.create_task(run.idle())
        for reservation in (first, second):
            await asyncio.sleep(0)
            assert not idle.done()
            run.release(reservation)
        await asyncio.wait_for(idle, 5)

    def test_a_cap_in_tokens(self) -> None:
        run = Budget(tokens=100, name="question")
        run.settle(run.reserve(None, 60), Usage(prompt_tokens=20, completion_tokens=10, cost_usd=None))
        run.reserve(None, 50)
        with pytest.raises(BudgetExceeded, match=r"question budget is 100 tokens: 30 spent, 50 reserved.*may need 21"):
            run.reserve(None, 21)
        assert run.spent.cost_usd is None

    def test_a_cap_in_seconds(self) -> None:
        now = 100.0
        run = Budget(seconds=10, clock=lambda: now)
        now = 109.0
        assert run.remaining_seconds == 1
        run.reserve(None, 1)
        now = 110.0
        with pytest.raises(BudgetExceeded, match="10 seconds is over"):
            run.reserve(None, 1)

    @pytest.mark.parametrize(("usd", "tokens"), [(-0.01, 1), (math.inf, 1), (math.nan, 1), (0.01, -1), (None, -1)])
    def test_a_call_of_an_impossible_size_is_a_user_error(self, usd: float | None, tokens: int) -> None:
        with pytest.raises(ConfigError, match="can not need"):
            Budget(seconds=10).reserve(usd, tokens)

    def test_what_may_be_on_the_bill_stays_off_the_tokens_that_are_left(self) -> None:
        run = Budget(tokens=100)
        run.release(run.reserve(None, 60), uncertain=True)
        run.reserve(None, 40)
        with pytest.raises(BudgetExceeded, match="0 spent, 40 reserved for calls under way, 60 uncertain, and the next call may"):
            run.reserve(None, 1)

    def test_what_would_be_allowed_once_the_calls_under_way_used_nothing(self) -> None:
        now = 0.0
        assert Budget().allows_later(1e9, 10**9), "without a cap everything is"
        dollars, tokens, time = Budget(usd=1.0), Budget(tokens=100), Budget(seconds=10, clock=lambda: now)
        dollars.settle(dollars.reserve(0.3, 1), Usage(cost_usd=0.25))
        dollars.release(dollars.reserve(0.25, 1), uncertain=True)
        dollars.reserve(0.5, 1)
        assert dollars.allows_later(0.5, 1)
        assert not dollars.allows_later(0.51, 1)
        tokens.settle(tokens.reserve(None, 30), Usage(prompt_tokens=20, completion_tokens=5, cost_usd=None))
        tokens.release(tokens.reserve(None, 25), uncertain=True)
        tokens.reserve(None, 50)
        assert tokens.allows_later(None, 50)
        assert not tokens.allows_later(None, 51)
        now = 9.0
        assert time.allows_later(None, 1)
        now = 10.0
        assert not time.allows_later(None, 1)

    @pytest.mark.parametrize("cap", [0, -1, math.inf, math.nan])
    @pytest.mark.parametrize("unit", ["usd", "tokens", "seconds"])
    def test_a_cap_that_allows_nothing_is_a_user_error(self, unit: str, cap: float) -> None:
        with pytest.raises(ConfigError, match="set a positive number"):
            Budget(**{unit: cap})  # type: ignore[arg-type]

    def test_an_unknown_price_is_never_free(self) -> None:
        with pytest.raises(ConfigError, match="price"):
            Budget(usd=1).reserve(None, 10)
        with pytest.raises(ConfigError, match="price"):
            Budget(usd=1).charge(Usage(cost_usd=None))
        run = Budget(usd=1)
        run.settle(run.reserve(0.4, 10), Usage(prompt_tokens=3, cost_usd=None))
        assert run.spent.cost_usd == 0.4

    @pytest.mark.parametrize("cost", [math.nan, math.inf, -0.5])
    def test_a_hostile_cost_is_booked_at_its_bound(self, cost: float) -> None:
        run = Budget(usd=1)
        run.settle(run.reserve(0.4, 10), Usage(cost_usd=cost))
        assert run.spent.cost_usd == 0.4

    def test_ten_dimes_are_a_dollar(self) -> None:
        run = Budget(usd=1)
        for _ in range(10):
            run.settle(run.reserve(0.1, 0), Usage(cost_usd=0.1))
        assert run.spent.cost_usd == 1
        with pytest.raises(BudgetExceeded):
            run.reserve(1e-12, 0)

    def test_twice_is_harmless(self) -> None:
        run = Budget(usd=1)
        reservation = run.reserve(0.4, 10)
        run.settle(reservation, Usage(cost_usd=0.3))
        run.settle(reservation, Usage(cost_usd=0.3))
        run.release(reservation, uncertain=True)
        assert (run.spent.cost_usd, run.uncertain_usd, run.remaining_usd) == (0.3, 0, 0.7)

    def test_a_resumed_run_goes_on_counting(self) -> None:
        run = Budget(usd=1)
        run.charge(Usage(prompt_tokens=10, cost_usd=0.5), uncertain_usd=0.3)
        with pytest.raises(BudgetExceeded, match=r"\$0\.5 spent.*\$0\.3 uncertain"):
            run.reserve(0.25, 10)

    @given(st.data(), st.floats(0.001, 0.1))
    @settings(max_examples=100, deadline=None)
    def test_adds_up_exactly_and_keeps_the_cap(self, data: st.DataObject, cap: float) -> None:
        run = Budget(usd=cap)
        under_way: list[tuple[Reservation, float]] = []
        paid: list[float] = []
        uncertain: list[float] = []
        for _ in range(data.draw(st.integers(0, 30))):
            ends: bool = data.draw(st.booleans())
            if under_way and ends:
                reservation, bound_usd = under_way.pop(data.draw(st.integers(0, len(under_way) - 1)))
                match data.draw(st.sampled_from(["settle", "release", "uncertain"])):
                    case "settle":
                        used = bound_usd * data.draw(st.floats(0, 1))
                        run.settle(reservation, Usage(cost_usd=used))
                        paid.append(used)
                    case "release":
                        run.release(reservation)
                    case "uncertain":
                        run.release(reservation, uncertain=True)
                        uncertain.append(bound_usd)
            else:
                needed = data.draw(CENTS)
                booked = sum(Fraction(repr(usd)) for usd in [*paid, *uncertain, *(usd for _, usd in under_way)])
                try:
                    under_way.append((run.reserve(needed, 1), needed))
                except BudgetExceeded:
                    assert booked + Fraction(repr(needed)) > Fraction(repr(cap))
            assert run.spent.cost_usd == float(sum(Fraction(repr(usd)) for usd in paid))
            assert run.uncertain_usd == float(sum(Fraction(repr(usd)) for usd in uncertain))
            assert run.remaining_usd is not None
            assert run.remaining_usd >= 0
        for reservation, _ in under_way:
            run.release(reservation)
        assert run.remaining_usd == float(Fraction(repr(cap)) - sum(Fraction(repr(usd)) for usd in [*paid, *uncertain]))


class TestBound:
    def test_prompt_by_its_bytes_and_completion_by_its_cap(self) -> None:
        assert bound(Call.plain("x" * 100), 50) == Usage(prompt_tokens=58, completion_tokens=50, cost_usd=None)
        assert bound(Call.plain("日本" * 10), 50).prompt_tokens == 38
        assert bound(Call.plain("x", Sampling(max_tokens=7)), 50).completion_tokens == 7
        assert bound(Call.plain("\ud800"), 50).prompt_tokens == 10  # a lone surrogate does not stop the meter

    def test_price(self) -> None:
        assert bound(Call.plain("x" * 100), 50, CARD).cost_usd == pytest.approx(58e-6 + 100e-6)
        assert price(Card(name="a", prompt_usd=1e-6), 1, 1) is None


class TestSurelyUnpaid:
    @pytest.mark.parametrize(
        ("error", "unpaid"),
        [
            (WorkerUnavailable("busy", retry_after=3), True),
            (raised_from(WorkerUnavailable("busy"), HTTPError(429)), True),
            (raised_from(WorkerUnavailable("busy"), raised_from(RuntimeError("wrapped"), HTTPError(503))), True),
            (raised_from(WorkerUnavailable("gateway"), HTTPError(504)), False),
            (raised_from(WorkerUnavailable("server"), HTTPError(500)), False),
            (raised_from(WorkerUnavailable("slow"), HTTPError(408)), False),
            (WorkerUnavailable("no answer within 5 seconds"), False),
            (raised_from(WorkerUnavailable("cut"), ConnectionResetError()), False),
            (raised_from(WorkerRefused("key"), HTTPError(401)), True),
            (WorkerRefused("not recorded"), True),
            (raised_from(WorkerRefused("filter"), RuntimeError("content filter")), False),
            (ContextOverflow("too long"), True),
            (UpstreamFailed("a step inside"), False),
            (BudgetExceeded("before the call"), True),
            (raised_from(BudgetExceeded("time is over"), TimeoutError()), False),
            (asyncio.CancelledError(), False),
            (ZeroDivisionError(), False),
        ],
        ids=str,
    )
    def test_table(self, error: BaseException, unpaid: bool) -> None:
        assert surely_unpaid(error) is unpaid


class TestMetered:
    async def test_books_what_the_call_used_in_every_budget(self) -> None:
        usage = Usage(prompt_tokens=9, completion_tokens=1, cost_usd=1e-5)
        question, run = Budget(usd=0.1, name="question"), Budget(tokens=1000)
        worker = Metered(Scripted("42", usage=usage), CARD, 50, [question, run])
        await worker(Call.plain("6 times 7?"))
        await worker(Call.plain("6 times 8?"))
        assert question.spent == run.spent == Usage(prompt_tokens=18, completion_tokens=2, cost_usd=2e-5)
        assert question.remaining_usd == 0.1 - 2e-5

    async def test_is_refused_before_it_is_sent(self) -> None:
        sent = []
        small, large = Budget(usd=0.00012, name="question"), Budget(usd=1)
        worker = Metered(Scripted(lambda call: sent.append(call) or "42"), CARD, 50, [large, small])  # type: ignore[func-returns-value]
        with pytest.raises(BudgetExceeded, match="question"):
            await worker(Call.plain("x" * 100))
        assert not sent
        assert large.remaining_usd == 1  # all or none
        await worker(Call.plain("x" * 100, Sampling(max_tokens=10)))
        assert len(sent) == 1

    async def test_waits_where_only_calls_under_way_stand_in_the_way(self) -> None:
        # Each call may need almost the whole budget and uses little of it: they go one after the other, and all are made.
        usage = Usage(prompt_tokens=1, completion_tokens=1, cost_usd=1e-6)
        run = Budget(usd=0.00012)
        worker = Metered(Scripted("42", usage=usage, seconds=0.01), CARD, 50, [Budget(), run])
        async with asyncio.timeout(5):
            await asyncio.gather(*(worker(Call.plain(f"{number} times 7?")) for number in range(8)))
        assert run.spent.cost_usd == 8e-6

    async def test_does_not_wait_once_the_money_is_really_gone(self) -> None:
        usage = Usage(prompt_tokens=1, completion_tokens=1, cost_usd=0.0001)
        worker = Metered(Scripted("42", usage=usage, seconds=0.01), CARD, 50, [Budget(usd=0.00012)])
        async with asyncio.timeout(5):
            outcomes = await asyncio.gather(*(worker(Call.plain(f"{n}")) for n in range(4)), return_exceptions=True)
        assert [isinstance(outcome, BudgetExceeded) for outcome in outcomes] == [False, True, True, True]

    async def test_a_call_inside_a_call_never_waits_for_the_one_around_it(self) -> None:
        run = Budget(usd=0.00012)
        inner = Metered(Scripted("42"), CARD, 50, [run])

        class Outer:
            async def __call__(self, call: Call) -> Completion:
                return await inner(call)

        async with asyncio.timeout(5):  # waiting would never end
            with pytest.raises(BudgetExceeded):
                await Metered(Outer(), CARD, 50, [run])(Call.plain("?"))

    async def test_waiting_ends_with_the_seconds(self) -> None:
        worker = Metered(Scripted("42", seconds=30), CARD, 50, [Budget(usd=0.00012, seconds=0.05)])
        async with asyncio.timeout(5):
            outcomes = await asyncio.gather(*(worker(Call.plain(f"{n}")) for n in range(2)), return_exceptions=True)
        assert all(isinstance(outcome, BudgetExceeded) for outcome in outcomes)

    @pytest.mark.parametrize(
        ("error", "uncertain"), [(WorkerUnavailable("429", retry_after=1), False), (WorkerUnavailable("cut"), True)]
    )
    async def test_a_failure_keeps_its_bound_unless_surely_unpaid(self, error: WorkerError, uncertain: bool) -> None:
        def fail(call: Call) -> str:
            raise error

        run = Budget(usd=1)
        call = Call.plain("?")
        worker = Metered(Scripted(fail), CARD, 50, [run])
        with pytest.raises(WorkerUnavailable):
            await worker(call)
        assert run.spent == Usage()
        assert run.uncertain_usd == (worker.bound(call).cost_usd if uncertain else 0)

    async def test_a_cancelled_call_is_uncertain_and_leaves_nothing_reserved(self) -> None:
        run = Budget(usd=1)
        worker = Metered(Scripted("late", seconds=30), CARD, 50, [run])
        task = asyncio.ensure_future(worker(Call.plain("?")))
        await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.wait([task])
        assert run.uncertain_usd == worker.bound(Call.plain("?")).cost_usd
        assert run.remaining_usd == 1 - run.uncertain_usd

    @pytest.mark.parametrize(
        ("reported", "cost_usd"),
        [
            (Usage(prompt_tokens=100, completion_tokens=10, cost_usd=None), 100e-6 + 20e-6),  # the card's prices
            (Usage(cost_usd=None), 9e-6 + 100e-6),  # nothing reported: the bound
            (Usage(prompt_tokens=-5000, completion_tokens=1, cost_usd=0.0), 9e-6 + 100e-6),  # hostile: the bound
        ],
    )
    async def test_what_the_provider_does_not_report_is_not_free(self, reported: Usage, cost_usd: float) -> None:
        run = Budget(usd=1)
        await Metered(Scripted("42", usage=reported), CARD, 50, [run])(Call.plain("?"))
        assert run.spent.cost_usd == pytest.approx(cost_usd)

    async def test_a_call_is_cut_off_when_the_seconds_are_over(self) -> None:
        run = Budget(usd=1, seconds=0.05)
        worker = Metered(Scripted("late", seconds=30), CARD, 50, [run, Budget(seconds=60)])
        with pytest.raises(BudgetExceeded, match=r"run budget of 0\.05 seconds was over.*'mistral'"):
            await worker(Call.plain("?"))
        assert run.uncertain_usd > 0
        with pytest.raises(BudgetExceeded, match="is over"):
            await worker(Call.plain("?"))

    async def test_a_timeout_error_of_the_worker_stays_a_bug(self) -> None:
        def fail(call: Call) -> str:
            raise TimeoutError("its own")

        with pytest.raises(TimeoutError):
            await Metered(Scripted(fail), CARD, 50, [Budget(seconds=60)])(Call.plain("?"))

    def test_a_dollar_cap_needs_prices(self) -> None:
        unpriced = Card(name="mystery", prompt_usd=1e-6)
        with pytest.raises(ConfigError, match=r"'mystery'.*pool file"):
            Metered(Scripted("?"), unpriced, 50, [Budget(tokens=5), Budget(usd=1)])
        Metered(Scripted("?"), unpriced, 50, [Budget(tokens=5)])
        with pytest.raises(ConfigError, match="max_tokens"):
            Metered(Scripted("?"), CARD, -1, [])

    def test_a_worker_of_no_tokens_is_bounded_by_its_price_alone(self) -> None:
        assert Metered(Scripted("?"), CARD, 0, []).bound(Call.plain("a long question")).tokens == 0

    @given(
        cap=st.floats(1e-4, 5e-3),
        calls=st.lists(st.tuples(st.integers(1, 200), st.floats(0, 1), st.sampled_from("ync")), max_size=40),
        concurrency=st.integers(1, 8),
    )
    @settings(max_examples=60, deadline=None)
    def test_the_bill_never_passes_the_cap(self, cap: float, calls: list[tuple[int, float, str]], concurrency: int) -> None:
        bill: list[Fraction] = []

        async def provider(call: Call) -> Completion:
            _, part, end = calls[int(call.question[0].content)]
            most = bound(call, 1, CARD)
            assert most.cost_usd is not None
            await asyncio.sleep(0)
            if end == "n":
                raise WorkerUnavailable("turned away", retry_after=1)
            bill.append(Fraction(repr(most.cost_usd * part)))
            if end == "c":
                raise WorkerUnavailable("cut: paid, and no reply")
            return Completion(text="", usage=Usage(prompt_tokens=1, cost_usd=most.cost_usd * part))

        run = Budget(usd=cap)
        worker = Metered(provider, CARD, 1, [run])
        limit = asyncio.Semaphore(concurrency)

        async def one(number: int) -> None:
            async with limit:
                with contextlib.suppress(BudgetExceeded, WorkerUnavailable):
                    await worker(Call(question=ask(f"{number}"), sampling=Sampling(max_tokens=calls[number][0])))
                assert sum(bill) <= Fraction(repr(cap))

        async def all_calls() -> None:
            await asyncio.gather(*(one(number) for number in range(len(calls))))

        asyncio.run(all_calls())
        assert run.remaining_usd is not None
        assert run.spent.cost_usd is not None
        assert run.spent.cost_usd + run.uncertain_usd >= float(sum(bill)) * (1 - 1e-9)
        assert run.remaining_usd == pytest.approx(cap - run.spent.cost_usd - run.uncertain_usd, abs=1e-12)
