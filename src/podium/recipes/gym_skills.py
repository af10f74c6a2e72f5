"""How good each worker is at each part of the work, as somebody measures who has problems and can ask: the numbers for the cards.

A part is measured where the rest of the work is done well: in a plan that fits the kind of question, this worker takes that one
step, and whoever is best at the others takes those. No step follows that would mend what it spoils: where somebody good checks
the answer afterwards, everybody looks good before.
"""

import random
from collections.abc import Mapping, Sequence
from statistics import fmean

from podium.gym.gauge import Gauge
from podium.gym.kinds import PARTS
from podium.gym.specialists import Specialist
from podium.gym.world import World
from podium.recipes.gym_start import PAIRS, PLANS, asked_for, skill
from podium.types import Step, Workflow

PROBLEMS = 100
"""Training problems per part of a kind: a standard error of at most five points."""


def measured_skills(workers: Sequence[Specialist], world: World) -> Mapping[str, Mapping[str, float]]:
    """Name -> :func:`skill` -> share of right answers with this worker at that step, in 0..1.

    Example: ``measured_skills(specialists(world), world)["fjord"]["code write"] > 0.8``. Takes some seconds.
    """
    found: dict[str, dict[str, float]] = {worker.name: {} for worker in workers}
    for kind in PLANS:
        gauge = Gauge(workers, world.problems(kinds=(kind,), n=PROBLEMS, seed=104))
        for part in (part for other, part in PAIRS if other == kind):
            plan = _measured_in(kind, part)
            at = plan.index(part)
            for number, worker in enumerate(workers):
                team = [_best(workers, kind, other) for other in plan]
                team[at] = number
                found[worker.name][skill(kind, part)] = gauge.accuracy(staffed(kind, plan, team))
    return found


def staffed(kind: str, plan: Sequence[str], team: Sequence[int]) -> Workflow:
    """``plan`` for a question of ``kind``, carried out by ``team``; everybody sees everything before them."""
    rng = random.Random(0)  # always the same wordings
    steps = [
        Step(worker=worker, subtask=asked_for(kind, part, rng), access=tuple(range(i)))
        for i, (part, worker) in enumerate(zip(plan, team, strict=True))
    ]
    return Workflow(steps=tuple(steps))


def _measured_in(kind: str, part: str) -> tuple[str, ...]:
    """The shortest plan with ``part``; of a part of the kind's work, the shortest that does all of this work."""
    needed = {part, *PARTS[kind]} if part in PARTS[kind] else {part}
    return min((plan for plan in PLANS[kind] if needed <= set(plan)), key=len)


def _best(workers: Sequence[Specialist], kind: str, part: str) -> int:
    """Who is best at a part; at one that takes the whole work, on the whole."""
    parts = (part,) if part in PARTS[kind] else PARTS[kind]
    return max(range(len(workers)), key=lambda number: fmean(workers[number].profile.level(kind, each) for each in parts))
