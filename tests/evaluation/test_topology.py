"""The word for a workflow's shape."""

import pytest
from hypothesis import given

from podium.evaluation.topology import TOPOLOGIES, topology
from podium.types import Step, Workflow
from tests.workflows import workflows


def shaped(*access: tuple[int, ...]) -> Workflow:
    return Workflow(steps=tuple(Step(worker=0, subtask="Do.", access=seen) for seen in access))


@pytest.mark.parametrize(
    ("workflow", "word"),
    [
        (shaped(()), "single"),
        (shaped((), (0,)), "chain"),
        (shaped((), (0,), (1,)), "chain"),
        (shaped((), (0,), (0, 1)), "chain"),
        (shaped((), (), (0, 1)), "fan-in"),
        (shaped((), (), (), (0, 1, 2)), "fan-in"),
        (shaped((), (), (0, 1), (), (2, 3)), "tree"),
        (shaped((), (), (1,), (0, 2)), "tree"),
        (shaped((), ()), "mixed"),
        (shaped((), (), (0,)), "mixed"),
        (shaped((), (0,), (0,), (1, 2)), "mixed"),
    ],
)
def test_shapes(workflow: Workflow, word: str) -> None:
    assert topology(workflow) == word


@given(workflows())
def test_every_workflow_has_one(workflow: Workflow) -> None:
    assert topology(workflow) in TOPOLOGIES
    assert (topology(workflow) == "single") == (len(workflow.steps) == 1)
