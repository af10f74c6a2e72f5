"""The searches: the optimum is not missed, its opponents are searched for, and what was found keeps the certificate's bounds."""

import random
from dataclasses import replace
from statistics import fmean

import pytest

from podium.errors import ConfigError
from podium.gym import opponents
from podium.gym.certify import BOUNDS, Certificate
from podium.gym.drawing import draw_profiles
from podium.gym.gauge import QUESTION, Gauge
from podium.gym.kinds import KINDS, UNTRAINED_KINDS
from podium.gym.opponents import Constants
from podium.gym.optimum import best_for
from podium.gym.search import ASKED, Climber, Target, chain, joined
from podium.gym.specialists import Specialist, specialists
from podium.gym.stored import stored
from podium.gym.wordings import PLAIN, wordings_for
from podium.gym.world import Split, World, draw_world
from podium.types import Step, Workflow

WORLD = World()
POOL = specialists(WORLD)
ALL = (*KINDS, *UNTRAINED_KINDS)
HELD_OUT: tuple[Split, ...] = ("held_out_numbers", "held_out_templates")


def test_the_question_can_stand_in_a_subtask() -> None:
    problems = WORLD.problems(kinds=("choice",), n=60)
    gauge = Gauge(POOL, problems)
    blind = joined([chain([(0, PLAIN["plan"])]), chain([(3, PLAIN["answer"])])])
    alone = gauge.accuracy(chain([(3, PLAIN["answer"])]))
    assert gauge.accuracy(blind) == pytest.approx(alone, abs=0.05), "who sees nobody and has the question answers as if alone"
    without = Workflow(steps=tuple(Step(worker=s.worker, subtask=s.subtask.removeprefix(ASKED)) for s in blind.steps))
    assert gauge.accuracy(without) == 0.0


class _Called:
    """A worker that the gauge only knows how to call."""

    def __init__(self, worker: Specialist) -> None:
        self.complete = worker.complete


@pytest.mark.parametrize("kind", ALL)
def test_situations_that_are_put_together_are_those_that_are_read_from_calls(kind: str) -> None:
    """Random workflows, the question here and there: the same answers, dollars and number of calls either way."""
    rng = random.Random(kind)
    problems = WORLD.problems(kinds=(kind,), n=6, seed=21)
    quick, slow = Gauge(POOL, problems), Gauge([_Called(worker) for worker in POOL], problems)
    words = [*wordings_for(kind if kind in KINDS else None).values(), "Answer on your own.", "Solve it."]
    for _ in range(40):
        steps: list[Step] = []
        for at in range(rng.randint(1, 6)):
            text = rng.choice(words)
            text = rng.choice((text, ASKED + text, f"{text} {QUESTION} {QUESTION}", text + 40 * f" {QUESTION}"))
            again = bool(steps) and rng.random() < 0.2
            access = tuple(sorted(rng.sample(range(at), rng.randint(0, at))))
            steps.append(
                replace(steps[-1], access=access) if again else Step(worker=rng.randrange(7), subtask=text, access=access)
            )
        workflow = Workflow(steps=tuple(steps))
        assert quick.correct(workflow) == slow.correct(workflow), workflow
        assert quick.cost(workflow) == pytest.approx(slow.cost(workflow)), workflow
    assert quick.calls == slow.calls


def _small(seed: int) -> list[Specialist]:
    """Three workers of a drawn world who can do everything between them."""
    return specialists(draw_world(seed))[:3]


def test_the_search_for_the_optimum_misses_nothing_on_a_small_world() -> None:
    """All workflows of at most two steps over three workers and three wordings: none is better than what the search finds."""
    workers = _small(2)
    kind = "story"
    problems = draw_world(2).problems(kinds=(kind,), n=40, seed=1000)
    gauge = Gauge(workers, problems)
    words = [PLAIN["plan"], PLAIN["compute"], PLAIN["answer"]]
    ones = [chain([(w, text)]) for w in range(3) for text in words]
    steps = [(w, text) for w in range(3) for text in words]
    twos = [chain([one, two], [(), seen]) for one in steps for two in steps for seen in ((), (0,))]
    best = max(gauge.accuracy(workflow) for workflow in (*ones, *twos))
    found = best_for(kind, draw_world(2), workers, max_steps=2)
    assert gauge.accuracy(found.workflow) >= best - 0.03, "found on these problems, chosen on others"


