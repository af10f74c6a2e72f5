"""From one search over everything to one over kinds that are found; where a cap ends that, the one before is what there is."""

from collections.abc import Callable
from dataclasses import replace

from podium.errors import BudgetExceeded
from podium.tuning.finding import found_kinds, sayings, telling
from podium.tuning.search import FIRST, Search
from podium.tuning.split import Split, shared_again


async def searched_by_kinds(
    search: Search, parts: Split, payable: float, left: Callable[[], float], *, seed: int
) -> tuple[Search, Split]:
    """A search that has begun over kinds found in ``parts``, and these shared out by kind; as they were where a cap was reached.

    ``payable``: calls that the whole run can pay for; ``left``: those that are left.
    """
    bench, before = search.bench, search.bench.kind_of
    known = (*parts.search, *parts.select)
    found = await found_kinds(bench, known, payable)
    bench.kind_of = found.kind_of
    if not bench.is_exhausted:
        again = shared_again(parts, bench.kind_of, seed=seed)
        told = telling(known, bench.kind_of)
        said = sayings(known, bench.kind_of)
        words = {kind: (said.get(kind, ()), bench.catalogue.subjects) for kind in {bench.kind_of(p) for p in known}}
        begun = Search(bench, again.search, len(bench.workers), about=told, words=words, near=found.near, seed=seed)
        if FIRST * len(search.workers) * len(begun.by_kind) > min(left(), bench.allowance.room):
            # Not everybody can be asked again with the words of each kind, so what is known of them without these counts, too.
            kinds = {problem.id: kind for kind, own in begun.by_kind.items() for problem in own}
            for trial in search.trials:
                if trial.problem in kinds:
                    begun.note(replace(trial, kind=kinds[trial.problem]))
        try:
            await begun.begin(left)
        except BudgetExceeded:
            pass  # nothing is known of the kinds; what was paid for before is
        else:
            return begun, again
    bench.kind_of = before
    return search, parts
