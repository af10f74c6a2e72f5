"""Searches for good workflows, for one kind or for all kinds at once, with the same moves and the same wordings.

A :class:`Target` is what is searched on: problems of one kind, or of all of them, each kind counting the same. From a start a
search goes on by single changes drawn at random (another worker, another wording, another condition where there are any, one
access more or less, a step inserted or removed) and takes each that helps, until many in a row did not. Subtasks may carry the
question (:data:`podium.gym.gauge.QUESTION`), so that a step can know it without seeing another step.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from statistics import fmean

from podium.conditions import ALWAYS, read_condition
from podium.gym.gauge import QUESTION, Gauge
from podium.types import Step, Workflow

ASKED = f"{QUESTION}\n\n"
"""What a subtask begins with that carries the question."""
_CONDITION = 0.15
"""Share of the moves that change a condition, where there are any."""
Seen = Callable[[Workflow, float], None]
"""Is told every workflow that was scored."""


class Target:
    """What a search is to raise: the mean accuracy over ``gauges``, with ``limit_usd`` only at no more dollars a problem."""

    def __init__(self, gauges: Mapping[str, Gauge], *, limit_usd: float | None = None) -> None:
        self.gauges = gauges
        self.limit_usd = limit_usd

    def score(self, workflow: Workflow) -> float:
        """The mean accuracy; -1 where it costs more than it may."""
        found = fmean(gauge.accuracy(workflow) for gauge in self.gauges.values())
        return found if self.limit_usd is None or self.cost(workflow) <= self.limit_usd else -1.0

    def cost(self, workflow: Workflow) -> float:
        """Dollars per problem."""
        return fmean(gauge.cost(workflow) for gauge in self.gauges.values())

    @property
    def calls(self) -> int:
        """How many calls were made so far."""
        return sum(gauge.calls for gauge in self.gauges.values())


class Climber:
    """Climbs with one set of moves. Example: ``Climber(7, ("Answer.",), 5, random.Random(0)).climb(target, start)``."""

    def __init__(
        self,
        workers: int,
        wordings: Sequence[str],
        max_steps: int,
        rng: random.Random,
        *,
        patience: int = 300,
        conditions: Sequence[str] = (),
        seen: Seen = lambda workflow, score: None,
        allowed: Callable[[Workflow], bool] = lambda workflow: True,
    ) -> None:
        self._workers = workers
        self._wordings = wordings
        self._max_steps = max_steps
        self._rng = rng
        self._patience = patience
        self._conditions = conditions
        self._seen = seen
        self._allowed = allowed

    def climb(self, target: Target, start: Workflow, *, calls: int | None = None) -> tuple[float, Workflow]:
        """The best score and its workflow; at most about ``calls`` calls."""
        best, height = start, target.score(start)
        self._seen(best, height)
        tried = {best}
        failures, last = 0, None if calls is None else target.calls + calls
        while failures < self._patience and (last is None or target.calls < last):
            failures += 1
            other = self._changed(best)
            if other is None or other in tried or not self._allowed(other):
                continue
            tried.add(other)
            found = target.score(other)
            self._seen(other, found)
            # Of equally good ones the shorter is taken, or plans would keep what does nothing.
            if found > height or (found == height and len(other.steps) < len(best.steps)):
                best, height, failures = other, found, 0
        return height, best

    def _changed(self, workflow: Workflow) -> Workflow | None:
        """Another workflow by one change; None where that would be none, because a condition of it could never come about."""
        steps, rng = workflow.steps, self._rng
        at = rng.randrange(len(steps))
        step = steps[at]
        if self._conditions and rng.random() < _CONDITION:
            return _exchanged(steps, at, replace(step, condition=rng.choice((ALWAYS, *self._conditions))))
        move = rng.random()
        if move < 0.35:
            return _exchanged(steps, at, replace(step, worker=rng.randrange(self._workers)))
        if move < 0.7:
            return _exchanged(steps, at, replace(step, subtask=self._worded(step)))
        if move < 0.82:
            if at == 0:
                return workflow
            access = tuple(sorted({*step.access} ^ {rng.randrange(at)}))
            return _exchanged(steps, at, replace(step, access=access))
        if move < 0.93:
            if len(steps) == self._max_steps:
                return workflow
            subtask = rng.choice(self._wordings)
            return _inserted(steps, rng.randrange(len(steps) + 1), rng.randrange(self._workers), subtask, rng.random() < 0.5)
        return _removed(steps, at) if len(steps) > 1 else workflow

    def _worded(self, step: Step) -> str:
        """Another wording, or the same one with or without the question."""
        if self._rng.random() < 0.3:
            return step.subtask.removeprefix(ASKED) if step.subtask.startswith(ASKED) else ASKED + step.subtask
        return (ASKED if step.subtask.startswith(ASKED) else "") + self._rng.choice(self._wordings)


def chain(steps: Sequence[tuple[int, str]], access: Sequence[Sequence[int]] | None = None) -> Workflow:
    """A workflow from (worker, subtask); everybody sees everything before them unless ``access`` says otherwise."""
    return Workflow(
        steps=tuple(
            Step(worker=worker, subtask=subtask, access=tuple(range(i)) if access is None else tuple(access[i]))
            for i, (worker, subtask) in enumerate(steps)
        )
    )


def joined(workflows: Sequence[Workflow], last: tuple[int, str] | None = None) -> Workflow:
    """Workflows side by side, each with the question in its subtasks, and a ``last`` step that sees how each of them ends."""
    steps: list[Step] = []
    ends: list[int] = []
    for workflow in workflows:
        base = len(steps)
        for step in workflow.steps:
            access = tuple(seen + base for seen in step.access)
            steps.append(Step(worker=step.worker, subtask=ASKED + step.subtask.removeprefix(ASKED), access=access))
        ends.append(len(steps) - 1)
    if last is not None:
        steps.append(Step(worker=last[0], subtask=ASKED + last[1], access=tuple(ends)))
    return Workflow(steps=tuple(steps))


def _exchanged(steps: tuple[Step, ...], at: int, new: Step) -> Workflow | None:
    return _made((*steps[:at], new, *steps[at + 1 :]))


def _removed(steps: tuple[Step, ...], at: int) -> Workflow | None:
    """Without the step at ``at``; whoever saw it sees what is left."""
    kept = [replace(s, access=tuple(seen - (seen > at) for seen in s.access if seen != at)) for s in steps]
    return _made((*kept[:at], *kept[at + 1 :]))


def _inserted(steps: tuple[Step, ...], at: int, worker: int, subtask: str, sees: bool) -> Workflow | None:
    """A step before position ``at`` that sees all before it, or knows the question only, and is seen by the next."""
    later = [
        replace(s, access=tuple(sorted({*(seen + (seen >= at) for seen in s.access), *((at,) if i == 0 else ())})))
        for i, s in enumerate(steps[at:])
    ]
    new = Step(worker=worker, subtask=subtask if sees else ASKED + subtask, access=tuple(range(at)) if sees else ())
    return _made((*steps[:at], new, *later))


def _made(steps: tuple[Step, ...]) -> Workflow | None:
    fits = not any(read_condition(step.condition).misfit(len(step.access)) for step in steps)
    return Workflow(steps=steps) if fits else None
