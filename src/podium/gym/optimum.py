"""The best workflow of every kind: found by search, shipped with the package, checked by a test.

The search space is workers x verbs x access, one fixed wording per verb. All workflows of one and two steps are tried;
from the best of them, and from the best single worker, it goes on by single changes (another worker, another verb, one
access more or less, a step inserted or removed) as long as that helps. The candidates left are measured on fresh training
problems; of those within two standard errors of the best, the one with the fewest steps and then the cheapest wins.
``path`` is the climb from the best single worker by the best single change each time: the slope there is to learn on.

The accuracies in ``optimum.json`` are of problems that no part of the search saw: half other numbers, half other templates.
``python -m benchmarks.gym --search`` writes the file anew.
"""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

from podium.errors import ConfigError
from podium.gym.gauge import Gauge, wilson
from podium.gym.profiles import PROFILES
from podium.gym.specialists import Specialist
from podium.gym.world import World
from podium.types import Step, Workflow

SUBTASKS = {
    "plan": "Write a plan as one expression. Do not compute it.",
    "recall": "Recall the facts that are needed.",
    "compute": "Compute the result of the plan.",
    "write": "Write the program.",
    "verify": "Check what was done so far and correct it.",
    "answer": "Answer the question.",
}
"""One wording per verb, as the search uses them; any other that :mod:`podium.gym.subtasks` understands does as well."""

_USUAL = {
    "choice": ("answer", "plan", "recall", "compute", "verify", "write"),
    "code": ("plan", "write", "verify", "answer", "compute", "recall"),
}
MAX_STEPS = 4
_BEAM = 6
_SEARCH_PROBLEMS = 100
_FINAL_PROBLEMS = 1_500
_MEASURED_PROBLEMS = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Optimum:
    """The best workflow known for a kind, for the default seven specialists in pool order.

    Example: ``optimum()["choice"].workflow.steps[0].worker``.
    """

    kind: str
    workflow: Workflow
    accuracy: float
    """On held-out problems, in 0..1."""
    low: float
    """Lower end of the 95 % interval of ``accuracy`` (Wilson)."""
    high: float
    problems: int
    """How many problems ``accuracy`` was measured on."""
    path: tuple[Workflow, ...]
    """From the best single worker by single changes, each a clear gain."""


def optimum() -> dict[str, Optimum]:
    """The shipped optimum by kind, untrained kinds included; of the default world, pool and noise."""
    stored = json.loads(resources.files("podium.gym").joinpath("optimum.json").read_text(encoding="utf-8"))
    return {
        kind: Optimum(
            kind=kind,
            workflow=_workflow(found["steps"]),
            accuracy=found["accuracy"],
            low=found["low"],
            high=found["high"],
            problems=found["problems"],
            path=tuple(_workflow(steps) for steps in found["path"]),
        )
        for kind, found in stored["kinds"].items()
    }


def neighbours(workflow: Workflow, workers: int = len(PROFILES), max_steps: int = MAX_STEPS) -> Iterator[Workflow]:
    """Every workflow one change away: a worker, a verb, one access, a step more (seen by all after it) or less."""
    steps = workflow.steps
    for i, step in enumerate(steps):
        for worker in range(workers):
            if worker != step.worker:
                yield _with(steps, i, Step(worker=worker, subtask=step.subtask, access=step.access))
        for subtask in SUBTASKS.values():
            if subtask != step.subtask:
                yield _with(steps, i, Step(worker=step.worker, subtask=subtask, access=step.access))
        for seen in range(i):
            access = tuple(sorted({*step.access} ^ {seen}))
            yield _with(steps, i, Step(worker=step.worker, subtask=step.subtask, access=access))
    if len(steps) > 1:
        for i in range(len(steps)):
            yield _without(steps, i)
    if len(steps) < max_steps:
        for i in range(len(steps) + 1):
            for worker in range(workers):
                for subtask in SUBTASKS.values():
                    yield _inserted(steps, i, worker, subtask)


def climb(gauge: Gauge, kind: str, start: Workflow, workers: int = len(PROFILES)) -> list[Workflow]:
    """From ``start`` by the best single change each time, as long as it gains at least two points."""
    path = [start]
    while True:
        best = max(neighbours(path[-1], workers), key=lambda other: (gauge.accuracy(other), -_oddity(other, kind)))
        if gauge.accuracy(best) < gauge.accuracy(path[-1]) + 0.02:
            return path
        path.append(best)


