"""The rivals of the tune in ``benchmarks/tuning_beside.py``: the same accounting as the tune, and nothing on credit."""

import os
import random
import subprocess
import sys
from collections.abc import Iterator

import pytest

from benchmarks.tuning_rivals import RIVALS, Asked, course
from podium.gym import GymVerifier, World, specialists
from podium.tuning.candidates import Candidate, solo, staffed
from podium.tuning.catalogue import GENERAL
from podium.tuning.trials import Bench
from podium.workers.pool import Member, WorkerPool

WORLD = World()
WORKERS = specialists(WORLD)
PROBLEMS = WORLD.problems(kinds=("story",), n=24, seed=77)


def asked() -> Asked:
    return Asked(WORKERS, PROBLEMS, "story")


async def test_they_pay_for_the_same_calls_as_a_tune() -> None:
    rng, own = random.Random(3), asked()
    bench = Bench(WorkerPool([Member(worker=w, card=w.card) for w in WORKERS]), GymVerifier(), lambda problem: problem.kind)
    for _ in range(60):
        candidate, number = own.drawn(rng), rng.randrange(3)
        trial, *_ = await bench.run(candidate, PROBLEMS[number])
        assert own.right(candidate, number) == trial.outcome.right
    assert own.calls == len(bench.paid)


@pytest.mark.parametrize("name", RIVALS)
def test_what_is_handed_in_was_paid_for_and_does_not_change_with_what_comes_after(name: str) -> None:
    few = course(RIVALS[name], asked(), random.Random(1), [60, 150])
    more = course(RIVALS[name], asked(), random.Random(1), [60, 150, 400])
    assert few == more[:2]
    assert share_of(more[2]) >= share_of(solo(0, "story"))


def test_a_curve_is_the_same_in_every_process() -> None:
    """The order of a set of texts is another one in each."""
    code = (
        "import random; from tests.tuning.test_rivals import RIVALS, asked, course\n"
        "for rival in RIVALS.values(): print(course(rival, asked(), random.Random(1), [20, 40, 60, 100, 200, 400]))"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", code], check=True, capture_output=True, env={**os.environ, "PYTHONHASHSEED": seed}
        ).stdout
        for seed in ("1", "2")
    }
    assert len(said) == 1


def test_what_is_found_with_a_call_too_many_is_not_handed_in() -> None:
    def spends(own: Asked, rng: random.Random) -> Iterator[Candidate]:
        for number in range(10):
            own.right(solo(1, "story"), number)
            yield solo(number % 7, "story")

    assert course(spends, asked(), random.Random(0), [1, 4, 99]) == [solo(0, "story"), solo(3, "story"), solo(2, "story")]


def test_a_shared_beginning_is_paid_for_once() -> None:
    own = asked()
    plan = next(plan for plan in GENERAL.plans if len(plan) == 2)
    own.right(staffed(plan, (0, 1), "story"), 0)
    own.right(staffed(plan, (0, 2), "story"), 0)
    assert own.calls == 3


def share_of(candidate: Candidate) -> float:
    """On all problems, by an accounting of its own."""
    return asked().share(candidate, len(PROBLEMS))
