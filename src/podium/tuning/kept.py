"""What is kept of a search: the record that a tuned policy chooses from."""

from collections.abc import Mapping, Sequence
from statistics import fmean

from podium.evaluation.metrics import wilson
from podium.policies.tuned_record import FORM, Measured, TunedRecord, TunedStep, TunedWorkflow
from podium.tuning.candidates import workflow
from podium.tuning.catalogue import Catalogue
from podium.tuning.price import PREFERENCES, price_of
from podium.tuning.search import Search
from podium.tuning.selection import Contender
from podium.tuning.trials import costs_of
from podium.workers.pool import WorkerPool

DRAWS = 40
"""Possible truths out of which the lower fifth is believed where a workflow was not measured on a kind."""
SHARPNESS = 1000.0
"""How sharply kinds are told apart; with less the choice hedges where there is no need."""
BEST_KEPT = 3
"""Of these the best stand in the policy, and the single workers, so that there is something cheap to choose."""


def record_of(
    search: Search,
    chosen: Mapping[str, list[Contender]],
    kinds: Sequence[str],
    workers: WorkerPool,
    prefer: str,
    catalogue: Catalogue,
) -> TunedRecord:
    """The workflows that the policy may choose from: the best of each kind and single workers, each with its share right."""
    mean, draws = search.model.mean(), [search.model.draw() for _ in range(DRAWS)]
    kept = [one for kind in kinds for n, one in enumerate(chosen[kind]) if n < BEST_KEPT or len(one.candidate) == 1]
    candidates = list(dict.fromkeys(one.candidate for one in kept))
    if not any(map(search.can_be_asked, candidates)):  # all of them stopped answering meanwhile
        candidates.append(search.constant(kinds))
    by_candidate = {(kind, one.candidate): one for kind in kinds for one in chosen[kind]}
    costs = costs_of(search.trials)
    stored = []
    for candidate in candidates:
        measured = {}
        for kind in kinds:
            one = by_candidate.get((kind, candidate))
            usd = costs(candidate)
            if one is not None and not one.trials and candidate in search.measured(kind):
                measured[kind] = Measured(right=round(one.share, 9), usd=usd)  # it had no rival, so that selection left it out
                continue
            if one is None or not one.trials:
                doubtful = sorted(draw.share(kind, candidate) for draw in draws)
                # Rounded: the last digits of the estimate depend on the order of sums.
                expected = round(min(mean.share(kind, candidate), doubtful[len(draws) // 5]), 9)
                measured[kind] = Measured(right=expected, usd=usd)
                continue
            interval = wilson(fmean(t.outcome.right for t in one.trials), len(one.trials))
            measured[kind] = Measured(
                right=round(one.share, 9), low=interval.low, high=interval.high, problems=len(one.trials),
                usd=one.usd if one.usd is not None else usd, seconds=one.seconds,
            )  # fmt: skip
        steps = tuple(
            TunedStep(worker=workers.names[s.worker], subtask=s.subtask, access=s.access)
            for s in workflow(candidate, catalogue).steps
        )
        stored.append(TunedWorkflow(steps=steps, kinds=measured))
    robust = max(range(len(stored)), key=lambda n: fmean(one.right for one in stored[n].kinds.values()))
    price = price_of(stored, kinds, PREFERENCES[prefer])
    return TunedRecord(
        form=FORM, workers=workers.names, prefer=prefer, price=price, robust=robust, workflows=tuple(stored), sharpness=SHARPNESS
    )
