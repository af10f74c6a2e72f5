"""The start in the gym: every text is a valid workflow, fits its kind, and knows nothing of the workers."""

import random
from collections import Counter

import pytest

from podium.gym.kinds import KINDS, PARTS
from podium.recipes.gym import config
from podium.recipes.gym_start import NAMES, PLANS, TOPICS, uninformed
from podium.types import Brief, Card, ask
from podium.workflow.parse import parse
from podium.workflow.syntax import WorkflowSyntax

BRIEF = Brief(question=ask("?"), cards=tuple(Card(name=f"worker {i}") for i in range(7)))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("access", ["positions", "binary"])
def test_every_text_of_the_start_is_a_workflow(kind: str, access: str) -> None:
    syntax = WorkflowSyntax(access="binary") if access == "binary" else WorkflowSyntax(access="positions")
    rng = random.Random(0)
    workers: Counter[int] = Counter()
    for _ in range(300):
        written = uninformed(kind, BRIEF, rng, syntax)
        assert written.text.startswith(f"{NAMES[kind]}: ")
        workflow = parse(written.text, BRIEF, syntax)
        assert workflow is not None
        assert len(workflow.steps) == len(written.topics)
        assert {TOPICS[topic][0].partition(", ")[0] for topic in written.topics} == {kind}
        workers.update(step.worker for step in workflow.steps)
    expected = workers.total() / 7
    assert all(abs(workers[worker] - expected) < 5 * expected**0.5 for worker in range(7)), "drawn uniformly"


def test_the_plans_hold_every_part_of_the_work_and_others_besides() -> None:
    for kind, parts in PARTS.items():
        named = {part for plan in PLANS[kind] for part in plan}
        assert set(parts) - {"recall"} <= named
        assert len(PLANS[kind]) >= 3, "which plan is best is left to be learned"


def test_the_recipe_is_of_the_budget_of_the_paper() -> None:
    run = config(3)
    assert run.iterations * run.problems_per_step * run.group_size == 51_200
    assert {problem.kind for problem in run.problems()} == set(KINDS)
    assert {problem.split for problem in run.problems()} == {"train"}
