"""Workflows that stop, as candidates of a search that pays: "a and b agree, else c", and asking on until two agree.

For each kind they are made of the workers that do best alone, carried out on selection problems, and added to the record with
what they came to there. Equal calls are paid for once, so some of their first steps cost nothing. A workflow of one kind is not
tried on the others: there it is expected to do no better than the worst single worker, so that it is not chosen under doubt.
"""

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean

from podium.evaluation.metrics import wilson
from podium.policies.rules import Rule, cascade, stop
from podium.policies.tuned_record import Measured, TunedRecord, TunedWorkflow
from podium.tuning.steps import stored_steps, template_of
from podium.tuning.trials import Bench, Judged
from podium.types import Problem

PROBLEMS = 12
"""Selection problems of a kind that each is tried on, at most."""
PRIOR = 6.0
"""Problems that what is expected beforehand counts as: the best single worker's share right."""
THREE = 3
"""Workers of a cascade."""
LONGEST = 5
"""Workers of whom two have to agree, at most."""


async def with_stopping(
    record: TunedRecord,
    bench: Bench,
    problems: Sequence[Problem],
    shares: Mapping[str, Mapping[int, float]],
    left: Callable[[], float],
) -> TunedRecord:
    """``record`` and, for each kind, workflows that stop, as long as calls are ``left()``.

    ``shares``: kind -> worker, by position -> its share right alone, as far as that is known.
    """
    added: list[TunedWorkflow] = []
    worst = {
        kind: min((one.kinds[kind].right for one in record.workflows if len(one.steps) == 1), default=0.0) for kind in shares
    }
    for kind, alone in shares.items():
        own = [problem for problem in problems if bench.kind_of(problem) == kind][:PROBLEMS]
        order = sorted(alone, key=lambda worker: -alone[worker])
        for rule in rules_of(order, len(record.workers)):
            if not own or left() < len(own) * len(rule.order) or bench.is_exhausted:
                continue
            steps = stored_steps(rule, record.workers)
            judged = await bench.all([bench.judge(template_of(steps, record.workers), problem) for problem in own])
            found = [one for one in judged if one is not None]
            if found:
                kinds = {other: Measured(right=worst[other]) for other in shares}
                added.append(TunedWorkflow(steps=steps, kinds=kinds | {kind: _measured(found, alone[order[0]])}))
    return record.model_copy(update={"workflows": (*record.workflows, *added)}) if added else record


def rules_of(order: Sequence[int], workers: int) -> list[Rule]:
    """What is tried of workers in the ``order`` of what they have right; nothing where there are fewer than three."""
    if len(order) < THREE:
        return []
    best, second, third = order[:THREE]
    found = [cascade((best, second, third)), cascade((second, third, best))]
    return [*found, stop(workers, 2, tuple(order[:LONGEST]))] if len(order) > THREE else found


def _measured(found: Sequence[Judged], expected: float) -> Measured:
    right = sum(one.right for one in found)
    interval = wilson(right / len(found), len(found))
    usd = [one.usd for one in found if one.usd is not None]
    return Measured(
        right=(right + PRIOR * expected) / (len(found) + PRIOR), low=interval.low, high=interval.high, problems=len(found),
        usd=fmean(usd) if len(usd) == len(found) else None, seconds=fmean(one.seconds for one in found),
        calls=fmean(one.steps for one in found),
    )  # fmt: skip
