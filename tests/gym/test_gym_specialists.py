"""The specialists: skills that factorise, information that flows only where it is shown, and chance that is no state."""

import asyncio
from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podium.access import call_for
from podium.errors import ConfigError
from podium.gym import KINDS, UNTRAINED_KINDS, World, specialists
from podium.gym.attempt import NOT_GIVEN
from podium.gym.expressions import format_program
from podium.gym.gauge import Gauge, wilson
from podium.gym.optimum import SUBTASKS
from podium.gym.profiles import PROFILES
from podium.gym.reading import notes_of
from podium.gym.verify import judge
from podium.protocols import Worker
from podium.types import Call, Message, Problem, Sampling, Step, VisibleStep, Workflow, ask
from podium.workers.render import render

WORLD = World()
POOL = specialists(WORLD)
AT = {profile.trade: i for i, profile in enumerate(PROFILES)}
BY = {profile.trade: worker for profile, worker in zip(PROFILES, POOL, strict=True)}
ALL = KINDS + UNTRAINED_KINDS


def _problem(kind: str) -> Problem:
    return WORLD.problems(kinds=(kind,), n=1)[0]


def _workflow(*steps: tuple[str, str, tuple[int, ...]]) -> Workflow:
    return Workflow(steps=tuple(Step(worker=AT[who], subtask=SUBTASKS.get(what, what), access=see) for who, what, see in steps))


def _accuracy(kind: str, workflow: Workflow, n: int = 400) -> float:
    return Gauge(POOL, WORLD.problems(kinds=(kind,), n=n, seed=5)).accuracy(workflow)


def _near(accuracy: float, expected: float, n: int = 400) -> bool:
    low, high = wilson(round(accuracy * n), n, z=3.5)
    return low <= expected <= high


def test_without_difficulty_everyone_solves_everything_alone() -> None:
    easy = World(difficulty=0)
    for kind in ALL:
        for split in ("train", "held_out_numbers", "held_out_templates"):
            for problem in easy.problems(kinds=(kind,), split=split, n=80):
                for worker in specialists(easy)[:2]:
                    verdict = judge(problem, worker.complete(Call.plain(problem.question)).text)
                    assert verdict.correct, (problem, verdict)


def test_difficulty_makes_the_world_harder() -> None:
    def alone(difficulty: float) -> float:
        world = World(difficulty=difficulty)
        problems = world.problems(n=400)
        gauge = Gauge(specialists(world), problems)
        return gauge.accuracy(_workflow(("generalist", "answer", ())))

    assert alone(0.5) > alone(1.0) + 0.1 > alone(2.0) + 0.2


def test_skills_factorise() -> None:
    skill = PROFILES[AT["generalist"]].skills
    alone = _workflow(("generalist", "answer", ()))
    assert _near(_accuracy("word", alone), skill.reading * skill.arithmetic)
    assert _near(_accuracy("choice", alone), skill.recall)
    assert _near(_accuracy("code", alone), skill.writing)
    # What is visible replaces one's own part of the work, and only that part.
    planned = _workflow(("reader", "plan", ()), ("generalist", "compute", (0,)))
    assert _near(_accuracy("word", planned), 0.99 * skill.arithmetic)
    informed = _workflow(("scholar", "recall", ()), ("generalist", "answer", (0,)))
    assert _near(_accuracy("choice", informed), 0.99)


def test_reviewing_mends_programs_and_nothing_else() -> None:
    for kind in ("word", "choice", "fact", *UNTRAINED_KINDS):
        alone = _accuracy(kind, _workflow(("generalist", "answer", ())))
        reviewed = _accuracy(kind, _workflow(("generalist", "answer", ()), ("reviewer", "verify", (0,))))
        assert reviewed <= alone + 0.03, kind
    before = _accuracy("code", _workflow(("generalist", "answer", ())))
    after = _accuracy("code", _workflow(("generalist", "answer", ()), ("reviewer", "verify", (0,))))
    assert before + 0.2 < after < 0.93, "a reviewer helps a weak draft, and does not replace a good writer"


