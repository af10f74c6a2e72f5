"""Workflows with one part replaced."""

import random

import pytest
from hypothesis import given

from podium.conduct import Conductor
from podium.errors import ConfigError
from podium.policies.ablated import AblatedPolicy, any_worker, change_named, one_worker, plain_subtasks, random_access
from podium.policies.fixed import FixedPolicy
from podium.types import Call, Step, Workflow
from podium.workflow.parse import parse
from podium.workflow.syntax import FIXED_SUBTASK, WorkflowSyntax
from tests.workflows import WORKERS, brief, pool_of, workflows

NAMES = ("a", "b", "c", "d")


@given(workflows())
def test_one_part_changes_and_the_others_stay(workflow: Workflow) -> None:
    shown, rng = brief(), random.Random(1)

    def parts(changed: Workflow) -> tuple[list[int], list[str], list[tuple[int, ...]]]:
        steps = changed.steps
        return [s.worker for s in steps], [s.subtask for s in steps], [s.access for s in steps]

    workers, subtasks, access = parts(workflow)
    assert parts(one_worker(2)(workflow, shown, rng)) == ([2] * len(workers), subtasks, access)
    drawn = parts(any_worker(workflow, shown, rng))
    assert drawn[1:] == (subtasks, access)
    assert all(0 <= worker < WORKERS for worker in drawn[0])
    plain = parts(plain_subtasks(workflow, shown, rng))
    assert (plain[0], plain[2]) == (workers, access)
    assert all(text.endswith(FIXED_SUBTASK) for text in plain[1])
    assert all("6 times 7?" in text for text in plain[1][1:])
    shuffled = parts(random_access(workflow, shown, rng))
    assert shuffled[:2] == (workers, subtasks)


async def test_the_same_question_gets_the_same_change_and_what_is_invalid_stays() -> None:
    workflow = Workflow(steps=tuple(Step(worker=0, subtask="Do.") for _ in range(5)))
    altered = AblatedPolicy(FixedPolicy(workflow), WorkflowSyntax(), any_worker)
    [first], [again] = await altered.write(brief()), await altered.write(brief())
    assert first.text == again.text
    assert parse(first.text, brief()) != workflow
    [other] = await altered.write(brief(question="7 times 6?"))
    assert other.text != first.text
    [invalid] = await AblatedPolicy(FixedPolicy("no lists"), WorkflowSyntax(), any_worker).write(brief())
    assert invalid.text == "no lists"
    [later] = await altered.write(brief(rounds_done=1))
    assert parse(later.text, brief(rounds_done=1)) == workflow


async def test_a_binary_policy_conducts_with_changed_access() -> None:
    text = 'model_id = [0, 1]\nsubtasks = ["A.", "B."]\naccess_list = [[], "all"]'
    policy = AblatedPolicy(FixedPolicy(text), WorkflowSyntax(access="binary"), one_worker(1))
    completion = await Conductor(policy, pool_of("zero", "one"))(Call.plain("6 times 7?"))
    assert [result.worker for result in completion.transcripts[0].results] == ["w1", "w1"]
    assert completion.transcripts[0].results[1].step.access == (0,)


def test_changes_by_name() -> None:
    workflow = Workflow(steps=(Step(worker=0, subtask="Do."),))
    assert change_named("workers=c", NAMES)(workflow, brief(), random.Random(0)).steps[0].worker == 2
    assert change_named("access=random", NAMES) is random_access
    for unknown in ("workers=e", "colour=red", "access"):
        with pytest.raises(ConfigError, match="there is no change"):
            change_named(unknown, NAMES)
