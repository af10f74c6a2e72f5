"""The prompted Conductor, tuned: cards, examples and advice come out of the run, and every call of it is paid once and capped."""

import asyncio
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import podium
from podium.errors import ConfigError, WorkerUnavailable
from podium.policies.prompted_record import FILE, LONGEST_ADVICE, read_prompted
from podium.policies.tuned_record import read_tuned
from podium.tuning import result
from podium.tuning.advising import START
from podium.tuning.evolving import USELESS, advice_in
from podium.tuning.report import markdown, routing_figures
from podium.tuning.result import Tuned
from podium.tuning.run import LEAST_ADVISED, tune_pool
from podium.types import Call
from podium.workers.pool import WorkerPool
from tests.tuning.desk import (
    GOOD,
    SUMS,
    WORDS,
    boss,
    exact,
    is_conducting,
    is_reflecting,
    kind_of,
    member,
    office,
    problem,
    problems,
)

CALLS = 1000


async def tuned(workers: WorkerPool, out: Path, **more: Any) -> Tuned:
    arguments: dict[str, Any] = {"kind_of": kind_of, "max_calls": CALLS, "conductor": "boss"} | more
    return await tune_pool(workers, problems(160), exact, out, **arguments)


def arm(found: Tuned, name: str) -> result.Tested:
    [one] = [one for one in found.tested if one.name == name]
    return one


async def test_advice_evolves_and_serves(tmp_path: Path) -> None:
    workers = office(boss())
    found = await tuned(workers, tmp_path)
    assert found.advised is not None
    assert (found.advised.start_share, found.advised.share, found.advised.dropped, found.advised.ended) == (0.0, 1.0, 0, "")
    assert (arm(found, "prompted").share, arm(found, "chat:boss").share) == (1.0, 0.0)
    assert arm(found, "prompted").steps == 2.0, "the Conductor's own call counts"
    assert arm(found, "prompted").usd == pytest.approx(0.002)
    assert found.calls <= CALLS
    record = read_prompted(tmp_path)
    assert record.advice == GOOD
    assert record.skills["sum"]["sum"] > 0.9 > 0.1 > record.skills["idle"]["sum"]
    assert {step.worker for one in record.examples for step in one.steps} == {"sum", "reverse"}
    assert GOOD in (tmp_path / "report.md").read_text()
    long = record.model_copy(update={"advice": "Ask. " * 300 + "<b>And steal.</b>\n# Obey"})
    report = markdown(replace(found, advised=replace(found.advised, record=long)))
    assert "Ask. &lt;b>And steal.&lt;/b>\n> # Obey" in report, "whoever serves it has to see all of it, as text"
    alike = tuple(replace(one, problems=20) for one in found.tested)
    assert "asked fewer problems" not in markdown(replace(found, tested=alike))
    fewer = replace(found, tested=(*alike[:-1], replace(alike[-1], problems=12)))
    assert f"| {alike[-1].name} | 12 | " in markdown(fewer)
    assert "asked fewer problems" in markdown(fewer)
    assert routing_figures(fewer) == routing_figures(replace(found, tested=alike[:-1])), "figures of other problems are not mixed"
    async with podium.open_pool([*workers]) as opened:
        for one in (problem("sum", 900), problem("reverse", 901)):
            answered = await podium.conductor(opened, f"prompted:{tmp_path}").ask(one.question)
            assert answered.text == one.target
    turned = WorkerPool([*office(boss())][::-1])
    async with podium.open_pool([*turned]) as opened:
        answered = await podium.conductor(opened, f"prompted:{tmp_path}").ask(problem("sum", 900).question)
        assert answered.text == problem("sum", 900).target, "workers are known by name"


async def test_what_the_conductor_is_shown(tmp_path: Path) -> None:
    seen: list[Call] = []

    def looking(call: Call) -> str:
        seen.append(call)
        return boss()(call)

    found = await tuned(office(looking), tmp_path)
    sealed = {one.question for one in problems(160)} - {question for question, _ in read_tuned(tmp_path)[1]}
    last = [call for call in seen if is_conducting(call) and GOOD in call.question[0].content][-1]
    system, user = (message.content for message in last.question)
    assert re.search(r"sum; measured: reverse \d+%, sum \d\d%", user)
    assert system.count("EXAMPLE with models 0 to 3") == 2
    reflected = [call.question[0].content for call in seen if is_reflecting(call)]
    assert reflected
    assert START in reflected[0]
    assert "The answer was wrong. Right is: " in reflected[0]
    assert found.advised is not None
    assert not any(question in text for question in sealed for text in reflected)


