"""A trial on the bench: paid once, void where the world failed, ended by the user's faults, its earlier ends judged along."""

import asyncio

import pytest

from podium.errors import BudgetExceeded, ConfigError, VerifierError, WorkerUnavailable
from podium.tuning.candidates import Candidate, solo, staffed
from podium.tuning.catalogue import GENERAL
from podium.tuning.selection import Contender, affordable, halving
from podium.tuning.trials import GIVEN_UP, Bench, Trial
from podium.types import Call, Card, Problem, Verdict
from podium.workers.pool import Member, WorkerPool
from podium.workers.scripted import Scripted
from tests.tuning.desk import exact, failing, kind_of, member, pool, problem, problems

IDLE, SUM, REVERSE, CLOSED = range(4)
SEVEN = problem("sum", 7)


def bench_of(workers: WorkerPool | None = None) -> Bench:
    return Bench(workers or pool("idle", "sum", "reverse", "failing"), exact, kind_of)


async def test_the_price_of_several_trials_counts_what_begins_alike_once() -> None:
    bench = bench_of()
    teams = [staffed(GENERAL.plans[2], (IDLE, last)) for last in (IDLE, SUM, REVERSE)]
    assert bench.price([(team, SEVEN) for team in teams]) == 4
    assert bench.price([(team, problem("sum", number)) for team in teams for number in (7, 8)]) == 8
    await bench.run(teams[SUM], SEVEN)
    assert bench.price([(team, SEVEN) for team in teams]) == 2


async def test_what_failed_takes_a_call_again_and_what_was_answered_before_it_does_not() -> None:
    is_open = False

    def late(call: Call) -> str:
        return "42" if is_open else failing(call)

    bench = bench_of(WorkerPool([member("sum", lambda call: "42"), member("late", late)]))
    plan, other = staffed(GENERAL.plans[2], (0, 1)), staffed(GENERAL.plans[2], (0, 0))
    assert await bench.run(plan, SEVEN) == []
    assert (bench.price([(plan, SEVEN)]), bench.shared(plan, SEVEN), len(bench.paid)) == (1, 1, 1)
    assert bench.price([(plan, SEVEN), (other, SEVEN)]) == 2
    is_open = True
    await bench.run(plan, SEVEN)
    assert (bench.price([(plan, SEVEN)]), bench.shared(plan, SEVEN), len(bench.paid)) == (0, 2, 2)


async def test_what_a_cap_was_in_the_way_of_takes_a_call_again() -> None:
    bench = bench_of()
    bench.allowance.limit = 1
    plan = staffed(GENERAL.plans[2], (IDLE, SUM))
    assert await bench.all([bench.run(plan, SEVEN)]) == [None]
    assert (bench.price([(plan, SEVEN)]), len(bench.paid)) == (1, 1)


async def test_equal_calls_are_paid_for_once() -> None:
    bench = bench_of()
    plan = staffed(GENERAL.plans[2], (IDLE, SUM))
    assert bench.shared(plan, SEVEN) == 0
    first, *_ = await bench.run(plan, SEVEN)
    assert (first.outcome.right, first.outcome.usd, len(bench.paid)) == (True, 0.002, 2)
    again, *_ = await bench.run(plan, SEVEN)
    assert (again, len(bench.paid)) == (first, 2), "as if it had been paid for, and nothing was"
    longer = staffed(GENERAL.plans[10], (IDLE, SUM, REVERSE))
    assert bench.shared(longer, SEVEN) == 2
    await bench.run(longer, SEVEN)
    assert [call.worker for call in bench.paid] == ["idle", "sum", "reverse"]
    await bench.run(plan, problem("sum", 8))
    assert len(bench.paid) == 5, "another question is another call"


async def test_equal_calls_at_the_same_time_are_paid_for_once() -> None:
    bench = bench_of()
    await bench.all([bench.run(solo(SUM), SEVEN) for _ in range(10)])
    assert len(bench.paid) == 1


async def test_a_fault_of_the_world_leaves_no_trial() -> None:
    bench = bench_of()
    assert await bench.run(solo(CLOSED), SEVEN) == []
    assert await bench.run(staffed(GENERAL.plans[2], (CLOSED, SUM)), SEVEN) == []
    assert bench.paid == []


async def test_an_end_before_the_fault_still_counts() -> None:
    bench = bench_of()
    assert await bench.run(staffed(GENERAL.plans[4], (SUM, CLOSED)), SEVEN) == []
    assert [call.worker for call in bench.paid] == ["sum"]


async def test_a_worker_that_keeps_failing_is_not_asked_any_more() -> None:
    bench = bench_of()
    for number in range(GIVEN_UP):
        assert CLOSED in bench.answering
        await bench.run(solo(CLOSED), problem("sum", number))
    assert bench.answering == (IDLE, SUM, REVERSE)
    assert "503 closed for today" in bench.failures[0]


async def test_one_answer_between_failures_keeps_a_worker() -> None:
    calls = 0

    def moody(call: Call) -> str:
        nonlocal calls
        calls += 1
        return "42" if calls % GIVEN_UP == 0 else failing(call)

    bench = bench_of(WorkerPool([member("moody", moody)]))
    for number in range(4 * GIVEN_UP):
        await bench.run(solo(0), problem("sum", number))
    assert bench.answering == (0,)


async def test_a_broken_verifier_is_never_a_wrong_answer() -> None:
    async def broken(problem: Problem, answer: str) -> Verdict:
        raise VerifierError("the grader crashed")

    bench = Bench(pool(), broken, kind_of)
    assert await bench.run(solo(SUM), SEVEN) == []
    assert bench.failures == ("the verifier: the grader crashed",)


