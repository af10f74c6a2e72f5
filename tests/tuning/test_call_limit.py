"""Calls are a hard limit: never passed, whoever answers first and whatever fails, and all are compared on the same problems."""

import asyncio
import random
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from podium.errors import BudgetExceeded, WorkerUnavailable
from podium.protocols import Worker
from podium.tuning import sealed
from podium.tuning.advising import _examples
from podium.tuning.allowance import Allowance
from podium.tuning.candidates import solo, staffed
from podium.tuning.catalogue import GENERAL
from podium.tuning.conducting import Conducted
from podium.tuning.evolving import Advising
from podium.tuning.finding import found_kinds
from podium.tuning.regrouping import regrouped
from podium.tuning.result import Tuned
from podium.tuning.run import KEPT_BACK, Progress, tune_pool
from podium.tuning.search import Search
from podium.tuning.selection import Contender, halving
from podium.tuning.trials import Arm, Bench, Judged
from podium.types import Call, Card, Completion, Problem
from podium.workers.pool import Member, WorkerPool
from tests.tuning.desk import boss, exact, kind_of, office, pool, problem, problems

IDLE, SUM, REVERSE = range(3)


def cases(kinds: int = 10, each: int = 20) -> list[Problem]:
    return [
        Problem(question=f"Case {kind} number {n}?", target=f"{kind}-{n * n}", kind=f"kind {kind}", source="desk")
        for n in range(each)
        for kind in range(kinds)
    ]


def half_wit(at: int) -> Callable[[Call], str]:
    """Right now and then, more often the higher its number; about half of the kinds it spoils for whoever sees it."""

    def answer(call: Call) -> str:
        told = [*call.question, *(message for step in call.visible for message in step.question)]
        found = re.search(r"Case (\d+) number (\d+)", " ".join([*(one.content for one in told), call.subtask]))
        assert found is not None
        seen = " ".join(step.response for step in call.visible)
        luck = random.Random(f"{at} {found[0]} {call.subtask[:20]} {seen}").random()
        if luck < 0.3 + 0.04 * at and "bad" not in seen:
            return f"{found[1]}-{int(found[2]) ** 2}"
        return "bad" if random.Random(f"x{at} {found[1]}").random() < 0.5 else "I do not know."

    return answer


class Staff:
    """Half-wits that count what they answer; ``slow`` and ``moody`` draw who is late, and who fails."""

    def __init__(self, size: int, slow: int | None = None, moody: int | None = None) -> None:
        self.answered: list[tuple[str, str, str]] = []
        self._slow, self._moody = random.Random(slow), random.Random(moody)
        self._is_slow, self._is_moody = slow is not None, moody is not None
        self.pool = WorkerPool([Member(worker=self._worker(at), card=Card(name=f"w{at}")) for at in range(size)])

    def _worker(self, at: int) -> Worker:
        answer = half_wit(at)

        async def worker(call: Call) -> Completion:
            for _ in range(self._slow.randrange(20) if self._is_slow else 0):
                await asyncio.sleep(0)
            if self._is_moody and self._moody.random() < 0.2:
                raise WorkerUnavailable("429 later")
            self.answered.append((f"w{at}", str(call.question), call.subtask))
            return Completion(text=answer(call))

        return worker


async def tuned(staff: Staff, out: Path, calls: int) -> Tuned:
    return await tune_pool(staff.pool, cases(), exact, out, kind_of=kind_of, max_calls=calls)


@pytest.mark.parametrize(("size", "calls"), [(4, 900), (7, 1000), (10, 240)])
async def test_ten_kinds_do_not_pay_for_more_calls_than_allowed(tmp_path: Path, size: int, calls: int) -> None:
    staff = Staff(size)
    found = await tuned(staff, tmp_path, calls)
    assert len(staff.answered) == found.calls <= calls
    assert found.tested[0].problems >= 20, "calls are kept back for the sealed test"


async def test_calls_that_fail_do_not_make_room_for_more(tmp_path: Path) -> None:
    staff = Staff(7, slow=1, moody=2)
    found = await tuned(staff, tmp_path, 700)
    assert len(staff.answered) == found.calls <= 700


async def test_near_the_limit_it_does_not_matter_who_answers_first(tmp_path: Path) -> None:
    prompt, late = Staff(4), Staff(4, slow=1)
    found = await tuned(prompt, tmp_path, 900)
    assert (await tuned(late, tmp_path / "late", 900)).tested == found.tested
    assert sorted(late.answered) == sorted(prompt.answered), "so a run that is begun anew finds these replies in its journal"