def test_a_right_draft_is_rarely_spoilt() -> None:
    kept = 0
    problems = WORLD.problems(kinds=("code",), n=300, seed=8)
    for problem in problems:
        perfect = specialists(World(difficulty=0))[0].complete(Call.plain(problem.question)).text
        seen = VisibleStep(question=ask(problem.question), subtask="Write the program.", response=perfect)
        kept += judge(problem, BY["reviewer"].complete(Call(subtask="Review the code.", visible=(seen,))).text).correct
    assert kept >= 293


@pytest.mark.parametrize("kind", ALL)
def test_a_verb_decides_what_is_written(kind: str) -> None:
    question = ask(_problem(kind).question)
    plan = BY["reader"].complete(Call(question=question, subtask="Write a plan, do not solve it.")).text
    assert plan.startswith("Plan: ")
    assert "Answer" not in plan
    assert "Fact" not in plan
    facts = BY["scholar"].complete(Call(question=question, subtask="Recall the facts needed to answer.")).text
    assert "Answer" not in facts
    assert ("Fact: " in facts) == (kind not in ("word", "code"))
    both = BY["reader"].complete(Call(question=question, subtask="Write a plan and list the facts.")).text
    assert "Plan: " in both
    assert "Answer" not in both


@pytest.mark.parametrize("verb", SUBTASKS)
def test_who_was_shown_nothing_says_so(verb: str) -> None:
    for worker in POOL:
        assert worker.complete(Call(subtask=SUBTASKS[verb])).text == NOT_GIVEN
        blind = Call(subtask=SUBTASKS[verb], visible=(VisibleStep(subtask="Say hello.", response="Hello."),))
        assert worker.complete(blind).text == NOT_GIVEN


@pytest.mark.parametrize("kind", ALL)
def test_texts_flow_only_along_the_access_lists(kind: str) -> None:
    """The last step does not see the reader's plan: whatever that plan says, the answer stays the same."""
    problem = _problem(kind)
    workflow = Workflow(
        steps=(
            Step(worker=1, subtask="Answer the question."),
            Step(worker=4, subtask="Write a plan.", access=(0,)),
            Step(worker=0, subtask="Solve it.", access=(0,)),
        )
    )
    answers = {
        POOL[0].complete(call_for(workflow, 2, ask(problem.question), {0: "Let us begin.", 1: response})).text
        for response in ("", "Plan: 1 + 1", "Answer: 2", "Fact: legs(ants) = 2", "def f(x): return x", problem.target)
    }
    assert len(answers) == 1


def test_a_visible_plan_fact_and_draft_are_used() -> None:
    question = ask(_problem("fact").question)
    perfect = specialists(World(difficulty=0))[0]

    def after(response: str, subtask: str = "Compute it.") -> str:
        return perfect.complete(
            Call(subtask=subtask, visible=(VisibleStep(question=question, subtask="", response=response),))
        ).text

    assert after("Plan: 100 + 23").endswith("Answer: 123")
    needed = notes_of(perfect.complete(Call(question=question, subtask="Recall the facts.")).text).facts[0][0]
    assert f"Fact: {needed} = 77" in after(f"Fact: {needed} = 77")
    assert after("Plan: legs(dragons) * 2").startswith("I do not know what legs(dragons) is")
    assert after("Plan: 1 // 0").startswith("I can not compute")
    assert after("Answer: 5", "Give the final answer.") == "Answer: 5"
    assert after("Answer: 5\n\nAnswer: 6\n\nAnswer: 5", "Pick the most common answer.") == "Answer: 5"
    code = _problem("code").question
    draft = VisibleStep(question=ask(code), subtask="", response="def nonsense(a): return a")
    mended = perfect.complete(Call(subtask="Review the program.", visible=(draft,))).text
    assert judge(_problem("code"), mended).correct
    unseen = perfect.complete(
        Call(subtask="Review it.", visible=(VisibleStep(subtask="", response="def nonsense(a): return a"),))
    )
    assert "not given the question" in unseen.text
    assert format_program(notes_of(unseen.text).programs[0]) == "def nonsense(a):\n    return a"


