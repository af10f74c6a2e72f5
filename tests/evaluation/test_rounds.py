from dataclasses import replace

from podium.evaluation.rounds import redistribution
from tests.evaluation.results import result


def test_mended_and_spoilt_answers_are_counted_per_kind() -> None:
    once = [
        result(problem="1", correct=False, arm="t@1"),
        result(problem="2", correct=True, arm="t@1"),
        result(problem="3", correct=True, arm="t@1", kind="code"),
    ]
    twice = [
        replace(result(problem="1", correct=True, arm="t@2"), workers=("a", "b")),
        replace(result(problem="2", correct=False, arm="t@2"), workers=("a", "b")),
        result(problem="3", correct=True, arm="t@2", kind="code"),
        result(problem="4", correct=True, arm="t@2"),
    ]
    found = redistribution([*once, *twice, result(problem="1", correct=True, arm="other@2")])
    assert found is not None
    head, body = found
    assert head[3:6] == ["planned anew", "mended", "spoilt"]
    rows = {row[1]: row[2:] for row in body}
    assert rows["all"] == ["3", "2", "1", "1", "1", "0"]
    assert rows["code"] == ["1", "0", "0", "0", "1", "0"]
    assert len({row[0] for row in body}) == 1


def test_without_an_arm_of_one_round_there_is_nothing_to_tell() -> None:
    assert redistribution([result(problem="1", correct=True, arm="t@2"), result(problem="1", correct=True, arm="t")]) is None
