"""The vote counts what answers say; what it may not see is the policy's doing."""

import pytest

from podium.conduct import Conductor
from podium.errors import Blame, UnworkableStep
from podium.policies.fixed import FixedPolicy, consensus, mixture_of_agents
from podium.policies.voting import with_vote
from podium.types import Call, Step, VisibleStep, Workflow, ask
from podium.workers.vote import MajorityVote
from tests.workflows import pool_of

WRONG = "Sure.\n\n```python\ndef add(a, b):\n    return a - b\n```"
RIGHT = "```python\ndef add(a, b):\n    return a + b\n```"
ALSO_RIGHT = "It adds:\n\n```python\ndef add(a, b):\n    # the sum\n    return (a + b)\n```\nThat is all."


def seen(*responses: str, question: str = "Write a function add(a, b).") -> Call:
    first = VisibleStep(question=ask(question), subtask="Answer.", response=responses[0])
    return Call(subtask="Vote.", visible=(first, *(VisibleStep(subtask="Answer.", response=text) for text in responses[1:])))


def voting(*responses: str) -> Conductor:
    """Workers that answer with ``responses``, and the vote that pools get."""
    workers = pool_of(*(lambda call, text=text: text for text in responses))
    return Conductor(mixture_of_agents(len(workers), layer=range(len(workers))), with_vote(workers), max_steps=9)


async def test_programs_that_are_the_same_outvote_the_first() -> None:
    assert (await voting(WRONG, RIGHT, ALSO_RIGHT)(Call.plain("Write a function add(a, b)."))).text == RIGHT


async def test_consensus_over_programs_is_not_the_first_sample() -> None:
    said = iter([WRONG, RIGHT, ALSO_RIGHT, RIGHT, WRONG.replace("-", "*")])
    pool = with_vote(pool_of(lambda call: next(said)))
    completion = await Conductor(consensus(0, judge=1), pool, max_steps=6)(Call.plain("Write a function add(a, b)."))
    assert completion.text == RIGHT


async def test_letters_count_by_the_letter() -> None:
    question = "The capital of Peru?\n\nA) Quito\nB) Lima"
    answers = ("Answer: A) Quito", "The answer is B.", "Answer: B) Lima")
    assert (await voting(*answers)(Call.plain(question))).text == answers[1]


async def test_templates_and_empty_answers_have_no_vote_and_ties_go_to_the_earliest() -> None:
    assert (await voting("Answer: ___", "", "Answer: ___", "Answer: 42")(Call.plain("?"))).text == "Answer: 42"
    assert (await voting("Answer: 2", "Answer: 1", "Answer: 1", "Answer: 2")(Call.plain("?"))).text == "Answer: 2"


async def test_where_nobody_says_anything_the_first_is_passed_on_to_be_judged() -> None:
    assert (await voting("Answer: ___", "")(Call.plain("?"))).text == "Answer: ___"


async def test_steps_that_stand_alone_tell_the_question_in_their_subtask() -> None:
    asked: list[str] = []

    def read(question: str, texts: object) -> list[str | None]:
        asked.append(question)
        return ["x", "x"]

    alone = tuple(VisibleStep(subtask=text, response="1") for text in ("6 times 7?", "6 times 7?"))
    await MajorityVote(read)(Call(subtask="Vote.", visible=alone))
    await MajorityVote(read)(seen("1", "2", question="Peru?"))
    assert asked == ["6 times 7?", "Peru?"]


async def test_a_vote_that_sees_nothing_is_the_policys_failure() -> None:
    blind = Workflow(steps=(Step(worker=0, subtask="Answer."), Step(worker=1, subtask="Vote.")))
    with pytest.raises(UnworkableStep, match="may see no step") as failure:
        await Conductor(FixedPolicy(blind), with_vote(pool_of(lambda call: "42")))(Call.plain("?"))
    assert failure.value.blame is Blame.POLICY
