"""Rewards of a group -> advantages: how much better than the others. None (void) stays out of every statistic and gets 0.

A recipe names one of :data:`ADVANTAGES`. Each is given the rewards of a group and which of its turns succeeded, because a reward
with a cost in it does not say who was right.
"""

import math
from collections.abc import Callable, Sequence
from functools import partial
from statistics import stdev

Rewards = Sequence[float | None]
Successes = Sequence[bool]
Advantage = Callable[[Rewards, Successes], list[float]]

_TINY = 1e-6


def group_normalised(rewards: Rewards) -> list[float]:
    """(r - mean) / (std + 1e-6), std over the group (GRPO: arXiv 2402.03300, section 4.1; the Conductor paper's choice)."""
    kept = [r for r in rewards if r is not None]
    return [0.0] * len(rewards) if len(kept) < 2 or stdev(kept) < _TINY else softly_normalised(rewards, _TINY)


def softly_normalised(rewards: Rewards, least: float = 0.05) -> list[float]:
    """(r - mean) / (std + 0.05): as :func:`group_normalised`, but differences that are small beside a right answer stay small.

    For rewards with a cost in them: in a group that is right throughout, only the cost differs, and dividing by its tiny spread
    would make saving a cent weigh as much as being right.
    """
    kept, mean = _statistics(rewards)
    if len(kept) < 2:
        return [0.0] * len(rewards)
    std = math.sqrt(sum((r - mean) ** 2 for r in kept) / (len(kept) - 1))
    return [0.0 if r is None else (r - mean) / (std + least) for r in rewards]


def centred(rewards: Rewards) -> list[float]:
    """r - mean, divided by nothing (arXiv 2503.20783, section 3.1), so that what is raised is the mean reward itself.

    For rewards in which a cost has to be weighed against being right: with a division by the spread, the many groups that are
    right throughout speak louder for saving than the few that are not speak for being right.
    """
    kept, mean = _statistics(rewards)
    return [0.0 if r is None or len(kept) < 2 else r - mean for r in rewards]


def pass_at_k(rewards: Rewards, successes: Successes, k: int = 4) -> list[float]:
    """How much a rollout adds to the chance that one of ``k`` is right (arXiv 2508.10751, closed form), normalised.

    With n rollouts of which c are right, R = 1 - C(n - c, k) / C(n, k), s = sqrt(R (1 - R)); a right one gets (1 - R) / s, a
    wrong one (1 - R - C(n - c - 1, k - 1) / C(n - 1, k - 1)) / s. On top of it right ones are compared with each other: what
    each earned less what they earned on average, so that costs count among them and not between right and wrong.
    """
    kept = [(reward, success) for reward, success in zip(rewards, successes, strict=True) if reward is not None]
    right, wrong = _worth(len(kept), sum(success for _, success in kept), k)
    _, mean = _statistics([reward for reward, success in kept if success])
    return [
        0.0 if reward is None else right + reward - mean if success else wrong
        for reward, success in zip(rewards, successes, strict=True)
    ]


def _worth(n: int, c: int, k: int) -> tuple[float, float]:
    """The advantage of a right one and of a wrong one where ``c`` of ``n`` are right."""
    if n < k or c == 0 or c == n:
        return 0.0, 0.0
    mean = 1 - math.comb(n - c, k) / math.comb(n, k)
    std = math.sqrt(mean * (1 - mean))
    if std < _TINY:
        return 0.0, 0.0
    return (1 - mean) / std, (1 - mean - math.comb(n - c - 1, k - 1) / math.comb(n - 1, k - 1)) / std


def _by_reward(advantage: Callable[[Rewards], list[float]]) -> Advantage:
    return lambda rewards, successes: advantage(rewards)


ADVANTAGES: dict[str, Advantage] = {
    "group_normalised": _by_reward(group_normalised),
    "softly_normalised": _by_reward(softly_normalised),
    "centred": _by_reward(centred),
    "pass_at_4": partial(pass_at_k, k=4),
}


def _statistics(rewards: Rewards) -> tuple[list[float], float]:
    kept = [r for r in rewards if r is not None]
    return kept, sum(kept) / len(kept) if kept else 0.0


def over_rounds(rewards: Sequence[float | None], discount: float) -> list[float | None]:
    """The rewards of the rounds of one rollout on one scale, before they are compared (paper, section 3.3).

    All but the last are scaled by ``discount``, so that what the last one reaches counts most and the first is not paid for
    leaving work undone. Example: ``over_rounds([1.0, 0.5], 0.25) == [0.25, 0.5]``.
    """
    *earlier, last = rewards
    return [*(None if earned is None else discount * earned for earned in earlier), last]
