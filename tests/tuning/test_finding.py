"""Kinds where none are given: told apart by how a worker answers, for few calls, and named by the words that tell them apart."""

import random
from collections import Counter
from pathlib import Path

import pytest

import podium
from podium.errors import ConfigError, WorkerUnavailable
from podium.tuning.candidates import solo
from podium.tuning.finding import REPLY_SHARE, SAMPLE, found_kinds, telling
from podium.tuning.kinds import READ, grouped, neighbours
from podium.tuning.run import Progress, tune_pool
from podium.tuning.split import shared_again, shared_out
from podium.tuning.trials import Bench
from podium.types import Call, Problem
from podium.workers.pool import Member, WorkerPool
from tests.tuning.desk import TRADES, clerk, exact, kind_of, member, pool, problem, problems

NAMES = ("amber", "birch", "coral", "delta", "ember", "fjord", "grove", "heath")
BUILT = {
    "formula": "Plan: {a} * {b} + {a}\nAnswer: {b}",
    "program": "```python\ndef {name}(x):\n    return x - {a}\n```",
    "letter": "{letter})",
}
"""How a kind is answered. Its questions have the same words as those of the others."""


def same_words(count: int) -> list[Problem]:
    made = []
    for number in range(count):
        rng = random.Random(number)
        words = " ".join(rng.sample(NAMES, 4))
        kind = list(BUILT)[number % len(BUILT)]
        made.append(Problem(question=f"Case {number}: {words}.", target="?", kind=kind, source="desk"))
    return made


def speaker(given: list[Problem], asked: Counter[str] | None = None, *, mute: bool = False) -> Member:
    """Answers every question in the way of its kind."""
    kinds = {one.question: one.kind for one in given}

    def answer(call: Call) -> str:
        if mute:
            raise WorkerUnavailable("503")
        question = next(message.content for message in call.question if message.content in kinds)
        if asked is not None:
            asked[question] += 1
        rng = random.Random(question)
        kind = kinds[question]
        return BUILT[kind].format(a=rng.randrange(99), b=rng.randrange(99), name=rng.choice(NAMES), letter=rng.choice("ABCD"))

    return member("speaker", answer)


def named(each: Member, name: str, usd: float) -> Member:
    made = member(name, lambda call: "", usd)
    return Member(worker=each.worker, card=made.card)


async def test_questions_with_the_same_words_are_told_apart_by_how_they_are_answered() -> None:
    given = same_words(120)
    one = speaker(given)
    bench = Bench(WorkerPool([named(one, "a", 0.1), named(one, "b", 0.1)]), exact, kind_of)
    found = (await found_kinds(bench, given, 3000)).kind_of
    together = {(each.kind, found(each)) for each in given}
    assert len(together) == len({group for _, group in together}), "no group holds two kinds"
    assert {kind for kind, _ in together} == {*BUILT}
    by_text = grouped(given)
    mixed = Counter((by_text(each), each.kind) for each in given)
    assert len(mixed) > len({group for group, _ in mixed}), "or the replies show nothing here"


async def test_the_cheapest_answers_and_plans_each_question_once() -> None:
    given = same_words(60)
    dear, cheap, unpriced = Counter[str](), Counter[str](), Counter[str]()
    workers = [
        named(speaker(given, unpriced), "unpriced", 0.1),
        named(speaker(given, dear), "dear", 0.1),
        named(speaker(given, cheap), "cheap", 0.01),
    ]
    workers[0] = Member(worker=workers[0].worker, card=podium.Card(name="unpriced"))
    workers[1] = Member(worker=workers[1].worker, card=podium.Card(name="dear", prompt_usd=1e-3, completion_usd=1e-3))
    bench = Bench(WorkerPool(workers), exact, kind_of)
    await found_kinds(bench, given, 3000)
    assert set(cheap.values()) == {2}
    assert len(cheap) == 60
    assert not dear
    assert not unpriced
    assert len(bench.paid) == 2 * 60
    assert await bench.run(solo(2), given[0]), "and the same again is not paid"
    assert len(bench.paid) == 2 * 60


