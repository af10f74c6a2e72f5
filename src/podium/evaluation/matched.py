"""The cost-matched control: a cheaper arm may try again until it has spent as much, and the answer it gave most often counts.

Without it, an arm that asks five workers is compared with one that asks one, and the lead may be money.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
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


def voted(results: Sequence[Result], arm: str, name: str) -> list[Result]:
    """The repeats of ``arm`` as one answer to each problem, as results of ``name``: most votes win, of equals the earliest.

    Votes are for what was read out of the answers; cost and time of all repeats add up. World faults have no vote.
    """
    by_problem: dict[str, list[Result]] = {}
    for result in results:
        if result.arm == arm and not result.is_world_fault:
            by_problem.setdefault(result.problem, []).append(result)
    return [_vote(sorted(each, key=lambda result: result.repeat), name) for each in by_problem.values()]


def _vote(repeats: Sequence[Result], name: str) -> Result:
    votes = Counter(_said(result) for result in repeats)
    most = max(votes.values())
    winner = next(result for result in repeats if votes[_said(result)] == most)
    known = [result.usage for result in repeats if result.usage is not None]
    return replace(
        winner,
        arm=name,
        repeat=0,
        usage=Usage.total(known) if len(known) == len(repeats) else None,
        seconds=sum(result.seconds for result in repeats),
        steps=sum(result.steps for result in repeats),
    )


def _said(result: Result) -> str:
    """What a vote is for; answers out of which nothing could be read are votes for nothing."""
    return "" if result.verdict is None or result.verdict.extracted is None else result.verdict.extracted


def _mean_usd(results: Iterable[Result], arm: str) -> float:
    costs = [None if r.usage is None else r.usage.cost_usd for r in results if r.arm == arm and not r.is_world_fault]
    known = [cost for cost in costs if cost is not None]
    if not known or len(known) < len(costs):
        raise ConfigError(f"what {arm!r} costs is not known, so nothing can be matched to it; give its workers prices")
    return fmean(known)
