"""What can be tried is always a workflow, whatever was changed of it, and equal calls have equal names."""

import random

from hypothesis import given
from hypothesis import strategies as st

from podium.policies.tuned_record import QUESTION, asked
from podium.tuning.candidates import Candidate, changed, ending_at, prefixes, solo, staffed, workflow
from podium.tuning.catalogue import GENERAL
from podium.types import Workflow
from podium.workflow.parse import format_workflow, parse
from tests.workflows import brief

WORKERS = 4


@st.composite
def candidates(draw: st.DrawFn) -> Candidate:
    """A plan with any workers, changed a few times."""
    rng = random.Random(draw(st.integers(0, 10_000)))
    candidate = staffed(plan := draw(st.sampled_from(GENERAL.plans)), [rng.randrange(WORKERS) for _ in plan])
    for _ in range(draw(st.integers(0, 8))):
        candidate = changed(candidate, range(WORKERS), rng, 5)
    return candidate


@given(candidates(), st.text(max_size=80).filter(lambda text: bool(text.strip())))
def test_every_candidate_is_a_workflow_that_the_parser_reads_back(candidate: Candidate, question: str) -> None:
    made = asked(workflow(candidate), question)
    assert isinstance(made, Workflow)
    assert parse(format_workflow(made), brief(workers=WORKERS)) == made
    assert 1 <= len(candidate) <= 5
    assert candidate[-1].role in GENERAL.answering


@given(candidates())
def test_every_step_knows_the_question(candidate: Candidate) -> None:
    for index, step in enumerate(workflow(candidate).steps):
        assert index == 0 or 0 in step.access or QUESTION in step.subtask


def test_changes_reach_workers_roles_access_and_length() -> None:
    start, rng = staffed(GENERAL.plans[7], (0, 1, 2)), random.Random(0)
    found = {changed(start, range(WORKERS), rng, 5) for _ in range(300)}
    assert {len(one) for one in found} == {2, 3, 4}
    same_length = [one for one in found if len(one) == 3]
    assert any([p.role for p in one] != [p.role for p in start] for one in same_length)
    assert any([p.access for p in one] != [p.access for p in start] for one in same_length)
    assert {p.worker for one in found for p in one} == set(range(WORKERS))


def test_a_change_asks_only_those_who_are_left() -> None:
    start, rng = staffed(GENERAL.plans[2], (1, 3)), random.Random(0)
    assert {p.worker for _ in range(200) for p in changed(start, (1, 3), rng, 5)} == {1, 3}
    assert all(p.worker == 0 for _ in range(50) for p in changed(solo(0), (0,), rng, 5))


@given(candidates(), st.data())
def test_an_earlier_end_is_what_that_step_rests_on(candidate: Candidate, data: st.DataObject) -> None:
    last = data.draw(st.integers(0, len(candidate) - 1))
    end = ending_at(candidate, last)
    workflow(end)
    assert (end[-1].role, end[-1].worker) == (candidate[last].role, candidate[last].worker)
    assert prefixes(end)[-1] == prefixes(candidate)[last], "its last call is the very same call"
    assert prefixes(end)[0] == prefixes(candidate)[0], "step 0 carries the question"


def test_an_end_drops_what_it_does_not_see() -> None:
    candidate = staffed(GENERAL.plans[13], (0, 1, 2))  # two solve, a third compares
    assert ending_at(candidate, 2) == candidate
    assert [part.worker for part in ending_at(candidate, 1)] == [0, 1]
    assert ending_at(candidate, 0) == solo(0)
    apart = staffed((("recall", ()), ("plan", ()), ("compute", (1,))), (0, 1, 2))
    assert [part.access for part in ending_at(apart, 2)] == [(), (), (1,)]


def _calls(candidate: Candidate) -> list[object]:
    """What each step's worker is really given: its subtask and, all the way back, the steps that it sees."""
    made: list[object] = []
    for index, step in enumerate(workflow(candidate).steps):
        made.append((step.worker, step.subtask, index == 0, tuple(made[seen] for seen in step.access)))
    return made


@given(candidates(), candidates())
def test_prefixes_are_equal_where_the_calls_are(one: Candidate, other: Candidate) -> None:
    for a, call_a in zip(prefixes(one), _calls(one), strict=True):
        for b, call_b in zip(prefixes(other), _calls(other), strict=True):
            assert (a == b) == (call_a == call_b)


def test_the_plans_are_different_and_all_end_in_an_answer() -> None:
    assert len(set(GENERAL.plans)) == len(GENERAL.plans)
    assert all(plan[-1][0] in GENERAL.answering and {role for role, _ in plan} <= GENERAL.roles.keys() for plan in GENERAL.plans)
