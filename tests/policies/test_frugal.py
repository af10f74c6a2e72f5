"""The learned cascade after FrugalGPT, and the clusters after Avengers: what they learn, and what they ask."""

import random

import numpy as np
import pytest

from podium.conduct import Conductor
from podium.errors import ConfigError
from podium.policies.clusters import clustered
from podium.policies.frugal import FrugalPolicy, Row, Scorer, cascaded
from podium.policies.learned import is_learned, make_learned
from podium.policies.router_data import RouterDataset, RouterTrainingData
from podium.pools.opened import OpenPool
from podium.studies.arms import make_arm
from podium.types import Call
from tests.workflows import pool_of

FRUITS = ["apples", "pears", "plums", "grapes", "figs"]


def dataset(n: int = 160, seed: int = 0) -> RouterDataset:
    """Worker 0 adds, and says "not sure" where it can not; worker 1 is always right; worker 2 never."""
    rng = random.Random(seed)
    questions, kinds, right, answers = [], [], [], []
    for number in range(n):
        is_sum = rng.random() < 0.5
        questions.append(
            f"What is {number} plus {rng.randrange(99)}?" if is_sum else f"Which {rng.choice(FRUITS)} grow in garden {number}?"
        )
        kinds.append("sum" if is_sum else "garden")
        right.append((float(is_sum), 1.0, 0.0))
        answers.append((str(number) if is_sum else "not sure", str(number), "nothing at all"))
    return RouterDataset(questions=tuple(questions), kinds=tuple(kinds), right=tuple(right), answers=tuple(answers))


def test_the_score_tells_a_doubtful_answer() -> None:
    scorer = Scorer(dataset())
    sure, doubtful = scorer.scores(0, ["What is 7 plus 12?", "Which figs grow in garden 7?"], ["19", "not sure"])
    assert sure > 0.8
    assert doubtful < 0.2


def test_a_row_is_as_right_as_the_dear_worker_with_fewer_calls() -> None:
    data = dataset()
    scorer = Scorer(data)
    row = scorer.best_row(price=0.1)
    won, calls = cascaded(row, scorer.unseen, np.array(data.right))
    assert row.workers == (1,), "one call of a worker that is always right beats two"
    assert (won.mean(), calls.mean()) == (1.0, 1.0)


def test_what_a_row_comes_to() -> None:
    scores = np.array([[0.9, 0.0], [0.2, 0.0]])
    right = np.array([[1.0, 0.0], [0.0, 1.0]])
    won, calls = cascaded(Row(workers=(0, 1), thresholds=(0.5,)), scores, right)
    assert (won.tolist(), calls.tolist()) == ([1.0, 1.0], [1.0, 2.0])


async def test_the_next_one_is_asked_only_where_the_answer_is_doubtful() -> None:
    policy = FrugalPolicy(Scorer(dataset()), Row(workers=(0, 1), thresholds=(0.5,)))
    conductor = Conductor(policy, pool_of("Answer: not sure", "Answer: 7", "Answer: 0"), rounds=2, max_steps=1)
    doubtful = await conductor.ask("Which figs grow in garden 7?")
    assert (doubtful.text, len(doubtful.transcripts)) == ("Answer: 7", 2)
    sure = Conductor(policy, pool_of("Answer: 19", "Answer: 7", "Answer: 0"), rounds=2, max_steps=1)
    found = await sure.ask("What is 7 plus 12?")
    assert found.text == "Answer: 19"
    assert [step.worker for transcript in found.transcripts if transcript.workflow for step in transcript.workflow.steps] == [0]


async def test_as_an_arm_it_has_the_rounds_it_needs() -> None:
    data = dataset()
    taught = RouterTrainingData(alone=data, sort_of=dict(zip(data.questions, data.kinds, strict=True)).get)
    pool = OpenPool(workers=pool_of("Answer: not sure", "Answer: 7", "Answer: 0"))
    arm = make_arm("router:frugal:0", pool, router_data=taught)
    assert (await arm(Call.plain("Which figs grow in garden 7?"))).text == "Answer: 7"


def test_scores_need_answers() -> None:
    data = dataset()
    with pytest.raises(ConfigError, match="there are none"):
        Scorer(RouterDataset(questions=data.questions, kinds=data.kinds, right=data.right))


def test_a_worker_that_is_always_wrong_or_a_pool_of_one_is_no_obstacle() -> None:
    data = dataset()
    one = RouterDataset(
        questions=data.questions, kinds=data.kinds, right=tuple(row[2:] for row in data.right),
        answers=tuple((None,) for _ in data.questions),
    )  # fmt: skip
    assert Scorer(one).best_row().workers == (0,)


def test_each_cluster_has_its_own_best() -> None:
    data = dataset()
    choose = clustered(RouterDataset(questions=data.questions, kinds=data.kinds, right=tuple((s, 1 - s) for s, *_ in data.right)))
    assert choose("What is 12 plus 30?").order == (0,)
    assert choose("Which plums grow in garden 200?").order == (1,)


def test_several_vote_the_best_first() -> None:
    rule = clustered(dataset(), 2)("What is 12 plus 30?")
    assert {*rule.order} == {0, 1}
    assert rule.agree is None


def test_few_questions_are_one_cluster() -> None:
    few = RouterDataset(questions=("a?", "b?"), kinds=("k", "k"), right=((0.0, 1.0), (0.0, 1.0)))
    assert clustered(few)("c?").order == (1,)


@pytest.mark.parametrize(
    "name", ["router:avengers:0", "router:avengers:9", "router:avengers:x", "router:frugal:2", "router:frugal:x"]
)
def test_settings_that_can_not_be_are_refused(name: str) -> None:
    data = dataset()
    assert is_learned(name)
    with pytest.raises(ConfigError, match=r"router:|share of right"):
        make_learned(name, pool_of("a", "b", "c"), RouterTrainingData(alone=data, sort_of=lambda question: None))