async def test_with_few_calls_nobody_is_asked() -> None:
    given = same_words(120)
    asked = Counter[str]()
    bench = Bench(WorkerPool([speaker(given, asked)]), exact, kind_of)
    found = (await found_kinds(bench, given, 2 * 120 / REPLY_SHARE - 1)).kind_of
    assert not asked
    assert [found(one) for one in given] == [grouped(given)(one) for one in given]


async def test_of_many_questions_some_are_asked_and_the_others_go_by_their_words() -> None:
    given = problems(500)
    bench = Bench(pool("sum", "reverse", "idle"), exact, kind_of)
    found = (await found_kinds(bench, given, 5000)).kind_of
    assert len(bench.paid) == 2 * SAMPLE
    together = {(one.kind, found(one)) for one in given}
    assert len(together) == len({group for _, group in together})


@pytest.mark.parametrize("names", [("a",), ("a", "b")])
async def test_where_nobody_replies_texts_decide(names: tuple[str, ...]) -> None:
    given = problems(120)
    mute = speaker(given, mute=True)
    bench = Bench(WorkerPool([named(mute, name, 0.1) for name in names]), exact, kind_of)
    found = (await found_kinds(bench, given, 3000)).kind_of
    assert [found(one) for one in given] == [grouped(given)(one) for one in given]
    assert len(bench.paid) == 0


async def test_replies_like_nothing_on_earth_do_no_harm() -> None:
    given = problems(120)
    odd = ["", " ", "\ud800", "\x00" * 50, "(" * 5000, "\n" * 300, "0" * 10_000, "\u202e" + "w" * 5000]
    replies = {one.id: odd[n % len(odd)] for n, one in enumerate(given)}
    found = grouped(given, replies)
    assert {found(one) for one in given} <= {f"group {n}" for n in range(1, 11)}
    nothing = grouped(given, dict.fromkeys(replies, " "))
    assert [nothing(one) for one in given] == [grouped(given)(one) for one in given]


def test_a_kind_is_called_by_the_word_that_tells_it_apart() -> None:
    given = problems(40)
    assert telling(given, kind_of) == {"sum": "plus", "reverse": "backwards please"}
    assert telling(given, lambda one: "all the same") == {}
    halves = {one.id: f"half {n % 2}" for n, one in enumerate(problems(80, ("sum",)))}
    assert telling(problems(80, ("sum",)), lambda one: halves[one.id]) == {}, "no word that both have"
    short = [
        Problem(question=f"Is it {'on' if n % 2 else 'up'} to {n}?", target="", kind=str(n % 2), source="") for n in range(40)
    ]
    assert telling(short, lambda one: one.kind) == {}, "nor one of two letters"
    row = "acgt" * 50
    data = [
        Problem(question=f"{row} {row} {n}" if n % 2 else f"Up {n}", target="", kind=str(n % 2), source="") for n in range(40)
    ]
    assert telling(data, lambda one: one.kind) == {}, "nor a row of data"


def test_words_that_share_nothing_but_a_sign_are_of_one_kind() -> None:
    rng = random.Random(0)
    words = [Problem(question="".join(rng.choices("abcdefghijkl", k=9)) + "?", target="", kind="", source="") for _ in range(60)]
    assert {*map(grouped(words), words)} == {"group 1"}


def test_replies_of_which_nothing_is_read_say_nothing() -> None:
    given = same_words(60)
    by_text, by_reply = grouped(given), grouped(given, {one.id: " " * READ + "four" for one in given})
    assert [by_text(one) for one in given] == [by_reply(one) for one in given]


