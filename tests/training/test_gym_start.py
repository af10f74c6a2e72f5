"""The start in the gym: every text is a valid workflow, fits its kind, and knows nothing of the workers."""

import random
from collections import Counter
from dataclasses import replace

import pytest

from podium.conditions import ALWAYS, IF_FAILED, agree
from podium.gym.kinds import KINDS, PARTS
from podium.gym.world import draw_world
from podium.recipes.gym import conditional, config, drawn
from podium.recipes.gym_start import NAMES, PLANS, TOPICS, uninformed
from podium.training.imitation import warm_started
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


@pytest.mark.parametrize("draw", [6, 3])
def test_the_start_in_a_drawn_world_knows_of_every_worker(draw: int) -> None:
    start, size = drawn(draw).warm_start, len(draw_world(draw).profiles)
    assert start is not None
    assert size in (5, 11)
    policy = warm_started(replace(start, steps=2), WorkflowSyntax(access="positions"))
    assert start.workers == (size,)
    assert len(policy.tokens.worker_ids()) == max(10, size)


def test_access_is_open_for_those_who_recall_facts_and_for_nobody_else() -> None:
    rng, syntax = random.Random(0), WorkflowSyntax(access="positions")
    seen: dict[str, Counter[tuple[int, ...]]] = {}
    for _ in range(1000):
        written = uninformed("bundle", BRIEF, rng, syntax)
        workflow = parse(written.text, BRIEF, syntax)
        assert workflow is not None
        if len(workflow.steps) == 4:
            for step, topic in zip(workflow.steps, written.topics, strict=True):
                seen.setdefault(TOPICS[topic][1], Counter())[step.access] += 1
    facts = seen.pop("made")
    assert set(facts) == {(0,), (0, 1)}
    assert 0.35 < facts[0,] / facts.total() < 0.65, "neither is favoured: which is better is left to be learned"
    assert {part: list(each) for part, each in seen.items()} == {"plan": [()], "nature": [(0,)], "compute": [(0, 1, 2)]}


def test_conditions_are_open_for_those_who_check_and_for_nobody_else() -> None:
    rng, syntax = random.Random(0), conditional().syntax
    seen: dict[tuple[str, int], Counter[str]] = {}
    for _ in range(1500):
        written = uninformed("story", BRIEF, rng, syntax)
        workflow = parse(written.text, BRIEF, syntax)
        assert workflow is not None
        for step, topic in zip(workflow.steps, written.topics, strict=True):
            seen.setdefault((TOPICS[topic][1], len(step.access)), Counter())[step.condition] += 1
    checks = {sees: each for (part, sees), each in seen.items() if part == "verify"}
    assert set(checks[1]) == {ALWAYS, IF_FAILED}, "one answer agrees with nothing"
    assert set(checks[2]) == {ALWAYS, IF_FAILED, agree(2)}
    assert all(min(each.values()) > 0.7 * each.total() / len(each) for each in checks.values()), "none is favoured"
    assert {text for (part, _), each in seen.items() if part != "verify" for text in each} == {ALWAYS}
    assert ALWAYS not in uninformed("story", BRIEF, rng, config().syntax).text, "the paper's language has three lists"


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