@pytest.mark.parametrize("fault", [ConfigError("no key"), KeyError("a bug")])
async def test_what_is_the_users_or_a_bug_is_raised_after_all_have_ended(fault: Exception) -> None:
    def wrong(call: Call) -> str:
        raise fault

    bench = bench_of(WorkerPool([member("wrong", wrong), member("slow", lambda call: "42")]))
    with pytest.raises(type(fault)):
        await bench.all([bench.run(solo(0), SEVEN), bench.run(solo(1), SEVEN)])
    assert [call.worker for call in bench.paid] == ["slow"]


async def test_a_cap_ends_the_asking() -> None:
    def capped(call: Call) -> str:
        raise BudgetExceeded("$1 is used up")

    bench = bench_of(WorkerPool([member("capped", capped), member("slow", lambda call: "42")]))
    found = await bench.all([bench.run(solo(0), SEVEN), bench.run(solo(1), SEVEN)])
    assert found[0] is None
    assert bench.is_exhausted
    assert bench.answering == (0, 1), "a cap says nothing of the worker"


def _ends(trials: list[Trial]) -> list[tuple[Candidate, bool, bool]]:
    return [(trial.candidate, trial.outcome.right, trial.harvested) for trial in trials]


async def test_earlier_ends_are_judged_along() -> None:
    bench = bench_of()
    drafted = staffed(GENERAL.plans[4], (SUM, IDLE))  # right at first, and spoiled by the review
    assert _ends(await bench.run(drafted, SEVEN)) == [(drafted, False, False), (solo(SUM), True, True)]
    planned = staffed(GENERAL.plans[2], (SUM, IDLE))  # a plan is no answer, whatever it says
    assert _ends(await bench.run(planned, SEVEN)) == [(planned, False, False)]
    assert _ends(await bench.run(solo(SUM), SEVEN)) == [(solo(SUM), True, False)]


async def test_a_question_may_hold_the_mark_of_the_question() -> None:
    asked = Problem(question="How much is 3 plus 4 {question} {question}", target="7", kind="sum", source="desk")
    seen: list[str] = []

    def note(call: Call) -> str:
        seen.append(call.subtask)
        return "?"

    bench = bench_of(WorkerPool([member("note", note), member("sum", lambda call: "7")]))
    candidate = staffed((("plan", ()), ("solve", ())), (1, 0))
    await bench.run(candidate, asked)
    assert seen[0].startswith(asked.question + "\n\nSolve the task")


async def test_dollars_are_unknown_where_one_price_is() -> None:
    bench = bench_of(pool("sum", "idle", usd=None))
    [trial] = await bench.run(solo(0), SEVEN)
    assert (trial.outcome.usd, bench.usd, len(bench.paid)) == (None, None, 1)


async def test_the_sum_of_dollars_does_not_hang_on_the_order_of_replies() -> None:
    workers = WorkerPool([member(f"w{n}", lambda call: "42", 0.1 / 3**n) for n in range(3)])
    one, other = bench_of(workers), bench_of(workers)
    for bench, numbers in ((one, range(40)), (other, range(39, -1, -1))):
        for number in numbers:
            await bench.run(solo(number % 3), problem("sum", number))
    assert one.usd == other.usd


async def test_halving_finds_the_best_and_tries_it_most() -> None:
    bench = bench_of()
    contenders = [Contender(candidate=solo(worker), expected=0.5) for worker in (IDLE, REVERSE, SUM)]
    best, *rest = await halving(bench, contenders, problems(40, ("sum",)), calls=1000)
    assert best.candidate == solo(SUM)
    assert sorted(len(one.trials) for one in rest)[0] < len(best.trials)
    assert best.share > 0.8 > 0.3 > rest[0].share


async def test_halving_compares_all_on_the_same_problems() -> None:
    contenders = [Contender(candidate=solo(worker), expected=0.5) for worker in (IDLE, REVERSE, SUM)]
    found = await halving(bench_of(), contenders, problems(40, ("sum",)), calls=1000)
    asked = [[trial.problem for trial in one.trials] for one in found]
    assert all(each == asked[0][: len(each)] for each in asked)


async def test_halving_goes_by_the_estimate_where_nobody_could_be_asked() -> None:
    contenders = [Contender(candidate=solo(CLOSED), expected=0.2), Contender(candidate=solo(CLOSED), expected=0.6)]
    found = await halving(bench_of(), contenders, problems(20, ("sum",)), calls=100)
    assert [one.expected for one in found] == [0.6, 0.2]
    assert await halving(bench_of(), found, [], calls=100) == found


async def test_halving_raises_after_all_have_ended() -> None:
    def wrong(call: Call) -> str:
        raise ConfigError("no key")

    slow = Member(worker=Scripted("42", seconds=0.05), card=Card(name="slow"))
    bench = bench_of(WorkerPool([member("wrong", wrong), slow]))
    contenders = [Contender(candidate=solo(worker), expected=0.5) for worker in (0, 1)]
    before = len(asyncio.all_tasks())
    with pytest.raises(ConfigError):
        await halving(bench, contenders, problems(20, ("sum",)), calls=100)
    assert len(asyncio.all_tasks()) == before
    assert len(bench.paid) == 6


@pytest.mark.parametrize(("calls", "number"), [(1000, 7), (26, 7), (25, 6), (12, 4), (11, 3), (1, 2)])
def test_few_calls_compare_few(calls: float, number: int) -> None:
    contenders = [Contender(candidate=solo(worker), expected=0.5) for worker in range(7)]
    assert affordable(contenders, calls) == number


async def test_a_failure_says_what_it_is() -> None:
    with pytest.raises(WorkerUnavailable):
        await pool("failing")[0].worker(Call.plain("How much is 3 plus 4?"))
