"""Learned routers: what each can learn from who was right, on questions it has not seen."""

import random
from collections.abc import Callable

import pytest

from podium.errors import ConfigError
from podium.policies.router import (
    Chooser,
    agreement,
    best_of_kind,
    classified,
    contrastive,
    linear,
    nearest,
    routed,
)
from podium.policies.router_data import RouterDataset
from podium.types import Brief, Card, ask
from podium.workflow.parse import parse

CAPITALS = ["Which city is the capital of {}?", "Name the seat of government of {}.", "What is the capital city of {}?"]
SUMS = ["What is {} plus {}?", "Add {} to {}.", "Compute the sum of {} and {}."]
COUNTRIES = ["France", "Peru", "Kenya", "Japan", "Chile", "Norway", "Egypt", "Nepal", "Ghana", "Cuba"]


def kind_of(text: str) -> str:
    return "sum" if any(mark in text for mark in ("plus", "Add", "sum")) else "capital"


def question(rng: random.Random) -> str:
    if rng.random() < 0.5:
        return rng.choice(CAPITALS).format(rng.choice(COUNTRIES))
    return rng.choice(SUMS).format(rng.randrange(10, 99), rng.randrange(10, 99))


def dataset(n: int = 200, *, noise: float = 0.1, seed: int = 0) -> RouterDataset:
    """Worker 0 knows capitals, worker 1 adds, worker 2 is right half of the time on everything."""
    rng = random.Random(seed)
    questions = [question(rng) for _ in range(n)]
    good = [(kind_of(q) == "capital", kind_of(q) == "sum", rng.random() < 0.5) for q in questions]
    right = [tuple(float(g != (rng.random() < noise)) for g in row) for row in good]
    answers = [tuple("right" if r else f"wrong {rng.random()}" for r in row) for row in right]
    return RouterDataset(
        questions=tuple(questions), kinds=tuple(map(kind_of, questions)), right=tuple(right), answers=tuple(answers)
    )


ROUTERS: dict[str, Callable[[RouterDataset], Chooser]] = {
    "best of kind": lambda o: best_of_kind(o, kind_of),
    "nearest": nearest,
    "linear": linear,
    "contrastive": contrastive,
    "agreement, local": lambda o: agreement(o, neighbours=20),
    "classified": classified,
}


@pytest.mark.parametrize("name", ROUTERS)
def test_it_sends_new_questions_to_who_is_good_at_them(name: str) -> None:
    choose = ROUTERS[name](dataset())
    rng = random.Random(1)
    new = [question(rng) for _ in range(100)]
    assert sum(choose(q) == (1 if kind_of(q) == "sum" else 0) for q in new) >= 90


@pytest.mark.parametrize("name", ROUTERS)
def test_where_nobody_differs_it_still_names_a_worker(name: str) -> None:
    same = RouterDataset(questions=("a b", "c d", "e f"), kinds=("x",) * 3, right=((1.0, 1.0),) * 3, answers=(("1", "1"),) * 3)
    assert ROUTERS[name](same)("g h") in (0, 1)


def test_without_labels_the_one_that_others_agree_with_is_trusted() -> None:
    rows = [("x", "x", "y"), ("z", "z", None), ("p", "q", "p"), ("m", "m", "n")]
    told = RouterDataset(questions=tuple("abcd"), kinds=("k",) * 4, right=((0.0,) * 3,) * 4, answers=tuple(rows))
    assert agreement(told)("anything") == 0


def test_what_it_needs_is_said() -> None:
    with pytest.raises(ConfigError, match="learns from questions"):
        RouterDataset(questions=(), kinds=(), right=())
    with pytest.raises(ConfigError, match="answers"):
        agreement(RouterDataset(questions=("a",), kinds=("k",), right=((1.0,),)))


async def test_a_router_is_a_policy_that_writes_one_step() -> None:
    brief = Brief(question=ask("What is 20 plus 22?"), cards=tuple(Card(name=name) for name in "abc"))
    [written] = await routed(nearest(dataset())).write(brief)
    workflow = parse(written.text, brief)
    assert workflow is not None
    assert [step.worker for step in workflow.steps] == [1]
