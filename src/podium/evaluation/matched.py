"""The cost-matched control: a cheaper arm may try again until it has spent as much, and the answer it gave most often counts.

Without it, an arm that asks five workers is compared with one that asks one, and the lead may be money.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from statistics import fmean

from podium.errors import ConfigError
from podium.evaluation.evaluate import Result
from podium.types import Usage

MOST_TRIES = 32


def tries(results: Iterable[Result], arm: str, cheaper: str) -> int:
    """How often ``cheaper`` can answer a question for what ``arm`` spends on one, on average; at most :data:`MOST_TRIES`.

    Raises :class:`ConfigError` where a price is unknown or nothing was answered. Example: 0.0008 against 0.0003 dollars are 2.
    """
    mine, theirs = _mean_usd(results, arm), _mean_usd(results, cheaper)
    return MOST_TRIES if theirs <= mine / MOST_TRIES else max(1, math.floor(mine / theirs))


Read = Callable[[Sequence[str | None], str], Sequence[str | None]]
"""What verifiers read out of answers, and the kind of the problem -> what each answer says: equal texts for the same, or None."""


def voted(results: Sequence[Result], arm: str, name: str, read: Read) -> list[Result]:
    """The repeats of ``arm`` as one answer to each problem, as results of ``name``: most votes win, of equals the earliest.

    ``read`` tells which answers say the same (:func:`podium.tasks.agreement.votes_of`). An answer that says nothing, or that was
    never given, has no vote; it counts only where no other was given. Cost and time of all repeats add up; world faults are out.
    """
    by_problem: dict[str, list[Result]] = {}
    for result in results:
        if result.arm == arm and not result.is_world_fault:
            by_problem.setdefault(result.problem, []).append(result)
    return [_vote(sorted(each, key=lambda result: result.repeat), name, read) for each in by_problem.values()]


def _vote(repeats: Sequence[Result], name: str, read: Read) -> Result:
    said = read([None if result.verdict is None else result.verdict.extracted for result in repeats], repeats[0].kind)
    # Counter keeps the order of first appearance, and most_common is stable.
    counts = Counter(text for text in said if text is not None).most_common(1)
    winner = repeats[said.index(counts[0][0]) if counts else 0]
    known = [result.usage for result in repeats if result.usage is not None]
    return replace(
        winner,
        arm=name,
        repeat=0,
        usage=Usage.total(known) if len(known) == len(repeats) else None,
        seconds=sum(result.seconds for result in repeats),
        steps=sum(result.steps for result in repeats),
    )


def _mean_usd(results: Iterable[Result], arm: str) -> float:
    costs = [None if r.usage is None else r.usage.cost_usd for r in results if r.arm == arm and not r.is_world_fault]
    known = [cost for cost in costs if cost is not None]
    if not known or len(known) < len(costs):
        raise ConfigError(f"what {arm!r} costs is not known, so nothing can be matched to it; give its workers prices")
    return fmean(known)
