"""How an adaptive gym Conductor does with pools it is shown by cards only: random three of seven, one of them never seen.

What can be reached with three workers is found by search: every plan that the start policy knows, with every choice among
the three, measured on training problems; the best one is then asked the same held-out problems as the Conductor.

Beside it stands a rule that only reads cards: of the plans that fit the kind the one whose weakest part is done best, each part
by whoever has the highest rate. It is told a question's kind, or reads it off the words, learned from training questions.
"""

import itertools
import random
import statistics
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from podium.conduct import Conductor
from podium.evaluation.evaluate import evaluate
from podium.extras import need
from podium.gym import KINDS, GymVerifier, World, specialists
from podium.gym.gauge import Gauge
from podium.gym.questions import kind_of
from podium.policies.fixed import by_kind
from podium.policies.local import LocalPolicy
from podium.recipes.gym import HELD_OUT, HELD_OUT_KIND, pool_without, skills
from podium.recipes.gym_skills import staffed
from podium.recipes.gym_start import PLANS, skill
from podium.training.sampler import described
from podium.types import Card, Problem, Workflow
from podium.workers.pool import Member, WorkerPool

if TYPE_CHECKING:
    from podium.policies.kinds import KindClassifier

SIZE = 3
_SEARCHED = 120
"""Training problems on which workflows are compared to find the best of a subset."""
_READ = 1200
"""Training questions by which the rule learns to tell kinds."""


async def check_adaptive(folder: Path, problems: Sequence[Problem], *, seed: int) -> dict[str, Any]:
    """The figures of the policy in ``folder``; shares in 0..1, every one over all of ``problems`` unless its name says else."""
    policy = LocalPolicy.load(folder / "policy")
    rng = random.Random(seed)
    pool = described(skills(), pool_without())
    best = _Best(World())
    groups: dict[tuple[int, ...], list[Problem]] = {}
    for problem in problems:
        groups.setdefault(tuple(sorted(rng.sample(range(len(pool)), SIZE))), []).append(problem)
    drawn, renamed, reachable, ruled, ruled_told = [], [], [], [], []
    reader = _reader(World())
    for subset, asked in groups.items():
        drawn += await _right(policy, pool, rng.sample(subset, SIZE), asked)
        renamed += await _right(policy, pool, rng.sample(subset, SIZE), asked, name="model")
        known = {kind: best.workflow(kind, subset) for kind in {problem.kind for problem in asked}}
        ideal = Conductor(by_kind(lambda text: kind_of(text) or "", known), WorkerPool([pool[i] for i in subset]))
        reachable += await _answers(ideal, asked)
        staff = WorkerPool([pool[i] for i in subset])
        by_cards = {kind: card_rule(kind, staff.cards) for kind in KINDS}
        ruled += await _answers(Conductor(by_kind(reader.likeliest, by_cards), staff), asked)
        ruled_told += await _answers(Conductor(by_kind(lambda text: kind_of(text) or "", by_cards), staff), asked)
    unseen = pool.names.index(HELD_OUT)
    its_own = [problem for problem in problems if problem.kind == HELD_OUT_KIND]
    others = [index for index in range(len(pool)) if index != unseen]
    held_out: list[bool] = []
    for at in range(0, len(its_own), 20):
        among = [unseen, *rng.sample(others, SIZE - 1)]
        held_out += await _right(policy, pool, rng.sample(among, SIZE), its_own[at : at + 20])
    alone = await _answers(pool[unseen].worker, its_own)
    return {
        "run": str(folder),
        "adaptive_of_best": statistics.fmean(drawn) / statistics.fmean(reachable),
        "adaptive_accuracy": statistics.fmean(drawn),
        "adaptive_best": statistics.fmean(reachable),
        "card_rule": statistics.fmean(ruled),
        "card_rule_told": statistics.fmean(ruled_told),
        "renamed_and_shuffled_change": statistics.fmean(renamed) - statistics.fmean(drawn),
        "held_out_worker": HELD_OUT,
        "held_out_accuracy": statistics.fmean(held_out),
        "held_out_alone": statistics.fmean(alone),
    }


def card_rule(kind: str, cards: Sequence[Card]) -> Workflow:
    """What the cards say of a question of ``kind``: the plan whose weakest part is done best, of equals the shortest."""
    rates = [dict(card.skills) for card in cards]

    def best(part: str) -> int:
        return max(range(len(cards)), key=lambda worker: rates[worker][skill(kind, part)])

    def weakest(plan: Sequence[str]) -> float:
        return min(rates[best(part)][skill(kind, part)] for part in plan)

    plan = max(PLANS[kind], key=lambda plan: (weakest(plan), -len(plan)))
    return staffed(kind, plan, [best(part) for part in plan])


def _reader(world: World) -> "KindClassifier":
    need("stats")
    from podium.policies.kinds import KindClassifier  # scikit-learn, which a check without adaptive runs does without

    known = world.problems(n=_READ, seed=106)
    return KindClassifier([problem.question for problem in known], [problem.kind for problem in known])


class _Best:
    """The best workflow of a subset for a kind, searched once."""

    def __init__(self, world: World) -> None:
        self._gauges = {kind: Gauge(specialists(world), world.problems(kinds=(kind,), n=_SEARCHED, seed=105)) for kind in KINDS}
        self._found: dict[tuple[str, tuple[int, ...]], Workflow] = {}

    def workflow(self, kind: str, subset: tuple[int, ...]) -> Workflow:
        """With workers counted within ``subset``."""
        if (kind, subset) not in self._found:
            gauge = self._gauges[kind]
            tried = [staffed(kind, plan, team) for plan in PLANS[kind] for team in itertools.product(subset, repeat=len(plan))]
            best = max(tried, key=gauge.accuracy)
            steps = tuple(replace(step, worker=subset.index(step.worker)) for step in best.steps)
            self._found[kind, subset] = Workflow(steps=steps)
        return self._found[kind, subset]


async def _right(
    policy: LocalPolicy, pool: WorkerPool, order: Sequence[int], problems: Sequence[Problem], name: str = "worker"
) -> list[bool]:
    members = [_renamed(pool[index], f"{name} {position}") for position, index in enumerate(order)]
    return await _answers(Conductor(policy, WorkerPool(members), syntax=policy.dialect.syntax), problems)


def _renamed(member: Member, name: str) -> Member:
    card: Card = replace(member.card, name=name)
    return Member(worker=member.worker, card=card)


async def _answers(worker: Any, problems: Sequence[Problem]) -> list[bool]:
    """Whether each answer is right; no workflow counts as wrong."""
    results = await evaluate({"arm": worker}, problems, GymVerifier())
    return [result.is_correct for result in results]