def test_the_same_call_is_the_same_completion_and_another_sample_partly_another() -> None:
    problems = WORLD.problems(n=200, seed=6)

    def right(noise: float, sample: tuple[int, ...]) -> list[bool]:
        worker = specialists(WORLD, noise=noise)[AT["generalist"]]
        return [judge(p, worker.complete(Call(question=ask(p.question), sample=sample)).text).correct for p in problems]

    assert right(0.5, (1,)) == right(0.5, (1,))
    changed = {n: sum(a != b for a, b in zip(right(n, (1,)), right(n, (2,)), strict=True)) for n in (0.0, 0.5, 1.0)}
    assert changed[0.0] == 0
    assert 10 < changed[0.5] < changed[1.0]


def test_another_seed_is_another_world_with_the_same_levels() -> None:
    problems = WORLD.problems(kinds=("choice",), n=400, seed=6)
    workers = [specialists(World(seed=seed))[AT["generalist"]] for seed in (0, 1)]
    rows = [[judge(p, w.complete(Call.plain(p.question)).text).correct for p in problems] for w in workers]
    assert rows[0] != rows[1]
    assert all(_near(sum(row) / 400, 0.6) for row in rows)


def test_errors_are_independent_and_wrong_answers_differ() -> None:
    problems = WORLD.problems(kinds=("word",), n=300, seed=9)
    verdicts = [[judge(p, worker.complete(Call.plain(p.question)).text) for p in problems] for worker in POOL]
    both_wrong = agreed = 0
    for left, right in combinations(verdicts, 2):
        for a, b in zip(left, right, strict=True):
            both_wrong += not a.correct and not b.correct
            agreed += not a.correct and not b.correct and a.extracted == b.extracted
    assert agreed / both_wrong < 0.05
    alone = [sum(v.correct for v in row) / 300 for row in verdicts]
    together = sum(a.correct and b.correct for a, b in zip(verdicts[1], verdicts[4], strict=True)) / 300
    assert abs(together - alone[1] * alone[4]) < 0.09


_TEXTS = st.sampled_from(
    ["", "Plan: 3 + 4", "Fact: legs(ants) = 6", "Answer: 12", "def f(a): return a", "Hello.", "Answer: B\nPlan: 2 * 2", "```"]
)


@settings(deadline=None, max_examples=150)
@given(st.data())
def test_a_rendered_call_is_answered_like_the_call(data: st.DataObject) -> None:
    """What a specialist sees as chat messages behind a socket makes no difference."""
    problem = data.draw(st.sampled_from(_SOME))
    other = data.draw(st.sampled_from(_SOME))
    subtasks = st.sampled_from(
        [
            *SUBTASKS.values(),
            "",
            f"Solve this:\n\n{problem.question}",
            f"{other.question}\n\nPlan only.",
            "Give the final answer.",
        ]
    )
    steps = [Step(worker=0, subtask=data.draw(subtasks))]
    for i in range(1, data.draw(st.integers(1, 4))):
        access = tuple(sorted(data.draw(st.sets(st.integers(0, i - 1)))))
        steps.append(Step(worker=0, subtask=data.draw(subtasks), access=access))
    responses = {i: data.draw(_TEXTS) for i in range(len(steps))}
    question = (*data.draw(st.sampled_from(_PASTS)), Message(role="user", content=problem.question))
    call = call_for(Workflow(steps=tuple(steps)), len(steps) - 1, question, responses)
    rendered = Call(question=render(call), sample=call.sample)
    for worker in POOL:
        assert worker.complete(call) == worker.complete(rendered)


_SOME = [problem for kind in ALL for problem in WORLD.problems(kinds=(kind,), n=4)]
_PASTS: list[tuple[Message, ...]] = [
    (),
    (Message(role="system", content="Be brief. Answer: 1"),),
    (Message(role="user", content=_SOME[0].question), Message(role="assistant", content="Plan: 1 + 1\nAnswer: 2")),
]