async def test_a_conductor_is_tuned_within_the_same_calls(tmp_path: Path) -> None:
    found = await tune_pool(
        office(boss()), problems(160), exact, tmp_path, kind_of=kind_of, max_calls=800, conductor="boss", gate=False
    )
    assert found.calls <= 800
    assert {one.name for one in found.tested} == {"tuned", "worker:sum", "constant", "prompted", "chat:boss"}


async def searched(limit: int) -> Search:
    """A search whose soft end is the hard one; after its sweeps it tries what seems likely, batch after batch."""
    bench = Bench(pool("idle", "idle2"), exact, lambda one: "all")
    bench.allowance.limit = limit
    search = Search(bench, problems(20), 2)
    await search.begin(lambda: 10.0)
    await search.run(lambda: bench.allowance.room, lambda mean: None)
    return search


@pytest.mark.parametrize("limit", [100, 250, 400])
async def test_a_batch_that_is_too_much_is_not_begun_and_the_search_ends(limit: int) -> None:
    search = await searched(limit)
    assert limit - 60 < len(search.bench.paid) <= limit
    assert not search.bench.is_exhausted, "so that selection has the rest"


async def test_a_search_begins_with_as_many_calls_as_there_are() -> None:
    bench = Bench(pool(), exact, kind_of)
    bench.allowance.limit = 20
    search = Search(bench, problems(40), 3)
    await search.begin(lambda: 20.0)
    assert len(bench.paid) == len(search.trials) == 20
    with pytest.raises(BudgetExceeded, match="before one answer was judged"):
        await Search(bench, problems(80)[40:], 3).begin(lambda: 20.0)
    assert len(bench.paid) == 20


@pytest.mark.parametrize("seed", [0, 2, 7])
async def test_kinds_are_found_and_known_where_few_calls_are_left_for_them(tmp_path: Path, seed: int) -> None:
    staff = pool(*(f"idle{number}" for number in range(10)), "sum", "reverse")
    found = await tune_pool(staff, problems(160), exact, tmp_path, kind_of=None, max_calls=200, seed=seed)
    assert len(found.record.workflows[0].kinds) == 2
    assert (found.use_worker, found.tested[0].share, found.tested[0].problems) == (False, 1.0, 40)


async def test_questions_that_may_be_of_another_kind_are_asked_only_where_all_can_be() -> None:
    given, doubtful = problems(40), [problem("sum", number) for number in range(90, 95)]
    search = Search(Bench(pool(), exact, kind_of), given, 3, near={one.id: ("reverse",) for one in doubtful})
    await search.begin(lambda: 1000.0)
    await search.run(lambda: 1000.0 - len(search.bench.paid), lambda mean: None)
    before = len(search.bench.paid)
    for more in (4, 5):
        search.bench.allowance.limit = before + more
        await regrouped(search, [*given, *doubtful], lambda: 1000.0)
        assert len(search.bench.paid) == before + (more if more == 5 else 0)
        assert not search.bench.is_exhausted


async def test_questions_are_told_apart_by_texts_alone_where_their_replies_are_too_many_calls() -> None:
    for limit, paid in ((199, 0), (200, 200)):
        bench = Bench(pool(), exact, kind_of)
        bench.allowance.limit = limit
        found = await found_kinds(bench, given := problems(100), 3000)
        assert (len(bench.paid), bench.is_exhausted) == (paid, False)
        assert len({found.kind_of(one) for one in given}) > 1


async def no_answer(advice: str, problem: Problem) -> Conducted | None:
    judged = Judged(right=False, usd=None, seconds=0.0, steps=1)
    return Conducted(problem=problem, judged=judged, transcripts=())


@pytest.mark.parametrize(("limit", "most", "compared"), [(13, 7, 0), (14, 7, 1), (0, 0, 1)])
async def test_advice_evolves_only_where_what_may_be_asked_can_be_paid_for(limit: int, most: int, compared: int) -> None:
    bench = Bench(office(boss()), exact, kind_of)
    bench.allowance.limit = limit
    advising = Advising(bench, no_answer, bench.workers.named("boss").worker, lambda: 1000.0, most=most)
    found = await advising.evolve("Use few steps.", problems(8), problems(12)[8:10], seed=0)
    assert (found.compared, found.ended) == (compared, "the calls are used up")
    assert not bench.is_exhausted


