"""The start in the world for steps with a condition: valid, uninformed, and conditions stay free to be learned."""

import random
import re
from collections import Counter

import pytest

from podium.conditions import ALWAYS
from podium.gym.stopping.world import KINDS, WORLD
from podium.recipes.gym_stopping import config, without
from podium.recipes.gym_stopping_start import TOPICS, written_for
from podium.training.rows import draft_rows
from podium.types import Brief, Card, ask
from podium.workflow.parse import parse

BRIEF = Brief(question=ask("?"), cards=tuple(Card(name=f"worker {i}") for i in range(5)), max_steps=3)


@pytest.mark.parametrize("recipe", [config, without])
def test_every_text_of_the_start_is_a_workflow_that_knows_nothing(recipe: object) -> None:
    syntax = recipe().syntax  # type: ignore[operator]
    rng, workers, conditions = random.Random(0), Counter[int](), Counter[str]()
    for problem in WORLD.problems(kinds=KINDS, n=600, seed=5):
        written = written_for(problem, BRIEF, rng, syntax)
        workflow = parse(written.text, BRIEF, syntax)
        assert workflow is not None
        assert [TOPICS[topic][0].split(",")[0] for topic in written.topics] == [problem.kind] * len(workflow.steps)
        asked = [step.worker for step in workflow.steps]
        assert len(set(asked)) == len(asked), "a second opinion is another worker's"
        if len(asked) > 1:
            assert TOPICS[written.topics[1]][1] == f"second after {asked[0]}"
        workers.update(asked)
        conditions.update(step.condition for step in workflow.steps[2:])
    expected = workers.total() / 5
    assert all(abs(workers[worker] - expected) < 5 * expected**0.5 for worker in range(5)), "drawn uniformly"
    assert set(conditions) == ({ALWAYS, "unless 2 agree"} if syntax.conditions else {ALWAYS})
    if syntax.conditions:
        assert 0.3 < conditions[ALWAYS] / conditions.total() < 0.7


def test_every_pair_of_kind_and_part_has_a_direction_of_its_own() -> None:
    assert len({kind for kind, _ in TOPICS}) == len(TOPICS) == 3 * (3 + 5), "whom to ask second depends on who was asked first"


def test_the_two_recipes_differ_in_the_fourth_list_only() -> None:
    one, other = config(4), without(4)
    differ = {name for name in type(one).__slots__ if getattr(one, name) != getattr(other, name)}
    assert {name for name in differ if not callable(getattr(one, name))} - {"warm_start"} == {"name", "syntax"}
    assert one.problems() == other.problems()


def test_drafts_leave_free_when_a_step_is_carried_out() -> None:
    text = 'model_id = [3, 0]\nsubtasks = ["A \\"b", "C."]\naccess_list = [[], "all"]\nconditions = ["always", "unless 2 agree"]'
    conditions = text.index("conditions")
    for pieces in (re.findall(r"\w+|\W", text), re.findall(r"\W*\w+|\W+$", text), list(text)):
        starts = [sum(map(len, pieces[:index])) for index in range(len(pieces))]

        def ids(brief: Brief, so_far: str, count: int = len(pieces)) -> list[int]:
            return [0, *range(count)] if so_far else [0]

        [row] = draft_rows([(BRIEF, text)], ids, lambda tokens, p=pieces: [p[token] for token in tokens])  # type: ignore[misc]
        free = {index for index in row.choices if starts[index] + len(pieces[index]) > conditions}
        quotes = [at for at in range(conditions, len(text)) if re.match(r'"\w', text[at:])]
        covers = {index for index, at in enumerate(starts) for q in quotes if at < q + 2 and at + len(pieces[index]) > q}
        assert free == covers, "the quote and the first letter of each condition, in whatever tokens they stand"