def test_notes_on_another_question_do_not_count() -> None:
    first, second = _SOME[0], _SOME[1]
    past = (Message(role="user", content=first.question), Message(role="assistant", content="Plan: 1 + 1\nAnswer: 2"))
    for worker in POOL:
        alone = worker.complete(Call.plain(second.question))
        again = worker.complete(Call(question=(*past, Message(role="user", content=second.question))))
        assert again.text == alone.text


@given(st.text(max_size=400), st.text(max_size=100), st.text(max_size=400))
def test_any_text_gets_a_reply(question: str, subtask: str, response: str) -> None:
    seen = VisibleStep(question=ask(question), subtask=subtask, response=f"Plan: {response}\nFact: {response}\ndef {response}")
    for worker in POOL[:2]:
        assert worker.complete(Call(question=ask(question), subtask=subtask, visible=(seen,))).text


async def test_usage_price_latency_streaming_and_the_token_limit() -> None:
    worker: Worker = BY["generalist"]
    heard: list[str | None] = []
    question = _problem("fact").question
    done = await worker(Call(question=ask(question), on_token=heard.append))
    assert "".join(part or "" for part in heard) == done.text
    assert (done.usage.prompt_tokens, done.usage.completion_tokens) == (-(-len(question) // 4), -(-len(done.text) // 4))
    assert done.usage.cost_usd == pytest.approx(done.usage.prompt_tokens * 3e-6 + done.usage.completion_tokens * 15e-6)
    assert done.seconds == pytest.approx(1.2 + done.usage.completion_tokens / 60)
    cut = await worker(Call(question=ask(question), sampling=Sampling(max_tokens=2)))
    assert (cut.finish_reason, cut.text) == ("length", done.text[:8])


async def test_latency_is_slept_where_asked_for_and_can_be_cancelled() -> None:
    worker = specialists(WORLD, sleep_scale=1.0)[0]
    task = asyncio.create_task(worker(Call.plain("?")))
    await asyncio.sleep(0.02)
    assert not task.done()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


def test_cards_tell_the_price_and_not_the_trade() -> None:
    for worker in POOL:
        assert worker.card.prompt_usd is not None
        said = f"{worker.card.name} {worker.card.about}"
        assert not any(trade in said for trade in AT)
    assert len({worker.card.about for worker in POOL}) == 1


def test_number_of_workers_and_skills_are_parameters() -> None:
    assert [len(specialists(WORLD, n)) for n in (1, 3, 7, 9)] == [1, 3, 7, 9]
    assert [w.profile.trade for w in specialists(WORLD, 3)] == ["calculator", "generalist", "reader"]
    assert len({w.name for w in specialists(WORLD, 12)}) == 12
    changed = specialists(WORLD, skills={"brook": {"recall": 1.0}})
    problems = WORLD.problems(kinds=("choice",), n=50)
    assert Gauge(changed, problems).accuracy(_workflow(("generalist", "answer", ()))) == 1.0
    for wrong in ({"nobody": {"recall": 1.0}}, {"brook": {"cooking": 1.0}}, {"brook": {"recall": 1.5}}):
        with pytest.raises(ConfigError):
            specialists(WORLD, skills=wrong)
    with pytest.raises(ConfigError):
        specialists(WORLD, 0)
    with pytest.raises(ConfigError):
        specialists(WORLD, noise=2)


def test_asking_one_worker_again_and_voting_helps_a_little() -> None:
    """Noise 0.5: five samples and a vote beat one sample, and stay far below what the right workers reach."""
    problems = WORLD.problems(kinds=("word",), n=300, seed=10)
    worker = BY["generalist"]
    voted = 0
    for problem in problems:
        texts = [worker.complete(Call(question=ask(problem.question), sample=(i,))).text for i in range(5)]
        verdicts = [judge(problem, text) for text in texts]
        winner = Counter(v.extracted for v in verdicts).most_common(1)[0][0]
        voted += any(v.correct and v.extracted == winner for v in verdicts)
    assert 0.55 < voted / 300 < 0.8