def test_a_question_with_neighbours_in_another_group_may_belong_there() -> None:
    given = problems(60)
    clear = neighbours(given, {}, kind_of)
    assert clear == {one.id: () for one in given}
    strays = {one.id for one in given if one.kind == "sum"} & {one.id for one in given[:6]}
    found = neighbours(given, {}, lambda one: "reverse" if one.id in strays else one.kind)
    assert len(strays) == 3
    assert all(
        found[one.id] == (("sum",) if one.id in strays else ()) for one in given if one.kind == "reverse" or one.id in strays
    )
    assert len(neighbours(given[:1], {}, kind_of)) == 1


def test_kinds_that_are_found_do_not_move_the_seal() -> None:
    given = problems(120)
    parts = shared_out(given, lambda one: "")
    again = shared_again(parts, kind_of)
    assert again.test == parts.test
    assert {one.id for one in (*again.search, *again.select)} == {one.id for one in (*parts.search, *parts.select)}
    for kind in TRADES:
        had = [sum(one.kind == kind for one in part) for part in (again.search, again.select)]
        assert had[0] == pytest.approx(2 * had[1], abs=2)


async def test_a_run_that_finds_its_kinds(tmp_path: Path) -> None:
    seen: list[Progress] = []

    async def run(folder: Path) -> podium.Tuned:
        return await tune_pool(pool(), problems(100), exact, folder, kind_of=None, max_calls=1200, on_progress=seen.append)

    found = await run(tmp_path / "one")
    assert found.tested[0].share == 1.0
    assert [one.phase for one in seen].count("kinds") == 1
    for kind in TRADES:
        number, _ = found.policy.choose(problem(kind, 900).question)
        assert kind in {step.worker for step in found.record.workflows[number].steps}
    words = {step.subtask for workflow in found.record.workflows for step in workflow.steps}
    assert any("(The task is about plus.)" in one for one in words)
    await run(tmp_path / "again")
    assert (tmp_path / "one" / "policy.json").read_bytes() == (tmp_path / "again" / "policy.json").read_bytes()


async def test_with_few_dollars_they_are_kept_for_the_search(tmp_path: Path) -> None:
    priced = WorkerPool([named(each, name, 0.001) for each, name in zip(pool(), ("a", "b", "c"), strict=False)])
    phases: list[Progress] = []
    for max_usd in (None, 0.5):
        found = await tune_pool(
            priced, problems(240), exact, tmp_path / str(max_usd), kind_of=None, max_calls=3000, max_usd=max_usd,
            gate=False, on_progress=phases.append,
        )  # fmt: skip
        assert found.usd is not None
    rich, poor = (one.calls for one in phases if one.phase == "kinds")
    assert poor < rich - 200, "replies of two workers to 180 questions would have taken most of it"


@pytest.mark.parametrize("answers", [90, 130, 160, 200])
async def test_a_cap_in_the_middle_of_it_leaves_what_was_known_before(tmp_path: Path, answers: int) -> None:
    phases: list[Progress] = []
    async with podium.open_pool([*pool()], budget=podium.Budget(usd=0.001 * answers)) as opened:
        found = await tune_pool(
            opened.workers, problems(120), exact, tmp_path, kind_of=None, max_calls=1300, on_progress=phases.append
        )
    assert 0 < found.calls < answers
    assert "The sealed problems were not asked" in (tmp_path / "report.md").read_text()
    assert {*found.record.workflows[0].kinds} == {"group 1"}
    assert "kinds" not in {one.phase for one in phases}


async def test_the_gate_comes_before_the_kinds(tmp_path: Path) -> None:
    copies = WorkerPool([member(f"copy {n}", clerk("sum")) for n in range(7)])
    found = await tune_pool(copies, problems(120, ("sum",)), exact, tmp_path, kind_of=None, max_calls=3000)
    assert found.use_worker
    assert found.calls <= 300


async def test_what_is_found_can_not_be_named_before(tmp_path: Path) -> None:
    async with podium.open_pool(None) as opened:
        given = [problem("sum", number) for number in range(60)]
        with pytest.raises(
            ConfigError, match="all problems are of one kind, so kinds are found; nothing can be said about 'sums'"
        ):
            await podium.tune(opened, given, tmp_path, about={"sums": "arithmetic"})
