"""The fault drill, small: faults never look like answers, nothing is paid twice after kill -9, the budget holds."""

import pytest

from benchmarks.faults import CONDITIONAL, drill


@pytest.mark.parametrize("policy", ["mixture:brook", CONDITIONAL])
def test_the_fault_drill(policy: str) -> None:
    figures = drill(questions=16, kills=1, policy=policy)
    assert figures["killed"] == 1
    assert len(figures["faults"]) == 6, "every kind of fault was met"
    assert figures["not_ended"] == 0
    assert figures["other_failures"] == 0
    assert figures["answered"] + figures["world_faults"] == 16
    assert figures["answered"] >= 14
    assert figures["wrong_answers"] == 0
    assert figures["billed_by_server"] == figures["paid_in_journal"]
    assert figures["paid_more_than_asked"] == 0, "no fault is read as a disagreement"
    assert abs(figures["billed_usd"] - figures["journal_usd"]) < 1e-9
    assert 0 < figures["budget_billed_usd"] <= figures["budget_usd"]