async def test_an_example_is_not_learned_from_again(tmp_path: Path) -> None:
    shown: list[str] = []

    def rubbish(call: Call) -> str:
        shown.append(call.question[0].content)
        return f"```\nAdvice {len(shown)} that does no better.\n```" if len(shown) % USELESS else "rubbish"

    await tuned(office(boss(rubbish)), tmp_path)
    looked_at = {one.question for one in problems(160) if any(one.question in text for text in shown)}
    examples = {one.question for one in read_prompted(tmp_path).examples}
    assert len(looked_at) > 60
    assert len(examples) == 2
    assert not examples & looked_at


def test_what_is_advice() -> None:
    assert advice_in("```\nAsk two.\n```") == "Ask two."
    assert advice_in("First:\n```text\nOld.\n```\nthen\n```\nNew.\n```\nDone.") == "New."
    assert advice_in("```New on one line.```") == "New on one line."
    assert advice_in("```\nClosed.\n```\n```\nnever closed") == "Closed."
    long = "x" * (LONGEST_ADVICE + 1)
    for none in (
        "",
        "Ask two.",
        "```\nnever closed",
        "``````",
        "```\n \n```",
        f"```\n{long}\n```",
        "```\n\ud800\n```",
    ):
        assert advice_in(none) is None, none


@pytest.mark.parametrize("reply", ["no block at all", "```\n```", f"```\n{START}\n```", "```\n" + "long " * 2000 + "\n```"])
async def test_a_reflector_that_answers_rubbish_leaves_the_advice_as_it_was(tmp_path: Path, reply: str) -> None:
    found = await tuned(office(boss(lambda call: reply)), tmp_path)
    assert found.advised is not None
    assert found.advised.record.advice == START
    assert (found.advised.compared, found.advised.dropped) == (1, USELESS)
    assert found.advised.ended == f"{USELESS} reflections in a row held no advice that can be used"
    assert f"that can be used: {USELESS}." in (tmp_path / "report.md").read_text()


async def test_the_best_is_kept_and_not_the_last(tmp_path: Path) -> None:
    """Each of the two texts does better on some few problems, and of the fifteen for comparing one is for a word more."""
    found = await tuned(office(boss(lambda call: f"```\n{WORDS if SUMS in call.question[0].content else SUMS}\n```")), tmp_path)
    assert found.advised is not None
    assert found.advised.record.advice == WORDS
    assert found.advised.share == pytest.approx(8 / 15)
    assert found.advised.compared > 2


async def test_where_no_reflection_can_be_had_it_says_so(tmp_path: Path) -> None:
    def closed(call: Call) -> str:
        raise WorkerUnavailable("503 closed for today")

    found = await tuned(office(boss(closed)), tmp_path)
    assert found.advised is not None
    assert (found.advised.record.advice, found.advised.start_share) == (START, 0.0)
    assert "no reflection could be had: 503 closed for today" in found.advised.ended
    assert "It ended early: no reflection could be had" in (tmp_path / "report.md").read_text()


async def test_a_fault_is_never_a_wrong_answer(tmp_path: Path) -> None:
    """From some call on the workers fail whenever they are conducted: what was measured before stays as it was."""
    left = 100_000

    def limited(call: Call) -> str:
        nonlocal left
        if is_reflecting(call):
            left = min(left, 3)
        if is_conducting(call):
            left -= 1
            if left < 0:
                raise WorkerUnavailable("429 out for the day")
        return boss()(call)

    found = await tuned(office(limited), tmp_path)
    assert found.advised is not None
    assert found.advised.record.advice == START, "the better advice could not be compared"
    assert (found.advised.start_share, found.advised.share, found.advised.compared) == (0.0, 0.0, 1)
    assert "gave no answer: boss: 429 out for the day" in found.advised.ended
    assert [one.name for one in found.tested] == ["tuned", "worker:sum", "constant"], "the rest is tested all the same"


async def test_a_conductor_that_never_answers_leaves_the_rest_as_it_is(tmp_path: Path) -> None:
    def silent(call: Call) -> str:
        if is_conducting(call):
            raise WorkerUnavailable("429 not today")
        return "I do not know."

    found = await tuned(office(silent), tmp_path)
    assert found.advised is not None
    assert found.advised.share is None
    assert [one.name for one in found.tested][::2] == ["tuned", "constant"]
    assert not (tmp_path / FILE).exists()
    assert "boss could not be tuned: " in (tmp_path / "report.md").read_text()


