import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.errors import Blame
from podium.evaluation.evaluate import Result
from podium.evaluation.metrics import ArmSummary, clustered, standard_error, summarise, wilson
from podium.types import Failure, Sampling, Usage, Verdict

INVALID = Failure(kind="MalformedWorkflow", blame=Blame.POLICY, message="", where="")
UNWORKABLE = Failure(kind="UnworkableStep", blame=Blame.POLICY, message="", where="")
FAULT = Failure(kind="WorkerUnavailable", blame=Blame.WORLD, message="", where="")


def result(
    problem: int,
    right: bool | None = None,
    *,
    failure: Failure | None = None,
    arm: str = "a",
    kind: str = "word",
    repeat: int = 0,
    extracted: str | None = "x",
    usage: Usage | None = Usage(prompt_tokens=10, completion_tokens=2, cost_usd=0.5),
    seconds: float = 1.0,
    steps: int = 1,
) -> Result:
    return Result(
        arm=arm,
        problem=str(problem),
        kind=kind,
        source="test",
        repeat=repeat,
        sampling=Sampling(),
        verdict=None if right is None else Verdict(correct=right, extracted=extracted),
        failure=failure,
        usage=usage,
        seconds=seconds,
        steps=steps,
        rounds=0,
        invalid_rounds=int(failure is INVALID),
    )


def only(rows: list[ArmSummary]) -> ArmSummary:
    [row] = rows
    return row


