"""The baselines write what they say they write, and it passes the parser."""

import pytest

from podium.conduct import Conductor
from podium.errors import ConfigError
from podium.gym.subtasks import verbs_in
from podium.policies.fixed import FunctionPolicy, by_kind, consensus, mixture_of_agents, self_reflection, solo
from podium.types import Call, Message, Step, Workflow, ask
from podium.workers.vote import MajorityVote
from podium.workflow.parse import parse
from tests.workflows import brief, pool_of


async def workflow_of(policy: FunctionPolicy, *, workers: int = 4) -> Workflow:
    shown = brief(max_steps=8, workers=workers)
    [generation] = await policy.write(shown)
    workflow = parse(generation.text, shown)
    assert workflow is not None
    return workflow


async def test_solo_is_one_step() -> None:
    assert [(s.worker, s.access) for s in (await workflow_of(solo(3))).steps] == [(3, ())]


async def test_self_reflection_is_a_chain_that_sees_all_before() -> None:
    steps = (await workflow_of(self_reflection(1))).steps
    assert [s.worker for s in steps] == [1] * 5
    assert [s.access for s in steps] == [(), (0,), (0, 1), (0, 1, 2), (0, 1, 2, 3)]


async def test_consensus_asks_independently_and_every_step_knows_the_question() -> None:
    workflow = await workflow_of(consensus(2, judge=3))
    assert [s.worker for s in workflow.steps] == [2] * 5 + [3]
    assert workflow.waves == ((0, 1, 2, 3, 4), (5,))
    assert all("6 times 7?" in step.subtask for step in workflow.steps[1:5])


async def test_mixture_of_agents_asks_everyone_once() -> None:
    workflow = await workflow_of(mixture_of_agents(1), workers=7)
    assert [s.worker for s in workflow.steps] == [0, 1, 2, 3, 4, 5, 6, 1]
    assert workflow.steps[-1].access == tuple(range(7))


async def test_a_conversation_is_repeated_whole_in_independent_steps() -> None:
    seen: list[str] = []
    pool = pool_of(lambda call: seen.append(call.subtask) or "x")  # type: ignore[func-returns-value]
    conversation = (*ask("Remember 6."), Message(role="assistant", content="I will."), *ask("Times 7?"))
    await Conductor(consensus(0, judge=0, samples=2), pool)(Call(question=conversation))
    assert all(text in seen[1] for text in ("Remember 6.", "I will.", "Times 7?"))


async def test_baselines_keep_their_answer_in_a_second_round() -> None:
    [generation] = await solo(0).write(brief(rounds_done=1))
    assert parse(generation.text, brief(rounds_done=1)) is None


async def test_by_kind_looks_the_workflow_up() -> None:
    known = {"times": Workflow(steps=(Step(worker=2, subtask="Multiply."),))}
    assert await workflow_of(by_kind(lambda text: "times" if "times" in text else "other", known)) == known["times"]
    with pytest.raises(ConfigError, match="no workflow is known for questions of kind 'other'"):
        await by_kind(lambda text: "other", known).write(brief())


async def test_the_vote_counts_answers_not_spellings() -> None:
    answers = iter(["it is 42", "41", "= 42", "42", "43"])
    pool = pool_of(lambda call: next(answers), MajorityVote(lambda question, texts: [text.split()[-1] for text in texts]))
    completion = await Conductor(consensus(0, judge=1), pool, max_steps=6)(Call.plain("6 times 7?"))
    assert completion.text == "it is 42"


async def test_who_mixes_answers_is_asked_to_check_them_and_not_to_repeat_one() -> None:
    mixed = (await workflow_of(mixture_of_agents(1))).steps[-1].subtask
    checked = (await workflow_of(self_reflection(1))).steps[-1].subtask
    assert verbs_in(mixed) == verbs_in(checked) == {"verify", "report"}
    assert "verify" in verbs_in("Weigh these answers against each other and give the final answer.")
    assert verbs_in((await workflow_of(consensus(0, judge=1))).steps[-1].subtask) == {"report"}
