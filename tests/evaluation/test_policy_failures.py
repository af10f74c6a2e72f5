"""What a policy caused is counted as wrong and punished, whatever the world does meanwhile; what the world caused is not."""

from collections.abc import Callable

import pytest

from podium.conduct import Conductor
from podium.errors import ContextOverflow, WorkerUnavailable
from podium.evaluation.evaluate import Result, evaluate
from podium.evaluation.metrics import summarise
from podium.policies.fixed import FixedPolicy, FunctionPolicy, solo
from podium.protocols import Worker
from podium.tasks.agreement import votes
from podium.training.reward import reward
from podium.types import Brief, Call, Completion, Problem, Step, Verdict, Workflow
from podium.workers.recorded import Recorded
from podium.workers.vote import MajorityVote
from tests.workflows import pool_of


class Small:
    """A worker whose context holds so many characters."""

    def __init__(self, characters: int) -> None:
        self._characters = characters

    async def __call__(self, call: Call) -> Completion:
        shown = len(call.subtask) + sum(len(m.content) for m in call.question) + sum(len(e.response) for e in call.visible)
        if shown > self._characters:
            raise ContextOverflow(f"{shown} characters do not fit")
        return Completion(text="Answer: 42")


class Down:
    async def __call__(self, call: Call) -> Completion:
        raise WorkerUnavailable("HTTP 503")


async def verify(problem: Problem, answer: str) -> Verdict:
    return Verdict(correct="42" in answer, extracted=answer)


def step(worker: int, *access: int) -> Step:
    return Step(worker=worker, subtask="Go.", access=access)


LONG = "long " * 100
VOTE = MajorityVote(lambda question, texts: votes(texts, question=question))
POOL: tuple[Worker | str | Callable[[Call], str], ...] = (
    "Answer: 42", VOTE, Small(200), LONG, Recorded({"6 times 7?": "Answer: 42"}, "llama"), Down(),
)  # fmt: skip
BROKEN = {
    "a vote that sees nothing": (step(0), step(1)),
    "a vote alone": (step(1),),
    "an access list that does not fit": (step(3), step(2, 0)),
    "a recording that is asked nothing": (step(0), step(4)),
    "a blind vote in the middle": (step(0), step(1), step(0, 0, 1)),
    "a blind vote while another worker is down": (step(5), step(1), step(0, 0, 1)),
    "a blind vote while another worker is down, the other way round": (step(1), step(5), step(0, 0, 1)),
}


async def result_of(*steps: Step) -> Result:
    conductor = Conductor(FixedPolicy(Workflow(steps=steps)), pool_of(*POOL))
    problem = Problem(question="6 times 7?", target="42", kind="word", source="test")
    [found] = await evaluate({"arm": conductor}, [problem], verify)
    return found


@pytest.mark.parametrize("steps", BROKEN.values(), ids=BROKEN)
async def test_what_fails_whatever_the_world_does_is_the_policys(steps: tuple[Step, ...]) -> None:
    found = await result_of(*steps)
    assert found.is_policy_failure
    assert found.is_unworkable
    assert not found.is_world_fault
    assert found.invalid_rounds == 0, "its lists were sound"
    assert reward(found.failure, None) == 0.0


async def test_a_worker_that_is_down_is_still_the_worlds() -> None:
    found = await result_of(step(0), step(5, 0))
    assert found.is_world_fault
    assert reward(found.failure, None) is None


async def test_ten_wrong_plans_of_twenty_are_half_of_the_accuracy() -> None:
    def plan(asked: Brief) -> Workflow:
        return Workflow(steps=(step(0), step(1, *([0] if int(asked.question[0].content) % 2 else []))))

    problems = [Problem(question=str(number), target="42", kind="word", source="test") for number in range(20)]
    [row] = summarise(await evaluate({"arm": Conductor(FunctionPolicy(plan), pool_of(*POOL))}, problems, verify))
    assert (row.accuracy, row.n, row.unworkable, row.invalid, row.world_faults) == (0.5, 20, 10, 0, 0)
    assert row.correct_given_valid == 0.5


async def test_a_question_too_long_for_the_chosen_worker_is_the_policys_choice_and_a_bare_workers_wrong_answer() -> None:
    problem = Problem(question=LONG, target="42", kind="word", source="test")
    arms: dict[str, Worker] = {"chosen": Conductor(solo(0), pool_of(Small(200))), "bare": Small(200)}
    for found in await evaluate(arms, [problem], verify):
        assert found.is_unworkable
    assert {row.arm: row.accuracy for row in summarise(await evaluate(arms, [problem], verify))} == {"chosen": 0.0, "bare": 0.0}
