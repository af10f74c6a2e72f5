"""The workers of the gym: information flows only where it is shown, chance is no state, and any text gets a reply."""

import asyncio
from statistics import fmean

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podium.access import call_for
from podium.errors import ConfigError
from podium.gym import KINDS, UNTRAINED_KINDS, World, specialists
from podium.gym.attempt import NOT_GIVEN
from podium.gym.expressions import format_program
from podium.gym.kinds import PARTS
from podium.gym.reading import notes_of
from podium.gym.verify import judge
from podium.gym.wordings import PLAIN
from podium.protocols import Worker
from podium.types import Call, Message, Problem, Sampling, Step, VisibleStep, Workflow, ask
from podium.workers.render import render

WORLD = World()
POOL = specialists(WORLD)
ALL = KINDS + UNTRAINED_KINDS


def _problem(kind: str) -> Problem:
    return WORLD.problems(kinds=(kind,), n=1)[0]


def test_without_difficulty_everyone_solves_everything_alone() -> None:
    easy = World(difficulty=0)
    for kind in ALL:
        for split in ("train", "held_out_numbers", "held_out_templates"):
            for problem in easy.problems(kinds=(kind,), split=split, n=80):
                for worker in specialists(easy)[:2]:
                    # Only what is seen and worded badly still costs something, so the question is put in its own words.
                    named = Call(question=ask(problem.question), subtask=_asking(kind))
                    assert judge(problem, worker.complete(named).text).correct, problem


def _asking(kind: str) -> str:
    words = {"story": "the story", "price": "the story", "code": "the program", "versus": "both"}
    words |= dict.fromkeys(("choice", "language"), "the options") | dict.fromkeys(("bundle", "measure"), "the units")
    return f"Answer the question on {words.get(kind, 'common knowledge')}."


def test_difficulty_makes_the_world_harder() -> None:
    def alone(difficulty: float) -> float:
        world = World(difficulty=difficulty)
        [ember] = [worker for worker in specialists(world) if worker.name == "ember"]
        problems = world.problems(n=400)
        return fmean(judge(p, ember.complete(Call.plain(p.question)).text).correct for p in problems)

    assert alone(0.5) > alone(1.0) + 0.1 > alone(2.0) + 0.15


@pytest.mark.parametrize("verb", PLAIN)
def test_who_was_shown_nothing_says_so(verb: str) -> None:
    for worker in POOL:
        assert worker.complete(Call(subtask=PLAIN[verb])).text == NOT_GIVEN
        blind = Call(subtask=PLAIN[verb], visible=(VisibleStep(subtask="Say hello.", response="Hello."),))
        assert not judge(_problem("story"), worker.complete(blind).text).correct
        assert "Plan: " not in worker.complete(blind).text


@pytest.mark.parametrize("kind", ALL)
def test_texts_flow_only_along_the_access_lists(kind: str) -> None:
    """The last step does not see the planner's response: whatever it says, the answer stays the same."""
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
    question = ask(_problem("knowledge").question)
    perfect = specialists(World(difficulty=0))[0]

    def after(response: str, subtask: str = "Compute it from what is well known.") -> str:
        return perfect.complete(
            Call(subtask=subtask, visible=(VisibleStep(question=question, subtask="", response=response),))
        ).text

    assert after("Plan: 100 + 23").endswith("Answer: 123")
    needed = notes_of(perfect.complete(Call(question=question, subtask="Recall the facts.")).text).facts[0][0]
    assert f"Fact: {needed} = 77" in after(f"Fact: {needed} = 77", "Answer the question.")
    assert after("Plan: legs(dragons) * 2", "Answer the question.").startswith("I do not know what legs(dragons) is")
    assert after("Plan: 1 // 0").startswith("I can not compute")
    code = _problem("code").question
    draft = VisibleStep(question=ask(code), subtask="", response="def nonsense(a): return a")
    mended = perfect.complete(Call(subtask="Review the program.", visible=(draft,))).text
    assert judge(_problem("code"), mended).correct
    unseen = perfect.complete(
        Call(subtask="Give the final answer.", visible=(VisibleStep(subtask="", response="def nonsense(a): return a"),))
    )
    assert format_program(notes_of(unseen.text).programs[0]).startswith("def nonsense(a):")


def test_the_same_call_is_the_same_completion_and_another_sample_partly_another() -> None:
    problems = WORLD.problems(n=200, seed=6)

    def right(noise: float, sample: tuple[int, ...]) -> list[bool]:
        worker = specialists(WORLD, noise=noise)[4]
        return [judge(p, worker.complete(Call(question=ask(p.question), sample=sample)).text).correct for p in problems]

    assert right(0.5, (1,)) == right(0.5, (1,))
    changed = {n: sum(a != b for a, b in zip(right(n, (1,)), right(n, (2,)), strict=True)) for n in (0.0, 0.5, 1.0)}
    assert changed[0.0] == 0
    assert 10 < changed[0.5] < changed[1.0]


def test_another_seed_is_another_luck_at_the_same_levels() -> None:
    problems = WORLD.problems(kinds=("choice",), n=400, seed=6)
    workers = [specialists(World(seed=seed))[4] for seed in (0, 1)]
    rows = [[judge(p, w.complete(Call.plain(p.question)).text).correct for p in problems] for w in workers]
    assert rows[0] != rows[1]
    assert fmean(rows[0]) == pytest.approx(fmean(rows[1]), abs=0.12)


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
        [*PLAIN.values(), "", f"Solve this:\n\n{problem.question}", f"{other.question}\n\nPlan only.", "Answer on your own."]
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
    worker: Worker = POOL[4]
    profile = POOL[4].profile
    heard: list[str | None] = []
    question = _problem("knowledge").question
    done = await worker(Call(question=ask(question), on_token=heard.append))
    assert "".join(part or "" for part in heard) == done.text
    assert (done.usage.prompt_tokens, done.usage.completion_tokens) == (-(-len(question) // 4), -(-len(done.text) // 4))
    price = done.usage.prompt_tokens * profile.prompt_usd + done.usage.completion_tokens * profile.completion_usd
    assert done.usage.cost_usd == pytest.approx(price)
    assert done.seconds == pytest.approx(profile.latency_seconds + done.usage.completion_tokens / profile.tokens_per_second)
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


def test_cards_tell_the_price_and_not_what_somebody_is_good_at() -> None:
    for worker in POOL:
        assert worker.card.prompt_usd is not None
        said = f"{worker.card.name} {worker.card.about}"
        assert not any(word in said for word in (*ALL, *(part for parts in PARTS.values() for part in parts)))
    assert len({worker.card.about for worker in POOL}) == 1
    with pytest.raises(ConfigError, match=r"noise is a share in 0\.\.1"):
        specialists(WORLD, noise=2)