def search(world: World, workers: Sequence[Specialist], kind: str, start: Workflow) -> dict[str, Any]:
    """The optimum of ``kind`` as ``optimum.json`` stores it, its ``path`` climbed from ``start``, for any pool of specialists.

    Takes half a minute for seven, and longer for more. Raises :class:`ConfigError` where ``start`` asks a worker the pool lacks.
    """
    missing = [step.worker for step in start.steps if not 0 <= step.worker < len(workers)]
    if missing:
        raise ConfigError(f"the climb would begin with worker {missing[0]}, and the pool has {len(workers)}, counted from 0")
    gauge = Gauge(workers, world.problems(kinds=(kind,), n=_SEARCH_PROBLEMS, seed=101))
    count = len(workers)
    path = climb(gauge, kind, start, count)
    ones = [single(worker, subtask) for worker in range(count) for subtask in SUBTASKS.values()]
    twos = [_inserted(one.steps, 0, worker, subtask) for one in ones for worker in range(count) for subtask in SUBTASKS.values()]
    tried = {workflow: gauge.accuracy(workflow) for workflow in (*ones, *twos, *path)}
    beam = _best(gauge, kind, tried, _BEAM)
    while True:
        for workflow in beam:
            tried.update({other: gauge.accuracy(other) for other in neighbours(workflow, count) if other not in tried})
        following = _best(gauge, kind, tried, _BEAM)
        if set(following) <= set(beam):
            break
        beam = following
    final = Gauge(workers, world.problems(kinds=(kind,), n=_FINAL_PROBLEMS, seed=102))
    candidates = {workflow: final.accuracy(workflow) for workflow in (*_best(gauge, kind, tried, 5 * _BEAM), path[-1])}
    top = max(candidates.values())
    margin = 2 * math.sqrt(top * (1 - top) / _FINAL_PROBLEMS)
    near = [workflow for workflow, accuracy in candidates.items() if accuracy >= top - margin]
    chosen = min(near, key=lambda w: (len(w.steps), _oddity(w, kind), _accesses(w), _price(w, workers), -candidates[w]))
    names = [worker.name for worker in workers]
    figures = measured(world, workers, kind, chosen)
    return {"steps": _stored(chosen, names), **figures, "path": [_stored(w, names) for w in path]}


def measured(world: World, workers: Sequence[Specialist], kind: str, workflow: Workflow) -> dict[str, Any]:
    """Accuracy with its interval on problems no search has seen: half other numbers, half other templates."""
    half = _MEASURED_PROBLEMS // 2
    right = 0
    for split in ("held_out_numbers", "held_out_templates"):
        right += sum(Gauge(workers, world.problems(kinds=(kind,), split=split, n=half, seed=103)).correct(workflow))
    low, high = wilson(right, 2 * half)
    return {"accuracy": right / (2 * half), "low": round(low, 4), "high": round(high, 4), "problems": 2 * half}


def single(worker: int, subtask: str = SUBTASKS["answer"]) -> Workflow:
    """One step. Example: ``single(1)`` asks worker 1 to answer the question."""
    return Workflow(steps=(Step(worker=worker, subtask=subtask),))


def _best(gauge: Gauge, kind: str, tried: Mapping[Workflow, float], count: int) -> list[Workflow]:
    """The best, but only one wording of each: workers who do the same under two verbs do it under the plainer one."""
    ranked = sorted(tried, key=lambda workflow: (-tried[workflow], len(workflow.steps), _oddity(workflow, kind)))
    kept: dict[object, Workflow] = {}
    for workflow in ranked:
        who = tuple((step.worker, step.access) for step in workflow.steps)
        kept.setdefault((who, gauge.correct(workflow)), workflow)
        if len(kept) == count:
            break
    return list(kept.values())


def _oddity(workflow: Workflow, kind: str) -> int:
    """How unusual the verbs of a workflow are for its kind; decides between workflows that do the same."""
    order = _USUAL.get(kind, ("plan", "recall", "compute", "answer", "verify", "write"))
    return sum(order.index(verb) for step in workflow.steps for verb in order if SUBTASKS[verb] == step.subtask)


def _accesses(workflow: Workflow) -> int:
    return sum(len(step.access) for step in workflow.steps)


def _price(workflow: Workflow, workers: Sequence[Specialist]) -> float:
    return sum(workers[step.worker].profile.completion_usd for step in workflow.steps)


def _with(steps: tuple[Step, ...], at: int, new: Step) -> Workflow:
    return Workflow(steps=(*steps[:at], new, *steps[at + 1 :]))


def _without(steps: tuple[Step, ...], at: int) -> Workflow:
    kept = [
        Step(worker=s.worker, subtask=s.subtask, access=tuple(seen - (seen > at) for seen in s.access if seen != at))
        for s in steps
    ]
    return Workflow(steps=(*kept[:at], *kept[at + 1 :]))


def _inserted(steps: tuple[Step, ...], at: int, worker: int, subtask: str) -> Workflow:
    """A step before position ``at`` that sees all before it and is seen by all after it."""
    later = [
        Step(
            worker=s.worker,
            subtask=s.subtask,
            access=tuple(sorted({at, *(seen + (seen >= at) for seen in s.access)})),
        )
        for s in steps[at:]
    ]
    return Workflow(steps=(*steps[:at], Step(worker=worker, subtask=subtask, access=tuple(range(at))), *later))


def _stored(workflow: Workflow, names: Sequence[str]) -> list[dict[str, Any]]:
    return [{"worker": names[s.worker], "subtask": s.subtask, "access": list(s.access)} for s in workflow.steps]


def _workflow(steps: Sequence[Mapping[str, Any]]) -> Workflow:
    names = [profile.name for profile in PROFILES]
    return Workflow(
        steps=tuple(Step(worker=names.index(s["worker"]), subtask=s["subtask"], access=tuple(s["access"])) for s in steps)
    )