async def test_an_example_that_can_not_be_paid_for_is_left_out(tmp_path: Path) -> None:
    found = await tune_pool(pool(), problems(80), exact, tmp_path, kind_of=kind_of, max_calls=200)
    by_kind = {kind: [one for one in problems(20) if one.kind == kind] for kind in ("sum", "reverse")}
    for limit, count in ((0, 0), (100, 2)):
        bench = Bench(pool(), exact, kind_of)
        bench.allowance.limit = limit
        examples, _ = await _examples(bench, found.record, {kind: kind for kind in by_kind}, by_kind, pool().names)
        assert (len(examples), bench.is_exhausted) == (count, False)


async def test_calls_under_way_hold_their_places_and_failed_ones_give_theirs_back() -> None:
    allowance = Allowance()
    allowance.limit = 2
    with allowance.place(), allowance.place():
        assert allowance.room == 0
        with pytest.raises(BudgetExceeded, match="the 2 calls that may be paid for are used up"), allowance.place():
            raise AssertionError
    assert allowance.room == 2, "none of them was answered"


async def test_no_more_calls_are_begun_side_by_side_than_may_be_paid_for() -> None:
    bench = Bench(pool(), exact, kind_of)
    bench.allowance.limit = 5
    found = await bench.all([bench.run(solo(SUM), problem("sum", number)) for number in range(9)])
    assert (len(bench.paid), sum(one is not None for one in found)) == (5, 5)
    assert bench.is_exhausted


async def test_a_round_of_selection_has_fewer_problems_for_all_where_calls_end() -> None:
    bench = Bench(pool(), exact, kind_of)
    bench.allowance.limit = 3 * 4 + 2
    contenders = [Contender(candidate=solo(worker), expected=0.5) for worker in (IDLE, REVERSE, SUM)]
    found = await halving(bench, contenders, problems(40, ("sum",)), calls=1000)
    assert [len(one.trials) for one in found] == [5, 5, 4]
    asked = [[trial.problem for trial in one.trials] for one in found]
    assert asked[0] == asked[1]
    assert asked[2] == asked[0][:4]
    assert len(bench.paid) == 14


async def test_a_round_of_selection_is_not_begun_where_one_problem_is_too_much() -> None:
    bench = Bench(pool(), exact, kind_of)
    bench.allowance.limit = 2
    contenders = [Contender(candidate=solo(worker), expected=worker / 10) for worker in (SUM, IDLE, REVERSE)]
    assert await halving(bench, contenders, problems(40, ("sum",)), calls=1000) == contenders
    assert len(bench.paid) == 0


def arms_of(bench: Bench) -> dict[str, Arm]:
    planned = sealed.constant_arm(bench, staffed(GENERAL.plans[2], (IDLE, SUM)))
    return {"tuned": planned, "worker:sum": sealed.constant_arm(bench, solo(SUM))}


async def test_a_sealed_problem_is_asked_of_all_arms_or_of_none() -> None:
    bench = Bench(pool(), exact, kind_of)
    bench.allowance.limit = 8
    found = await sealed.tested(bench, arms_of(bench), problems(20))
    assert [one.problems for one in found] == [2, 2]
    assert len(bench.paid) == 6


async def test_a_conductor_has_its_part_of_the_calls_that_are_left_for_the_sealed_test() -> None:
    bench = Bench(pool(), exact, kind_of)
    bench.allowance.limit = 24
    found = await sealed.tested_apart(
        bench, arms_of(bench), {"prompted": sealed.constant_arm(bench, solo(REVERSE))}, problems(20)
    )
    assert [(one.name, one.problems) for one in found] == [("tuned", 6), ("worker:sum", 6), ("prompted", 4)]
    assert len(bench.paid) <= 24


async def test_where_no_sealed_problem_can_be_paid_for_none_is_asked() -> None:
    bench = Bench(pool(), exact, kind_of)
    bench.allowance.limit = 1
    assert await sealed.tested(bench, arms_of(bench), problems(20)) == ()
    assert not bench.paid
    assert not bench.is_exhausted


async def test_what_is_kept_back_for_the_sealed_test_is_there_at_its_begin(tmp_path: Path) -> None:
    staff = Staff(7)
    seen: dict[str, int] = {}

    def look(progress: Progress) -> None:
        seen[progress.phase] = progress.calls

    await tune_pool(staff.pool, cases(), exact, tmp_path, kind_of=kind_of, max_calls=700, on_progress=look)
    assert 0 < seen["search"] <= seen["select"] <= 700 - KEPT_BACK
