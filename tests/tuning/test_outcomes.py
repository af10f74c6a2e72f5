"""The model of outcomes finds who is good at what from few trials, says how unsure it is, and draws the same for a seed."""

import random

import numpy as np
import pytest

from podium.tuning.candidates import Candidate, solo, staffed
from podium.tuning.catalogue import GENERAL
from podium.tuning.outcomes import OutcomeModel, best_for, features

BEST = {"word": (1, 2), "fact": (3, 0)}
"""Kind -> who plans and who computes best: three chances of four more than anybody else."""


def _taught(trials: int, workers: int = 4, seed: int = 0) -> OutcomeModel:
    rng, model = random.Random(seed), OutcomeModel(np.random.default_rng(seed))
    for _ in range(trials):
        kind = rng.choice(list(BEST))
        candidate = staffed(GENERAL.plans[2], [rng.randrange(workers) for _ in range(2)])
        hits = sum(part.worker == best for part, best in zip(candidate, BEST[kind], strict=True))
        model.add(kind, candidate, float(rng.random() < (0.05, 0.4, 0.95)[hits]))
    model.fit()
    return model


def _best(model: OutcomeModel, kind: str, workers: int = 4) -> tuple[int, ...]:
    starts = [staffed(GENERAL.plans[2], (0, 0)), staffed(GENERAL.plans[2], (3, 3))]
    return tuple(part.worker for part in best_for(model.mean(), kind, starts, range(workers)))


@pytest.mark.parametrize("seed", range(3))
def test_it_recovers_who_is_best_for_each_kind(seed: int) -> None:
    model = _taught(300, seed=seed)
    assert {kind: _best(model, kind) for kind in BEST} == BEST
    assert model.mean().share("word", staffed(GENERAL.plans[2], (1, 2))) > 0.75
    assert model.mean().share("word", staffed(GENERAL.plans[2], (3, 0))) < 0.35


def test_it_does_so_among_fifteen_workers() -> None:
    model = _taught(900, workers=15)
    assert {kind: _best(model, kind, 15) for kind in BEST} == BEST


def test_a_draw_follows_from_the_seed() -> None:
    tried, never = staffed(GENERAL.plans[2], (1, 2)), staffed(GENERAL.plans[9], (1, 2, 3))

    def drawn(seed: int) -> list[float]:
        model = _taught(60, seed=seed)
        return [draw.share("word", one) for draw in (model.draw(), model.draw()) for one in (tried, never)]

    assert drawn(1) == drawn(1)
    assert drawn(1) != drawn(2)


def test_a_draw_says_the_same_when_it_is_asked_again() -> None:
    draw, never = _taught(20).draw(), solo(9)
    assert draw.share("other", never) == draw.share("other", never)


def test_what_was_tried_often_is_less_doubtful_than_what_was_never_tried() -> None:
    model = _taught(300)

    def spread(candidate: Candidate) -> float:
        return float(np.std([model.draw().logit("word", candidate) for _ in range(60)]))

    assert spread(staffed(GENERAL.plans[2], (1, 2))) < 0.6 * spread(staffed(GENERAL.plans[14], (0, 1, 2, 3)))


def test_before_the_first_trial_everything_is_drawn_from_the_prior() -> None:
    model = OutcomeModel(np.random.default_rng(0))
    assert len(model) == 0
    assert len({model.draw().share("word", solo(0)) for _ in range(5)}) == 5
    assert model.mean().share("word", solo(0)) == 0.5


def test_always_right_and_always_wrong_can_be_fitted() -> None:
    for right in (0.0, 1.0):
        model = OutcomeModel(np.random.default_rng(0))
        for _ in range(50):
            model.add("word", solo(0), right)
        model.fit()
        assert abs(model.mean().share("word", solo(0)) - right) < 0.1


def test_only_those_who_are_left_are_chosen() -> None:
    found = best_for(_taught(300).mean(), "word", [staffed(GENERAL.plans[2], (0, 0))], (0, 3))
    assert {part.worker for part in found} <= {0, 3}


def test_kinds_and_all_together_have_weights_of_their_own() -> None:
    word, fact = features("word", solo(0)), features("fact", solo(0))
    assert set(word) & set(fact) == {("one",), ("role", "solve", 0)}


@pytest.mark.parametrize("shuffled", [1, 2])
def test_who_answered_first_makes_no_difference(shuffled: int) -> None:
    trials = [
        (kind, solo(worker), float(worker == at % 3)) for at in range(8) for kind in ("word", "fact") for worker in range(3)
    ]

    def drawn(rng: random.Random | None) -> list[float]:
        model = OutcomeModel(np.random.default_rng(0))
        for part in (trials[:30], trials[30:]):
            for trial in part if rng is None else rng.sample(part, len(part)):
                model.add(*trial)
            model.fit()
        return [model.draw().logit(kind, solo(worker)) for kind in ("word", "fact") for worker in range(3)]

    assert drawn(random.Random(shuffled)) == drawn(None)
