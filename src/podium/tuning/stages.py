"""What is done for a kind, one thing after the other, until it has a good team."""

from collections.abc import Awaitable, Callable
from functools import partial

from podium.tuning.catalogue import Catalogue
from podium.tuning.plan_sweeps import PlanSweeps
from podium.tuning.sweeps import Sweeps

Stage = Callable[[Sweeps], Awaitable[None]]

BEGUN_AGAIN = 3
"""How often a kind without a good team begins anew, each time with other problems."""
MENDED = 4
"""How often the best team of a kind is mended at the end."""
ALWAYS: tuple[Stage, ...] = (Sweeps.alone, Sweeps.review, Sweeps.tell)
"""What is done even where there seems to be little left to gain."""


def stages_of(catalogue: Catalogue) -> tuple[list[Stage], list[Stage]]:
    """What every kind goes through, and what is done where that is not enough."""
    first: list[Stage] = [stage for plan in catalogue.swept for stage in (partial(PlanSweeps.plan, plan=plan), Sweeps.mend)]
    first += [partial(Sweeps.prepare, roles=catalogue.prepared[0]), Sweeps.join, Sweeps.mend]
    more: list[Stage] = [partial(Sweeps.widen, roles=catalogue.prepared[1]), Sweeps.cross, *[Sweeps.mend] * MENDED]
    more += [Sweeps.cross, *[Sweeps.mend] * MENDED]
    once: list[Stage] = [Sweeps.alone, Sweeps.review, Sweeps.tell, *first, *more, Sweeps.tell]
    return once, [Sweeps.tell_again, Sweeps.begin_again, *first, *more] * BEGUN_AGAIN


async def nothing() -> None:
    """What is done between two rounds of stages where there is nothing to do."""