async def test_a_bug_in_a_worker_is_no_outcome(tmp_path: Path) -> None:
    def broken(call: Call) -> str:
        raise ZeroDivisionError("a bug")

    with pytest.raises(ZeroDivisionError):
        await tuned(office(boss(broken)), tmp_path)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"conductor": "nobody"}, "no worker is named 'nobody'"),
        ({"reflector": "nobody"}, "no worker is named 'nobody'"),
        ({"conductor": None, "reflector": "boss"}, "name the conductor, too"),
        ({"max_calls": LEAST_ADVISED - 1}, f"needs {LEAST_ADVISED} or more"),
    ],
)
async def test_what_can_not_work_is_said_before_anybody_is_asked(tmp_path: Path, arguments: dict[str, Any], said: str) -> None:
    asked: list[Call] = []

    def hearing(call: Call) -> str:
        asked.append(call)
        return ""

    with pytest.raises(ConfigError, match=said):
        await tuned(office(hearing), tmp_path, **arguments)
    assert not asked


async def test_another_worker_may_reflect(tmp_path: Path) -> None:
    workers = WorkerPool([*office(boss(lambda call: "rubbish")), member("critic", boss())])
    found = await tuned(workers, tmp_path, reflector="critic")
    assert found.advised is not None
    assert (found.advised.reflector, found.advised.record.advice) == ("critic", GOOD)


def heard(workers: WorkerPool, asked: list[str]) -> list[podium.Member]:
    def one(each: podium.Member) -> podium.Member:
        async def worker(call: Call) -> podium.Completion:
            what = "conducting" if is_conducting(call) else each.name
            asked.append(f"{what} {hash(repr((call.question, call.subtask, call.visible, call.sample)))}")
            return await each.worker(call)

        # A call is reserved at little more than it costs, so that the cap can be near.
        return podium.Member(worker=worker, card=replace(each.card, prompt_usd=1e-8, completion_usd=2.5e-7))

    return [one(each) for each in workers]


async def over_a_journal(workers: WorkerPool, out: Path, asked: list[str], usd: float) -> Tuned:
    out.mkdir(exist_ok=True)
    async with podium.open_pool(
        heard(workers, asked), budget=podium.Budget(usd=usd), journal=out / "calls.db", run="tune"
    ) as opened:
        return await tuned(opened.workers, out)


async def test_a_cap_that_is_hit_while_it_evolves_holds_and_a_second_run_goes_on(tmp_path: Path) -> None:
    whole: list[str] = []
    found = await over_a_journal(office(boss()), tmp_path / "whole", whole, usd=9.0)
    assert max(Counter(whole).values()) == 1, "nothing is paid twice"
    assert found.advised is not None
    cap = 0.001 * (next(n for n, one in enumerate(whole) if one.startswith("conducting")) + 30)
    asked: list[str] = []
    out = tmp_path / "capped"
    capped = await over_a_journal(office(boss()), out, asked, usd=cap)
    assert 0.001 * len(asked) <= cap
    assert capped.advised is not None
    assert capped.advised.ended == "a cap was reached"
    again = await over_a_journal(office(boss()), out, asked, usd=9.0)
    assert again.advised == found.advised
    assert max(Counter(asked).values()) == 1
    for name in ("policy.json", FILE, "report.md"):
        assert (out / name).read_bytes() == (tmp_path / "whole" / name).read_bytes(), name


async def test_cancelled_while_it_evolves_it_stops_and_goes_on_later(tmp_path: Path) -> None:
    asked: list[str] = []
    running: list[asyncio.Task[Tuned]] = []

    def stopping(call: Call) -> str:
        if is_reflecting(call) and running:
            running.pop().cancel()
        return boss()(call)

    running.append(asyncio.create_task(over_a_journal(office(stopping), tmp_path / "mine", asked, usd=9.0)))
    with pytest.raises(asyncio.CancelledError):
        await running[0]
    before = len(asked)
    await asyncio.sleep(0.05)
    assert len(asked) == before, "nobody is asked any more"
    assert not (tmp_path / "mine" / FILE).exists()
    found = await over_a_journal(office(boss()), tmp_path / "mine", asked, usd=9.0)
    assert found.advised is not None
    assert found.advised.share == 1.0
    assert Counter(asked).most_common(2)[1][1] == 1, "but for the call that was under way"
