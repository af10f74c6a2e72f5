"""How good each worker is at each part of the work, as somebody measures who has problems and can ask: the numbers for the cards.

A part is measured where the rest of the work is done well: in the best workflow that is known, this worker takes that one step.
"""

from collections.abc import Mapping, Sequence

from podium.gym.gauge import Gauge
from podium.gym.optimum import SUBTASKS
from podium.gym.profiles import PROFILES
from podium.gym.specialists import Specialist, specialists
from podium.gym.world import World
from podium.types import Step, Workflow

_MEASURED = {
    "plan": ("word", ("plan", "compute"), 0),
    "recall": ("fact", ("recall", "plan", "compute"), 0),
    "compute": ("word", ("plan", "compute"), 1),
    "write": ("code", ("write",), 0),
    "review": ("code", ("write", "verify"), 1),
    "verify": ("word", ("plan", "verify"), 1),
    "answer": ("choice", ("answer",), 0),
}
"""Verb -> kind of problem, plan, and which step of it is measured."""
_SKILLED = {"plan": "reader", "recall": "scholar", "compute": "calculator", "write": "coder"}
PROBLEMS = 150
"""Training problems per verb: a standard error of at most four points."""


def measured_skills(workers: Sequence[Specialist], world: World) -> Mapping[str, Mapping[str, float]]:
    """Name -> verb -> share of right answers with this worker at that step, in 0..1.

    Example: ``measured_skills(specialists(world), world)["atlas"]["compute"] > 0.9``. Takes about two seconds.
    """
    experts = specialists(world)
    trades = [profile.trade for profile in PROFILES]
    found: dict[str, dict[str, float]] = {worker.name: {} for worker in workers}
    for verb, (kind, plan, at) in _MEASURED.items():
        problems = world.problems(kinds=(kind,), n=PROBLEMS, seed=104)
        for worker in workers:
            team = [*(experts[trades.index(_SKILLED.get(v, "generalist"))] for v in plan)]
            team[at] = worker
            steps = (Step(worker=i, subtask=SUBTASKS[v], access=tuple(range(i))) for i, v in enumerate(plan))
            found[worker.name][verb] = Gauge(team, problems).accuracy(Workflow(steps=tuple(steps)))
    return found