# Textbook values: R. G. Newcombe, "Two-sided confidence intervals for the single proportion", Stat. Med. 17 (1998), table I.
@pytest.mark.parametrize(
    ("right", "n", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilson_gives_the_published_intervals(right: int, n: int, low: float, high: float) -> None:
    interval = wilson(right / n, n)
    assert (round(interval.low, 4), round(interval.high, 4)) == (low, high)


@given(st.integers(1, 2000), st.data())
def test_wilson_stays_inside_and_holds_the_rate(n: int, data: st.DataObject) -> None:
    rate = data.draw(st.integers(0, n)) / n
    interval = wilson(rate, n)
    assert 0 <= interval.low <= rate <= interval.high <= 1
    assert interval.low < interval.high


scores = st.lists(st.lists(st.sampled_from([0.0, 1.0]), min_size=1, max_size=5), min_size=1, max_size=30)


@given(scores)
def test_a_clustered_interval_is_never_narrower_than_independent_answers_would_make_it(some: list[list[float]]) -> None:
    mean, interval = clustered(some)
    plain = wilson(mean, sum(len(repeats) for repeats in some))
    assert interval.low <= plain.low + 1e-9
    assert interval.high >= plain.high - 1e-9


@given(st.lists(st.sampled_from([0.0, 1.0]), min_size=1, max_size=60), st.integers(2, 5))
def test_the_same_answer_again_is_no_new_evidence(once: list[float], repeats: int) -> None:
    mean, interval = clustered([[score] * repeats for score in once])
    same_mean, plain = clustered([[score] for score in once])
    assert mean == pytest.approx(same_mean)
    # k/(k - 1) is the only difference.
    assert interval.low <= plain.low + 1e-9
    assert interval.high >= plain.high - 1e-9
    assert interval.high - interval.low == pytest.approx(plain.high - plain.low, rel=0.6 / len(once) if len(once) > 2 else 1)


def test_for_many_problems_it_is_the_normal_interval_of_the_problem_means() -> None:
    rng = random.Random(0)
    some = [[float(rng.random() < rate) for _ in range(4)] for rate in (rng.random() for _ in range(4000))]
    means = [sum(repeats) / 4 for repeats in some]
    mean = sum(means) / 4000
    error = (sum((m - mean) ** 2 for m in means) / (4000 * 3999)) ** 0.5
    _, interval = clustered(some)
    assert interval.low == pytest.approx(mean - 1.95996 * error, abs=1e-4)
    assert interval.high == pytest.approx(mean + 1.95996 * error, abs=1e-4)


@pytest.mark.parametrize(("problems", "repeats", "a", "b"), [(100, 1, 8, 2), (40, 4, 8, 2), (10, 3, 9, 1), (20, 8, 19, 0.5)])
def test_the_interval_covers_the_truth_as_often_as_it_says(problems: int, repeats: int, a: float, b: float) -> None:
    rng = random.Random(1)
    covered = 0
    for _ in range(400):
        rates = [rng.betavariate(a, b) for _ in range(problems)]
        _, interval = clustered([[float(rng.random() < rate) for _ in range(repeats)] for rate in rates])
        covered += interval.low <= a / (a + b) <= interval.high
    assert 0.92 <= covered / 400 <= 0.99  # the plain normal interval covers 0.78 and 0.89 in the last two cases


def test_every_problem_weighs_the_same_whatever_its_repeats() -> None:
    assert clustered([[1, 1, 1], [0]])[0] == 0.5


@pytest.mark.parametrize("nothing", [[], [[]], [[1.0], []]])
def test_no_scores_have_no_interval(nothing: list[list[float]]) -> None:
    with pytest.raises(ValueError, match="score"):
        clustered(nothing)


def test_policy_failures_count_as_wrong_and_world_faults_not_at_all() -> None:
    row = only(
        summarise(
            [
                result(1, True),
                result(2, False, extracted=None),
                result(3, failure=INVALID),
                result(4, failure=FAULT, usage=None, seconds=100.0),
                result(5, True),
                result(6, failure=UNWORKABLE),
                result(7, failure=INVALID),
                result(8, failure=INVALID),
            ]
        )
    )
    assert (row.n, row.problems, row.correct) == (7, 7, 2)
    assert row.accuracy == pytest.approx(2 / 7)
    assert (row.no_answer, row.invalid, row.unworkable, row.world_faults) == (1, 3, 1, 1)
    assert row.interval == wilson(2 / 7, 7)
    assert row.correct_given_valid == pytest.approx(2 / 4), "its lists were valid"
    assert row.standard_error == pytest.approx(0.1844, abs=1e-4)
    # The fault's unknown cost and its 100 seconds are no property of the arm's answers.
    assert (row.cost_usd, row.tokens, row.seconds) == (0.5, 12, 1.0)


def test_an_arm_of_faults_only_has_no_accuracy() -> None:
    row = only(summarise([result(1, failure=FAULT, usage=None), result(2, failure=FAULT, usage=None)]))
    assert (row.n, row.accuracy, row.interval, row.cost_usd, row.seconds, row.seconds_p95) == (0, None, None, None, None, None)
    assert row.world_faults == 2


def test_one_unknown_price_makes_the_mean_unknown() -> None:
    priced, free, unknown = (
        result(1, True),
        result(2, True, usage=Usage(cost_usd=0.0)),
        result(3, True, usage=Usage(cost_usd=None)),
    )
    assert only(summarise([priced, free])).cost_usd == 0.25
    assert only(summarise([priced, free, unknown])).cost_usd is None
    assert only(summarise([priced, free, unknown])).tokens == 4
    assert only(summarise([priced, result(3, failure=INVALID, usage=None)])).tokens is None


def test_seconds_and_steps() -> None:
    row = only(summarise([result(number, True, seconds=float(number), steps=number % 2) for number in range(1, 101)]))
    assert (row.seconds, row.seconds_p95, row.steps) == (50.5, 95.0, 0.5)
    assert only(summarise([result(1, True, seconds=3.0)])).seconds_p95 == 3.0


def test_repeats_are_clustered_by_problem() -> None:
    some = [result(problem, problem % 2 == 0, repeat=repeat) for problem in range(10) for repeat in range(6)]
    row = only(summarise(some))
    assert (row.n, row.problems) == (60, 10)
    assert row.interval is not None
    assert row.interval.low < wilson(0.5, 11).low


def test_rows_come_per_arm_and_per_kind_where_there_are_several() -> None:
    some = [result(1, True, arm="z"), result(2, False, arm="z", kind="code"), result(1, True, arm="b")]
    assert [(row.arm, row.kind, row.accuracy) for row in summarise(some)] == [
        ("z", None, 0.5),
        ("z", "code", 0.0),
        ("z", "word", 1.0),
        ("b", None, 1.0),
        ("b", "word", 1.0),
    ]
    assert [row.kind for row in summarise(some[:1])] == [None]
    assert summarise([]) == []


def test_two_problems_have_a_standard_error_and_one_has_none() -> None:
    assert standard_error([[1.0], [0.0]]) == pytest.approx(0.5)
    assert standard_error([[1.0, 0.0]]) is None
