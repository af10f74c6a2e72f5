"""A catalogue is checked when it is made, and the general one knows nothing of the gym."""

from dataclasses import replace

import pytest

from podium.errors import ConfigError
from podium.tuning.candidates import Part, beside, solo, workflow
from podium.tuning.catalogue import GENERAL, SOLVE


def test_a_role_without_a_wording_is_refused() -> None:
    with pytest.raises(ConfigError, match="no wording for the role 'quote'"):
        replace(GENERAL, name="law", plans=((("quote", ()), (SOLVE, (0,))),))


def test_a_plan_has_to_answer() -> None:
    with pytest.raises(ConfigError, match="has to end with a role that answers"):
        replace(GENERAL, plans=((("recall", ()),),))
    with pytest.raises(ConfigError, match="has to end with a role that answers"):
        replace(GENERAL, swept=((("recall", ()),),))


@pytest.mark.parametrize("subjects", ["algebra", ("algebra", " "), ("law " * 21,)])
def test_subjects_are_a_few_words_each(subjects: tuple[str, ...]) -> None:
    with pytest.raises(ConfigError, match="subjects are a few words each"):
        replace(GENERAL, subjects=subjects)


def test_a_catalogue_of_ones_own_words_the_steps() -> None:
    law = replace(GENERAL, name="law", roles={**GENERAL.roles, SOLVE: "Decide the case."})
    assert workflow(solo(0), law).steps[0].subtask == "Decide the case."
    assert workflow(solo(0, "contracts"), law).steps[0].subtask == "Decide the case. (The task is about contracts.)"


def test_a_step_beside_is_seen_by_the_last() -> None:
    assert beside(solo(2), "recall", 1) == (Part(role="recall", worker=1), Part(role=SOLVE, worker=2, access=(0,)))
    team = beside(beside(solo(2), "plan", 0), "recall", 1)
    assert [(part.role, part.access) for part in team] == [("plan", ()), ("recall", (0,)), (SOLVE, (0, 1))]
