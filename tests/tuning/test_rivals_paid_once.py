"""The rivals of a tune are charged as the tune is: a call for every different thing that is asked, and no other."""

import json
import random
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.paid_once import PaidOnce, of_run
from podium.gym import GymVerifier, World, specialists
from podium.policies.tuned_record import LONGEST
from podium.recipes.gym import config
from podium.tuning.candidates import Candidate, changed, staffed, workflow
from podium.tuning.catalogue import GENERAL
from podium.tuning.trials import Bench
from podium.types import Problem
from podium.workers.pool import Member, WorkerPool

WORLD = World()
WORKERS = specialists(WORLD)


def tried(kind: str) -> list[Candidate]:
    """Everybody plans for everybody, so that many see the same plan; then whatever chance makes of it."""
    rng = random.Random(7)
    plan = next(plan for plan in GENERAL.plans if [role for role, _ in plan] == ["plan", "compute"])
    pairs = [staffed(plan, (first, last), kind) for first in range(7) for last in range(7)]
    drawn = [rng.choice(pairs) for _ in range(30)]
    for _ in range(3):
        drawn = [changed(one, range(7), rng, LONGEST) for one in drawn]
        pairs += drawn
    return pairs


@pytest.mark.parametrize("kind", ["story", "bundle", "code"])
async def test_the_same_calls_are_paid_for_as_by_a_tune_with_the_same_outcome(kind: str) -> None:
    [problem] = WORLD.problems(kinds=(kind,), n=1, seed=77)
    bench = Bench(WorkerPool([Member(worker=w, card=w.card) for w in WORKERS]), GymVerifier(), lambda problem: problem.kind)
    own = PaidOnce(WORKERS, problem)
    for candidate in tried(kind):
        trial, *_ = await bench.run(candidate, problem)
        assert own.right(workflow(candidate)) == trial.outcome.right
        assert own.calls == len(bench.paid)


def test_a_run_is_counted_as_it_was_rolled_out_and_with_equal_calls_once(tmp_path: Path) -> None:
    one, other = WORLD.problems(kinds=("story",), n=2, seed=77)
    solo = rollout('model_id = [1]\nsubtasks = ["Solve the story."]\naccess_list = [[]]')
    pair = rollout('model_id = [1, 2]\nsubtasks = ["Solve the story.", "Check it."]\naccess_list = [[], "all"]')
    broken = rollout("model_id = [1, 2")
    write(tmp_path, [(0, one, [solo, solo, pair, broken]), (0, other, [solo]), (1, one, [pair, pair])])
    assert of_run(tmp_path, replace(config(), problems=lambda: [one, other])) == [(5, 3), (9, 3)]


def rollout(text: str) -> list[dict[str, str]]:
    return [{"text": text}]


def write(folder: Path, groups: list[tuple[int, Problem, list[list[dict[str, str]]]]]) -> None:
    lines = [json.dumps({"iteration": at, "problem": problem.id, "rollouts": rollouts}) for at, problem, rollouts in groups]
    (folder / "groups.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
