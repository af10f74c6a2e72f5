"""Workflows that stop, as candidates of a search that pays: "a and b agree, else c", and asking on until two agree.

For each kind they are made of the workers that do best alone, carried out on selection problems, and added to the record with
what they came to there. Equal calls are paid for once, so some of their first steps cost nothing. A workflow of one kind is not
tried on the others: there it is expected to do no better than the worst workflow, so that it is not chosen under doubt.
"""

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean

from podium.evaluation.metrics import wilson
from podium.policies.rules import Rule, cascade, stop
from podium.policies.tuned_record import Measured, TunedRecord, TunedWorkflow
from podium.tuning.candidates import solo
from podium.tuning.price import PREFERENCES, price_of
from podium.tuning.search import Search
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
CALLS_OF_A_KIND = 100
"""Calls that are kept back for a kind where it may be worth it."""
NEARLY = 0.1
"""So much less of the share right than the best team is nearly the best."""


def worth_stopping(search: Search, kinds: Sequence[str]) -> dict[str, dict[int, float]]:
    """Kind -> worker, by position -> its expected share right alone, for the kinds where workers alone nearly are the best.

    Where a team whose members do different things is far better, stopping as soon as two agree can not help.
    """
    mean = search.model.mean()
    found: dict[str, dict[int, float]] = {}
    for kind in kinds:
        alone = {worker: search.expected(kind, solo(worker, search.about[kind]), mean) for worker in search.workers}
        best = max((search.expected(kind, one, mean) for one in search.leaders(kind, mean, 1)), default=0.0)
        if len(alone) >= THREE and max(alone.values()) > best - NEARLY:
            found[kind] = alone
    return found


async def with_stopping(
    record: TunedRecord,
    bench: Bench,
    problems: Sequence[Problem],
    shares: Mapping[str, Mapping[int, float]],
    left: Callable[[], float],
) -> TunedRecord:
    """``record`` and, for each kind, workflows that stop, as long as calls are ``left()``.

    ``shares``: what :func:`worth_stopping` gives.
    """
    added: list[TunedWorkflow] = []
    every = record.workflows[0].kinds
    worst = {kind: min(one.kinds[kind].right for one in record.workflows) for kind in every}
    for kind, alone in shares.items():
        own = [problem for problem in problems if bench.kind_of(problem) == kind][:PROBLEMS]
        order = sorted(alone, key=lambda worker: -alone[worker])
        for rule in rules_of(order, len(record.workers)):
            answer = {*rule.order} <= {*bench.answering}
            if not own or left() < len(own) * len(rule.order) or bench.is_exhausted or not answer:
                continue
            steps = stored_steps(rule, record.workers)
            judged = await bench.all([bench.judge(template_of(steps, record.workers), problem) for problem in own])
            found = [one for one in judged if one is not None]
            if found:
                # By what its members are worth alone, so that a few lucky problems do not put it before the best of them.
                measured = _measured(found, fmean(alone[worker] for worker in rule.order))
                elsewhere = {other: Measured(right=worst[other], usd=measured.usd, calls=measured.calls) for other in every}
                added.append(TunedWorkflow(steps=steps, kinds=elsewhere | {kind: measured}))
    if not added:
        return record
    every_one = (*record.workflows, *added)
    # Anew: a dollar that was worth this much among the others may be worth too much beside a cheap one that is mostly wrong.
    return record.model_copy(
        update={"workflows": every_one, "price": price_of(every_one, list(every), PREFERENCES[record.prefer])}
    )


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
        right=round((right + PRIOR * expected) / (len(found) + PRIOR), 9),
        low=interval.low, high=interval.high, problems=len(found),
        usd=fmean(usd) if len(usd) == len(found) else None, seconds=fmean(one.seconds for one in found),
        calls=fmean(one.steps for one in found),
    )  # fmt: skip