@pytest.mark.parametrize("count", [5, 12])
def test_any_pool_is_searched_whatever_its_workers_are_called(count: int) -> None:
    world = World(seed=4, profiles=draw_profiles(4, count))
    found = best_for("choice", world, specialists(world), max_steps=2)
    expected = max(range(count), key=lambda w: world.profiles[w].levels["choice", "recall"])
    assert expected in [step.worker for step in found.workflow.steps]


KEPT = stored()


def test_what_was_found_holds_on_fresh_problems() -> None:
    """The bounds of the certificate, on problems of another seed: the optimum, every opponent that is kept, each worker alone."""
    fresh = [
        (kind, Gauge(POOL, [p for split in HELD_OUT for p in WORLD.problems(kinds=(kind,), split=split, n=60, seed=55)]))
        for kind in KINDS
    ]
    optimum = fmean(gauge.accuracy(KEPT.optima[kind]) for kind, gauge in fresh)
    assert optimum >= 0.95
    assert KEPT.figures["optimum"] == pytest.approx(optimum, abs=0.02)
    for name, workflow in KEPT.opponents.items():
        share = fmean(gauge.accuracy(workflow) for _, gauge in fresh) / optimum
        assert share <= (0.55 if name == "constant:cheap" else 0.65), name
    cost = fmean(gauge.cost(KEPT.optima[kind]) for kind, gauge in fresh)
    assert fmean(gauge.cost(KEPT.opponents["constant:cheap"]) for _, gauge in fresh) <= 1.1 * cost
    alone = [fmean(gauge.accuracy(chain([(worker, PLAIN["answer"])])) for _, gauge in fresh) for worker in range(len(POOL))]
    assert 0.3 <= max(alone) <= 0.5
    for name, (low, high) in BOUNDS.items():
        assert low <= KEPT.figures[name] <= high, name


def test_the_best_plans_are_of_one_to_four_steps_and_two_have_branches() -> None:
    plans = [KEPT.optima[kind] for kind in KINDS]
    assert {len(plan.steps) for plan in plans} >= {1, 2, 3, 4}
    assert sum(any(step.access != tuple(range(i)) for i, step in enumerate(plan.steps)) for plan in plans) >= 2
    assert len({step.worker for plan in plans for step in plan.steps}) >= 6


def test_the_opponents_are_searched_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """In small: on the problems that the finalists are compared on, what comes out is no worse than any worker alone."""
    for name, problems in (("SEARCH", 3), ("CHOICE", 12), ("_REFINE", 6), ("_FINALISTS", 2)):
        monkeypatch.setattr(opponents, name, problems)
    optima = {kind: KEPT.optima[kind] for kind in KINDS}
    found = opponents.find_constants(WORLD, POOL, optima, 0.0003, calls=5_000)
    compared = Target({kind: Gauge(POOL, WORLD.problems(kinds=(kind,), n=12, seed=3070)) for kind in KINDS})
    assert compared.score(found.best) >= max(compared.score(workflow) for workflow in found.catalogue.values())
    assert compared.score(found.best) >= max(compared.score(found.catalogue[f"steps {n}"]) for n in (1, 2))
    assert compared.cost(found.cheap) <= 0.0003
    assert {"any", "cheap", "steps 1", "workers 1"} <= set(found.catalogue)
    assert found.calls > 5_000


def test_a_climb_takes_what_helps_and_stays_within_its_calls() -> None:
    target = Target({"choice": Gauge(POOL, WORLD.problems(kinds=("choice",), n=20))})
    start = chain([(0, PLAIN["answer"])])
    height, best = Climber(len(POOL), tuple(PLAIN.values()), 3, random.Random(1)).climb(target, start, calls=2_000)
    assert height == target.score(best) > target.score(start)
    assert target.calls < 2_000 + 3 * 20
    dear = Target(target.gauges, limit_usd=0.0)
    assert dear.score(start) == -1.0


def test_a_world_that_needs_no_conductor_is_refused() -> None:
    figures = {
        "best_single": 0.4,
        "optimum": 0.97,
        "constant_share": 0.9,
        "constant_cheap_share": 0.5,
        "baseline_share": 0.5,
        "router_share": 0.6,
    }
    nothing = Constants(best=chain([(0, "x")]), cheap=chain([(0, "x")]), catalogue={}, calls=0)
    refused = Certificate(rows=(), figures=figures, optima={}, constants=nothing, baselines={}, calls={})
    with pytest.raises(ConfigError, match=r"needs no conductor: constant_share is 0\.900, not 0\.0 to 0\.65"):
        refused.check()
    Certificate(rows=(), figures={**figures, "constant_share": 0.5}, optima={}, constants=nothing, baselines={}, calls={}).check()
